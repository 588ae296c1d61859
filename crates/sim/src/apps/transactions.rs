//! A client that asks, waits for the answer, thinks, and asks again, over one connection that stays open.

use bentpipe_path::Stream;
use bentpipe_tcp::State;
use bentpipe_units::{Span, Time};

use super::{Due, Exchange};
use crate::engine::End;
use crate::ids::Side;
use bentpipe_scenario::{Think, TransactionsSpec};

pub(crate) struct Transactions {
    spec: TransactionsSpec,
    /// Of times to think.
    stream: Stream,
    phase: Phase,
    /// When the next request is due; `Time::NEVER` while one is on its way, and when none is to come.
    next: Time,
    /// Requests that the server has answered.
    answered: u64,
    pub(super) exchanges: Vec<Exchange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Thinking,
    Waiting,
    /// Every answer has come.
    Done,
    /// The client left; `clean` when the connection was closed in good order.
    Left {
        clean: bool,
    },
    /// The connection ended with an error.
    Failed,
}

impl Transactions {
    pub(crate) fn new(spec: &TransactionsSpec, start: Time, stream: Stream) -> Transactions {
        let (phase, exchanges) = (Phase::Thinking, Vec::new());
        Transactions { spec: *spec, stream, phase, next: start, answered: 0, exchanges }
    }

    /// Sends the request that is due.
    pub(super) fn on_time(&mut self, now: Time, [server, client]: &mut [End; 2]) {
        if now < self.next {
            return;
        }
        if self.exchanges.is_empty() {
            server.listen();
            client.connect();
        }
        self.next = Time::NEVER;
        self.phase = Phase::Waiting;
        self.exchanges.push(Exchange { start: now, response: None, size: self.spec.response });
        client.write(self.spec.request);
    }

    /// The client asks for no more, and does not wait for an answer.
    pub(super) fn stop(&mut self, [_, client]: &mut [End; 2]) {
        if matches!(self.phase, Phase::Thinking | Phase::Waiting) {
            self.phase = Phase::Left { clean: false };
            self.next = Time::NEVER;
            client.close(true);
        }
    }

    /// New data was read at an end.
    pub(super) fn on_data(&mut self, now: Time, side: Side, [server, client]: &mut [End; 2]) -> Due {
        if side == Side::Data {
            let asked = server.delivered() / self.spec.request;
            // Nobody waits for what is answered after the client's FIN.
            if asked > self.answered && server.state() == State::Established {
                server.write((asked - self.answered) * self.spec.response);
            }
            self.answered = asked;
            return Due::default();
        }
        let asked = self.exchanges.len() as u64;
        if self.phase != Phase::Waiting || client.delivered() < asked * self.spec.response {
            return Due::default();
        }
        if let Some(exchange) = self.exchanges.last_mut() {
            exchange.response = Some(now.since(exchange.start));
        }
        if self.spec.transactions.is_some_and(|most| asked >= most) {
            self.phase = Phase::Done;
            client.close(true);
            return Due::default();
        }
        self.phase = Phase::Thinking;
        self.next = now + time_to_think(self.spec.think_distribution, self.spec.think, &mut self.stream);
        Due { at: self.next, others: false }
    }

    /// An end is closed or in TIME-WAIT: whether the flow is over.
    pub(super) fn on_closed(&mut self, side: Side, failed: bool) -> bool {
        if failed {
            self.phase = Phase::Failed;
            self.next = Time::NEVER;
        } else if side == Side::Back && self.phase == (Phase::Left { clean: false }) {
            self.phase = Phase::Left { clean: true };
        }
        failed || side == Side::Back
    }

    pub(super) fn complete(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Left { clean: true })
    }
}

/// How long a user thinks this time.
pub(super) fn time_to_think(think: Think, mean: Span, stream: &mut Stream) -> Span {
    match think {
        Think::Constant => mean,
        Think::Exponential => Span::from_secs(mean.as_secs() * stream.exponential()),
    }
}
