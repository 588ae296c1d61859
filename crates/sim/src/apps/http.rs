//! A user who asks for a page, waits for it, and asks for the next: persistent HTTP/1.1.
//!
//! A page is a main object and embedded objects. The main object comes over the first connection; only when it has come
//! does the client know of the embedded ones, and opens the other connections when it needs them. Connections stay open
//! from page to page. The server answers a request when its last byte has come.

use bentpipe_tcp::State;
use bentpipe_units::Time;

use super::Exchange;
use crate::engine::End;
use crate::ids::Side;
use crate::scenario::HttpSpec;

pub(crate) struct Http {
    spec: HttpSpec,
    phase: Phase,
    /// When the next page is asked for; `Time::NEVER` while one is on its way, and when none is to come.
    pub(super) next_page: Time,
    /// Size of the objects under way: requests are all for the main object, or all for embedded ones.
    object_size: u64,
    /// Embedded objects of this page that were not asked for.
    unasked: u32,
    connections: Vec<Connection>,
    pub(super) pages: Vec<Exchange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reading,
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

#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    opened: bool,
    closed: bool,
    /// Requests that the server has answered.
    answered: u64,
    /// Bytes of all objects asked for, which the client expects.
    expected: u64,
}

impl Http {
    pub(crate) fn new(spec: &HttpSpec, start: Time) -> Http {
        Http {
            spec: *spec,
            phase: Phase::Reading,
            next_page: start,
            object_size: 0,
            unasked: 0,
            connections: vec![Connection::default(); spec.connections as usize],
            pages: Vec::new(),
        }
    }

    /// Asks for the page that is due.
    pub(super) fn on_time(&mut self, now: Time, pairs: &mut [[End; 2]]) {
        if now < self.next_page {
            return;
        }
        self.next_page = Time::NEVER;
        let size = self.spec.main_object + u64::from(self.spec.objects) * self.spec.object;
        self.pages.push(Exchange { start: now, response: None, size });
        self.phase = Phase::Main;
        self.object_size = self.spec.main_object;
        self.ask(0, 1, pairs);
    }

    /// The user asks for no more, and does not wait for the rest of a page.
    pub(super) fn stop(&mut self, pairs: &mut [[End; 2]]) {
        if matches!(self.phase, Phase::Reading | Phase::Main | Phase::Embedded) {
            self.phase = Phase::Left { clean: false };
            self.close(pairs);
        }
    }

    /// New data was read at an end of connection `number`; returns whether that moved the other ends of the flow too.
    pub(super) fn on_data(&mut self, now: Time, number: usize, side: Side, pairs: &mut [[End; 2]]) -> bool {
        if side == Side::Data {
            self.answer(number, pairs);
            return false;
        }
        match self.phase {
            Phase::Main if self.has_all(number, pairs) => {
                self.phase = Phase::Embedded;
                self.object_size = self.spec.object;
                self.unasked = self.spec.objects;
                let HttpSpec { objects, connections, pipelining, .. } = self.spec;
                for i in 0..connections {
                    let share = match pipelining {
                        true => objects / connections + u32::from(i < objects % connections),
                        false => self.unasked.min(1),
                    };
                    if share > 0 {
                        self.unasked -= share;
                        self.ask(i as usize, share, pairs);
                    }
                }
                true
            }
            Phase::Embedded if self.has_all(number, pairs) => {
                if self.unasked > 0 {
                    self.unasked -= 1;
                    self.ask(number, 1, pairs);
                    return false;
                }
                let complete = (0..self.connections.len()).all(|i| self.has_all(i, pairs));
                if complete {
                    self.page_has_come(now, pairs);
                }
                complete
            }
            _ => false,
        }
    }

    fn page_has_come(&mut self, now: Time, pairs: &mut [[End; 2]]) {
        let Some(page) = self.pages.last_mut() else { return };
        page.response = Some(now.since(page.start));
        let due = page.start + self.spec.page_interval;
        if self.spec.pages.is_some_and(|pages| self.pages.len() as u64 >= pages) {
            self.phase = Phase::Done;
            self.close(pairs);
        } else {
            self.phase = Phase::Reading;
            self.next_page = due.max(now);
        }
    }

    /// The client sends requests for as many objects of the kind that is due.
    fn ask(&mut self, number: usize, objects: u32, pairs: &mut [[End; 2]]) {
        let connection = &mut self.connections[number];
        let [server, client] = &mut pairs[number];
        if !connection.opened {
            connection.opened = true;
            server.tcp.listen();
            client.tcp.connect();
        }
        connection.expected += u64::from(objects) * self.object_size;
        client.tcp.write(u64::from(objects) * self.spec.request);
    }

    /// The server answers the requests that have come whole.
    fn answer(&mut self, number: usize, pairs: &mut [[End; 2]]) {
        let connection = &mut self.connections[number];
        let tcp = &mut pairs[number][0].tcp;
        let requests = tcp.receiver().delivered() / self.spec.request;
        // Nobody waits for what is answered after the client's FIN.
        if requests > connection.answered && tcp.state() == State::Established {
            tcp.write((requests - connection.answered) * self.object_size);
        }
        connection.answered = requests;
    }

    fn has_all(&self, number: usize, pairs: &[[End; 2]]) -> bool {
        let [_, client] = &pairs[number];
        client.tcp.receiver().delivered() == self.connections[number].expected
    }

    /// The client closes its connections; the server follows when it sees that.
    fn close(&mut self, pairs: &mut [[End; 2]]) {
        self.next_page = Time::NEVER;
        for (connection, [_, client]) in self.connections.iter().zip(pairs) {
            if connection.opened {
                client.tcp.close(true);
            }
        }
    }

    /// An end of connection `number` is closed or in TIME-WAIT: whether the flow is over.
    pub(super) fn on_closed(&mut self, number: usize, side: Side, failed: bool) -> bool {
        if failed {
            self.phase = Phase::Failed;
            self.next_page = Time::NEVER;
            return true;
        }
        if side == Side::Data {
            return false;
        }
        self.connections[number].closed = true;
        let over = self.connections.iter().all(|connection| connection.closed || !connection.opened);
        if over && self.phase == (Phase::Left { clean: false }) {
            self.phase = Phase::Left { clean: true };
        }
        over
    }

    pub(super) fn complete(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Left { clean: true })
    }
}
