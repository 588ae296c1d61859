//! HyStart++ (RFC 9406): `hystart++`.

use bentpipe_units::{Span, Time};

use super::{SlowStart, SlowStartFactory, options};
use crate::control::{Ack, Window};

/// RFC 9406 section 4.3: RTT samples of a round before it is judged.
const SAMPLES: u32 = 8;
/// How much longer the RTT has to be, at least and at most, and as a share of that of the round before.
const LEAST_RISE: Span = Span::from_millis(4);
const MOST_RISE: Span = Span::from_millis(16);
const RISE_DIVISOR: u64 = 8;
/// What conservative slow start divides growth by, and how many rounds it lasts.
const GROWTH_DIVISOR: f64 = 4.0;
const CONSERVATIVE_ROUNDS: u32 = 5;

/// Slow start that grows by a quarter once the RTT rises, and ends after five rounds of that.
///
/// It is for the first slow start of a connection, as long as ssthresh is what it began with; then it is RFC 5681's. The limit L of
/// section 4.2 is the sender's own on what an ACK adds.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStartPlusPlus {
    /// ssthresh when the connection began.
    initial_ssthresh: Option<f64>,
    timed_out: bool,
    round: Round,
    /// The smallest RTT of the round before.
    last: Option<Span>,
    conservative: Option<Conservative>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Time,
    /// The smallest RTT, and of how many samples.
    smallest: Option<Span>,
    samples: u32,
}

/// Conservative slow start, CSS.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The RTT that began it: a smaller one tells that the rise was none.
    baseline: Span,
    rounds: u32,
}

impl HyStartPlusPlus {
    /// Whether conservative slow start is under way.
    pub fn conservative(&self) -> bool {
        self.conservative.is_some()
    }

    /// Takes what an ACK tells of its round; gives whether it is the first of a new one.
    fn sample(&mut self, ack: &Ack<'_>) -> bool {
        let begins = ack.newest_sent_at().is_some_and(|sent| sent >= self.round.began);
        if begins {
            self.last = self.round.smallest;
            self.round = Round { began: ack.now, ..Round::default() };
        }
        if let Some(rtt) = ack.rtt() {
            self.round.smallest = Some(self.round.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
            self.round.samples += 1;
        }
        begins
    }

    /// The smallest RTT of the round, once it has samples enough.
    fn judged(&self) -> Option<Span> {
        self.round.smallest.filter(|_| self.round.samples >= SAMPLES)
    }
}

impl SlowStart for HyStartPlusPlus {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, growth: f64) {
        let initial = *self.initial_ssthresh.get_or_insert(w.ssthresh);
        if self.timed_out || w.ssthresh != initial {
            w.cwnd += growth;
            return;
        }
        let begins = self.sample(ack);
        if let Some(phase) = &mut self.conservative {
            phase.rounds += u32::from(begins);
            let over = phase.rounds >= CONSERVATIVE_ROUNDS;
            let baseline = phase.baseline;
            w.cwnd += growth / GROWTH_DIVISOR;
            if over {
                w.ssthresh = w.cwnd;
                self.conservative = None;
            } else if self.judged().is_some_and(|rtt| rtt < baseline) {
                self.conservative = None;
            }
            return;
        }
        w.cwnd += growth;
        if let (Some(last), Some(rtt)) = (self.last, self.judged())
            && rtt >= last + (last / RISE_DIVISOR).clamp(LEAST_RISE, MOST_RISE)
        {
            self.conservative = Some(Conservative { baseline: rtt, rounds: 0 });
        }
    }

    fn on_timeout(&mut self) {
        self.timed_out = true;
    }

    fn phase(&self, w: &Window) -> Option<&'static str> {
        // A loss or a timeout has ended it for good, without an ACK of slow start that would tell it so.
        let first = self.initial_ssthresh == Some(w.ssthresh) && !self.timed_out;
        (first && self.conservative()).then_some("conservative")
    }
}

options! {
    "hystart++", "HyStart++: a quarter of the growth once the RTT rises, five rounds of it at most (RFC 9406)";
    /// The choice of [`HyStartPlusPlus`]. It has no options: the constants are the RFC's.
    pub struct HyStartPlusPlusOptions;
}

impl SlowStartFactory for HyStartPlusPlusOptions {
    fn make(&self) -> Box<dyn SlowStart> {
        Box::<HyStartPlusPlus>::default()
    }

    fn phases(&self) -> &'static [&'static str] {
        &["conservative"]
    }
}
