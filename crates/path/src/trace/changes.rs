//! The changes of a link, made from the rows of its trace as they come.

use bentpipe_units::{Fault, Rate, Span, ensure, fault};

use crate::{Change, LossSpec};

/// Changes that a trace may come to: what they take is all that a trace takes.
pub(super) const MOST: usize = 10_000_000;

/// What a trace says from a time on; what it does not say stays as it is. A rate of zero is a standstill.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) at: Span,
    pub(super) delay_s: Option<f64>,
    pub(super) rate_bps: Option<f64>,
    pub(super) loss: Option<f64>,
    pub(super) ber: Option<f64>,
}

#[derive(Default)]
pub(super) struct Changes {
    made: Vec<Change>,
    before: Option<Row>,
    sent_bps: Option<f64>,
    /// The change that began the standstill that is on.
    still: Option<usize>,
}

impl Changes {
    pub(super) fn add(&mut self, change: Change) -> Result<(), Fault> {
        let megabytes = (MOST * size_of::<Change>()) / 1_000_000;
        let many = || fault!("at most {MOST} changes, which take {megabytes} MB", "more");
        ensure!(self.made.len() < MOST, many());
        self.made.push(change);
        Ok(())
    }

    /// What changes with a row.
    pub(super) fn row(&mut self, row: Row) -> Result<(), Fault> {
        let before = self.before.take().unwrap_or_default();
        let mut change = Change { at: row.at, ..Change::default() };
        change.delay = row.delay_s.filter(|_| row.delay_s != before.delay_s).map(Span::from_secs);
        let lost = row.loss.filter(|_| row.loss != before.loss);
        let wrong = row.ber.filter(|_| row.ber != before.ber);
        change.loss = match (lost, wrong) {
            (Some(0.0), _) | (_, Some(0.0)) => Some(LossSpec::None),
            (Some(probability), _) => Some(LossSpec::Packet { probability }),
            (_, Some(ber)) => Some(LossSpec::Ber { ber, correctable_bits: 0 }),
            (None, None) => None,
        };
        if row.rate_bps == Some(0.0) {
            if self.still.is_none() {
                self.still = Some(self.made.len());
                change.outage = Some(Span::ZERO);
            }
        } else {
            self.move_again(row.at);
            if row.rate_bps != self.sent_bps {
                self.sent_bps = row.rate_bps;
                change.rate = self.sent_bps.map(rate);
            }
        }
        self.before = Some(row);
        if change == (Change { at: change.at, ..Change::default() }) { Ok(()) } else { self.add(change) }
    }

    /// The end of a standstill, if one is on.
    fn move_again(&mut self, at: Span) {
        if let Some(still) = self.still.take() {
            let begun = &mut self.made[still];
            begun.outage = Some(at.saturating_sub(begun.at)).filter(|outage| *outage > Span::ZERO);
        }
    }

    /// All of them; what stands still does so to the end.
    pub(super) fn until(mut self, end: Span) -> Vec<Change> {
        self.move_again(end);
        self.made.pop_if(|last| *last == (Change { at: last.at, ..Change::default() }));
        self.made
    }
}

/// The rate of so many bits a second.
fn rate(bps: f64) -> Rate {
    Rate::from_bps(bps.round() as u64)
}
