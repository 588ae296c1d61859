//! A user who asks for a page, waits for it, and asks for the next: persistent HTTP/1.1.
//!
//! A page is a main object and embedded objects. The main object comes over the first connection; only when it has come
//! does the client know of the embedded ones, and opens the other connections when it needs them. Connections stay open
//! from page to page. The server answers a request when its last byte has come.

use std::collections::VecDeque;

use bentpipe_path::Stream;
use bentpipe_tcp::State;
use bentpipe_units::{Span, Time};

use super::page::Page;
use super::transactions::time_to_think;
use super::{Exchange, tls};
use crate::engine::End;
use crate::ids::Side;
use bentpipe_scenario::HttpSpec;

pub(crate) struct Http {
    spec: HttpSpec,
    phase: Phase,
    /// When the user or the look-up of the name goes on; `Time::NEVER` while a page is on its way, and when none is to come.
    pub(super) next: Time,
    /// Of times to think, and of sizes.
    think: Stream,
    sizes: Stream,
    main: u64,
    /// Sizes of the embedded objects of this page that were not asked for.
    unasked: VecDeque<u64>,
    /// Bytes of the messages of a TLS handshake, by turns, the client's first.
    handshake: Vec<u64>,
    connections: Vec<Connection>,
    pub(super) pages: Vec<Exchange>,
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
    pub(crate) fn new(spec: &HttpSpec, start: Time, think: Stream, sizes: Stream) -> Http {
        Http {
            spec: *spec,
            phase: Phase::Reading,
            next: start,
            think,
            sizes,
            main: 0,
            unasked: VecDeque::new(),
            handshake: tls::messages(spec),
            connections: vec![Connection::default(); spec.connections as usize],
            pages: Vec::new(),
        }
    }

    /// Asks for the page that is due.
    pub(super) fn on_time(&mut self, now: Time, pairs: &mut [[End; 2]]) {
        if now < self.next {
            return;
        }
        self.next = Time::NEVER;
        if self.phase == Phase::Reading {
            let page = Page::of(&self.spec, &mut self.sizes);
            self.pages.push(Exchange { start: now, response: None, size: page.size() });
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
    pub(super) fn stop(&mut self, pairs: &mut [[End; 2]]) {
        if !matches!(self.phase, Phase::Done | Phase::Left { .. } | Phase::Failed) {
            self.phase = Phase::Left { clean: self.is_closed() };
            self.close(pairs);
        }
    }

    /// New data was read at an end of connection `number`; returns whether that moved the other ends of the flow too.
    pub(super) fn on_data(&mut self, now: Time, number: usize, side: Side, pairs: &mut [[End; 2]]) -> bool {
        self.greet(number, side, pairs);
        if side == Side::Data {
            self.answer(number, pairs);
            return false;
        }
        if !self.has_all(number, pairs) {
            return false;
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
                    return false;
                }
                if !(0..self.connections.len()).all(|i| self.has_all(i, pairs)) {
                    return false;
                }
                self.page_has_come(now, pairs);
            }
            _ => return false,
        }
        true
    }

    fn page_has_come(&mut self, now: Time, pairs: &mut [[End; 2]]) {
        let Some(page) = self.pages.last_mut() else { return };
        page.response = Some(now.since(page.start));
        let due = match self.spec.think {
            Some(mean) => now + time_to_think(self.spec.think_distribution, mean, &mut self.think),
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
    fn ask(&mut self, number: usize, size: u64, pairs: &mut [[End; 2]]) {
        self.connections[number].ask(size);
        self.send_requests(number, pairs);
    }

    /// The client sends the requests that wait, or opens the connection for them.
    fn send_requests(&mut self, number: usize, pairs: &mut [[End; 2]]) {
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
    fn greet(&mut self, number: usize, side: Side, pairs: &mut [[End; 2]]) {
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
    fn answer(&mut self, number: usize, pairs: &mut [[End; 2]]) {
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

    fn has_all(&self, number: usize, pairs: &[[End; 2]]) -> bool {
        let [_, client] = &pairs[number];
        client.delivered() == self.connections[number].expected
    }

    /// The client closes its connections; the server follows when it sees that.
    fn close(&mut self, pairs: &mut [[End; 2]]) {
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

    /// Whether the user left before anything was opened.
    pub(super) fn is_idle(&self) -> bool {
        self.phase == Phase::Left { clean: true }
    }

    /// An end of connection `number` is closed or in TIME-WAIT: whether the flow is over.
    pub(super) fn on_closed(&mut self, number: usize, side: Side, failed: bool) -> bool {
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

    pub(super) fn complete(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Left { clean: true })
    }
}
