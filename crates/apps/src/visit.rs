//! Requests and answers, one after the other over one connection.

use bentpipe_tcp::State;
use bentpipe_units::Time;

use crate::{Due, Exchange, Pair, Side, Socket};

/// A user who asks again and again over one connection, which stays open: the receiving host opens and closes it.
pub(crate) struct Visit {
    phase: Phase,
    /// When the next request is due; `Time::NEVER` while one is on its way, and when none is to come.
    next: Time,
    /// Requests that the server has answered.
    answered: u64,
    /// Bytes of all answers that were asked for.
    expected: u64,
    pub(crate) exchanges: Vec<Exchange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The next request is not due.
    Pausing,
    Waiting,
    /// Every answer has come.
    Done,
    /// The user left; `clean` when the connection was closed in good order.
    Left {
        clean: bool,
    },
    /// The connection ended with an error.
    Failed,
}

impl Visit {
    pub(crate) fn from(start: Time) -> Visit {
        Visit { phase: Phase::Pausing, next: start, answered: 0, expected: 0, exchanges: Vec::new() }
    }

    pub(crate) fn is_due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// Whether the user is there, and has not all.
    pub(crate) fn goes_on(&self) -> bool {
        matches!(self.phase, Phase::Pausing | Phase::Waiting)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// The user asks, by a request of so many bytes, for `size` bytes.
    pub(crate) fn ask<S: Socket>(
        &mut self,
        now: Time,
        [server, client]: &mut Pair<S>,
        request: u64,
        size: u64,
    ) {
        if self.exchanges.is_empty() {
            server.listen();
            client.connect();
        }
        self.next = Time::NEVER;
        self.phase = Phase::Waiting;
        self.expected += size;
        self.exchanges.push(Exchange::begun(now, size));
        client.write(request);
    }

    /// The server has read more of requests of so many bytes each: it answers each with the size of the newest one.
    pub(crate) fn answer(&mut self, server: &mut impl Socket, request: u64) {
        let whole = server.delivered() / request;
        // Nobody waits for what is answered after the client's FIN.
        if whole > self.answered && server.state() == State::Established {
            let size = self.exchanges.last().map_or(0, |exchange| exchange.size);
            server.write((whole - self.answered) * size);
        }
        self.answered = whole;
    }

    /// Whether the answer that the user waits for has come.
    pub(crate) fn has_come(&mut self, now: Time, client: &impl Socket) -> bool {
        let come = self.phase == Phase::Waiting && client.delivered() >= self.expected;
        if let (true, Some(exchange)) = (come, self.exchanges.last_mut()) {
            exchange.end(now);
        }
        come
    }

    /// The user asks again at a time.
    pub(crate) fn pause(&mut self, until: Time) -> Due {
        (self.phase, self.next) = (Phase::Pausing, until);
        Due { at: until, others: false }
    }

    /// The user has all.
    pub(crate) fn finish(&mut self, client: &mut impl Socket) -> Due {
        self.phase = Phase::Done;
        client.close(true);
        Due::default()
    }

    /// The user asks for no more, and does not wait for an answer.
    pub(crate) fn leave(&mut self, client: &mut impl Socket) {
        if self.goes_on() {
            (self.phase, self.next) = (Phase::Left { clean: false }, Time::NEVER);
            client.close(true);
        }
    }

    /// An end is closed or in TIME-WAIT: whether the flow is over.
    pub(crate) fn on_closed(&mut self, side: Side, failed: bool) -> bool {
        if failed {
            (self.phase, self.next) = (Phase::Failed, Time::NEVER);
        } else if side == Side::Back && self.phase == (Phase::Left { clean: false }) {
            self.phase = Phase::Left { clean: true };
        }
        failed || side == Side::Back
    }

    pub(crate) fn complete(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Left { clean: true })
    }
}
