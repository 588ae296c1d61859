//! Links whose rate, delay and losses follow a file.

use std::io::{BufRead, BufReader};

use bentpipe_path::trace::{
    Lines, Rules, as_deliveries, as_rows, beside, read_delays, read_deliveries, read_rows, unfilled,
};
use bentpipe_path::{Change, Schedule};
use bentpipe_units::{Fault, Span, Under, Within, ensure, fault, no_such};

use crate::keys::{Between, Format, TraceFile};
use crate::model::Scenario;
use crate::text::{Document, FileKind, Node, ReadFile};

/// The schedule of a direction whose trace stands in `node` of `document`, each of its rates leaving at least 1 bit/s of `efficiency`; and
/// what its reader should know of it.
pub(crate) fn schedule(
    document: &Document,
    node: &Node,
    trace: &TraceFile,
    efficiency: f64,
    files: &ReadFile<'_>,
) -> Result<(Schedule, Option<String>), Fault> {
    let (format, between) = (trace.format.unwrap_or_default(), trace.between.unwrap_or_default());
    let mahimahi = format == Format::Mahimahi;
    let alone = "none beside format \"mahimahi\"";
    let repeating = "true beside format \"mahimahi\", whose traces repeat";
    for (key, wrong, expected, found) in [
        ("between", mahimahi && trace.between.is_some(), alone, "one"),
        ("repeat", mahimahi && trace.repeat == Some(false), repeating, "false"),
        ("step", trace.step.is_some() && between == Between::Steps, "between = \"lines\" beside it", "none"),
    ] {
        ensure!(!wrong, Fault::value(expected, found).under(key));
    }
    let repeats = trace.repeat == Some(true);
    let rules = Rules {
        efficiency,
        repeats,
        step: (between == Between::Lines).then(|| trace.step.unwrap_or(Span::from_millis(100))),
    };
    let said = Said { node, file: &trace.file, text: &trace.text, sha256: &trace.sha256 };
    let rates = match (&trace.file, &trace.text, &trace.delays) {
        (None, None, Some(_)) => None,
        _ => Some(said.read(document, files, |lines| match format {
            Format::Mahimahi => read_deliveries(lines, efficiency).map(|(changes, end)| (changes, Some(end))),
            Format::Csv => read_rows(lines, &rules),
        })?),
    };
    let (Some(delays), Some(node)) = (&trace.delays, node.get("delays")) else {
        let (changes, round) = rates.unwrap_or_default();
        return Ok((rounds(changes, round), None));
    };
    let said = Said { node, file: &delays.file, text: &delays.text, sha256: &delays.sha256 };
    let step = delays.step.unwrap_or(Span::from_millis(10));
    let read = said.read(document, files, |lines| read_delays(lines, step));
    let (delays, length) = read.under("delays")?;
    let Some((rates, round)) = rates else {
        return Ok((rounds(delays, repeats.then_some(length)), None));
    };
    let twice = rates.iter().any(|change| change.delay.is_some());
    ensure!(!twice, fault!("a trace without delay_s beside it", "one with it").under("delays"));
    let both = beside(rates, &delays, length, round).under("delays")?;
    Ok((rounds(both, round), round.and_then(|round| unfilled(length, round))))
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
        read: impl FnOnce(&mut Lines<&mut dyn BufRead>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match (self.text, self.file, self.sha256) {
            (Some(_), Some(_), _) => Err(fault!("either text or file", "both").under("text")),
            (None, None, _) => Err(fault!("a file, or text in its place", "neither").under("file")),
            (Some(_), None, Some(_)) => Err(fault!("a file beside it", "none").under("sha256")),
            (Some(text), None, None) => {
                read(&mut Lines::of(&mut text.as_bytes(), Within::Byte(0))).under("text")
            }
            (None, Some(name), _) => {
                let file = self.node.get("sha256").and_then(|node| document.file_of(node));
                let text = files(file.unwrap_or(name.as_ref()), FileKind::TRACE).under("file")?;
                let mut text = BufReader::with_capacity(1 << 18, text);
                read(&mut Lines::of(&mut text, Within::Line(1))).under("sha256")
            }
        }
    }
}

impl Scenario {
    /// The rate, delay and losses of a direction of a link (`name` or `name/reverse`) over the run, as the text of a trace in this
    /// format (`csv` or `mahimahi`): a round of a schedule that repeats, otherwise up to the last change.
    pub fn trace(&self, direction: &str, format: &str) -> Result<String, Fault> {
        let (name, back) = match direction.strip_suffix("/reverse") {
            Some(name) => (name, true),
            None => (direction, false),
        };
        let Some(link) = self.links.iter().find(|link| link.name == name) else {
            let names: Vec<&str> = self.links.iter().map(|link| link.name.as_str()).collect();
            return Err(no_such("a link, or its name with /reverse", direction, &names));
        };
        let found = if back { &link.reverse.link } else { &link.forward.link };
        match format {
            "csv" => as_rows(found),
            "mahimahi" => as_deliveries(found, self.duration),
            _ => Err(no_such("a format of traces", format, &["csv", "mahimahi"])),
        }
    }
}
