//! One run on two threads, by conservative parallel simulation: each has the whole engine, and does what happens at the nodes of its part.
//!
//! A part goes on until the time that the other has come to, and the lookahead behind it: the shortest delay of a link from the other part.
//! At each step of the constellation both meet, for which links go ahead depends on all packets that are under way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bentpipe_apps::AppSpec;
use bentpipe_drive::TURNS;
use bentpipe_net::{Crossing, Network};
use bentpipe_path::{Link, LinkConfig, Stream};
use bentpipe_scenario::{FlowSpec, Scenario};
use bentpipe_sky::Sky;
use bentpipe_units::Time;

use super::constellation::before;
use super::{End, Engine};
use crate::causes::Causes;
use crate::packet::Packet;
use crate::watch::Watch;

/// How often the other part is told, so that it seldom waits.
const EVENTS_BETWEEN_POSTS: u64 = 16;
/// Looks at the other part before the core is left to others.
const LOOKS: u32 = 2000;

/// What a part tells the other, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Board {
    /// In nanoseconds: what it sends from now on it sends then or later.
    clock: AtomicU64,
    /// Meetings that it has come to, and those at which it has told its `strays`.
    come: AtomicU64,
    told: AtomicU64,
    strays: Mutex<Vec<u32>>,
    mail: Mutex<Vec<Crossing<Packet>>>,
}

/// A part of a run, as its engine knows it.
pub(super) struct Part {
    boards: Arc<[Board; 2]>,
    pub(super) second: bool,
    /// Whether each node is in the second part, and whether each end is in the other.
    pub(super) nodes: Arc<[bool]>,
    pub(super) elsewhere: Vec<bool>,
    letters: Vec<Crossing<Packet>>,
    /// The time that the other part is known to have come to, and from when on something may come from it.
    clock: Time,
    limit: Time,
    meetings: u64,
    /// Events that both parts have.
    pub(super) common: u64,
}

/// What the second part brings to the first.
struct Outcome {
    ends: Vec<End>,
    links: Vec<Link>,
    causes: Causes,
    strayed: Vec<[u64; TURNS]>,
    events: u64,
}

impl Part {
    fn new(scenario: &Scenario, boards: &Arc<[Board; 2]>, nodes: &Arc<[bool]>, second: bool) -> Part {
        let connections = scenario.flows.iter().map(|flow| ([flow.from, flow.to], flow.app.connections()));
        let ends = connections.flat_map(|(ends, many)| std::iter::repeat_n(ends, many)).flatten();
        Part {
            boards: boards.clone(),
            second,
            nodes: nodes.clone(),
            elsewhere: ends.map(|node| nodes[node] != second).collect(),
            letters: Vec::new(),
            clock: Time::ZERO,
            limit: Time::ZERO,
            meetings: 0,
            common: 0,
        }
    }

    fn mine(&self) -> &Board {
        &self.boards[usize::from(self.second)]
    }

    fn theirs(&self) -> &Board {
        &self.boards[usize::from(!self.second)]
    }

    /// Waits until a number that the other part shows is no less than this.
    fn wait(&self, shown: impl Fn(&Board) -> &AtomicU64, least: u64) {
        let mut looks = 0_u32;
        while shown(self.theirs()).load(Ordering::Acquire) < least {
            looks = looks.wrapping_add(1);
            match looks.is_multiple_of(LOOKS) {
                true => std::thread::yield_now(),
                false => std::hint::spin_loop(),
            }
        }
    }

    /// Sends what goes to the other part, and tells that nothing more is sent before `clock`.
    fn post(&self, net: &mut Network<Packet, Watch>, clock: Time) {
        if let Some(out) = net.outwards().filter(|out| !out.is_empty()) {
            open(&self.mine().mail).append(out);
        }
        self.mine().clock.store(clock.as_nanos(), Ordering::Release);
    }

    /// Takes what the other part has sent by now, and notes its time.
    fn take_mail(&mut self, net: &mut Network<Packet, Watch>) {
        self.clock = Time::from_nanos(self.theirs().clock.load(Ordering::Acquire));
        std::mem::swap(&mut *open(&self.boards[usize::from(!self.second)].mail), &mut self.letters);
        self.letters.drain(..).for_each(|letter| net.take_in(letter));
    }

    fn look_ahead(&mut self, net: &Network<Packet, Watch>) {
        self.limit = net.lookahead().map_or(Time::NEVER, |lookahead| self.clock + lookahead);
    }
}

impl Drop for Part {
    /// Whatever has ended it, the other part waits no more.
    fn drop(&mut self) {
        let Board { clock, come, told, .. } = self.mine();
        for number in [clock, come, told] {
            number.store(u64::MAX, Ordering::Release);
        }
    }
}

fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Whether a run can be on two threads: bulk transfers for a stated time, over links of satellites alone whose packets leave at times
    /// that are known when they come.
    pub(crate) fn can_be_cut(scenario: &Scenario) -> bool {
        let Some(spec) = &scenario.constellation else { return false };
        let bulk = |flow: &FlowSpec| matches!(&*flow.app, AppSpec::Ftp(_)) && !flow.app.facts().is_asked_for;
        let closed = |link: &LinkConfig| Link::new(link, Stream::derive(0, "")).is_closed();
        scenario.flows.iter().all(|flow| bulk(flow) && flow.kernel.is_none())
            && scenario.links.is_empty()
            && scenario.duration.is_some()
            && scenario.warm_up.is_none()
            && [&spec.uplink, &spec.downlink, &spec.laser]
                .iter()
                .all(|direction| direction.gateway.is_none() && closed(&direction.link))
    }

    /// Runs to the end on two threads, each under a sky of its own; `nodes` says which nodes are in the second part.
    pub(crate) fn run_in_parts(
        sky: impl Fn() -> Option<Box<dyn Sky>> + Sync,
        scenario: &Scenario,
        seed: u64,
        nodes: &Arc<[bool]>,
    ) -> Engine {
        let boards = Arc::new([Board::default(), Board::default()]);
        let run = |second| {
            let part = Part::new(scenario, &boards, nodes, second);
            let mut engine = Engine::under(sky(), scenario, seed, None, Some(Box::new(part)));
            engine.run_part();
            engine
        };
        std::thread::scope(|scope| {
            let second = scope.spawn(|| run(true).into_outcome());
            let mut engine = run(false);
            match second.join() {
                Ok(outcome) => engine.join(outcome),
                Err(panic) => std::panic::resume_unwind(panic),
            }
            engine
        })
    }

    fn run_part(&mut self) {
        self.go_ahead();
        if let Some(part) = &mut self.part {
            part.look_ahead(&self.net);
        }
        while let Some(part) = &self.part {
            self.pause_at = self.events + EVENTS_BETWEEN_POSTS;
            self.last = self.end.min(before(part.limit));
            let pauses = self.run_on(self.last);
            let next = self.net.next_time().min(self.net.probe.timers.next_time());
            let Some(part) = &mut self.part else { break };
            part.post(&mut self.net, next.min(part.limit));
            if pauses {
                continue;
            }
            if part.limit > self.end {
                break;
            }
            part.wait(|board| &board.clock, part.clock.as_nanos() + 1);
            part.take_mail(&mut self.net);
            part.look_ahead(&self.net);
        }
        self.net.settle();
    }

    /// A step of the constellation comes before `at`. Both parts have done all that happens before that, and know of all packets that are
    /// under way.
    pub(super) fn meet(&mut self, at: Time) {
        let Some(part) = &mut self.part else { return };
        part.common += 1;
        part.meetings += 1;
        part.post(&mut self.net, at);
        part.mine().come.store(part.meetings, Ordering::Release);
        part.wait(|board| &board.come, part.meetings);
        part.take_mail(&mut self.net);
        *open(&part.mine().strays) = self.net.strays();
        part.mine().told.store(part.meetings, Ordering::Release);
        part.wait(|board| &board.told, part.meetings);
        self.net.set_strays(open(&part.theirs().strays).clone());
    }

    /// The step is over.
    pub(super) fn part_after_step(&mut self) {
        if let Some(part) = &mut self.part {
            part.look_ahead(&self.net);
            self.pause_at = self.events;
        }
    }

    fn into_outcome(self) -> Outcome {
        let Engine { ends, events, mut net, .. } = self;
        let (links, watch) = (net.take_links(), net.probe);
        Outcome { ends, links, causes: watch.causes, strayed: watch.strayed, events }
    }

    /// Adds what happened in the second part.
    fn join(&mut self, second: Outcome) {
        let Some(part) = &self.part else { return };
        let ends = self.ends.iter_mut().zip(second.ends).zip(&part.elsewhere);
        for ((end, other), _) in ends.filter(|(_, elsewhere)| **elsewhere) {
            *end = other;
        }
        self.net.join(second.links);
        self.net.probe.causes.add(second.causes);
        for (sums, more) in self.net.probe.strayed.iter_mut().zip(second.strayed) {
            *sums = [sums[0] + more[0], sums[1] + more[1]];
        }
        self.events += second.events - part.common;
    }
}
