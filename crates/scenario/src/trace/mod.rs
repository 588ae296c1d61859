//! Links whose rate, delay and losses follow a file: what a scenario says of it, and the schedule that it comes to.

mod changes;
mod delays;
mod deliveries;
mod lines;
mod rows;
mod written;

use std::io::{BufRead, BufReader};

use bentpipe_path::{Change, Schedule};
use bentpipe_units::{Fault, Span, Under};

use crate::keys::{Between, Format, TraceFile};
use crate::text::{Document, FileKind, Node, ReadFile};
use lines::Lines;

/// The schedule of a direction whose trace stands in `node` of `document`, each of its rates leaving at least 1 bit/s of `efficiency`; and
/// what its reader should know of it.
pub(crate) fn schedule(
    document: &Document,
    node: &Node,
    trace: &TraceFile,
    efficiency: f64,
    files: &ReadFile<'_>,
) -> Result<(Schedule, Option<String>), Fault> {
    let wrong = |key: &str, message: &str| Err(Fault::from(message).under(key));
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
    let said = Said { node, file: &trace.file, text: &trace.text, sha256: &trace.sha256 };
    let rates = match (&trace.file, &trace.text, &trace.delays) {
        (None, None, Some(_)) => None,
        _ => Some(said.read(document, files, |lines| match format {
            Format::Mahimahi => {
                deliveries::read(lines, efficiency).map(|(changes, end)| (changes, Some(end)))
            }
            Format::Csv => rows::read(lines, &rules),
        })?),
    };
    let (Some(delays), Some(node)) = (&trace.delays, node.get("delays")) else {
        let (changes, round) = rates.unwrap_or_default();
        return Ok((rounds(changes, round), None));
    };
    let said = Said { node, file: &delays.file, text: &delays.text, sha256: &delays.sha256 };
    let step = delays.step.unwrap_or(Span::from_millis(10));
    let read = said.read(document, files, |lines| delays::read(lines, step));
    let (delays, length) = read.under("delays")?;
    let Some((rates, round)) = rates else {
        return Ok((rounds(delays, repeats.then_some(length)), None));
    };
    if rates.iter().any(|change| change.delay.is_some()) {
        return wrong("delays", "expected a trace without delay_s beside it, found one with it");
    }
    let both = delays::beside(rates, &delays, length, round);
    let both = both.map_err(Fault::from).under("delays")?;
    Ok((rounds(both, round), round.and_then(|round| delays::apart(length, round))))
}

/// A schedule that begins anew where its round ends, if it has one.
fn rounds(mut changes: Vec<Change>, round: Option<Span>) -> Schedule {
    changes.extend(round.map(|at| Change { at, repeat: Some(true), ..Change::default() }));
    changes.into()
}

/// Where a trace is: in a file, or in its scenario.
struct Said<'a> {
    node: &'a Node,
    file: &'a Option<String>,
    text: &'a Option<String>,
    sha256: &'a Option<String>,
}

impl Said<'_> {
    fn read<T>(
        &self,
        document: &Document,
        files: &ReadFile<'_>,
        read: impl FnOnce(&mut Lines<&mut dyn BufRead>) -> Result<T, lines::Fault>,
    ) -> Result<T, Fault> {
        let wrong = |key: &str, message: &str| Err(Fault::from(message).under(key));
        match (self.text, self.file, self.sha256) {
            (Some(_), Some(_), _) => wrong("text", "expected either text or file, found both"),
            (None, None, _) => wrong("file", "expected a file, or text in its place, found neither"),
            (Some(_), None, Some(_)) => wrong("sha256", "expected a file beside it, found none"),
            (Some(text), None, None) => read(&mut Lines::of(&mut text.as_bytes()))
                .map_err(|fault| Fault::from(fault.message).at(fault.at).under("text")),
            (None, Some(name), _) => {
                let file = self.node.get("sha256").and_then(|node| document.file_of(node));
                let text = files(file.unwrap_or(name.as_ref()), FileKind::TRACE).under("file")?;
                read(&mut Lines::of(&mut BufReader::with_capacity(1 << 18, text)))
                    .map_err(|fault| Fault::from(fault.message).in_line(fault.line).under("sha256"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
