//! Traces of deliveries, as mahimahi has them (Netravali et al., USENIX ATC 2015): a line for each opportunity to deliver a packet of
//! 1500 bytes, with its time in whole milliseconds, again and again, a round as long as the last time.
//!
//! The opportunities of time t are spread over the millisecond that ends at t: a link that always has something to send has sent as
//! many bytes as the trace allows at each t. Between them it stands still.

use std::io::BufRead;

use bentpipe_units::{Fault, LATEST, MAX_RATE, Rate, Span, Within, ensure, fault, quoted};

use super::changes::Changes;
use super::lines::Lines;
use crate::Change;

/// Bits of an opportunity: 1500 bytes.
const BITS: u64 = 12_000;

/// The opportunities of a millisecond.
#[derive(Clone, Copy)]
struct Bin {
    time_ms: u64,
    many: u64,
    at: Within,
}

/// The changes of a round, and how long it is.
pub fn read_deliveries<R: BufRead>(
    lines: &mut Lines<R>,
    efficiency: f64,
) -> Result<(Vec<Change>, Span), Fault> {
    let mut made = Round { efficiency, changes: Changes::default(), now_ms: 0, sent: 0 };
    let (mut at_zero, mut bin): (u64, Option<Bin>) = (0, None);
    let mut add = |line: &str, at| {
        let wrong = |_| Fault::value("a time in whole milliseconds", quoted(line));
        let time_ms = line.parse::<u64>().map_err(wrong)?;
        let time = Span::from_millis(time_ms.min(1 << 40));
        ensure!(time <= LATEST, fault!("a time of at most {LATEST}", "{time_ms} ms"));
        match &mut bin {
            Some(bin) if bin.time_ms == time_ms => bin.many += 1,
            Some(Bin { time_ms: before, .. }) if *before > time_ms => {
                let expected = format!("a time of at least that of the line before ({before} ms)");
                return Err(Fault::value(expected, format!("{time_ms} ms")));
            }
            None if time_ms == 0 => at_zero += 1,
            bin => {
                let full = bin.replace(Bin { time_ms, many: 1, at });
                return full.map_or(Ok(()), |full| made.bin(full));
            }
        }
        Ok(())
    };
    while lines.next(&mut add)?.is_some() {}
    let none = || fault!("a time above 0 ms, after which the trace repeats", "none");
    let last = bin.ok_or_else(|| none().within(lines.end()))?;
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
    fn bin(&mut self, Bin { time_ms, many, at }: Bin) -> Result<(), Fault> {
        self.add(time_ms, many).map_err(|fault| fault.within(at))
    }

    fn add(&mut self, time_ms: u64, many: u64) -> Result<(), Fault> {
        let from = Span::from_millis(self.now_ms);
        let at = Span::from_millis(time_ms - 1);
        if at > from {
            self.changes.add(Change { outage: Some(at - from), at: from, ..Change::default() })?;
        }
        if many != self.sent {
            let rate = Rate::from_bps(many.saturating_mul(BITS * 1000));
            ensure!(
                rate <= MAX_RATE && rate.as_bps() as f64 * self.efficiency >= 1.0,
                fault!("deliveries that come to a rate of at most {MAX_RATE}", "{rate} at {time_ms} ms")
            );
            self.changes.add(Change { rate: Some(rate), at, ..Change::default() })?;
            self.sent = many;
        }
        self.now_ms = time_ms;
        Ok(())
    }
}
