//! Links whose rate, delay and losses follow a file: what a scenario says of it, and the schedule that it comes to.

mod changes;
mod delays;
mod deliveries;
mod lines;
mod rows;
mod written;

use std::io::{BufRead, BufReader};

use bentpipe_path::{Change, Schedule};
use bentpipe_units::Span;

use crate::keys::{Between, Format, TraceFile};
use crate::text::{FileKind, Place, ReadFile, ScenarioError, dotted};
use lines::{Fault, Lines};

/// The schedule of a direction whose trace stands at `place`, each of its rates leaving at least 1 bit/s of `efficiency`; and what its
/// reader should know of it.
pub(crate) fn schedule(
    place: &Place<'_>,
    trace: &TraceFile,
    efficiency: f64,
    files: &ReadFile<'_>,
) -> Result<(Schedule, Option<String>), ScenarioError> {
    let wrong = |key: &str, message: &str| Err(place.error(&[key], message));
    let format = trace.format.unwrap_or_default();
    let between = trace.between.unwrap_or_default();
    match format {
        Format::Mahimahi if trace.between.is_some() => {
            return wrong("between", "expected none beside format \"mahimahi\", found one");
        }
        Format::Mahimahi if trace.repeat == Some(false) => {
            return wrong(
                "repeat",
                "expected true beside format \"mahimahi\", whose traces repeat, found false",
            );
        }
        _ if trace.step.is_some() && between == Between::Steps => {
            return wrong("step", "expected between = \"lines\" beside it, found none");
        }
        _ => {}
    }
    let repeats = trace.repeat == Some(true);
    let rules = rows::Rules {
        efficiency,
        repeats,
        step: (between == Between::Lines).then(|| trace.step.unwrap_or(Span::from_millis(100))),
    };
    let said = Said { place: place.clone(), file: &trace.file, text: &trace.text, sha256: &trace.sha256 };
    let rates = match (&trace.file, &trace.text, &trace.delays) {
        (None, None, Some(_)) => None,
        _ => Some(said.read(files, |lines| match format {
            Format::Mahimahi => {
                deliveries::read(lines, efficiency).map(|(changes, end)| (changes, Some(end)))
            }
            Format::Csv => rows::read(lines, &rules),
        })?),
    };
    let Some(delays) = &trace.delays else {
        let (changes, round) = rates.unwrap_or_default();
        return Ok((rounds(changes, round), None));
    };
    let said = Said {
        place: place.below(&["delays"]),
        file: &delays.file,
        text: &delays.text,
        sha256: &delays.sha256,
    };
    let step = delays.step.unwrap_or(Span::from_millis(10));
    let (delays, length) = said.read(files, |lines| delays::read(lines, step))?;
    let Some((rates, round)) = rates else {
        return Ok((rounds(delays, repeats.then_some(length)), None));
    };
    if rates.iter().any(|change| change.delay.is_some()) {
        return wrong("delays", "expected a trace without delay_s beside it, found one with it");
    }
    let both = delays::beside(rates, &delays, length, round);
    let both = both.map_err(|message| place.error(&["delays"], message))?;
    let note = round.and_then(|round| delays::apart(length, round));
    Ok((rounds(both, round), note.map(|note| format!("{}: {note}", dotted(&place.path)))))
}

/// A schedule that begins anew where its round ends, if it has one.
fn rounds(mut changes: Vec<Change>, round: Option<Span>) -> Schedule {
    changes.extend(round.map(|at| Change { at, repeat: Some(true), ..Change::default() }));
    changes.into()
}

/// Where a trace is: in a file, or in its scenario.
struct Said<'a> {
    place: Place<'a>,
    file: &'a Option<String>,
    text: &'a Option<String>,
    sha256: &'a Option<String>,
}

impl Said<'_> {
    fn read<T>(
        &self,
        files: &ReadFile<'_>,
        read: impl FnOnce(&mut Lines<&mut dyn BufRead>) -> Result<T, Fault>,
    ) -> Result<T, ScenarioError> {
        let wrong = |key: &str, message: &str| Err(self.place.error(&[key], message));
        match (self.text, self.file, self.sha256) {
            (Some(_), Some(_), _) => wrong("text", "expected either text or file, found both"),
            (None, None, _) => wrong("file", "expected a file, or text in its place, found neither"),
            (Some(_), None, Some(_)) => wrong("sha256", "expected a file beside it, found none"),
            (Some(text), None, None) => read(&mut Lines::of(&mut text.as_bytes()))
                .map_err(|fault| self.place.error_within(&["text"], fault.at, fault.message)),
            (None, Some(name), _) => {
                let layer = self.place.layer(&["sha256"]);
                let file = layer.and_then(|layer| layer.file.as_deref()).unwrap_or(name.as_ref());
                let text = files(file, FileKind::TRACE);
                let text = text.map_err(|message| self.place.error(&["file"], message))?;
                read(&mut Lines::of(&mut BufReader::with_capacity(1 << 18, text)))
                    .map_err(|fault| self.place.error_in(&["sha256"], fault.line, fault.message))
            }
        }
    }
}

#[cfg(test)]
mod tests;
