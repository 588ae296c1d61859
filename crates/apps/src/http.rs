//! Pages: a user asks for one, waits for it, and asks for the next, over persistent HTTP/1.1.
//!
//! A page is a main object and embedded objects. The main object comes over the first connection; only when it has come
//! does the client know of the embedded ones, and opens the other connections when it needs them. Connections stay open
//! from page to page. The server answers a request when its last byte has come.

mod page;
mod tls;

use std::collections::VecDeque;

use self::page::Page;
use crate::Think;
use crate::prelude::*;

options! {
    "http", "web pages over persistent TCP connections", also ["web"];
    /// Pages, one after the other, over HTTP/1.1 (RFC 9112) and connections that the receiving host opens and that stay open: a
    /// main object, then embedded objects.
    pub struct HttpSpec {
        /// From one page's request to the next page's, which a page that takes longer delays; default "30 s".
        pub page_interval: Span = Span::from_millis(30_000),
        /// In place of `page_interval`: from the last byte of a page to the next request.
        pub think: Option<Span> = None,
        /// How `think` is distributed: "constant" (the default), or "exponential" with that mean.
        pub think_distribution: Think = Think::Constant,
        /// How pages are distributed: "constant" (the default), or "3gpp2", which draws sizes and the number of embedded objects.
        pub size_distribution: Pages = Pages::Constant,
        /// Size of a page's main object; default "10710 B".
        #[serde(with = "Size::<1, LARGEST>")]
        pub main_object: u64 = 10_710,
        /// Embedded objects of a page; default 15.
        #[serde(with = "Whole::<1, 10_000>")]
        pub objects: u32 = 15,
        /// Size of an embedded object; default "7758 B".
        #[serde(with = "Size::<1, LARGEST>")]
        pub object: u64 = 7758,
        /// Size of a request; default "350 B".
        #[serde(with = "Size::<1, LARGEST>")]
        pub request: u64 = 350,
        /// Persistent connections for the embedded objects; the main object comes over the first; default 1.
        #[serde(with = "Whole::<1, 1000>")]
        pub connections: u32 = 1,
        /// Whether a connection carries the requests of all its objects together, and not one after the other; default true.
        pub pipelining: bool = true,
        /// The handshake of TLS on each connection: "none" (the default), "1.2" or "1.3".
        pub tls: Tls = Tls::None,
        /// What the server sends first in that handshake, certificates most of it; default "3 kB".
        #[serde(with = "Size::<1, LARGEST>")]
        pub certificates: u64 = 3000,
        /// How long it takes to look the server's name up, before the first connection is opened; default "0 s".
        pub dns: Span = Span::ZERO,
        /// Stop after so many pages.
        #[serde(with = "Whole::<1, 9_007_199_254_740_991>")]
        pub pages: Option<u64> = None,
        /// Stop so long after the start.
        #[serde(with = "AboveZero")]
        pub duration: Option<Span> = None,
    }
}

/// How pages are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Each is the same.
    #[default]
    Constant,
    /// As 3GPP2 C.R1002 draws them, and 3GPP TR 25.892 and IEEE 802.16m after it.
    #[serde(rename = "3gpp2")]
    Gpp2,
}

/// The handshake before the first request on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tls {
    /// In clear.
    #[default]
    None,
    /// A full handshake of RFC 5246: two round trips.
    #[serde(rename = "1.2")]
    V12,
    /// A full handshake of RFC 8446: one round trip.
    #[serde(rename = "1.3")]
    V13,
}

impl App for HttpSpec {
    fn facts(&self) -> Facts {
        Facts {
            duration: self.duration,
            ends: self.pages.is_some() || self.duration.is_some(),
            ends_by: "pages or duration",
            connections: self.connections as usize,
            is_asked_for: true,
            sets_no_delay: true,
            draws: self.think_distribution != Think::Constant || self.size_distribution != Pages::Constant,
        }
    }

    /// Whether a key says nothing beside what another one has.
    fn check(&self, written: &Written<'_>) -> Result<(), Fault> {
        let drawn = self.size_distribution == Pages::Gpp2;
        let rules = &[
            ("page_interval", self.think.is_some(), "cannot be combined with think"),
            ("think_distribution", self.think.is_none(), "needs think"),
            ("certificates", self.tls == Tls::None, "needs tls = \"1.2\" or \"1.3\""),
            ("main_object", drawn, "needs size_distribution = \"constant\""),
            ("object", drawn, "needs size_distribution = \"constant\""),
            ("objects", drawn, "needs size_distribution = \"constant\""),
        ];
        fitting(written, rules)
    }

    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
        Running::connected(Http {
            spec: *self,
            phase: Phase::Reading,
            next: beginning.start,
            think: beginning.stream("think"),
            sizes: beginning.stream("sizes"),
            main: 0,
            unasked: VecDeque::new(),
            handshake: tls::messages(self),
            connections: vec![Connection::default(); self.connections as usize],
            pages: Vec::new(),
        })
    }
}

struct Http {
    spec: HttpSpec,
    phase: Phase,
    /// When the user or the look-up of the name goes on; `Time::NEVER` while a page is on its way, and when none is to come.
    next: Time,
    /// Of times to think, and of sizes.
    think: Stream,
    sizes: Stream,
    main: u64,
    /// Sizes of the embedded objects of this page that were not asked for.
    unasked: VecDeque<u64>,
    /// Bytes of the messages of a TLS handshake, by turns, the client's first.
    handshake: Vec<u64>,
    connections: Vec<Connection>,
    pages: Vec<Exchange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reading,
    /// The server's name is looked up.
    LookingUp,
    Main,
    Embedded,
    /// Every page has come.
    Done,
    /// The user left; `clean` when every connection was closed in good order.
    Left {
        clean: bool,
    },
    /// A connection ended with an error.
    Failed,
}

#[derive(Clone, Debug, Default)]
struct Connection {
    opened: bool,
    closed: bool,
    /// Messages of the TLS handshake that were sent.
    greeted: usize,
    /// Requests that wait for its end.
    waiting: u64,
    /// Requests that the server has answered.
    answered: u64,
    /// Sizes of the objects that were asked for and not answered.
    asked: VecDeque<u64>,
    /// Bytes that the client expects, of the handshake and of all objects asked for.
    expected: u64,
}

impl Connection {
    fn ask(&mut self, size: u64) {
        self.asked.push_back(size);
        self.expected += size;
        self.waiting += 1;
    }
}

impl Http {
    fn page_has_come(&mut self, now: Time, pairs: &mut [Pair<impl Socket>]) {
        let Some(page) = self.pages.last_mut() else { return };
        page.end(now);
        let due = match self.spec.think {
            Some(mean) => now + self.spec.think_distribution.draw(mean, &mut self.think),
            None => (page.start + self.spec.page_interval).max(now),
        };
        if self.spec.pages.is_some_and(|pages| self.pages.len() as u64 >= pages) {
            self.phase = Phase::Done;
            self.close(pairs);
        } else {
            self.phase = Phase::Reading;
            self.next = due;
        }
    }

    /// The client asks for an object of this size.
    fn ask(&mut self, number: usize, size: u64, pairs: &mut [Pair<impl Socket>]) {
        self.connections[number].ask(size);
        self.send_requests(number, pairs);
    }

    /// The client sends the requests that wait, or opens the connection for them.
    fn send_requests(&mut self, number: usize, pairs: &mut [Pair<impl Socket>]) {
        let connection = &mut self.connections[number];
        let [server, client] = &mut pairs[number];
        if !connection.opened {
            connection.opened = true;
            connection.expected += tls::said(&self.handshake, Side::Data);
            server.listen();
            client.connect();
        }
        self.greet(number, Side::Back, pairs);
    }

    /// A side goes on with the handshake of a connection; the client's requests go behind it.
    fn greet(&mut self, number: usize, side: Side, pairs: &mut [Pair<impl Socket>]) {
        let connection = &mut self.connections[number];
        let end = &mut pairs[number][side as usize];
        let (turn, other) = match connection.greeted.is_multiple_of(2) {
            true => (Side::Back, Side::Data),
            false => (Side::Data, Side::Back),
        };
        let delivered = end.delivered();
        if let Some(bytes) = self.handshake.get(connection.greeted)
            && side == turn
            && delivered >= tls::said(&self.handshake[..connection.greeted], other)
        {
            end.write(*bytes);
            connection.greeted += 1;
        }
        let through = connection.greeted == self.handshake.len();
        if through && side == Side::Back && delivered >= tls::said(&self.handshake, Side::Data) {
            end.write(std::mem::take(&mut connection.waiting) * self.spec.request);
        }
    }

    /// The server answers the requests that have come whole.
    fn answer(&mut self, number: usize, pairs: &mut [Pair<impl Socket>]) {
        let connection = &mut self.connections[number];
        let server = &mut pairs[number][0];
        let greeting = tls::said(&self.handshake, Side::Back);
        let requests = server.delivered().saturating_sub(greeting) / self.spec.request;
        let new = requests - connection.answered;
        connection.answered = requests;
        for object in connection.asked.drain(..new as usize) {
            // Nobody waits for what is answered after the client's FIN.
            if server.state() == State::Established {
                server.write(object);
            }
        }
    }

    fn has_all(&self, number: usize, pairs: &[Pair<impl Socket>]) -> bool {
        let [_, client] = &pairs[number];
        client.delivered() == self.connections[number].expected
    }

    /// The client closes its connections; the server follows when it sees that.
    fn close(&mut self, pairs: &mut [Pair<impl Socket>]) {
        self.next = Time::NEVER;
        for (connection, [_, client]) in self.connections.iter().zip(pairs) {
            if connection.opened {
                client.close(true);
            }
        }
    }

    /// Whether no connection is open.
    fn is_closed(&self) -> bool {
        self.connections.iter().all(|connection| connection.closed || !connection.opened)
    }
}

/// The receiving host opens the connections and closes them.
impl<S: Socket> Program<S> for Http {
    /// Asks for the page that is due.
    fn on_time(&mut self, now: Time, pairs: &mut [Pair<S>]) {
        if now < self.next {
            return;
        }
        self.next = Time::NEVER;
        if self.phase == Phase::Reading {
            let page = Page::of(&self.spec, &mut self.sizes);
            self.pages.push(Exchange::begun(now, page.size()));
            (self.main, self.unasked) = (page.main, page.embedded);
            if self.pages.len() == 1 && self.spec.dns > Span::ZERO {
                self.phase = Phase::LookingUp;
                self.next = now + self.spec.dns;
                return;
            }
        }
        self.phase = Phase::Main;
        self.ask(0, self.main, pairs);
    }

    /// The user asks for no more, and does not wait for the rest of a page.
    fn on_stop(&mut self, _: Time, pairs: &mut [Pair<S>]) {
        if !matches!(self.phase, Phase::Done | Phase::Left { .. } | Phase::Failed) {
            self.phase = Phase::Left { clean: self.is_closed() };
            self.close(pairs);
        }
    }

    fn on_data(&mut self, now: Time, number: usize, side: Side, _: u64, pairs: &mut [Pair<S>]) -> Due {
        self.greet(number, side, pairs);
        if side == Side::Data {
            self.answer(number, pairs);
            return Due::default();
        }
        if !self.has_all(number, pairs) {
            return Due::default();
        }
        match self.phase {
            Phase::Main if self.unasked.is_empty() => self.page_has_come(now, pairs),
            Phase::Main => {
                self.phase = Phase::Embedded;
                let asks = if self.spec.pipelining { self.unasked.len() } else { self.connections.len() };
                let asks = asks.min(self.unasked.len());
                let count = self.connections.len();
                for (i, size) in self.unasked.drain(..asks).enumerate() {
                    self.connections[i % count].ask(size);
                }
                // The requests over a connection are one write.
                for number in 0..asks.min(count) {
                    self.send_requests(number, pairs);
                }
            }
            Phase::Embedded => {
                if let Some(size) = self.unasked.pop_front() {
                    self.ask(number, size, pairs);
                    return Due::default();
                }
                if !(0..self.connections.len()).all(|i| self.has_all(i, pairs)) {
                    return Due::default();
                }
                self.page_has_come(now, pairs);
            }
            _ => return Due::default(),
        }
        Due { at: self.next, others: true }
    }

    fn on_closed(&mut self, _: Time, number: usize, side: Side, failed: bool) -> bool {
        if failed {
            self.phase = Phase::Failed;
            self.next = Time::NEVER;
            return true;
        }
        if side == Side::Data {
            return false;
        }
        self.connections[number].closed = true;
        let over = self.is_closed();
        if over && self.phase == (Phase::Left { clean: false }) {
            self.phase = Phase::Left { clean: true };
        }
        over
    }

    fn next_time(&self) -> Time {
        self.next
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.pages
    }

    fn tell(&self, users: &mut Users, flow: &str, [from, _]: [Time; 2]) {
        users.add_pages(flow, &self.pages, from);
    }

    /// Whether the user left before anything was opened.
    fn is_idle(&self) -> bool {
        self.phase == Phase::Left { clean: true }
    }

    fn complete(&self, _: &[Pair<S>]) -> bool {
        matches!(self.phase, Phase::Done | Phase::Left { clean: true })
    }
}
