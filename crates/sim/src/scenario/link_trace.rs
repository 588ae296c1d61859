//! Links whose rate, delay and losses follow a file: what a scenario says of it, and the schedule that it comes to.

mod deliveries;
mod rows;
mod written;

use std::path::Path;

use bentpipe_path::{Change, LossSpec, Schedule};
use bentpipe_units::Span;
use bentpipe_units::bounded::above_zero;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::error::{ScenarioError, quoted};
use super::layers::{FileKind, ReadFile};
use super::tree::{Document, Layer, Node, Origin, Place, Table, Value};
use super::written::Choice;

/// Changes that a trace may come to, over all copies of its link.
const MAX_CHANGES: usize = 1_000_000;

/// How the file of a trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    Csv,
    Mahimahi,
}

/// What holds between two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Between {
    #[default]
    Steps,
    Lines,
}

/// How a link changes, from a file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TraceFile {
    /// The file, relative to this one.
    pub(crate) file: Option<String>,
    /// What such a file says, in its place.
    pub(crate) text: Option<String>,
    /// "csv" (the default): a header with time_s and any of delay_s, rate_bps, loss (or ber), and a row for each time; "mahimahi": a
    /// time in milliseconds for each delivery of 1500 bytes.
    pub(crate) format: Option<Choice<Format>>,
    /// What holds between two rows: "steps" (the default), the values of the earlier one, or "lines" from one to the other.
    pub(crate) between: Option<Choice<Between>>,
    /// With "lines": how long a value holds, the line's in its middle; default "100 ms".
    #[serde(deserialize_with = "above_zero")]
    pub(crate) step: Option<Span>,
    /// Whether the trace begins anew at its last time; default false, with "mahimahi" always.
    pub(crate) repeat: Option<bool>,
}

/// A trace, or the name of its file alone.
pub(crate) fn described(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<TraceFile>();
    json_schema!({ "anyOf": [{ "type": "string" }, table] })
}

/// What a trace says from a time on; what it does not say stays as it is. A rate of zero is a standstill.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    at: Span,
    delay_s: Option<f64>,
    rate_bps: Option<f64>,
    loss: Option<f64>,
    ber: Option<f64>,
}

/// What is wrong with a trace, and the byte of its text that says so.
#[derive(Debug, PartialEq)]
struct Fault {
    at: usize,
    message: String,
}

/// Puts what the files of traces and of element sets say in the place of their names; each file becomes a layer. A name in a file stands for a file
/// beside it, any other for one in the current folder.
pub(crate) fn inline(document: &mut Document, files: &ReadFile<'_>) -> Result<(), ScenarioError> {
    let Document { layers, root } = document;
    let constellation =
        root.table_mut().and_then(|root| root.get_mut("constellation")).and_then(Node::table_mut);
    if let Some(elements) = constellation.and_then(|table| table.get_mut("elements")) {
        put_text(layers, elements, "constellation.elements", FileKind::ELEMENTS, files)?;
    }
    let links = root.table_mut().and_then(|root| root.get_mut("links")).and_then(Node::table_mut);
    for (name, link) in links.into_iter().flatten() {
        let Some(link) = link.table_mut() else { continue };
        if let Some(trace) = link.get_mut("trace") {
            put_text(layers, trace, &format!("links.{name}.trace"), FileKind::TRACE, files)?;
        }
        let reverse = link.get_mut("reverse").and_then(Node::table_mut);
        if let Some(trace) = reverse.and_then(|reverse| reverse.get_mut("trace")) {
            put_text(layers, trace, &format!("links.{name}.reverse.trace"), FileKind::TRACE, files)?;
        }
    }
    Ok(())
}

fn put_text(
    layers: &mut Vec<Layer>,
    trace: &mut Node,
    key: &str,
    kind: FileKind,
    files: &ReadFile<'_>,
) -> Result<(), ScenarioError> {
    if trace.text().is_some() {
        let (file, origin) = (trace.clone(), trace.origin);
        *trace = Node { value: Value::Table(Table::from([("file".to_owned(), file)])), origin };
    }
    let Some(table) = trace.table_mut().filter(|table| !table.contains_key("text")) else { return Ok(()) };
    let Some(name) = table.get("file").filter(|name| name.text().is_some()) else { return Ok(()) };
    let target = name.text().unwrap_or_default();
    let this = &layers[name.origin.layer];
    let beside = this.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let file = beside.join(target);
    let text = files(&file, kind).and_then(|bytes| kind.decode(bytes)).map_err(|message| {
        let message = format!("{message} at {}", quoted(target));
        this.error(name.origin.at, key.to_owned(), message)
    })?;
    let origin = Origin { layer: layers.len(), at: Some(0) };
    table.shift_remove("file");
    table.insert("text".to_owned(), Node { value: Value::Text(text.clone()), origin });
    layers.push(Layer { name: file.display().to_string(), text, file: Some(file) });
    Ok(())
}

/// The schedule of a direction whose trace stands at `place`; each of its rates leaves at least 1 bit/s of `efficiency`.
pub(crate) fn schedule(
    place: &Place<'_>,
    trace: &TraceFile,
    efficiency: f64,
    copies: usize,
) -> Result<Schedule, ScenarioError> {
    let wrong = |key: &str, message: &str| Err(place.error(&[key], message));
    let text = match (&trace.text, &trace.file) {
        (Some(text), None) => text,
        (Some(_), Some(_)) => return wrong("text", "expected either text or file, found both"),
        (None, _) => return wrong("file", "expected a file, or text in its place, found neither"),
    };
    let between = trace.between.map_or(Between::Steps, |choice| choice.0);
    let read = match trace.format.map_or(Format::Csv, |choice| choice.0) {
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
        Format::Mahimahi => deliveries::read(text, efficiency).map(|(changes, end)| (changes, Some(end))),
        Format::Csv => rows::read(text, efficiency).and_then(|rows| {
            let end = if trace.repeat == Some(true) { Some(rows::period(text, &rows)?) } else { None };
            let points = match between {
                Between::Steps => rows,
                Between::Lines => {
                    rows::lines(text, rows, trace.step.unwrap_or(Span::from_millis(100)), efficiency)?
                }
            };
            Ok((changes(points, end), end))
        }),
    };
    let (mut changes, end) = read.map_err(|fault| place.error_within(&["text"], fault.at, fault.message))?;
    if changes.len().saturating_mul(copies) > MAX_CHANGES {
        let message =
            format!("expected at most {MAX_CHANGES} changes over all copies of the link, found more");
        return Err(place.error(&[], message));
    }
    changes.extend(end.map(|at| Change { at, repeat: Some(true), ..Change::default() }));
    Ok(Schedule(changes))
}

/// What changes from row to row. From `end` on, if there is one, the first row holds again; without one, the last row does.
fn changes(rows: Vec<Row>, end: Option<Span>) -> Vec<Change> {
    let rows: Vec<Row> = rows.into_iter().filter(|row| end.is_none_or(|end| row.at < end)).collect();
    let end = end.unwrap_or(super::resolve::LATEST);
    let mut changes = Vec::new();
    let mut before = Row { at: Span::ZERO, delay_s: None, rate_bps: None, loss: None, ber: None };
    let mut sent_bps = None;
    for (place, row) in rows.iter().enumerate() {
        let mut change = Change { at: row.at, ..Change::default() };
        let delay = row.delay_s.filter(|_| row.delay_s != before.delay_s);
        change.delay = delay.map(Span::from_secs);
        let lost = row.loss.filter(|_| row.loss != before.loss);
        let wrong = row.ber.filter(|_| row.ber != before.ber);
        change.loss = match (lost, wrong) {
            (Some(0.0), _) | (_, Some(0.0)) => Some(LossSpec::None),
            (Some(probability), _) => Some(LossSpec::Packet { probability }),
            (_, Some(ber)) => Some(LossSpec::Ber { ber, correctable_bits: 0 }),
            (None, None) => None,
        };
        if row.rate_bps == Some(0.0) {
            if before.rate_bps != Some(0.0) {
                let moves = rows[place..].iter().find(|later| later.rate_bps != Some(0.0));
                let until = moves.map_or(end, |later| later.at);
                change.outage = Some(until.saturating_sub(row.at)).filter(|outage| *outage > Span::ZERO);
            }
        } else if row.rate_bps != sent_bps {
            sent_bps = row.rate_bps;
            change.rate = sent_bps.map(rows::rate);
        }
        if change.delay.is_some() || change.loss.is_some() || change.outage.is_some() || change.rate.is_some()
        {
            changes.push(change);
        }
        before = row.clone();
    }
    changes
}

#[cfg(test)]
mod tests;
