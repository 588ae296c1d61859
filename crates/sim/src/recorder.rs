//! What becomes of a run that somebody watches: the points of its time series.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use bentpipe_net::LinkId;
use bentpipe_units::Time;

use crate::ids::ConnectionId;
use crate::result::SeriesRecord;
use crate::series::{FLOW_KINDS, LINK_KINDS, Points, SeriesOptions, Sink};
use bentpipe_drive::Ended;

/// Points that are handed on at a time.
const BATCH: usize = 1 << 16;
const KINDS: usize = FLOW_KINDS.len();
/// The first kinds of a flow are the state of its sender.
pub(crate) const STATE_KINDS: usize = 8;

pub(crate) const SENT: usize = 8;
pub(crate) const RESENT: usize = 9;
pub(crate) const ACKED: usize = 10;
pub(crate) const SACK_START: usize = 11;
pub(crate) const SACK_END: usize = 12;
pub(crate) const DROPPED: usize = 13;
pub(crate) const DAMAGED: usize = 14;
pub(crate) const BUFFER: usize = 15;

/// Records the series of a run.
pub(crate) struct Recorder {
    out: Out,
    /// For each flow, and behind them each direction of a link, the kinds to record.
    wanted: Vec<u32>,
    states: Vec<Option<State>>,
    queues: Vec<Queue>,
    /// Losses that a link found ahead of their time: time, order of their coming, curve and value.
    ahead: BinaryHeap<Reverse<(Time, u64, u32, u64)>>,
    losses: u64,
}

/// Where points go.
struct Out {
    sink: Sink,
    points: Points,
    limit: u64,
    recorded: u64,
    now: Time,
    ended: Option<(Time, Ended)>,
}

/// The newest row of a sender's state, of which some kinds have a point.
#[derive(Clone, Copy)]
struct State {
    at: Time,
    /// When the sender was seen last, with these values still.
    until: Time,
    values: [f64; STATE_KINDS],
    shown: [bool; STATE_KINDS],
}

/// A packet in a queue, first in, first out.
#[derive(Clone, Copy, Debug)]
struct Wait {
    taken: Time,
    /// When it begins to be sent.
    begins: Time,
}

/// A direction of a link: a row when a packet is taken, and one when it begins to be sent unless it is sent at once.
#[derive(Default)]
struct Queue {
    /// Packets that a link takes at a later time than now: it passes them on without an event.
    ahead: VecDeque<Wait>,
    /// When the packets that wait begin to be sent.
    begins: VecDeque<Time>,
    /// Of a link that goes step by step: the packets that wait.
    waiting: Option<u32>,
}

impl Queue {
    /// Gives the rows until `now`, each with the packets waiting from then on, the one being sent not counted.
    fn until(&mut self, now: Time, mut row: impl FnMut(Time, usize)) {
        while let Some(wait) = self.ahead.front().copied().filter(|wait| wait.taken <= now) {
            self.ahead.pop_front();
            self.drain(wait.taken, &mut row);
            if wait.begins > wait.taken {
                self.begins.push_back(wait.begins);
            }
            row(wait.taken, self.begins.len());
        }
    }

    /// Gives the rows of what begins to be sent until `now`.
    fn drain(&mut self, now: Time, row: &mut impl FnMut(Time, usize)) {
        while let Some(at) = self.begins.front().copied().filter(|begins| *begins <= now) {
            self.begins.pop_front();
            row(at, self.begins.len());
        }
    }
}

impl Out {
    fn push(&mut self, curve: usize, at: Time, value: f64) {
        if self.ended.is_some() {
            return;
        }
        if self.recorded == self.limit {
            return self.end(Ended::Limit);
        }
        self.points.curves.push(curve as u32);
        self.points.times_s.push(at.as_secs());
        self.points.values.push(value);
        self.recorded += 1;
        if self.points.curves.len() == BATCH {
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        if !self.points.curves.is_empty() && (self.sink)(&self.points).is_break() {
            self.end(Ended::Disk);
        }
        self.points.clear();
    }

    fn end(&mut self, why: Ended) {
        if self.ended.is_none() {
            self.ended = Some((self.now, why));
            self.hand_on();
        }
    }
}

impl Recorder {
    /// Of a run with so many flows and directions of links.
    pub(crate) fn new(options: SeriesOptions, flows: usize, links: usize) -> Recorder {
        let everything = || {
            let all = |kinds: usize| (1 << kinds) - 1;
            let flows = std::iter::repeat_n(all(KINDS), flows);
            flows.chain(std::iter::repeat_n(all(LINK_KINDS.len()), links)).collect()
        };
        let mut wanted = options.wanted.unwrap_or_else(everything);
        wanted.resize(flows + links, 0);
        Recorder {
            out: Out {
                sink: options.sink,
                points: Points::default(),
                limit: options.limit,
                recorded: 0,
                now: Time::ZERO,
                ended: None,
            },
            wanted,
            states: vec![None; flows],
            queues: std::iter::repeat_with(Queue::default).take(links).collect(),
            ahead: BinaryHeap::new(),
            losses: 0,
        }
    }

    /// Whether nothing more is recorded.
    pub(crate) fn is_over(&self) -> bool {
        self.out.ended.is_some()
    }

    fn wants(&self, subject: usize, kind: usize) -> bool {
        self.wanted[subject] & (1 << kind) != 0
    }

    /// Something happened at `now`.
    fn at(&mut self, now: Time) {
        self.out.now = now;
        self.lose_until(now);
    }

    /// Records the losses whose time has come.
    fn lose_until(&mut self, now: Time) {
        while let Some(Reverse((at, _, curve, value))) = self.ahead.peek().copied() {
            if at > now {
                break;
            }
            self.ahead.pop();
            self.out.push(curve as usize, at, value as f64);
        }
    }

    /// A flow's curve of this kind has a point.
    pub(crate) fn point(&mut self, now: Time, flow: ConnectionId, kind: usize, value: u64) {
        let flow = flow.index();
        self.at(now);
        if self.wants(flow, kind) {
            self.out.push(flow * KINDS + kind, now, value as f64);
        }
    }

    /// A flow's packet is lost at a time that may be still to come.
    pub(crate) fn lost(&mut self, now: Time, at: Time, flow: ConnectionId, kind: usize, value: u64) {
        let flow = flow.index();
        if self.wants(flow, kind) {
            self.ahead.push(Reverse((at, self.losses, (flow * KINDS + kind) as u32, value)));
            self.losses += 1;
        }
        self.at(now);
    }

    /// The state of a flow's sender: each kind gets a point when it changed. What is not a number yet, or not bounded yet,
    /// has none; where a curve ends it has one that is not finite.
    pub(crate) fn state(&mut self, now: Time, flow: ConnectionId, values: [f64; STATE_KINDS]) {
        let flow = flow.index();
        let same = |one: f64, other: f64| one.to_bits() == other.to_bits();
        if let Some(before) = &mut self.states[flow]
            && (0..STATE_KINDS).all(|kind| same(before.values[kind], values[kind]))
        {
            before.until = now;
            return;
        }
        let before = self.states[flow];
        self.at(now);
        let mut shown = [false; STATE_KINDS];
        for kind in 0..STATE_KINDS {
            let changed = match before {
                Some(State { values: before, .. }) => {
                    let says = before[kind].is_finite() || values[kind].is_finite();
                    says && !same(before[kind], values[kind])
                }
                None => values[kind].is_finite(),
            };
            shown[kind] = changed && self.wants(flow, kind);
            if shown[kind] {
                self.out.push(flow * KINDS + kind, now, values[kind]);
            }
        }
        self.states[flow] = Some(State { at: now, until: now, values, shown });
    }

    /// Whether something of a sender's state is recorded.
    pub(crate) fn wants_state(&self, flow: ConnectionId) -> bool {
        self.wanted[flow.index()] & ((1 << STATE_KINDS) - 1) != 0
    }

    /// A direction of a link takes a packet, at a time that may be still to come.
    pub(crate) fn taken(&mut self, now: Time, taken: Time, begins: Time, link: LinkId) {
        let link = link.index();
        if !self.wants(self.states.len() + link, 0) {
            return;
        }
        self.at(now);
        let curve = self.states.len() * KINDS + link;
        let (queue, out) = (&mut self.queues[link], &mut self.out);
        queue.ahead.push_back(Wait { taken, begins });
        queue.until(now, |at, waiting| out.push(curve, at, waiting as f64));
    }

    /// So many packets wait before a direction of a link that goes step by step.
    pub(crate) fn waiting(&mut self, now: Time, link: LinkId, packets: u32) {
        let link = link.index();
        let newest = self.queues[link].waiting.replace(packets);
        if self.wants(self.states.len() + link, 0) && newest != Some(packets) {
            self.at(now);
            self.out.push(self.states.len() * KINDS + link, now, f64::from(packets));
        }
    }

    /// The run has ended at `end`. A step curve ends with its newest value, when its sender acted last.
    pub(crate) fn finish(mut self, end: Time) -> SeriesRecord {
        if !self.is_over() {
            self.out.now = end;
            self.lose_until(Time::NEVER);
            for (flow, state) in self.states.iter().enumerate() {
                let Some(State { at, until, values, shown }) = *state else { continue };
                let ended = |kind: &usize| values[*kind].is_finite() && !(shown[*kind] && at == until);
                for kind in (0..STATE_KINDS).filter(ended) {
                    if self.wanted[flow] & (1 << kind) != 0 {
                        self.out.push(flow * KINDS + kind, until, values[kind]);
                    }
                }
            }
            let first = self.states.len() * KINDS;
            for (link, queue) in self.queues.iter_mut().enumerate() {
                let mut row = |at, waiting| self.out.push(first + link, at, waiting as f64);
                queue.until(end, &mut row);
                queue.drain(end, &mut row);
            }
            self.out.hand_on();
        }
        let (ended, reason) = self.out.ended.unzip();
        SeriesRecord { points: self.out.recorded, ended_s: ended.map(Time::as_secs), reason }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::ops::ControlFlow;
    use std::rc::Rc;

    use super::*;

    const FLOW: ConnectionId = ConnectionId(0);
    const S: u64 = 1_000_000_000;

    fn at(seconds: u64) -> Time {
        Time::from_nanos(seconds * S)
    }

    type Rows = Rc<RefCell<Vec<(u32, f64, f64)>>>;

    /// A recorder of one flow and one link, and what it hands on.
    fn recorder(limit: u64, wanted: Option<Vec<u32>>) -> (Recorder, Rows) {
        let rows = Rows::default();
        let kept = rows.clone();
        let sink = Box::new(move |points: &Points| {
            let pairs = points.times_s.iter().zip(&points.values);
            let rows = points.curves.iter().zip(pairs).map(|(curve, (time, value))| (*curve, *time, *value));
            kept.borrow_mut().extend(rows);
            ControlFlow::Continue(())
        });
        (Recorder::new(SeriesOptions { wanted, limit, sink }, 1, 1), rows)
    }

    /// The state of a sender that begins with these values.
    fn row<const N: usize>(first: [f64; N]) -> [f64; STATE_KINDS] {
        let mut values = [0.0; STATE_KINDS];
        values[..N].copy_from_slice(&first);
        values
    }

    fn of(rows: &Rows, curve: usize) -> Vec<(f64, f64)> {
        let rows = rows.borrow();
        rows.iter().filter(|row| row.0 == curve as u32).map(|row| (row.1, row.2)).collect()
    }

    #[test]
    fn a_queue_fills_and_drains_packet_by_packet() {
        // Three packets at once, each sent in 10 s; one that comes when the second ends; one that finds nobody.
        let waits = [(0, 0), (0, 10), (0, 20), (20, 30), (50, 50)];
        let whole = [
            (0.0, 0.0),
            (0.0, 1.0),
            (0.0, 2.0),
            (10.0, 1.0),
            (20.0, 0.0),
            (20.0, 1.0),
            (30.0, 0.0),
            (50.0, 0.0),
        ];
        // Known at their time, or all of them ahead of it.
        for ahead in [false, true] {
            for (end, rows) in [(60, 8), (20, 6)] {
                let (mut recorder, seen) = recorder(u64::MAX, None);
                for (taken, begins) in waits.into_iter().filter(|wait| ahead || wait.0 <= end) {
                    let now = if ahead { 0 } else { taken };
                    recorder.taken(at(now), at(taken), at(begins), LinkId::forward(0));
                }
                recorder.finish(at(end));
                assert_eq!(of(&seen, KINDS), whole[..rows], "until {end}, ahead: {ahead}");
            }
        }
    }

    #[test]
    fn a_step_curve_keeps_its_changes_and_its_end() {
        let (mut recorder, seen) = recorder(u64::MAX, None);
        let values = [f64::NAN, f64::INFINITY, 2.0, 2.0, 3.0, 3.0, 3.0];
        for (second, value) in (0..).zip(values) {
            // The flight size changes every time.
            recorder.state(at(second), FLOW, row([value, 0.0, second as f64]));
        }
        // Nothing changes any more.
        recorder.state(at(8), FLOW, row([3.0, 0.0, 6.0]));
        recorder.finish(at(9));
        assert_eq!(of(&seen, 0), [(2.0, 2.0), (4.0, 3.0), (8.0, 3.0)]);
        assert_eq!(of(&seen, 1), [(0.0, 0.0), (8.0, 0.0)]);
        assert_eq!(of(&seen, 2).len(), 8);
    }

    #[test]
    fn a_step_curve_that_ends_before_the_run_says_where() {
        let (mut recorder, seen) = recorder(u64::MAX, None);
        let values = [f64::INFINITY, 2.0, f64::INFINITY, f64::INFINITY, f64::NAN, 5.0];
        for (second, value) in (0..).zip(values) {
            recorder.state(at(second), FLOW, row([value, 0.0, second as f64]));
        }
        recorder.finish(at(9));
        assert_eq!(of(&seen, 0), [(1.0, 2.0), (2.0, f64::INFINITY), (5.0, 5.0)]);

        let (mut ended, seen) = self::recorder(u64::MAX, None);
        ended.state(at(1), FLOW, row([2.0]));
        ended.state(at(2), FLOW, row([f64::INFINITY]));
        ended.state(at(3), FLOW, row([f64::INFINITY, 7.0]));
        ended.finish(at(9));
        assert_eq!(of(&seen, 0), [(1.0, 2.0), (2.0, f64::INFINITY)]);
    }

    #[test]
    fn a_loss_known_ahead_comes_at_its_time() {
        let (mut recorder, seen) = recorder(u64::MAX, None);
        recorder.lost(at(1), at(5), FLOW, DAMAGED, 50);
        recorder.lost(at(2), at(2), FLOW, DAMAGED, 20);
        recorder.lost(at(3), at(4), FLOW, DAMAGED, 40);
        recorder.point(at(5), FLOW, SENT, 7);
        recorder.lost(at(6), at(9), FLOW, DAMAGED, 90);
        recorder.finish(at(7));
        assert_eq!(of(&seen, DAMAGED), [(2.0, 20.0), (4.0, 40.0), (5.0, 50.0), (9.0, 90.0)]);
    }

    #[test]
    fn a_recording_ends_at_its_limit_or_where_the_sink_has_no_room_for_more() {
        let (mut limited, seen) = recorder(3, None);
        (1..6).for_each(|second| limited.point(at(second), FLOW, SENT, second));
        let record = limited.finish(at(9));
        assert_eq!((record.points, record.ended_s, record.reason), (3, Some(4.0), Some(Ended::Limit)));
        assert_eq!(seen.borrow().len(), 3);

        let sink = Box::new(|_: &Points| ControlFlow::Break(()));
        let mut full = Recorder::new(SeriesOptions { wanted: None, limit: u64::MAX, sink }, 1, 0);
        (1..100_000).for_each(|second| full.point(at(second), FLOW, SENT, second));
        let record = full.finish(at(100_000));
        let batch = BATCH as u64;
        assert_eq!(
            (record.points, record.ended_s, record.reason),
            (batch, Some(batch as f64), Some(Ended::Disk))
        );
    }

    #[test]
    fn what_nobody_wants_is_not_recorded() {
        let (mut recorder, seen) = recorder(u64::MAX, Some(vec![1 << ACKED | 1 << 2, 0]));
        recorder.point(at(1), FLOW, SENT, 1);
        recorder.point(at(1), FLOW, ACKED, 2);
        recorder.state(at(1), FLOW, row([1.0, 2.0, 3.0]));
        recorder.taken(at(1), at(1), at(1), LinkId::forward(0));
        recorder.lost(at(1), at(1), FLOW, DROPPED, 4);
        let record = recorder.finish(at(2));
        assert_eq!(*seen.borrow(), [(ACKED as u32, 1.0, 2.0), (2, 1.0, 3.0)]);
        assert_eq!((record.points, record.ended_s), (2, None));
    }
}
