//! Delays in lines of one interval, as LeoReplayer has them: the propagation delay of each interval in milliseconds.

use std::io::BufRead;

use bentpipe_path::Change;
use bentpipe_units::Span;

use super::changes::Changes;
use super::lines::{Fault, Lines};
use crate::model::LATEST;
use bentpipe_units::quoted;

/// The changes of the delay, and how long all lines last.
pub(super) fn read<R: BufRead>(lines: &mut Lines<R>, step: Span) -> Result<(Vec<Change>, Span), Fault> {
    let (mut changes, mut end, mut before) = (Changes::default(), Span::ZERO, None);
    while let Some((mark, line)) = lines.next()? {
        let known = line.parse::<f64>().ok().filter(|ms| (0.0..=LATEST.as_secs() * 1e3).contains(ms));
        let Some(delay_ms) = known else {
            return Err(mark.fault(format!("expected a delay in milliseconds, found {}", quoted(line))));
        };
        if end > LATEST {
            return Err(mark.fault(format!("expected delays that last at most {LATEST}, found more")));
        }
        let delay = Some(Span::from_secs(delay_ms / 1e3));
        if delay != before {
            let change = Change { at: end, delay, ..Change::default() };
            changes.add(change).map_err(|message| mark.fault(message))?;
            before = delay;
        }
        end += step;
    }
    match end {
        Span::ZERO => Err(lines.end().fault("expected a delay in milliseconds a line, found none")),
        end => Ok((changes.until(end), end)),
    }
}

/// `rates` and `delays` in the order of their times. Where the rates have a round, the delays begin anew with it, and within it as
/// often as all of them fit.
pub(super) fn beside(
    rates: Vec<Change>,
    delays: &[Change],
    length: Span,
    round: Option<Span>,
) -> Result<Vec<Change>, String> {
    let times = round.map_or(1, |round| (round.as_nanos() / length.as_nanos()).max(1));
    let end = round.unwrap_or(LATEST);
    let again = (0..times).flat_map(|time| {
        delays.iter().map(move |change| Change { at: length * time + change.at, ..change.clone() })
    });
    let mut again = again.take_while(|change| change.at < end).peekable();
    let mut both = Changes::default();
    for mut change in rates {
        while let Some(delay) = again.next_if(|delay| delay.at < change.at) {
            both.add(delay)?;
        }
        if let Some(delay) = again.next_if(|delay| delay.at == change.at) {
            change.delay = delay.delay;
        }
        both.add(change)?;
    }
    again.try_for_each(|delay| both.add(delay))?;
    Ok(both.until(end))
}

/// What is to be known where the delays do not fill the round of the rates.
pub(super) fn apart(length: Span, round: Span) -> Option<String> {
    let over = round.as_nanos() % length.as_nanos();
    let what = match length {
        length if length > round => format!("the last {} of the delays never come", length - round),
        _ if over == 0 => return None,
        _ => format!("the last delay holds for {} more", Span::from_nanos(over)),
    };
    Some(format!("delays of {length} beside rates of {round}: both begin anew together, and {what}"))
}
