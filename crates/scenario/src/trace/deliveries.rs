//! Traces of deliveries, as mahimahi has them (Netravali et al., USENIX ATC 2015): a line for each opportunity to deliver a packet of
//! 1500 bytes, with its time in whole milliseconds, again and again, a round as long as the last time.
//!
//! The opportunities of time t are spread over the millisecond that ends at t: a link that always has something to send has sent as
//! many bytes as the trace allows at each t. Between them it stands still.

use std::io::BufRead;

use bentpipe_path::Change;
use bentpipe_units::{Rate, Span};

use super::changes::Changes;
use super::lines::{Fault, Lines, Mark};
use crate::model::{LATEST, MAX_RATE};
use bentpipe_units::quoted;

/// Bits of an opportunity: 1500 bytes.
const BITS: u64 = 12_000;

/// The opportunities of a millisecond.
#[derive(Clone, Copy)]
struct Bin {
    time_ms: u64,
    many: u64,
    mark: Mark,
}

/// The changes of a round, and how long it is.
pub(super) fn read<R: BufRead>(lines: &mut Lines<R>, efficiency: f64) -> Result<(Vec<Change>, Span), Fault> {
    let mut made = Round { efficiency, changes: Changes::default(), now_ms: 0, sent: 0 };
    let (mut at_zero, mut bin): (u64, Option<Bin>) = (0, None);
    while let Some((mark, line)) = lines.next()? {
        let Ok(time_ms) = line.parse::<u64>() else {
            let found = quoted(line);
            return Err(mark.fault(format!("expected a time in whole milliseconds, found {found}")));
        };
        if Span::from_millis(time_ms.min(1 << 40)) > LATEST {
            return Err(mark.fault(format!("expected a time of at most {LATEST}, found {time_ms} ms")));
        }
        match &mut bin {
            Some(bin) if bin.time_ms == time_ms => bin.many += 1,
            Some(Bin { time_ms: before, .. }) if *before > time_ms => {
                return Err(mark.fault(format!(
                    "expected a time of at least that of the line before ({before} ms), found {time_ms} ms"
                )));
            }
            None if time_ms == 0 => at_zero += 1,
            bin => {
                if let Some(full) = bin.replace(Bin { time_ms, many: 1, mark }) {
                    made.bin(full)?;
                }
            }
        }
    }
    let Some(last) = bin else {
        let message = "expected a time above 0 ms, after which the trace repeats, found none";
        return Err(lines.end().fault(message));
    };
    // What is delivered at 0 is delivered at the end of each round.
    made.bin(Bin { many: last.many + at_zero, ..last })?;
    let end = Span::from_millis(last.time_ms);
    Ok((made.changes.until(end), end))
}

/// A round that is being made.
struct Round {
    efficiency: f64,
    changes: Changes,
    now_ms: u64,
    sent: u64,
}

impl Round {
    fn bin(&mut self, Bin { time_ms, many, mark }: Bin) -> Result<(), Fault> {
        let from = Span::from_millis(self.now_ms);
        let at = Span::from_millis(time_ms - 1);
        if at > from {
            let change = Change { outage: Some(at - from), at: from, ..Change::default() };
            self.changes.add(change).map_err(|message| mark.fault(message))?;
        }
        if many != self.sent {
            let rate = Rate::from_bps(many.saturating_mul(BITS * 1000));
            if rate > MAX_RATE || rate.as_bps() as f64 * self.efficiency < 1.0 {
                return Err(mark.fault(format!(
                    "expected deliveries that come to a rate of at most {MAX_RATE}, found {rate} at {time_ms} ms"
                )));
            }
            let change = Change { rate: Some(rate), at, ..Change::default() };
            self.changes.add(change).map_err(|message| mark.fault(message))?;
            self.sent = many;
        }
        self.now_ms = time_ms;
        Ok(())
    }
}
