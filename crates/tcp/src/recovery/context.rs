//! The sender as a recovery sees it.

use bentpipe_units::{Span, Time};

use super::reductions::{Reduction, Reductions};
use crate::Seq;
use crate::control::{Control, Exit, Loss, PartialAck, Response, Window};
use crate::rtt::RttEstimator;
use crate::runs::Range;
use crate::sender::Record;
use crate::slow_start::SlowStart;

/// The sender as a recovery sees it when something has happened: what is outstanding, and the control to tell of it.
pub struct Context<'a> {
    /// When the segment arrived or the timer expired.
    pub now: Time,
    /// Oldest byte not acknowledged (SND.UNA), after the ACK at hand.
    pub una: Seq,
    /// The byte after the newest one ever sent (SND.MAX).
    pub max: Seq,
    /// The window that the peer advertised last, in bytes.
    pub rwnd: u32,
    /// RTT by the timestamp that the ACK echoes, if it echoes one.
    pub echoed: Option<Span>,
    /// Whether the retransmission timer is to start anew.
    pub(crate) restarts_timer: bool,
    pub(crate) window: &'a mut Window,
    pub(crate) control: &'a mut dyn Control,
    /// The slow start where it listens.
    pub(crate) slow_start: Option<&'a mut dyn SlowStart>,
    pub(crate) reductions: &'a mut Reductions,
    pub(crate) record: &'a mut Record,
    pub(crate) rtt: &'a RttEstimator,
}

impl Context<'_> {
    /// Bytes sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight(&self) -> u32 {
        self.max - self.una
    }

    /// Bytes taken to be in the network ([`Record::in_flight`]).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.record.in_flight(self.flight())
    }

    /// The round trips that the connection has measured; that of an ACK is in it once it acknowledges new data.
    #[inline]
    pub fn rtt(&self) -> &RttEstimator {
        self.rtt
    }

    /// Whether the timestamp that the ACK echoes is older than `at`.
    pub(super) fn echoes_before(&self, at: Time) -> bool {
        // In ticks of the timestamps' clock.
        let tick = |at: Time| at.as_nanos() / 1_000_000;
        self.echoed.is_some_and(|echoed| echoed.as_nanos() / 1_000_000 > tick(self.now) - tick(at))
    }

    /// The window, which only the control changes.
    #[inline]
    pub fn window(&self) -> &Window {
        self.window
    }

    /// cwnd in whole segments, in bytes, as Linux counts it.
    pub(super) fn whole_window(&self) -> f64 {
        f64::from(self.window.segments()) * self.window.smss
    }

    /// What a loss halved before FlightSize was the word for it, `inflation` bytes of cwnd left out.
    ///
    /// RFC 2001 section 4 step 1: "one-half the current congestion window", where RFC 2001 section 2 step 4 has "one-half of the
    /// current window size (the minimum of cwnd and the receiver's advertised window, but at least two segments)". In segments of
    /// which the half is whole, as ns-2 has it until January 2006 (`precisionReduce_`).
    pub(super) fn window_to_halve(&self, inflation: u32) -> u32 {
        let smss = self.window.smss as u32;
        let segments = (self.window.cwnd as u32).saturating_sub(inflation).min(self.rwnd) / smss;
        segments / 2 * 2 * smss
    }

    /// What was sent, and what became of it.
    #[inline]
    pub fn record(&self) -> &Record {
        self.record
    }

    /// Tells the control of the first loss of a window: at `hole`, where data up to `recover` was under way and
    /// `flight` bytes are what is halved: the flight size, or cwnd where a stack halves that. The control keeps what it has for [`Context::undo`].
    pub fn lose(&mut self, hole: Seq, first_hole: Seq, recover: Seq, flight: u32) -> Response {
        self.mark_oldest(hole);
        if self.reductions.marked_window_with(hole) {
            return Response::Keep;
        }
        self.control.save(self.window);
        let response = self.control.on_loss(self.window, &self.loss(hole, first_hole, flight));
        if response != Response::Reduced {
            // A slow start has the first loss of a window for a sign of its own, whatever the control makes of it (RFC 9959 section 3.5).
            self.tell_start_of_congestion();
        }
        self.note(response, recover)
    }

    /// Tells the control of a further loss in a window in which one was found already, at `first_hole`.
    pub fn lose_further(&mut self, hole: Seq, first_hole: Seq, recover: Seq) -> Response {
        self.mark_oldest(hole);
        if self.reductions.marked_window_with(hole) {
            return Response::Keep;
        }
        let response = self.control.on_further_loss(self.window, &self.loss(hole, first_hole, self.flight()));
        self.note(response, recover)
    }

    /// A recovery that keeps no scoreboard knows of one loss at a time, the oldest segment.
    fn mark_oldest(&mut self, hole: Seq) {
        if hole == self.una {
            self.record.lose_oldest(hole);
        }
    }

    fn loss(&self, hole: Seq, first_hole: Seq, flight: u32) -> Loss {
        Loss { now: self.now, distance: hole - first_hole, flight }
    }

    fn note(&mut self, response: Response, below: Seq) -> Response {
        if response != Response::Keep {
            self.window.reduced();
        }
        if response == Response::Reduced {
            self.tell_start_of_congestion();
            let (time, una, max) = (self.now, self.una, self.max);
            self.reductions.push(Reduction { time, una, below, max, marked: false });
        }
        response
    }

    fn tell_start_of_congestion(&mut self) {
        if let Some(slow_start) = &mut self.slow_start {
            slow_start.on_congestion(self.window);
        }
    }

    /// Writes down that a range of what is outstanding is lost.
    pub fn mark_lost(&mut self, range: Range) {
        self.record.lose(range, self.una);
    }

    /// Writes down that everything is lost that is outstanding and was not reported.
    pub fn mark_all_lost(&mut self) {
        self.record.lose_all(self.una);
    }

    /// Takes back what was written down so: it is in the network. `excused` it is [`Sent::excused`](crate::Sent::excused).
    pub fn undo_losses(&mut self, excused: bool) {
        self.record.undo_losses(self.una, excused);
    }

    /// Tells the control that duplicate ACKs stand for so many segments that have left the network.
    pub fn inflate(&mut self, segments: u32) {
        self.control.inflate(self.window, segments);
    }

    /// Tells the control that so many bytes of that inflation go again.
    pub fn deflate(&mut self, bytes: u32) {
        self.control.deflate(self.window, bytes);
    }

    /// Starts the retransmission timer anew: for a duplicate ACK, since one of new data is answered with what it does to the timer.
    pub fn restart_timer(&mut self) {
        self.restarts_timer = true;
    }

    /// Asks the control for a cwnd of so many bytes: a step on the way down, or the end of a burst.
    pub fn step(&mut self, cwnd: f64) {
        self.control.on_step(self.window, cwnd);
        self.tell_start();
    }

    /// Tells the control to start again from one segment.
    pub fn start_over(&mut self) {
        self.control.start_over(self.window);
    }

    /// Tells the control of a partial ACK.
    pub fn partial_ack(&mut self, ack: &PartialAck) {
        self.control.on_partial_ack(self.window, ack);
    }

    /// Tells the control that the window in which the loss happened is through.
    pub fn exit(&mut self, exit: &Exit) {
        self.control.on_recovery_exit(self.window, exit);
        self.tell_start();
    }

    /// Tells a slow start that listens that cwnd was changed.
    fn tell_start(&mut self) {
        if let Some(slow_start) = &mut self.slow_start {
            slow_start.on_recovery_step(self.window);
        }
    }

    /// The last reduction answered to a loss that was none: the control takes back what it had before.
    pub fn undo(&mut self) {
        self.control.restore(self.window);
    }
}
