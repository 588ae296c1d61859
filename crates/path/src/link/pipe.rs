use std::collections::VecDeque;

use bentpipe_units::{Span, Time};

use super::frame::Frame;
use crate::queue::Waiting;

/// A packet between the ends of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flying {
    pub(super) packet: Waiting,
    pub(super) arrives: Time,
    /// Nobody will receive it.
    pub(super) corrupted: bool,
    /// What repairs the link's losses knows of it.
    pub(super) frame: Frame,
}

/// Packets under way, in the order of arrival.
#[derive(Debug)]
pub(super) struct Pipe {
    delay: Span,
    /// No packet arrives before this.
    not_before: Time,
    flying: VecDeque<Flying>,
}

impl Pipe {
    pub(super) fn new(delay: Span) -> Pipe {
        Pipe { delay, not_before: Time::ZERO, flying: VecDeque::new() }
    }

    pub(super) fn delay(&self) -> Span {
        self.delay
    }

    /// Changes the delay of what is sent from now on. It may overtake what was sent before, or arrives behind it.
    pub(super) fn set_delay(&mut self, delay: Span, overtake: bool) {
        self.delay = delay;
        if overtake {
            self.not_before = Time::ZERO;
        }
    }

    /// The last bit of a packet is sent.
    pub(super) fn send(&mut self, now: Time, packet: Waiting, corrupted: bool, frame: Frame) {
        let arrives = (now + self.delay).max(self.not_before);
        self.not_before = arrives;
        let flying = Flying { packet, arrives, corrupted, frame };
        if self.flying.back().is_none_or(|last| last.arrives <= arrives) {
            return self.flying.push_back(flying);
        }
        let place = self.flying.partition_point(|other| other.arrives <= arrives);
        self.flying.insert(place, flying);
    }

    /// When the next packet arrives.
    pub(super) fn next_time(&self) -> Time {
        self.flying.front().map_or(Time::NEVER, |first| first.arrives)
    }

    /// The next packet that has arrived by `now`.
    pub(super) fn receive(&mut self, now: Time) -> Option<Flying> {
        if self.next_time() > now {
            return None;
        }
        self.flying.pop_front()
    }

    pub(super) fn packets(&self) -> usize {
        self.flying.len()
    }
}
