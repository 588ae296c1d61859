//! Delays in lines of one interval, as LeoReplayer has them: the propagation delay of each interval in milliseconds.

use std::io::BufRead;

use bentpipe_units::{Fault, LATEST, Span, ensure, fault, quoted};

use super::changes::Changes;
use super::lines::Lines;
use crate::Change;

/// The changes of the delay, and how long all lines last.
pub fn read_delays<R: BufRead>(lines: &mut Lines<R>, step: Span) -> Result<(Vec<Change>, Span), Fault> {
    let (mut changes, mut end, mut before) = (Changes::default(), Span::ZERO, None);
    let mut add = |line: &str| {
        let known = line.parse::<f64>().ok().filter(|ms| (0.0..=LATEST.as_secs() * 1e3).contains(ms));
        let ms = known.ok_or_else(|| Fault::value("a delay in milliseconds", quoted(line)))?;
        ensure!(end <= LATEST, fault!("delays that last at most {LATEST}", "more"));
        let delay = Some(Span::from_secs(ms / 1e3));
        if delay != before {
            changes.add(Change { at: end, delay, ..Change::default() })?;
            before = delay;
        }
        end += step;
        Ok(())
    };
    while lines.next(|line, _| add(line))?.is_some() {}
    let none = || fault!("a delay in milliseconds a line", "none");
    ensure!(end > Span::ZERO, none().within(lines.end()));
    Ok((changes.until(end), end))
}

/// `rates` and `delays` in the order of their times. Where the rates have a round, the delays begin anew with it, and within it as
/// often as all of them fit.
pub fn beside(
    rates: Vec<Change>,
    delays: &[Change],
    length: Span,
    round: Option<Span>,
) -> Result<Vec<Change>, Fault> {
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
pub fn unfilled(length: Span, round: Span) -> Option<String> {
    let over = round.as_nanos() % length.as_nanos();
    let what = match length {
        length if length > round => format!("the last {} of the delays never come", length - round),
        _ if over == 0 => return None,
        _ => format!("the last delay holds for {} more", Span::from_nanos(over)),
    };
    Some(format!("delays of {length} beside rates of {round}: both begin anew together, and {what}"))
}
