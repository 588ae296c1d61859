//! How fast the network delivers (draft-cheng-iccrg-delivery-rate-estimation): for controls that ask for it.

use std::cell::Cell;

use bentpipe_units::{Span, Time};

use crate::Seq;

/// How fast the network delivered, from what one ACK reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes delivered from the sending of the newest segment that is reported to its report.
    pub bytes: u64,
    /// The longer of the times in which they were sent and in which they were reported.
    pub interval: Span,
    /// Bytes delivered when that segment was sent: a round trip is over when this reaches what was delivered at its start.
    pub prior_delivered: u64,
    /// Whether the application had no more to send then, so that the network may be faster than this.
    pub app_limited: bool,
    /// Bytes that were in flight when it had been sent, itself among them.
    pub in_flight: u32,
    /// Bytes that were taken for lost since it was sent.
    pub lost: u64,
}

/// A segment that was taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// Its length.
    pub bytes: u32,
    /// Bytes that were in flight when it had been sent, itself among them.
    pub in_flight: u32,
    /// Bytes that were taken for lost since it was sent, itself among them.
    pub lost: u64,
    /// Whether the application had no more to send then.
    pub app_limited: bool,
}

impl RateSample {
    /// In bytes a second; infinite when it took no time.
    pub fn rate(&self) -> f64 {
        // Both are below 2^63: with a sign, each is a number in one instruction, and in six without.
        self.bytes as i64 as f64 / (self.interval.as_nanos() as i64 as f64 / 1e9)
    }
}

/// How things stood when a segment was sent last.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    /// Bytes that had been delivered.
    delivered: u64,
    /// When the newest of them had been reported.
    delivered_at: Time,
    /// When the segment was sent whose delivery was reported then: the start of the interval in which this one was sent.
    interval_from: Time,
    /// Bytes that had been taken for lost.
    lost: u64,
    in_flight: u32,
    app_limited: bool,
}

/// A stamp for each entry of the record, at the same number.
#[derive(Clone, Debug)]
pub(super) struct Stamps {
    /// As many as the record has slots.
    slots: Vec<Stamp>,
    now: Stamp,
    /// What was taken for lost since the control was told last.
    losses: Vec<LostSegment>,
    /// The oldest byte that is not cumulatively acknowledged.
    pub(super) una: Seq,
    /// Once so many bytes are delivered, no segment is under way that was sent while the application had no more.
    limited_until: u64,
    /// Bytes and interval of the sample that was asked for last: asking changes nothing else, and those who ask have no more than a look.
    asked: Cell<(u64, Span)>,
}

impl Stamps {
    pub(super) fn new(slots: usize, una: Seq) -> Stamps {
        let (slots, losses) = (vec![Stamp::default(); slots], Vec::new());
        Stamps { slots, now: Stamp::default(), losses, una, limited_until: 0, asked: Cell::default() }
    }

    /// The entry in `slot` is sent, and `in_flight` bytes are in flight with it; the network was `empty` before, and an interval
    /// without a packet says nothing of it.
    #[inline]
    pub(super) fn sent(&mut self, slot: usize, now: Time, empty: bool, in_flight: u32) {
        if empty {
            self.now.interval_from = now;
            self.now.delivered_at = now;
        }
        self.slots[slot] = Stamp { app_limited: self.limited(), in_flight, ..self.now };
    }

    /// The entry in `slot` is taken for lost, of so many bytes.
    pub(super) fn lost(&mut self, slot: usize, bytes: u32) {
        self.now.lost += u64::from(bytes);
        let Stamp { lost, in_flight, app_limited, .. } = self.slots[slot];
        self.losses.push(LostSegment { bytes, in_flight, lost: self.now.lost - lost, app_limited });
    }

    /// What was taken for lost since [`Stamps::forget_losses`] was called last.
    pub(super) fn losses(&self) -> &[LostSegment] {
        &self.losses
    }

    /// The control was told.
    pub(super) fn forget_losses(&mut self) {
        self.losses.clear();
    }

    /// Whether what is sent now is sent while, or just after, the application had no more.
    pub(super) fn limited(&self) -> bool {
        self.limited_until > self.now.delivered
    }

    /// So many bytes are delivered by now; the newest of the segments that are reported was sent at `newest_at`.
    pub(super) fn delivered(&mut self, now: Time, delivered: u64, newest_at: Option<Time>) {
        self.now.delivered = delivered;
        self.now.delivered_at = now;
        self.now.interval_from = newest_at.unwrap_or(self.now.interval_from);
    }

    /// The application has no more to send, and the window has room, with `flight` bytes outstanding.
    pub(super) fn limit_by_application(&mut self, flight: u32) {
        self.limited_until = self.now.delivered + u64::from(flight).max(1);
    }

    /// The delivery rate by an ACK at `now` whose newest segment is in `slot`, sent at `at`.
    #[inline]
    pub(super) fn sample(&self, slot: usize, at: Time, now: Time) -> RateSample {
        let then = self.slots[slot];
        let bytes = self.now.delivered - then.delivered;
        let interval = at.since(then.interval_from).max(now.since(then.delivered_at));
        self.asked.set((bytes, interval));
        RateSample {
            bytes,
            interval,
            prior_delivered: then.delivered,
            app_limited: then.app_limited,
            in_flight: then.in_flight,
            lost: self.now.lost - then.lost,
        }
    }

    /// By the sample that was asked for last, in bytes a second; none before the first, and of one that took no time.
    pub(super) fn newest_rate(&self) -> Option<f64> {
        let (bytes, interval) = self.asked.get();
        (interval > Span::ZERO).then(|| bytes as f64 / interval.as_secs())
    }

    /// The record has moved the entry in slot `from` to slot `to`.
    pub(super) fn moved(&mut self, from: usize, to: usize) {
        self.slots[to] = self.slots[from];
    }

    /// The record grows to so many slots, a power of two; its entries keep their stamps.
    pub(super) fn grow(&mut self, slots: usize, numbers: std::ops::Range<u64>) {
        let mut grown = vec![Stamp::default(); slots];
        for number in numbers {
            grown[number as usize & (slots - 1)] = self.slots[number as usize & (self.slots.len() - 1)];
        }
        self.slots = grown;
    }
}
