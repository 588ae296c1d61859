//! Recovery: what to retransmit, when.
//!
//! A recovery counts duplicate ACKs or reads the scoreboard, finds losses, tells the control of them and says what goes out
//! next, also after a timeout. It may have timers of its own. It owns no window: what its RFC does to the window, it asks of
//! the control.

mod context;
mod duplicates;
mod next;
mod pieces;
mod reductions;
mod resend;

use std::any::Any;
use std::fmt;

use bentpipe_units::Time;
use bentpipe_units::options;

pub use context::Context;
pub use next::{Next, Outstanding};
pub use reductions::{Reduction, Reductions};
pub use resend::Resend;

use crate::choice::schemes;
pub use crate::runs::Range;
use crate::sender::Agreed;
use crate::{Config, SackBlock, Seq};

schemes! {
    dyn RecoveryFactory, "recovery", "a recovery";
    tahoe::TahoeOptions,
    reno::RenoOptions,
    newreno::NewRenoOptions,
    sack::SackOptions,
    newreno_1999::NewReno1999Options,
    sack_1996::Sack1996Options,
    sack_linux_2_4::SackLinux24Options,
    rack::RackOptions,
}

/// What makes the recovery of each connection: as a rule its options.
pub trait RecoveryFactory: Any + fmt::Debug + Send + Sync {
    /// The recovery of a connection that opens with what the handshake left of `config`.
    fn make(&self, config: &Config, agreed: Agreed) -> Box<dyn Recovery>;

    /// Whether a connection with it offers selective acknowledgments unless it is told otherwise.
    fn offers_sack(&self) -> bool {
        false
    }
}

/// What an ACK of new data did to the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryState {
    /// No recovery under way: the control may open the window.
    Open,
    /// A partial ACK, or the end of recovery: the window is the recovery's business.
    Recovering {
        /// Whether the retransmission timer starts anew.
        restart_timer: bool,
    },
}

/// What to retransmit, when.
pub trait Recovery: Send {
    /// Whether a duplicate ACK is one by its SACK blocks (RFC 6675 section 2) or by its fields (RFC 5681 section 2).
    #[inline]
    fn needs_sack(&self) -> bool {
        false
    }

    /// Whether an ACK that reports nothing new is a duplicate by its fields, beside those that are one by their SACK blocks.
    #[inline]
    fn counts_plain_duplicates(&self) -> bool {
        !self.needs_sack()
    }

    /// The peer reports for the first time that it holds `part`; told before anything else that the ACK means.
    fn on_sacked(&mut self, _part: Range) {}

    /// The peer reports that `block` came to it twice (RFC 2883).
    fn on_duplicate_report(&mut self, _cx: &mut Context<'_>, _block: SackBlock) {}

    /// A duplicate ACK.
    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>);

    /// The cumulative ACK advanced by `acked` bytes, to `cx.una`.
    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState;

    /// What a reduction at the timer's expiry halves, in bytes; none when the window of data was answered for. Asked before the
    /// control is told.
    fn flight_at_timeout(&self, cx: &Context<'_>) -> Option<u32> {
        Some(cx.flight())
    }

    /// `range` goes out again, whoever has it sent; what was sent last ends at `max`.
    fn on_resent(&mut self, _now: Time, _range: Range, _max: Seq) {}

    /// The retransmission timer expired; the control was told.
    fn on_timeout(&mut self, cx: &mut Context<'_>);

    /// What a reduction in answer to a mark halves, in bytes, of `flight` bytes that were outstanding before the ACK that told it.
    fn flight_at_mark(&self, _cx: &Context<'_>, flight: u32) -> u32 {
        flight
    }

    /// In answer to a mark the control took cwnd from `before` bytes to what it is; the ACK that told `moved` the cumulative point
    /// or not.
    fn on_reduced_by_mark(&mut self, _cx: &mut Context<'_>, _before: f64, _moved: bool) {}

    /// When [`Recovery::on_timer`] wants to be called: the time of a timer of the recovery's own.
    #[inline]
    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    /// Whether it takes segments for what is reported, FIN with the data before it; else it counts bytes.
    fn counts_segments(&self) -> bool {
        false
    }

    /// Whether SACKed data opens cwnd as acknowledged data does ([`Growth::Delivered`](crate::Growth::Delivered)).
    fn opens_by_sack(&self) -> bool {
        false
    }

    /// Whether it probes the tail of what is outstanding before the retransmission timer expires; asked when the connection opens.
    fn probes_tail(&self) -> bool {
        false
    }

    /// Whether the tail may be probed, while nothing is on the scoreboard.
    fn may_probe_tail(&self) -> bool {
        self.is_idle()
    }

    /// Whether a probe of the tail is not answered yet, and nothing else is under way.
    fn awaits_probe(&self) -> bool {
        false
    }

    /// Nothing was heard for two round trips and more: whether a probe goes out, which [`Recovery::next`] then names.
    fn on_tail_silent(&mut self, _cx: &mut Context<'_>) -> bool {
        false
    }

    /// The recovery's own timer has expired.
    fn on_timer(&mut self, _cx: &mut Context<'_>) {}

    /// Whether a recovery phase is under way.
    fn in_recovery(&self) -> bool;

    /// Nothing is known to be missing and nothing is to go again: no phase, no duplicate ACK counted. While the scoreboard is
    /// empty too, an ACK of new data then means nothing to the recovery, what is sent and not acknowledged is in flight, and
    /// the sender need not ask.
    fn is_idle(&self) -> bool;

    /// What goes out again in the order of its bytes.
    fn resend(&mut self) -> &mut Resend;

    /// What goes out next, while not idle.
    fn next(&mut self, o: &Outstanding<'_>) -> Next;

    /// Recovery phases entered so far.
    fn phases(&self) -> u32;
}
