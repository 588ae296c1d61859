//! How a link changes while a run goes on.

use std::sync::Arc;

use bentpipe_units::bounded::AboveZero;
use bentpipe_units::{Fault, Rate, Span, Time, conflict, fault};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::LossSpec;

/// A change of a link; what is not set stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When.
    pub at: Span,
    /// Nominal rate from then on, also for the rest of the packet that is being sent.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Propagation delay of what is sent from then on.
    #[serde(default)]
    pub delay: Option<Span>,
    /// With `delay`: whether packets may overtake those that were sent before; default false, and they arrive behind them.
    #[serde(default)]
    pub overtake: Option<bool>,
    /// What the link loses of the packets that are sent from then on.
    #[serde(default)]
    pub loss: Option<LossSpec>,
    /// How long nothing gets through.
    #[serde(default, with = "AboveZero")]
    pub outage: Option<Span>,
    /// With `outage`: what becomes of the packets that wait or come meanwhile; default "hold".
    #[serde(default)]
    pub waiting: Option<InOutage>,
    /// Whether the schedule begins anew at this time, as if that were 0 s, and so on; the last change alone, and nothing beside it.
    #[serde(default)]
    pub repeat: Option<bool>,
}

/// What becomes of packets in an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InOutage {
    /// The link stops sending, and goes on with the same packet afterwards.
    #[default]
    Hold,
    /// The link goes on sending, and everything that it sends meanwhile is lost.
    Lose,
}

/// Changes of a link, in the order of their times; a copy shares them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Schedule(pub Arc<Vec<Change>>);

impl From<Vec<Change>> for Schedule {
    fn from(changes: Vec<Change>) -> Schedule {
        Schedule(Arc::new(changes))
    }
}

impl Schedule {
    /// Whether the changes go together, in themselves and with each other; those that do not, otherwise.
    pub fn validate(&self) -> Result<(), Fault> {
        let mut before: Option<Span> = None;
        let mut up_again = Span::ZERO;
        for (place, change) in self.0.iter().enumerate() {
            let wrong = |key: &str, fault: Fault| Err(fault.under(key).under(format!("[{place}]")));
            let at = change.at;
            if let Some(before) = before.filter(|before| at <= *before) {
                return wrong("at", fault!("a time after that of the change before ({before})", "{at}"));
            }
            before = Some(at);
            change.validate().map_err(|fault| fault.under(format!("[{place}]")))?;
            if change.outage.is_some() && at < up_again {
                return wrong(
                    "outage",
                    conflict!("begins at {at}, before the end of the last outage ({up_again})"),
                );
            }
            up_again = change.outage.map_or(up_again, |outage| at + outage);
            if change.repeats() && place + 1 < self.0.len() {
                return wrong("repeat", conflict!("there are changes behind it, and none comes after it"));
            }
            if change.repeats() && at < up_again {
                return wrong(
                    "repeat",
                    conflict!("begins anew at {at}, before the end of the last outage ({up_again})"),
                );
            }
        }
        Ok(())
    }

    /// The time after which it begins anew, if it does.
    pub fn period(&self) -> Option<Span> {
        self.0.last().filter(|change| change.repeats()).map(|change| change.at)
    }

    /// The changes with their times, in order; endless where the schedule repeats.
    pub fn changes(&self) -> impl Iterator<Item = (Span, &Change)> {
        let period = self.period();
        let rounds = (0_u64..).take(if period.is_some() { usize::MAX } else { 1 });
        rounds.flat_map(move |round| {
            let begins = period.unwrap_or_default() * round;
            self.0.iter().filter(|change| !change.repeats()).map(move |change| (begins + change.at, change))
        })
    }

    /// Whether the link stops sending at times.
    pub(super) fn stands_still(&self) -> bool {
        self.0
            .iter()
            .any(|change| change.outage.is_some() && change.waiting.unwrap_or_default() == InOutage::Hold)
    }

    /// When the delay changes, which is `delay` at first, or an outage begins or ends: the delay from then on, none while
    /// nothing gets through. Where the schedule repeats, up to `end`.
    pub fn delays(&self, mut delay: Span, end: Time) -> Vec<(Time, Option<Span>)> {
        let (mut steps, mut up, mut found) = (Steps::of(self), true, Vec::new());
        let last = self.period().map_or(Time::NEVER, |_| end);
        while let Some((at, step)) = steps.pop().filter(|(at, _)| *at <= last) {
            match step {
                Step::Delay(new, _) => delay = new,
                Step::Down(_) => up = false,
                Step::Up => up = true,
                Step::Rate(_) | Step::Loss(_) => continue,
            }
            found.push((at, up.then_some(delay)));
        }
        found
    }
}

/// What happens to a link when, in order.
///
/// They are made one after the other from the changes, which all who look at a schedule share: a trace of an hour is in memory once.
#[derive(Debug)]
pub(super) struct Steps {
    changes: Arc<Vec<Change>>,
    /// Changes of a round, without the one that ends it.
    many: usize,
    period: Option<Span>,
    /// When this round began, and its first change that has not been begun.
    begins: Span,
    place: usize,
    /// The part of that change that comes next.
    part: usize,
    /// The end of the outage that is on.
    up: Option<Time>,
    next: Option<(Time, Step)>,
}

impl Steps {
    pub(super) fn of(schedule: &Schedule) -> Steps {
        let period = schedule.period();
        let many = schedule.0.len() - usize::from(period.is_some());
        let (changes, begins) = (schedule.0.clone(), Span::ZERO);
        let mut steps = Steps { changes, many, period, begins, place: 0, part: 0, up: None, next: None };
        steps.next = steps.made();
        steps
    }

    /// When the next one is.
    #[inline]
    pub(super) fn next_time(&self) -> Time {
        self.next.as_ref().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The next one, which comes again a period later where the schedule repeats.
    pub(super) fn pop(&mut self) -> Option<(Time, Step)> {
        let next = self.next.take();
        self.next = self.made();
        next
    }

    fn made(&mut self) -> Option<(Time, Step)> {
        loop {
            if self.place == self.many
                && self.many > 0
                && let Some(period) = self.period
            {
                (self.begins, self.place) = (self.begins + period, 0);
            }
            let change = self.changes[..self.many].get(self.place);
            let at = change.map_or(Time::NEVER, |change| Time::ZERO + self.begins + change.at);
            // Before a change at its time.
            if self.part == 0
                && let Some(up) = self.up.take_if(|up| *up <= at)
            {
                return Some((up, Step::Up));
            }
            let change = change?;
            self.part += 1;
            let step = match self.part {
                1 => change.rate.map(Step::Rate),
                2 => change.delay.map(|delay| Step::Delay(delay, change.overtake.unwrap_or_default())),
                3 => change.loss.clone().map(Step::Loss),
                _ => {
                    (self.place, self.part) = (self.place + 1, 0);
                    self.up = change.outage.map(|outage| at + outage).or(self.up);
                    change.outage.map(|_| Step::Down(change.waiting.unwrap_or_default()))
                }
            };
            if let Some(step) = step {
                return Some((at, step));
            }
        }
    }
}

impl Change {
    fn repeats(&self) -> bool {
        self.repeat == Some(true)
    }

    fn validate(&self) -> Result<(), Fault> {
        let none =
            self.rate.is_none() && self.delay.is_none() && self.loss.is_none() && self.outage.is_none();
        let wrong = |key: &str, fault: Fault| Err(fault.under(key));
        match self {
            Change { repeat: Some(true), .. } if !none => {
                wrong("repeat", conflict!("cannot be combined with another key than at"))
            }
            Change { repeat: Some(true), at: Span::ZERO, .. } => {
                wrong("at", fault!("a time above zero, from which on it repeats", "0 s"))
            }
            Change { repeat: Some(true), .. } => Ok(()),
            _ if none => wrong("at", conflict!("needs rate, delay, loss or outage beside it")),
            Change { overtake: Some(_), delay: None, .. } => {
                wrong("overtake", conflict!("needs delay beside it"))
            }
            Change { waiting: Some(_), outage: None, .. } => {
                wrong("waiting", conflict!("needs outage beside it"))
            }
            _ => Ok(()),
        }
    }
}

/// One thing that a change does.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Rate(Rate),
    Delay(Span, bool),
    Loss(LossSpec),
    Down(InOutage),
    Up,
}
