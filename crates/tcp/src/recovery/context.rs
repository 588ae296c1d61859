//! The sender as a recovery sees it.

use bentpipe_units::Time;

use super::{Range, Reduction, Reductions};
use crate::Seq;
use crate::control::{Control, Exit, Loss, PartialAck, Response, Window};
use crate::sender::Record;

/// The sender as a recovery sees it when something has happened: what is outstanding, and the control to tell of it.
pub struct Context<'a> {
    /// When the segment arrived or the timer expired.
    pub now: Time,
    /// Oldest byte not acknowledged (SND.UNA), after the ACK at hand.
    pub una: Seq,
    /// The byte after the newest one ever sent (SND.MAX).
    pub max: Seq,
    pub(crate) window: &'a mut Window,
    pub(crate) control: &'a mut dyn Control,
    pub(crate) reductions: &'a mut Reductions,
    pub(crate) record: &'a mut Record,
}

impl Context<'_> {
    /// Bytes sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight(&self) -> u32 {
        self.max - self.una
    }

    /// The window, which only the control changes.
    #[inline]
    pub fn window(&self) -> &Window {
        self.window
    }

    /// What was sent, and what became of it.
    #[inline]
    pub fn record(&self) -> &Record {
        self.record
    }

    /// Tells the control of the first loss of a window: at `hole`, where data up to `recover` was under way and the flight
    /// size was `flight` bytes. The control keeps what it has for [`Context::undo`].
    pub fn lose(&mut self, hole: Seq, first_hole: Seq, recover: Seq, flight: u32) -> Response {
        if self.reductions.marked_window_with(hole) {
            return Response::Keep;
        }
        self.control.save(self.window);
        let response = self.control.on_loss(self.window, &self.loss(hole, first_hole, flight));
        self.note(response, recover)
    }

    /// Tells the control of a further loss in a window in which one was found already, at `first_hole`.
    pub fn lose_further(&mut self, hole: Seq, first_hole: Seq, recover: Seq) -> Response {
        if self.reductions.marked_window_with(hole) {
            return Response::Keep;
        }
        let response = self.control.on_further_loss(self.window, &self.loss(hole, first_hole, self.flight()));
        self.note(response, recover)
    }

    fn loss(&self, hole: Seq, first_hole: Seq, flight: u32) -> Loss {
        Loss { now: self.now, distance: hole - first_hole, flight }
    }

    fn note(&mut self, response: Response, below: Seq) -> Response {
        if response == Response::Reduced {
            let (time, una, max) = (self.now, self.una, self.max);
            self.reductions.push(Reduction { time, una, below, max, marked: false });
        }
        response
    }

    /// Writes down that a range of what is outstanding is lost.
    pub fn mark_lost(&mut self, range: Range) {
        self.record.lose(range, self.una);
    }

    /// Tells the control that duplicate ACKs stand for so many segments that have left the network.
    pub fn inflate(&mut self, segments: u32) {
        self.control.inflate(self.window, segments);
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
    }

    /// The last reduction answered to a loss that was none: the control takes back what it had before.
    pub fn undo(&mut self) {
        self.control.restore(self.window);
    }
}
