//! What a control is told.

use bentpipe_units::{Span, Time};

use crate::sender::{LostSegment, RateSample, Record};

/// An ACK, whether it moves the cumulative acknowledgment point, reports SACKed data, or neither.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// When it arrived.
    pub now: Time,
    /// Bytes newly acknowledged by the cumulative acknowledgment.
    pub acked: u32,
    /// What growth counts beyond them; below 0 where some of them were reported before ([`Growth::Delivered`](crate::Growth::Delivered)).
    pub counted_beside: i32,
    /// Flight size after the ACK: bytes sent and not cumulatively acknowledged.
    pub flight: u32,
    /// Flight size before the ACK.
    pub prior_flight: u32,
    /// The window that the receiver advertised in this ACK.
    pub rwnd: u32,
    /// The sample that the ACK gave to the retransmission timer: one a round trip where there are no timestamps.
    pub rtt_sample: Option<Span>,
    /// Smallest sample of the retransmission timer.
    pub rtt_min: Option<Span>,
    /// Whether so much of cwnd was used that growth is warranted ([`GrowthGate`](crate::GrowthGate)).
    pub cwnd_limited: bool,
    /// Whether it echoes a mark (RFC 3168).
    pub mark_echo: bool,
    /// Whether a recovery phase was under way, so that cwnd is the recovery's business.
    pub in_recovery: bool,
    /// What was sent, and what became of it.
    pub record: &'a Record,
}

impl<'a> Ack<'a> {
    /// An ACK of nothing by a sender that has filled its window of nothing: for a control that is tried alone.
    pub fn new(record: &'a Record) -> Ack<'a> {
        Ack {
            now: Time::ZERO,
            acked: 0,
            counted_beside: 0,
            flight: 0,
            prior_flight: 0,
            rwnd: 0,
            rtt_sample: None,
            rtt_min: None,
            cwnd_limited: true,
            mark_echo: false,
            in_recovery: false,
            record,
        }
    }

    /// Whether it may open cwnd.
    ///
    /// RFC 3168 section 6.1.2: "The sending TCP SHOULD NOT increase the congestion window in response to the receipt of an
    /// ECN-Echo ACK packet."
    #[inline]
    pub fn opens_window(&self) -> bool {
        (self.acked > 0 || self.counted_beside > 0)
            && self.cwnd_limited
            && !self.in_recovery
            && !self.mark_echo
    }

    /// Bytes by which it may open cwnd.
    #[inline]
    pub fn counted(&self) -> u32 {
        self.acked.saturating_add_signed(self.counted_beside)
    }

    /// Bytes that it reported for the first time, in order or selectively.
    #[inline]
    pub fn newly_delivered(&self) -> u32 {
        self.record.newly_delivered()
    }

    /// Bytes of the connection reported so far, in order or selectively.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.record.delivered()
    }

    /// Bytes taken to be in the network after it: neither reported, nor taken for lost since they were sent last.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.record.in_flight(self.flight)
    }

    /// Bytes of the connection taken for lost so far, by the recovery or by the timer.
    #[inline]
    pub fn lost(&self) -> u64 {
        self.record.lost()
    }

    /// Bytes that the recovery has taken for lost by it.
    #[inline]
    pub fn newly_lost(&self) -> u32 {
        self.record.newly_lost()
    }

    /// The segments that were taken for lost since the control was told of an ACK last, by this ACK or by a timer; none where the
    /// control did not ask ([`Extras::reads_rates`](super::Extras::reads_rates)).
    #[inline]
    pub fn losses(&self) -> &[LostSegment] {
        self.record.losses()
    }

    /// RTT by the newest segment that it reports for the first time; none when that was sent twice (Karn).
    #[inline]
    pub fn rtt(&self) -> Option<Span> {
        self.record.newest().filter(|newest| !newest.resent()).map(|newest| self.now.since(newest.at))
    }

    /// What Linux's modules are told (`ack_sample.rtt_us`): where only what went again was acknowledged, the RTT by the timestamp, in whole
    /// ms, which may be less than any other (`tcp_ack_update_rtt`).
    #[inline]
    pub fn rtt_or_timestamp(&self) -> Option<Span> {
        self.rtt().or(self.rtt_sample)
    }

    /// When the newest segment was sent that it reports for the first time: a round trip has passed when this reaches the time
    /// at which it began.
    #[inline]
    pub fn newest_sent_at(&self) -> Option<Time> {
        self.record.newest().map(|newest| newest.at)
    }

    /// The delivery rate that it shows; none when it reports nothing new, or the control did not ask
    /// ([`Extras::reads_rates`](super::Extras::reads_rates)).
    pub fn rate(&self) -> Option<RateSample> {
        self.record.rate(self.now)
    }
}

/// A loss found by recovery (not by the timer).
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was found.
    pub now: Time,
    /// Bytes from the first hole of this window to the hole; 0 for the first.
    pub distance: u32,
    /// Bytes sent and not cumulatively acknowledged, or what the recovery has halved instead.
    pub flight: u32,
}

/// News that a packet was marked on its way (RFC 3168), in a window of data for which the window was not reduced yet.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// When it came.
    pub now: Time,
    /// Bytes sent and not cumulatively acknowledged, before the ACK that told it, or what the recovery has halved instead.
    pub flight: u32,
}

/// What a control answers to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The window was reduced; recovery goes on as its RFC says.
    Reduced,
    /// Repair the hole, leave the window alone.
    Keep,
    /// The reduction of this window leaves more than was said at first: ssthresh is where it ends.
    Adjusted,
}

/// An ACK of new data that leaves data of the window in which the loss happened outstanding.
#[derive(Clone, Copy, Debug)]
pub struct PartialAck {
    /// Bytes newly acknowledged.
    pub acked: u32,
    /// Flight size after the ACK.
    pub flight: u32,
    /// Whether duplicate ACKs have inflated cwnd (Reno, NewReno) or pipe stands for them (SACK).
    pub inflated: bool,
}

/// The end of a recovery phase.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    /// Flight size after the ACK that ended it.
    pub flight: u32,
    /// Bytes cumulatively acknowledged from the phase's first loss to its end.
    pub acked: u32,
    /// cwnd as the recovery's RFC has it.
    pub cwnd: f64,
}

/// The retransmission timer's expiry.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// When it expired.
    pub now: Time,
    /// Bytes sent and not cumulatively acknowledged, or what the recovery has halved instead.
    pub flight: u32,
    /// Whether the window of data was answered for: as a rule, whether the oldest segment was retransmitted by the timer already.
    pub repeated: bool,
}

/// The end of a pause, however short.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    /// When it ends.
    pub now: Time,
    /// How long nothing was sent.
    pub idle: Span,
    /// Whether the application made it.
    pub by_application: bool,
}

/// What the sender is about to compare a segment with.
#[derive(Clone, Copy, Debug)]
pub struct SendView {
    /// Bytes sent and not cumulatively acknowledged.
    pub flight: u32,
    /// The window that the receiver advertised.
    pub rwnd: u32,
    /// Whether recovery is under way.
    pub in_recovery: bool,
}

/// What routers allotted to a connection (XCP).
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// Change of throughput, in bytes a second.
    pub change: f64,
    /// Routers that the last segment of data had passed of which the peer tells; 0 where nobody allots anything.
    pub routers: u8,
    /// Whether recovery is under way.
    pub in_recovery: bool,
}

/// What bounds the data that a sender has to send.
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// The window that the receiver advertised.
    pub rwnd: u32,
    /// Bytes that the application handed over and that were never sent; `u64::MAX` has no end.
    pub unsent: u64,
}
