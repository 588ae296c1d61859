//! Requests that are answered: a client that asks, waits for the answer, thinks, and asks again.

use crate::prelude::*;
use crate::visit::Visit;

options! {
    "transactions", "requests and answers, one after the other over a persistent TCP connection", also ["telnet"];
    /// Requests, each answered at once, one after the other over one connection that the receiving host opens and that stays
    /// open.
    pub struct TransactionsSpec {
        /// Size of a request; default "350 B".
        #[serde(default = "size::<350>", with = "Size::<1, LARGEST>")]
        pub request: u64,
        /// Size of an answer.
        #[serde(with = "Size::<1, LARGEST>")]
        pub response: u64,
        /// From the last byte of an answer to the next request; default "0 s".
        #[serde(default)]
        pub think: Span,
        /// How `think` is distributed: "constant" (the default), or "exponential" with that mean.
        #[serde(default)]
        pub think_distribution: Think,
        /// Stop after so many transactions.
        #[serde(default, with = "Whole::<1, 9_007_199_254_740_991>")]
        pub transactions: Option<u64>,
        /// Stop so long after the start.
        #[serde(default, with = "AboveZero")]
        pub duration: Option<Span>,
    }
}

/// How the times are distributed for which a user thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Think {
    /// Each is the same.
    #[default]
    Constant,
    /// Without a memory.
    Exponential,
}

impl Think {
    /// How long a user thinks this time.
    pub(crate) fn draw(self, mean: Span, stream: &mut Stream) -> Span {
        match self {
            Think::Constant => mean,
            Think::Exponential => Span::from_secs(mean.as_secs() * stream.exponential()),
        }
    }
}

impl App for TransactionsSpec {
    fn facts(&self) -> Facts {
        Facts {
            duration: self.duration,
            ends: self.transactions.is_some() || self.duration.is_some(),
            ends_by: "transactions or duration",
            is_asked_for: true,
            sets_no_delay: true,
            draws: self.think_distribution != Think::Constant,
            ..Facts::default()
        }
    }

    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
        let (stream, visit) = (beginning.stream("think"), Visit::from(beginning.start));
        Running::connected(Transactions { spec: *self, stream, visit })
    }
}

struct Transactions {
    spec: TransactionsSpec,
    /// Of times to think.
    stream: Stream,
    visit: Visit,
}

impl<S: Socket> Program<S> for Transactions {
    fn on_time(&mut self, now: Time, pairs: &mut [Pair<S>]) {
        if self.visit.is_due(now) {
            self.visit.ask(now, &mut pairs[0], self.spec.request, self.spec.response);
        }
    }

    fn on_stop(&mut self, _: Time, pairs: &mut [Pair<S>]) {
        self.visit.leave(&mut pairs[0][1]);
    }

    fn on_data(&mut self, now: Time, number: usize, side: Side, _: u64, pairs: &mut [Pair<S>]) -> Due {
        let [server, client] = &mut pairs[number];
        if side == Side::Data {
            self.visit.answer(server, self.spec.request);
        } else if self.visit.has_come(now, client) {
            return match self.spec.transactions {
                Some(most) if self.visit.exchanges.len() as u64 >= most => self.visit.finish(client),
                _ => {
                    let think = self.spec.think_distribution.draw(self.spec.think, &mut self.stream);
                    self.visit.pause(now + think)
                }
            };
        }
        Due::default()
    }

    fn on_closed(&mut self, _: Time, _: usize, side: Side, failed: bool) -> bool {
        self.visit.on_closed(side, failed)
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.visit.exchanges
    }

    fn complete(&self, _: &[Pair<S>]) -> bool {
        self.visit.complete()
    }
}
