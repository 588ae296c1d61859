//! A sender over a bottleneck that a test can see into: for controls that go through phases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bentpipe_units::{Span, Time};

use super::{
    Ack, Control, Exit, Extras, Loss, Mark, PartialAck, Response, Resume, StandardOptions, Timeout, Window,
};
use crate::recovery::RackOptions;
use crate::slow_start::SlowStart;
use crate::{Incoming, Profile, SackBlock, Sender, Seq};

/// Bytes of a segment.
pub(super) const SMSS: f64 = 1000.0;

pub(super) fn ms(ms: f64) -> Span {
    Span::from_nanos((ms * 1e6) as u64)
}

/// A control that keeps a copy of itself for the test, taken after each event.
struct Watched<C>(C, Arc<Mutex<C>>);

impl<C: Control + Copy> Watched<C> {
    fn tell<T>(&mut self, call: impl FnOnce(&mut C) -> T) -> T {
        let told = call(&mut self.0);
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = self.0;
        told
    }
}

impl<C: Control + Copy> Control for Watched<C> {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        self.tell(|control| control.on_ack(w, ack, slow_start));
    }
    fn on_rtt_sample(&mut self, now: Time, sample: Span) {
        self.tell(|control| control.on_rtt_sample(now, sample));
    }
    fn slow_start_growth(&mut self, w: &Window, ack: &Ack<'_>) -> f64 {
        self.tell(|control| control.slow_start_growth(w, ack))
    }
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        self.tell(|control| control.congestion_avoidance(w, ack));
    }
    fn on_handshake(&mut self, w: &mut Window, now: Time, rtt: Span) {
        self.tell(|control| control.on_handshake(w, now, rtt));
    }
    fn on_resume(&mut self, w: &mut Window, resume: &Resume) {
        self.tell(|control| control.on_resume(w, resume));
    }
    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.tell(|control| control.on_loss(w, loss))
    }
    fn on_further_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.tell(|control| control.on_further_loss(w, loss))
    }
    fn on_recovery_exit(&mut self, w: &mut Window, exit: &Exit) {
        self.tell(|control| control.on_recovery_exit(w, exit));
    }
    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        self.tell(|control| control.on_timeout(w, timeout));
    }
    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.tell(|control| control.on_congestion_mark(w, mark));
    }
    fn save(&mut self, w: &mut Window) {
        self.tell(|control| control.save(w));
    }
    fn restore(&mut self, w: &mut Window) {
        self.tell(|control| control.restore(w));
    }
    fn inflate(&mut self, w: &mut Window, segments: u32) {
        self.tell(|control| control.inflate(w, segments));
    }
    fn deflate(&mut self, w: &mut Window, bytes: u32) {
        self.tell(|control| control.deflate(w, bytes));
    }
    fn on_step(&mut self, w: &mut Window, cwnd: f64) {
        self.tell(|control| control.on_step(w, cwnd));
    }
    fn start_over(&mut self, w: &mut Window) {
        self.tell(|control| control.start_over(w));
    }
    fn restart_after_idle(&mut self, w: &mut Window, restart: f64) {
        self.tell(|control| control.restart_after_idle(w, restart));
    }
    fn on_partial_ack(&mut self, w: &mut Window, ack: &PartialAck) {
        self.tell(|control| control.on_partial_ack(w, ack));
    }
    fn extras(&mut self) -> Extras<'_> {
        self.0.extras()
    }
}

/// A token bucket that drops what it has no token for.
pub(super) struct Policer {
    /// Bytes a second.
    pub(super) rate: f64,
    /// Bytes.
    pub(super) burst: f64,
    pub(super) tokens: f64,
    pub(super) filled: Time,
}

/// What went out at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    pub(super) at: Time,
    /// Bytes, without what the retransmission timer sends again.
    pub(super) bytes: f64,
    /// The segments that these bytes went in.
    pub(super) segments: u32,
    /// The pacing rate, the fastest of that time, in bytes a second.
    pub(super) rate: f64,
    /// The largest send quantum of that time, in bytes.
    pub(super) quantum: f64,
}

/// A sender, a link with a queue, a receiver that acknowledges each segment, and the way back.
pub(super) struct Path<C> {
    pub(super) sender: Sender,
    pub(super) now: Time,
    /// Bytes a second.
    rate: f64,
    pub(super) rtt: Span,
    /// Bytes that the queue holds.
    pub(super) buffer: f64,
    /// Which segments get lost, by their number from 1 on.
    pub(super) loses: Box<dyn FnMut(u64) -> bool>,
    pub(super) policer: Option<Policer>,
    /// ACKs arrive together, at multiples of this.
    pub(super) together: Option<Span>,
    /// By how much later a segment arrives than the others, by its number: those sent behind it arrive before it.
    pub(super) late: Box<dyn FnMut(u64) -> Span>,
    /// What the application writes, bytes each so long; without it, it always has more.
    pub(super) writes: Option<(u64, Span)>,
    /// Bytes that it has in all.
    pub(super) has: u64,
    written: u64,
    next_write: Time,
    free: Time,
    wire: BTreeMap<(Time, u64), SackBlock>,
    pub(super) sent: u64,
    pub(super) dropped: u64,
    pub(super) bursts: Vec<Burst>,
    /// Expiries of the retransmission timer whose segment went out.
    expired: u64,
    next: Seq,
    held: Vec<SackBlock>,
    seen: Arc<Mutex<C>>,
}

impl<C: Control + Copy + 'static> Path<C> {
    /// A connection that opens with a handshake of `rtt` milliseconds over a link of so many bytes a second.
    pub(super) fn new(control: C, rate: f64, rtt: f64) -> Path<C> {
        let mut config = Profile::Rfc.config(RackOptions, StandardOptions::default());
        config.mss = SMSS as u32;
        config.initial_window = 10;
        let seen = Arc::new(Mutex::new(control));
        let mut sender = Sender::new(&config, Seq(0));
        sender.set_control(Box::new(Watched(control, Arc::clone(&seen))));
        sender.set_peer_window(1 << 28);
        let (rtt, now) = (ms(rtt), Time::ZERO + ms(rtt));
        sender.sample_handshake(now, rtt);
        Path {
            sender,
            now,
            rate,
            rtt,
            buffer: f64::INFINITY,
            loses: Box::new(|_| false),
            policer: None,
            together: None,
            late: Box::new(|_| Span::ZERO),
            writes: None,
            has: u64::MAX,
            written: 0,
            next_write: now,
            free: now,
            wire: BTreeMap::new(),
            sent: 0,
            dropped: 0,
            bursts: Vec::new(),
            expired: 0,
            next: Seq(0),
            held: Vec::new(),
            seen,
        }
    }

    /// The control as it is now.
    pub(super) fn control(&self) -> C {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn cwnd(&self) -> f64 {
        self.sender.window().cwnd
    }

    pub(super) fn in_flight(&self) -> f64 {
        f64::from(self.sender.record().in_flight(self.sender.flight()))
    }

    /// Bytes that wait before the link.
    pub(super) fn queued(&self) -> f64 {
        if self.free > self.now { self.free.since(self.now).as_secs() * self.rate } else { 0.0 }
    }

    pub(super) fn set_rate(&mut self, rate: f64) {
        let (now, rtt, slower) = (self.now, self.rtt, self.rate / rate);
        let later = |left: Time| {
            if left > now { now + ms(left.since(now).as_secs() * slower * 1e3) } else { left }
        };
        // What waits leaves at the new rate.
        let wire = std::mem::take(&mut self.wire);
        let left = |at: Time| Time::ZERO + at.since(Time::ZERO + rtt);
        let moved =
            wire.into_iter().map(|((at, number), segment)| ((later(left(at)) + rtt, number), segment));
        self.wire = moved.collect();
        self.free = later(self.free);
        self.rate = rate;
    }

    fn inject(&mut self, seq: Seq, len: u32) {
        self.sent += 1;
        self.note_burst(len);
        let bytes = f64::from(len);
        let mut dropped = (self.loses)(self.sent) || self.queued() + bytes > self.buffer;
        if let Some(policer) = &mut self.policer {
            let fresh = self.now.since(policer.filled).as_secs() * policer.rate;
            policer.tokens = (policer.tokens + fresh).min(policer.burst);
            policer.filled = self.now;
            dropped |= policer.tokens < bytes;
            policer.tokens -= if dropped { 0.0 } else { bytes };
        }
        if dropped {
            self.dropped += 1;
            return;
        }
        self.free = if self.free > self.now { self.free } else { self.now } + ms(bytes / self.rate * 1e3);
        let mut arrival = self.free + self.rtt + (self.late)(self.sent);
        if let Some(together) = self.together {
            let behind = arrival.as_nanos() % together.as_nanos();
            arrival += Span::from_nanos((together.as_nanos() - behind) % together.as_nanos());
        }
        self.wire.insert((arrival, self.sent), SackBlock { start: seq, end: seq + len });
    }

    fn note_burst(&mut self, len: u32) {
        let timeouts = self.sender.stats().timeouts;
        if std::mem::replace(&mut self.expired, timeouts) != timeouts {
            return;
        }
        let w = self.sender.window();
        let (bytes, rate, quantum) = (f64::from(len), w.pacing_rate, w.send_quantum);
        match self.bursts.last_mut().filter(|burst| burst.at == self.now) {
            Some(burst) => {
                burst.bytes += bytes;
                burst.segments += 1;
                (burst.rate, burst.quantum) = (burst.rate.max(rate), burst.quantum.max(quantum));
            }
            None => self.bursts.push(Burst { at: self.now, bytes, segments: 1, rate, quantum }),
        }
    }

    /// The receiver takes a segment, and its ACK is here at once: the link's delay was for both ways. What came before is reported
    /// (RFC 2883).
    fn acknowledge(&mut self, segment: SackBlock) {
        let known = |block: &SackBlock| block.start <= segment.start && segment.end <= block.end;
        let twice = segment.end <= self.next || self.held.iter().any(known);
        let mut newest = segment;
        self.held.retain(|block| {
            let apart = block.end < newest.start || block.start > newest.end;
            if !apart {
                newest = SackBlock {
                    start: newest.start.min(block.start),
                    end: if newest.end > block.end { newest.end } else { block.end },
                };
            }
            apart
        });
        if newest.start <= self.next {
            self.next = if newest.end > self.next { newest.end } else { self.next };
        } else {
            self.held.insert(0, newest);
        }
        let sack: Vec<SackBlock> =
            twice.then_some(segment).into_iter().chain(self.held.iter().copied()).take(4).collect();
        let ack = Incoming { window: Some(1 << 28), sack: &sack, ..Incoming::of(self.next) };
        self.sender.on_ack(self.now, &ack);
    }

    fn unsent(&self) -> u64 {
        self.written - u64::from(self.sender.max() - Seq(0))
    }

    fn write(&mut self, bytes: u64) {
        let bytes = bytes.min(self.has - self.written);
        if bytes > 0 {
            self.written += bytes;
            self.sender.write(bytes);
        }
    }

    /// Bytes that the receiver has in order.
    pub(super) fn received(&self) -> u64 {
        u64::from(self.next - Seq(0))
    }

    /// One event; false when there will be none.
    fn step(&mut self) -> bool {
        match self.writes {
            // A little more than can go at once, so that it can stop.
            None => {
                let ahead = 2.0 * self.sender.window().send_quantum + 10.0 * SMSS;
                self.write((ahead as u64).saturating_sub(self.unsent()));
                self.next_write = Time::NEVER;
            }
            Some((bytes, every)) if self.next_write == Time::NEVER || self.now >= self.next_write => {
                self.next_write = self.now + every;
                self.write(bytes);
            }
            _ => {}
        }
        while let Some(out) = self.sender.poll(self.now) {
            self.inject(out.seq, out.len);
            if out.last {
                assert_eq!(self.sender.poll(self.now), None, "that was the last");
            }
        }
        let arrival = self.wire.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let timer = self.sender.next_timeout();
        let next = arrival.min(timer).min(self.next_write);
        if next == Time::NEVER {
            return false;
        }
        assert!(next >= self.now, "a timer lies in the past");
        self.now = next;
        if arrival == next {
            let Some((_, segment)) = self.wire.pop_first() else { return false };
            self.acknowledge(segment);
        } else if timer == next {
            assert!(self.sender.on_timeout(self.now).is_ok(), "the connection is over");
        }
        true
    }

    /// Runs until something is so, for at most so many seconds; whether it is.
    pub(super) fn runs_until(&mut self, seconds: f64, mut is_so: impl FnMut(&Path<C>) -> bool) -> bool {
        let end = self.now + ms(seconds * 1e3);
        while self.now < end {
            if !self.step() {
                return is_so(self);
            }
            if is_so(self) {
                return true;
            }
        }
        false
    }

    /// Loses whatever is sent until the retransmission timer expires; where what was outstanding then ends.
    pub(super) fn times_out(&mut self) -> Seq {
        let before = self.sender.stats().timeouts;
        self.loses = Box::new(|_| true);
        assert!(self.runs_until(5.0, |path| path.sender.stats().timeouts > before));
        self.loses = Box::new(|_| false);
        self.sender.max()
    }

    /// Lets the retransmission timer expire and runs until the recovery `is_over`; how much was outstanding, and where it ended.
    pub(super) fn recovers_from_a_timeout(&mut self, is_over: impl Fn(&Self) -> bool) -> (u32, Seq) {
        let end = self.times_out();
        let outstanding = end - self.sender.una();
        assert!(self.runs_until(5.0, is_over));
        (outstanding, end)
    }

    /// Runs for so many seconds; returns the goodput in bytes a second.
    pub(super) fn run(&mut self, seconds: f64) -> f64 {
        let (una, began) = (self.sender.una(), self.now);
        self.runs_until(seconds, |_| false);
        f64::from(self.sender.una() - una) / self.now.since(began).as_secs()
    }
}
