//! ACKs with an RTT, for controls that a test tells of each event by hand.

use bentpipe_units::{Span, Time};

use super::test_path::{Path, SMSS};
use super::{Ack, Control, Window};
use crate::slow_start::StandardStart;
use crate::{Growth, Record, Seq};

pub(crate) fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A window of so many segments.
pub(crate) fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window::new(cwnd * SMSS, ssthresh * SMSS, SMSS, Growth::PerAck)
}

/// What is known of so many bytes that are reported at `now` ms, and were sent `rtt` ms before.
pub(crate) fn reported(now: u64, rtt: u64, bytes: u32) -> Record {
    let mut record = Record::default();
    record.push(at(now - rtt), Seq(bytes));
    record.acknowledge_alone(at(now), Seq(bytes), bytes);
    record
}

/// Tells a control of an ACK at `now` ms that reports so many segments, sent `rtt` ms before, with cwnd in flight.
pub(super) fn ack<C: Control>(control: &mut C, w: &mut Window, now: u64, rtt: u64, segments: u32) {
    let bytes = segments * SMSS as u32;
    let record = reported(now, rtt, bytes);
    let told = Ack { now: at(now), acked: bytes, prior_flight: w.cwnd as u32, ..Ack::new(&record) };
    assert_eq!(told.rtt(), Some(Span::from_millis(rtt)));
    control.on_ack(w, &told, &mut StandardStart);
}

/// Segments that cwnd of a sender over a path without a queue grows by between two times, in s, after a loss has ended slow start.
pub(super) fn growth<C: Control + Copy + 'static>(control: C, rtt: f64, from: f64, to: f64) -> f64 {
    // A segment takes no time.
    let mut path = Path::new(control, 1e13, rtt);
    path.loses = Box::new(|number| number == 1);
    path.run(from);
    let before = path.cwnd();
    path.run(to - from);
    (path.cwnd() - before) / SMSS
}
