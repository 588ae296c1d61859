//! Reordering and repetition: some packets are held up, some come twice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bentpipe_units::bounded::Probability;
use bentpipe_units::{Span, Time};
use serde::Deserialize;

use crate::Stream;

/// Which packets are held up, and which come twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DisorderSpec {
    /// Share of packets that are held up, 0 to 1.
    #[serde(with = "Probability")]
    pub reorder: f64,
    /// How long such a packet is held up while others pass it.
    pub reorder_delay: Span,
    /// Share of packets that come twice, 0 to 1.
    #[serde(with = "Probability")]
    pub duplicate: f64,
}

/// An element behind a link that holds packets up and repeats them. Packets that are not held up keep their order.
#[derive(Clone, Debug)]
pub struct Disorder<T> {
    spec: DisorderSpec,
    stream: Stream,
    held: BinaryHeap<Reverse<Held<T>>>,
    taken: u64,
    reordered: u64,
    duplicated: u64,
}

impl<T: Clone> Disorder<T> {
    /// An element that holds nothing.
    pub fn new(spec: DisorderSpec, stream: Stream) -> Disorder<T> {
        Disorder { spec, stream, held: BinaryHeap::new(), taken: 0, reordered: 0, duplicated: 0 }
    }

    /// Takes a packet.
    pub fn offer(&mut self, now: Time, packet: T) {
        let late = self.drawn(self.spec.reorder);
        let twice = self.drawn(self.spec.duplicate);
        self.reordered += u64::from(late);
        self.duplicated += u64::from(twice);
        if twice {
            self.hold(now, packet.clone());
        }
        self.hold(if late { now + self.spec.reorder_delay } else { now }, packet);
    }

    /// A draw for each share above 0, so that the one does not disturb the other.
    fn drawn(&mut self, share: f64) -> bool {
        share > 0.0 && self.stream.uniform() < share
    }

    fn hold(&mut self, due: Time, packet: T) {
        self.held.push(Reverse(Held { due, number: self.taken, packet }));
        self.taken += 1;
    }

    /// When [`Disorder::deliver`] wants to be called next; `Time::NEVER` when nothing is held.
    pub fn next_time(&self) -> Time {
        self.held.peek().map_or(Time::NEVER, |Reverse(first)| first.due)
    }

    /// The next packet whose time has come by `now`; to be called until there is none.
    pub fn deliver(&mut self, now: Time) -> Option<T> {
        if self.next_time() > now {
            return None;
        }
        self.held.pop().map(|Reverse(first)| first.packet)
    }

    /// Packets held up so far.
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Packets repeated so far.
    pub fn duplicated(&self) -> u64 {
        self.duplicated
    }
}

/// A packet and when it goes on; those of one time in the order in which they came.
#[derive(Clone, Debug)]
struct Held<T> {
    due: Time,
    number: u64,
    packet: T,
}

impl<T> Ord for Held<T> {
    fn cmp(&self, other: &Held<T>) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

impl<T> PartialOrd for Held<T> {
    fn partial_cmp(&self, other: &Held<T>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Held<T> {
    fn eq(&self, other: &Held<T>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Held<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(spec: DisorderSpec) -> (Vec<u32>, Disorder<u32>) {
        let mut element = Disorder::new(spec, Stream::derive(1, "disorder"));
        let ms = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut out = Vec::new();
        for number in 0..1000 {
            let now = ms(u64::from(number));
            element.offer(now, number);
            out.extend(std::iter::from_fn(|| element.deliver(now)));
        }
        while element.next_time() < Time::NEVER {
            let now = element.next_time();
            out.extend(std::iter::from_fn(|| element.deliver(now)));
        }
        (out, element)
    }

    #[test]
    fn without_shares_packets_pass_as_they_come() {
        assert_eq!(through(DisorderSpec::default()).0, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn held_up_packets_are_passed_by_those_of_the_delay_and_come_once() {
        let spec =
            DisorderSpec { reorder: 0.1, reorder_delay: Span::from_millis(3), ..DisorderSpec::default() };
        let (mut out, element) = through(spec);
        let late = (0..1000).filter(|&n| out.iter().position(|&other| other == n) != Some(n as usize));
        assert!(late.count() as u64 >= element.reordered() && (70..130).contains(&element.reordered()));
        let displaced = out.iter().enumerate().map(|(at, &n)| (at as i64 - i64::from(n)).abs()).max();
        assert!(displaced <= Some(3), "{displaced:?}");
        out.sort_unstable();
        assert_eq!(out, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn repeated_packets_come_twice_in_a_row() {
        let (mut out, element) = through(DisorderSpec { duplicate: 0.2, ..DisorderSpec::default() });
        assert_eq!(out.len() as u64, 1000 + element.duplicated());
        assert!((160..240).contains(&element.duplicated()));
        out.dedup();
        assert_eq!(out, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_share_above_one_is_refused() {
        let error = serde_json::from_str::<DisorderSpec>(r#"{"reorder":1.5}"#).unwrap_err().to_string();
        assert!(error.contains("1.5, expected a probability from 0 to 1"), "{error}");
    }
}
