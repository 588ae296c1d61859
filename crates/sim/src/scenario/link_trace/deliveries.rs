//! Traces of deliveries, as mahimahi has them (Netravali et al., USENIX ATC 2015): a line for each opportunity to deliver a packet of
//! 1500 bytes, with its time in whole milliseconds, again and again, a round as long as the last time.
//!
//! The opportunities of time t are spread over the millisecond that ends at t: a link that always has something to send has sent as
//! many bytes as the trace allows at each t. Between them it stands still.

use bentpipe_path::Change;
use bentpipe_units::{Rate, Span};

use super::super::error::quoted;
use super::super::network::MAX_RATE;
use super::super::resolve::LATEST;
use super::Fault;
use super::rows::said;

/// Bits of an opportunity: 1500 bytes.
const BITS: u64 = 12_000;

/// The changes of a round, and how long it is.
pub(super) fn read(text: &str, efficiency: f64) -> Result<(Vec<Change>, Span), Fault> {
    let mut bins: Vec<(u64, u64)> = Vec::new();
    for (at, line) in said(text) {
        let fault = |message: String| Fault { at, message };
        let Ok(time_ms) = line.parse::<u64>() else {
            let found = quoted(line);
            return Err(fault(format!("expected a time in whole milliseconds, found {found}")));
        };
        if Span::from_millis(time_ms.min(1 << 40)) > LATEST {
            return Err(fault(format!("expected a time of at most {LATEST}, found {time_ms} ms")));
        }
        match bins.last_mut() {
            Some((before, many)) if *before == time_ms => *many += 1,
            Some((before, _)) if *before > time_ms => {
                return Err(fault(format!(
                    "expected a time of at least that of the line before ({before} ms), found {time_ms} ms"
                )));
            }
            _ => bins.push((time_ms, 1)),
        }
    }
    // What is delivered at 0 is delivered at the end of each round.
    let at_zero = bins.first().filter(|(time_ms, _)| *time_ms == 0).map_or(0, |(_, many)| *many);
    bins.retain(|(time_ms, _)| *time_ms > 0);
    let fault = |message: String| Fault { at: text.len(), message };
    let Some((end_ms, last)) = bins.last_mut() else {
        return Err(fault(
            "expected a time above 0 ms, after which the trace repeats, found none".to_owned(),
        ));
    };
    let end_ms = *end_ms;
    *last += at_zero;
    let mut changes = Vec::new();
    let (mut now_ms, mut sent) = (0, 0);
    for (time_ms, many) in bins {
        if time_ms - 1 > now_ms {
            let outage = Some(Span::from_millis(time_ms - 1 - now_ms));
            changes.push(Change { outage, at: Span::from_millis(now_ms), ..Change::default() });
        }
        if many != sent {
            let rate = Rate::from_bps(many.saturating_mul(BITS * 1000));
            if rate > MAX_RATE || rate.as_bps() as f64 * efficiency < 1.0 {
                let message = format!(
                    "expected deliveries that come to a rate of at most {MAX_RATE}, found {rate} at {time_ms} ms"
                );
                return Err(fault(message));
            }
            changes.push(Change {
                rate: Some(rate),
                at: Span::from_millis(time_ms - 1),
                ..Change::default()
            });
            sent = many;
        }
        now_ms = time_ms;
    }
    Ok((changes, Span::from_millis(end_ms)))
}
