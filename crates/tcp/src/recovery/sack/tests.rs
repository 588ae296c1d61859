//! The scoreboard, pipe and NextSeg held against RFC 6675's text, octet by octet.

use std::collections::BTreeSet;

use bentpipe_units::Time;
use proptest::prelude::*;

use super::*;
use crate::control::StandardOptions;
use crate::control::{Control, Loss, Response, Window};
use crate::sender::{Agreed, Record};
use crate::{Growth, Profile, SackBlock};

const SMSS: u32 = 4;
const THRESHOLD: u32 = 3;

/// RFC 6675 as it is written: sets of octets, counted one by one.
#[derive(Default)]
struct Model {
    una: u32,
    max: u32,
    sacked: BTreeSet<u32>,
    duplicates: u32,
    recovery_point: Option<u32>,
    phase: Option<ModelPhase>,
    /// First octets of the holes that the control is to be told of.
    told: Vec<u32>,
}

struct ModelPhase {
    first_hole: u32,
    recovery_point: u32,
    /// HighRxt + 1.
    high_rxt: u32,
    told: u32,
    rescued: bool,
}

impl Model {
    /// Section 4.
    fn is_lost(&self, octet: u32) -> bool {
        let above: Vec<u32> = self.sacked.range(octet + 1..).copied().collect();
        let apart = above.iter().filter(|octet| !self.sacked.contains(&(*octet - 1))).count();
        apart >= THRESHOLD as usize || above.len() > ((THRESHOLD - 1) * SMSS) as usize
    }

    fn outstanding(&self) -> impl Iterator<Item = u32> {
        (self.una..self.max).filter(|octet| !self.sacked.contains(octet))
    }

    /// Section 4, SetPipe.
    fn pipe(&self) -> u32 {
        let resent = |octet: &u32| self.phase.as_ref().is_some_and(|phase| *octet < phase.high_rxt);
        let lost = self.outstanding().filter(|octet| !self.is_lost(*octet)).count();
        (lost + self.outstanding().filter(resent).count()) as u32
    }

    /// Up to SMSS octets from `start` that were not selectively acknowledged.
    fn segment(&self, start: u32) -> (u32, u32) {
        let end = (start..self.max.min(start + SMSS)).find(|octet| self.sacked.contains(octet));
        (start, end.unwrap_or(self.max.min(start + SMSS)))
    }

    /// Section 4, NextSeg. The rescue of rule 4 is for a tail that no SACK covers: a hole below has been sent again.
    fn next(&mut self, new_data: bool) -> Option<Result<(u32, u32), ()>> {
        let high_rxt = self.phase.as_ref()?.high_rxt;
        let highest = self.sacked.last().copied();
        let hole =
            self.outstanding().find(|octet| *octet >= high_rxt && highest.is_some_and(|high| *octet < high));
        let lost = hole.filter(|hole| self.is_lost(*hole));
        if lost.is_none() && new_data {
            return Some(Err(()));
        }
        if let Some(start) = lost.or(hole) {
            let segment = self.segment(start);
            self.phase.as_mut()?.high_rxt = segment.1;
            return Some(Ok(segment));
        }
        let phase = self.phase.as_mut()?;
        if std::mem::replace(&mut phase.rescued, true) {
            return None;
        }
        let tail = highest.map_or(self.una, |high| high + 1).max(self.una);
        (tail < self.max).then_some(Ok((tail.max(self.max.saturating_sub(SMSS)), self.max)))
    }

    /// Section 5.
    fn duplicate(&mut self) {
        self.duplicates += 1;
        let allowed = self.recovery_point.is_none_or(|point| self.una >= point);
        let lost = self.duplicates >= THRESHOLD || self.is_lost(self.una);
        if self.phase.is_none() && allowed && lost {
            let (_, end) = self.segment(self.una);
            let recovery_point = self.max;
            self.recovery_point = Some(recovery_point);
            let first_hole = self.una;
            self.phase =
                Some(ModelPhase { first_hole, recovery_point, high_rxt: end, told: end, rescued: false });
            self.told.push(0);
        }
        self.tell();
    }

    /// Each hole that has come to be lost, once, if it was sent before recovery began.
    fn tell(&mut self) {
        let Some(phase) = &self.phase else { return };
        let from = phase.told.max(self.una);
        let lost: Vec<u32> = (from..phase.recovery_point)
            .filter(|octet| !self.sacked.contains(octet) && self.is_lost(*octet))
            .collect();
        let first = |octet: &&u32| !lost.contains(&octet.wrapping_sub(1));
        let holes: Vec<u32> = lost.iter().filter(first).map(|hole| hole - phase.first_hole).collect();
        self.told.extend(holes);
        if let (Some(last), Some(phase)) = (lost.last(), &mut self.phase) {
            phase.told = last + 1;
        }
    }

    fn acknowledge(&mut self, una: u32) {
        self.una = una;
        self.duplicates = 0;
        self.sacked = self.sacked.split_off(&una);
        if self.phase.as_ref().is_some_and(|phase| una >= phase.recovery_point) {
            self.phase = None;
        }
        if let Some(phase) = &mut self.phase {
            phase.high_rxt = phase.high_rxt.max(una);
        }
        self.tell();
    }
}

/// Notes the holes that it is told of, by their distance from the first of their phase.
#[derive(Default)]
struct Notes(Vec<u32>);

impl Control for Notes {
    fn on_loss(&mut self, _: &mut Window, loss: &Loss) -> Response {
        self.0.push(loss.distance);
        Response::Reduced
    }

    fn on_further_loss(&mut self, _: &mut Window, loss: &Loss) -> Response {
        self.0.push(loss.distance);
        Response::Keep
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// New data goes out, outside recovery.
    Send(u32),
    /// An ACK that moves so many octets and brings these blocks, as distances from it and lengths.
    Ack(u32, Vec<(u32, u32)>),
    Timeout,
    /// cwnd has room for this many segments; there is new data or not.
    Fill(u32, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let blocks = || prop::collection::vec((1_u32..60, 1_u32..14), 0..4);
    let step = prop_oneof![
        4 => (1_u32..30).prop_map(Step::Send),
        8 => (Just(0), blocks()).prop_map(|(moved, blocks)| Step::Ack(moved, blocks)),
        4 => (1_u32..25, blocks()).prop_map(|(moved, blocks)| Step::Ack(moved, blocks)),
        1 => Just(Step::Timeout),
        6 => (0_u32..4, any::<bool>()).prop_map(|(room, new)| Step::Fill(room, new)),
    ];
    prop::collection::vec(step, 1..60)
}

struct Both {
    sack: Sack,
    record: Record,
    model: Model,
    base: Seq,
    notes: Notes,
}

impl Both {
    fn new(base: u32) -> Both {
        let mut config = Profile::Rfc.config(SackOptions, StandardOptions::default());
        config.mss = SMSS;
        config.duplicate_threshold = THRESHOLD;
        let base = Seq(base);
        let sack = Sack::new(&config, Agreed::all(&config).smss);
        Both { sack, record: Record::default(), model: Model::default(), base, notes: Notes::default() }
    }

    fn seq(&self, octet: u32) -> Seq {
        self.base + octet
    }

    fn with_context<T>(&mut self, call: impl FnOnce(&mut Sack, &mut Context<'_>) -> T) -> T {
        let smss = f64::from(SMSS);
        let mut window = Window::new(1e3, 1e3, smss, Growth::PerAck);
        let (una, max) = (self.seq(self.model.una), self.seq(self.model.max));
        let mut reductions = crate::recovery::Reductions::default();
        let rtt =
            crate::rtt::RttEstimator::new(Profile::Rfc.config(SackOptions, StandardOptions::default()).rto);
        let mut cx = Context {
            rwnd: u32::MAX,
            echoed: None,
            restarts_timer: false,
            now: Time::ZERO,
            una,
            max,
            window: &mut window,
            control: &mut self.notes,
            slow_start: None,
            reductions: &mut reductions,
            record: &mut self.record,
            rtt: &rtt,
        };
        call(&mut self.sack, &mut cx)
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Send(octets) => {
                if self.model.phase.is_none() {
                    self.send(*octets);
                }
            }
            Step::Ack(moved, blocks) => self.ack(*moved, blocks),
            Step::Timeout => {
                self.with_context(|sack, cx| sack.on_timeout(cx));
                let (una, max) = (self.model.una, self.model.max);
                let told = std::mem::take(&mut self.model.told);
                self.model = Model { una, max, told, recovery_point: Some(max), ..Model::default() };
            }
            Step::Fill(room, new_data) => {
                for _ in 0..*room {
                    self.next(*new_data);
                    self.compare();
                }
            }
        }
    }

    fn ack(&mut self, moved: u32, blocks: &[(u32, u32)]) {
        let una = (self.model.una + moved).min(self.model.max);
        // A receiver acknowledges all that follows: no block touches the ACK, and it does not stop inside one.
        let una = (una..).find(|octet| !self.model.sacked.contains(octet)).unwrap_or(una);
        let within: Vec<(u32, u32)> = blocks
            .iter()
            .map(|(start, len)| (una + start, (una + start + len).min(self.model.max)))
            .filter(|(start, end)| start < end)
            .collect();
        let option: Vec<SackBlock> = within
            .iter()
            .map(|(start, end)| SackBlock { start: self.seq(*start), end: self.seq(*end) })
            .collect();
        let mut news = false;
        let old_una = self.seq(self.model.una);
        for block in option {
            self.record.sack(Time::ZERO, block, old_una, |part| {
                news = true;
                self.sack.on_sacked(part);
            });
        }
        let before = self.model.sacked.len();
        self.model.sacked.extend(within.iter().flat_map(|(start, end)| *start..*end));
        assert_eq!(news, self.model.sacked.len() > before);
        let acked = una - self.model.una;
        if acked > 0 {
            self.model.acknowledge(una);
            self.record.acknowledge(Time::ZERO, self.seq(una), acked);
            self.with_context(|sack, cx| sack.on_new_ack(cx, acked));
        }
        if news {
            self.model.duplicate();
            self.with_context(|sack, cx| sack.on_duplicate_ack(cx));
        }
    }

    fn send(&mut self, octets: u32) {
        self.model.max += octets;
        self.record.push(Time::ZERO, self.seq(self.model.max));
    }

    /// What the recovery sends next with `room` octets of cwnd beyond what is in flight.
    fn answer(&mut self, room: u32, new_data: bool) -> Next {
        let (una, max) = (self.seq(self.model.una), self.seq(self.model.max));
        let cwnd = self.in_flight() + room;
        let record = &self.record;
        let view =
            Outstanding { una, max, smss: SMSS, cwnd, rwnd: u32::MAX, new_data, may_resend: true, record };
        self.sack.next(&view)
    }

    fn in_flight(&self) -> u32 {
        self.sack.in_flight(self.record.board(), self.seq(self.model.una), self.seq(self.model.max))
    }

    fn next(&mut self, new_data: bool) {
        if self.model.phase.is_none() {
            return;
        }
        assert_eq!(self.answer(SMSS - 1, new_data), Next::Nothing);
        let next = self.answer(SMSS, new_data);
        let expected = match self.model.next(new_data) {
            Some(Ok((start, end))) => Next::Again(Range { start: self.seq(start), end: self.seq(end) }),
            Some(Err(())) => Next::NewData { room: SMSS },
            None => Next::Nothing,
        };
        assert_eq!(next, expected);
        match next {
            Next::NewData { .. } => self.send(SMSS),
            Next::Again(range) => self.record.resend(Time::ZERO, range, self.seq(self.model.una)),
            Next::Nothing => {}
        }
    }

    fn compare(&self) {
        assert_eq!(self.sack.in_recovery(), self.model.phase.is_some());
        assert_eq!(self.record.board().held() as usize, self.model.sacked.len());
        // After a timeout everything goes again, and none of it is in flight until then.
        if !self.sack.resend.going_back() {
            assert_eq!(self.in_flight(), self.model.pipe());
        }
        assert_eq!(self.notes.0, self.model.told);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_step_is_rfc_6675s(steps in steps(), base in prop_oneof![any::<u32>(), (0_u32..200).prop_map(|n| u32::MAX - n)]) {
        let mut both = Both::new(base);
        for step in &steps {
            both.apply(step);
            both.compare();
        }
    }
}
