//! Selective repeat: a frame that was lost, and no other, is sent again once the sender knows.

use std::collections::VecDeque;

use bentpipe_units::{Span, Time};

use super::spec::ArqSpec;
use crate::link::frame::Frame;
use crate::queue::Waiting;

#[derive(Debug)]
pub(super) struct Arq {
    attempts: u64,
    turnaround: Span,
    /// Frames that will be sent again, in the order in which the sender hears that they were lost.
    again: VecDeque<(Time, Waiting, Frame)>,
}

impl Arq {
    pub(super) fn new(spec: &ArqSpec) -> Arq {
        Arq { attempts: spec.attempts.most(), turnaround: spec.turnaround, again: VecDeque::new() }
    }

    /// A frame was lost. Whether it is sent again: the sender hears of the loss when the answer to the frame is there,
    /// two propagation delays and the turnaround after its last bit. Nobody waits for the answer to the last attempt.
    pub(super) fn sends_again(&mut self, now: Time, packet: Waiting, frame: Frame, delay: Span) -> bool {
        if frame.part + 1 >= self.attempts {
            return false;
        }
        // A nanosecond at least, so that time goes on where a frame is always lost.
        let at = now + (delay * 2 + self.turnaround).max(Span::from_nanos(1));
        let place = self.again.partition_point(|(other, ..)| *other <= at);
        self.again.insert(place, (at, packet, Frame { part: frame.part + 1, ..frame }));
        true
    }

    /// The next frame that the sender knows to be lost.
    pub(super) fn again(&mut self, now: Time) -> Option<(Waiting, Frame)> {
        if self.due() > now {
            return None;
        }
        self.again.pop_front().map(|(_, packet, frame)| (packet, frame))
    }

    pub(super) fn due(&self) -> Time {
        self.again.front().map_or(Time::NEVER, |(at, ..)| *at)
    }
}
