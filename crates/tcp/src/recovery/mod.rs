//! Recovery: what to retransmit, when.
//!
//! A recovery counts duplicate ACKs or keeps a scoreboard, finds losses, tells the control of them and says what goes out
//! next. It owns no window: what its RFC does to the window, it asks of the control.

mod newreno;
mod reno;
mod sack;
mod tahoe;

use bentpipe_units::Time;

pub use newreno::NewReno;
pub use reno::Reno;
pub use sack::Sack;
pub use tahoe::Tahoe;

use crate::control::{Control, Loss, Response, Window};
use crate::{Config, RecoveryKind, SackBlock, Seq};

/// A run of bytes: `start` up to, not including, `end`.
pub type Range = SackBlock;

/// A reduction of the window in answer to a loss, to a mark, or to the timer's expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// When it happened.
    pub time: Time,
    /// Oldest byte not acknowledged then (SND.UNA).
    pub una: Seq,
    /// The window of data that it answers for ends before this byte: [`Loss::recover`], or SND.MAX at a mark or a timeout.
    pub below: Seq,
    /// The byte after the newest one ever sent (SND.MAX).
    pub max: Seq,
    /// Whether it answers to a mark.
    pub marked: bool,
}

/// The reductions of a sender: those that nobody has taken yet, and what the next one depends on.
#[derive(Debug, Default)]
pub struct Reductions {
    untaken: Vec<Reduction>,
    last: Option<Reduction>,
    /// The receiver was not told of the last one.
    to_announce: bool,
}

impl Reductions {
    /// Of those that nobody takes, the older half is forgotten when there are this many.
    pub const MOST_UNTAKEN: usize = 1 << 14;

    /// Writes a reduction down.
    pub fn push(&mut self, reduction: Reduction) {
        if self.untaken.len() == Reductions::MOST_UNTAKEN {
            self.untaken.drain(..Reductions::MOST_UNTAKEN / 2);
        }
        self.untaken.push(reduction);
        self.last = Some(reduction);
        self.to_announce = true;
    }

    /// Those since this was called last, in the order in which they happened.
    pub fn take(&mut self) -> Vec<Reduction> {
        std::mem::take(&mut self.untaken)
    }

    /// Whether the receiver is to be told of a reduction; once for all so far.
    ///
    /// RFC 3168 section 6.1.2: "When an ECN-Capable TCP sender reduces its congestion window for any reason [...], the TCP
    /// sender sets the CWR flag in the TCP header of the first new data packet sent after the window reduction."
    pub fn announce(&mut self) -> bool {
        std::mem::take(&mut self.to_announce)
    }

    /// Whether the last reduction answers for what an ACK up to `una` tells.
    pub fn cover_ack(&self, una: Seq) -> bool {
        self.last.is_some_and(|last| una <= last.max)
    }

    /// Forgets the last reduction once data that was sent after it is acknowledged: sequence numbers come again.
    pub fn acknowledged(&mut self, una: Seq) {
        if !self.cover_ack(una) {
            self.last = None;
        }
    }

    /// Whether a reduction in answer to a mark was for the window of data with a hole at `hole`.
    ///
    /// RFC 3168 section 6.1.2: "the congestion window should be reduced only once in response to a series of dropped and/or
    /// CE packets from a single window of data".
    fn marked_window_with(&self, hole: Seq) -> bool {
        self.last.is_some_and(|last| last.marked && hole < last.max)
    }
}

/// The sender as a recovery sees it.
pub struct Context<'a> {
    /// When the segment arrived or the timer expired.
    pub now: Time,
    /// Oldest byte not acknowledged (SND.UNA), after the ACK at hand.
    pub una: Seq,
    /// Next byte to send (SND.NXT); set back to `una` to go back and send again from there.
    pub nxt: &'a mut Seq,
    /// The byte after the newest one ever sent.
    pub max: Seq,
    /// The window, which only the control changes.
    pub window: &'a mut Window,
    /// Who decides about the window.
    pub control: &'a mut dyn Control,
    /// Set to send the segment that starts at this byte at once, whatever the window.
    pub retransmit_now: &'a mut Option<Seq>,
    /// Where reductions of the window are written down.
    pub reductions: &'a mut Reductions,
}

impl Context<'_> {
    /// Bytes sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight(&self) -> u32 {
        self.max - self.una
    }

    fn loss_at(&self, hole: Seq, first_hole: Seq, recover: Seq, flight: u32) -> Loss {
        Loss { now: self.now, hole, first_hole, recover, flight }
    }

    /// Tells the control of the first loss of a window.
    fn tell_loss(&mut self, loss: &Loss) -> Response {
        if self.reductions.marked_window_with(loss.hole) {
            return Response::Keep;
        }
        let response = self.control.on_loss(self.window, loss);
        self.note(response, loss.recover)
    }

    /// Tells the control of a further loss in a window in which one was found already.
    fn tell_further_loss(&mut self, loss: &Loss) -> Response {
        if self.reductions.marked_window_with(loss.hole) {
            return Response::Keep;
        }
        let response = self.control.on_further_loss(self.window, loss);
        self.note(response, loss.recover)
    }

    /// Duplicate ACKs tell that so many segments have left the network.
    fn inflate(&mut self, segments: u32) {
        self.control.inflate(self.window, segments);
    }

    fn note(&mut self, response: Response, below: Seq) -> Response {
        if response == Response::Reduced {
            let (time, una, max) = (self.now, self.una, self.max);
            self.reductions.push(Reduction { time, una, below, max, marked: false });
        }
        response
    }
}

/// What an ACK of new data did to the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// No recovery under way: the control may open the window.
    Open,
    /// A partial ACK, or the end of recovery: the window is the recovery's business.
    Recovering {
        /// Whether the retransmission timer starts anew.
        restart_timer: bool,
    },
}

/// What to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// From SND.NXT on.
    InOrder,
    /// These bytes again.
    Again(Range),
    /// Data never sent before.
    NewData,
    /// Nothing that the window pays for.
    Nothing,
}

/// The sender's numbers that sending is decided by.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// Oldest byte not acknowledged.
    pub una: Seq,
    /// Next byte to send.
    pub nxt: Seq,
    /// The byte after the newest one ever sent.
    pub max: Seq,
    /// Sender maximum segment size in bytes.
    pub smss: u32,
    /// Whether there is data never sent, and the receive window has room for it.
    pub new_data: bool,
    /// Bytes of cwnd that nothing in flight takes.
    pub room: u32,
}

/// What to retransmit, when.
pub trait Recovery: Send {
    /// SACK blocks arrived with an ACK; true when they tell something new.
    fn on_sack(&mut self, _blocks: &[SackBlock], _una: Seq, _max: Seq) -> bool {
        false
    }

    /// Whether a duplicate ACK is one by its SACK blocks (RFC 6675 section 2) or by its fields (RFC 5681 section 2).
    #[inline]
    fn needs_sack(&self) -> bool {
        false
    }

    /// A duplicate ACK.
    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>);

    /// The cumulative ACK advanced by `acked` bytes, to `cx.una`.
    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> Progress;

    /// The retransmission timer expired; the control was told. Everything outstanding is to be sent again from `una`.
    fn on_timeout(&mut self, cx: &mut Context<'_>);

    /// Whether a recovery phase is under way.
    fn in_recovery(&self) -> bool;

    /// Nothing is known to be missing: no phase, no duplicate ACK counted, nothing on a scoreboard. An ACK of new data then
    /// means nothing to the recovery, what is sent and not acknowledged is in flight, and the sender need not ask.
    fn is_idle(&self) -> bool;

    /// Bytes taken to be in the network.
    #[inline]
    fn in_flight(&self, o: &Outstanding) -> u32 {
        o.nxt - o.una
    }

    /// Bytes beyond cwnd that limited transmit allows now (RFC 3042).
    #[inline]
    fn extra_window(&self, _smss: u32) -> u32 {
        0
    }

    /// What goes out next while recovery is under way.
    #[inline]
    fn next(&mut self, _o: &Outstanding) -> Next {
        Next::InOrder
    }

    /// The first run of bytes at or after `seq` that the receiver is not known to hold, ending at `max` at the latest.
    #[inline]
    fn missing_from(&self, seq: Seq, max: Seq) -> Range {
        Range { start: seq, end: max }
    }

    /// Runs of bytes on a scoreboard.
    fn scoreboard_runs(&self) -> usize {
        0
    }

    /// Recovery phases entered so far.
    fn phases(&self) -> u32;
}

/// What the recoveries that only count duplicate ACKs share.
#[derive(Clone, Copy, Debug)]
struct DuplicateAcks {
    count: u32,
    threshold: u32,
    limited_transmit: bool,
    /// No new phase before the data below this is acknowledged; RFC 6582's `recover`.
    recover: Option<Seq>,
    guard: bool,
    /// What was outstanding when the first duplicate came ends here; limited transmit sends beyond it.
    before_duplicates: Seq,
    phases: u32,
}

impl DuplicateAcks {
    fn new(config: &Config, guard: bool) -> DuplicateAcks {
        DuplicateAcks {
            count: 0,
            threshold: config.duplicate_threshold,
            limited_transmit: config.limited_transmit,
            recover: None,
            guard,
            before_duplicates: Seq::default(),
            phases: 0,
        }
    }

    /// Counts one more; true when it is the one that means a loss.
    fn reached(&mut self, una: Seq, max: Seq) -> bool {
        if self.count == 0 {
            self.before_duplicates = max;
        }
        self.count += 1;
        // RFC 6582 section 3.2 step 2: "the Cumulative Acknowledgment field covers more than 'recover'".
        let covered = !self.guard || self.recover.is_none_or(|recover| una > recover);
        self.count == self.threshold && covered
    }

    fn extra_window(&self, smss: u32) -> u32 {
        if self.limited_transmit && self.count < self.threshold { self.count.min(2) * smss } else { 0 }
    }

    /// Tells the control of the loss at `una`, and notes how far the window reaches.
    fn enter(&mut self, cx: &mut Context<'_>) -> Response {
        self.recover = Some(cx.max);
        self.phases += 1;
        // RFC 5681 section 3.2 step 2: data sent by limited transmit "MUST NOT be included in this calculation".
        let loss = cx.loss_at(cx.una, cx.una, cx.max, self.before_duplicates - cx.una);
        cx.tell_loss(&loss)
    }

    fn timed_out(&mut self, max: Seq) {
        self.count = 0;
        self.recover = Some(max);
    }
}

/// The recovery that `config` names.
pub fn new(config: &Config) -> Box<dyn Recovery> {
    match config.recovery {
        RecoveryKind::Tahoe => Box::new(Tahoe::new(config)),
        RecoveryKind::Reno => Box::new(Reno::new(config)),
        RecoveryKind::NewReno => Box::new(NewReno::new(config)),
        RecoveryKind::Sack => Box::new(Sack::new(config)),
    }
}
