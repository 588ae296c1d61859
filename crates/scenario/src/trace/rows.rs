//! Traces as CSV: a header, and a row for each time.

use std::io::BufRead;

use bentpipe_path::Change;
use bentpipe_units::Span;

use super::changes::{self, Changes, Row};
use super::lines::{Fault, Lines};
use crate::keys::{closest, expected_one_of};
use crate::model::{LATEST, MAX_RATE};
use bentpipe_units::quoted;

const TIME: &str = "time_s";
const COLUMNS: [&str; 5] = [TIME, "delay_s", "rate_bps", "loss", "ber"];

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| cell.trim().trim_matches('"').trim())
}

/// How rows become changes.
pub(super) struct Rules {
    pub(super) efficiency: f64,
    pub(super) repeats: bool,
    /// How long a value of a line from row to row holds; none where a row's holds until the next.
    pub(super) step: Option<Span>,
}

/// The changes that a CSV file comes to, and its end where it repeats.
pub(super) fn read<R: BufRead>(
    lines: &mut Lines<R>,
    rules: &Rules,
) -> Result<(Vec<Change>, Option<Span>), Fault> {
    let (columns, mark) = match lines.next()? {
        Some((mark, header)) => (columns(header), mark),
        None => (columns(""), lines.end()),
    };
    let columns = columns.map_err(|message| mark.fault(message))?;
    let (mut changes, mut before): (_, Option<Row>) = (Changes::default(), None);
    let (mut steps, mut several) = (0_u64, false);
    while let Some((mark, line)) = lines.next()? {
        let row = row(line, &columns, rules.efficiency).map_err(|message| mark.fault(message))?;
        if let Some(from) = before {
            if from.at >= row.at {
                let found = cells(line).nth(columns.iter().position(|column| *column == 0).unwrap_or(0));
                let (before, found) = (from.at.as_secs(), found.unwrap_or_default());
                let expected = format!("expected a {TIME} after that of the row before ({before})");
                return Err(mark.fault(format!("{expected}, found {found}")));
            }
            stretch(&mut changes, from, &row, rules, &mut steps).map_err(|message| mark.fault(message))?;
            several = true;
        }
        before = Some(row);
    }
    let end = lines.end();
    let Some(last) = before else {
        return Err(end.fault("expected a row below the header, found none"));
    };
    if !rules.repeats {
        changes.row(last).map_err(|message| end.fault(message))?;
        return Ok((changes.until(LATEST), None));
    }
    if !several || last.at == Span::ZERO {
        let message =
            "expected two rows or more in a trace that repeats, whose last time is its end, found one";
        return Err(end.fault(message));
    }
    Ok((changes.until(last.at), Some(last.at)))
}

/// What a line says.
fn row(line: &str, columns: &[usize], efficiency: f64) -> Result<Row, String> {
    let found = cells(line).count();
    if found != columns.len() {
        return Err(format!("expected {} columns, as the header has, found {found}", columns.len()));
    }
    let mut values = [None; COLUMNS.len()];
    for (column, cell) in columns.iter().zip(cells(line)) {
        values[*column] = Some(value(*column, cell, efficiency)?);
    }
    let [time_s, delay_s, rate_bps, loss, ber] = values;
    Ok(Row { at: Span::from_secs(time_s.unwrap_or_default()), delay_s, rate_bps, loss, ber })
}

/// What changes from a row to the next: its values, or those of the lines, each in the middle of a step.
fn stretch(changes: &mut Changes, from: Row, to: &Row, rules: &Rules, steps: &mut u64) -> Result<(), String> {
    let Some(step) = rules.step else { return changes.row(from) };
    let length = to.at - from.at;
    let many = length.as_nanos().div_ceil(step.as_nanos());
    *steps = steps.saturating_add(many);
    if *steps > changes::MOST as u64 {
        return Err(format!("expected lines of at most {} steps of {step}, found more", changes::MOST));
    }
    for place in 0..many {
        let begins = step * place;
        let ends = (begins + step).min(length);
        let share = (begins.as_secs() + ends.as_secs()) / 2.0 / length.as_secs();
        let line = |from: Option<f64>, to: Option<f64>| Some(from? + (to? - from?) * share);
        let rate_bps = line(from.rate_bps, to.rate_bps);
        changes.row(Row {
            at: from.at + begins,
            delay_s: line(from.delay_s, to.delay_s),
            // A line that begins at nothing begins with less than a link can send.
            rate_bps: rate_bps.map(|bps| if bps * rules.efficiency < 1.0 { 0.0 } else { bps }),
            loss: line(from.loss, to.loss),
            ber: line(from.ber, to.ber),
        })?;
    }
    Ok(())
}

/// Which of [`COLUMNS`] each column of a header is.
fn columns(header: &str) -> Result<Vec<usize>, String> {
    let what = format!("a header with {TIME} and any of {}", COLUMNS[1..].join(", "));
    if header.is_empty() {
        return Err(format!("expected {what}, found none"));
    }
    if header.bytes().all(|byte| byte.is_ascii_digit()) {
        let hint = "a trace of deliveries has format = \"mahimahi\"";
        return Err(format!("expected {what}, found {}; {hint}", quoted(header)));
    }
    let mut columns = Vec::new();
    for name in cells(header) {
        let known = COLUMNS.iter().position(|column| *column == name);
        let Some(column) = known else {
            let expected = expected_one_of("one of the columns", name, &COLUMNS);
            let spaced = closest(name, COLUMNS).is_none() && header.contains([';', '\t']);
            let hint = if spaced { "; columns are separated by commas" } else { "" };
            return Err(format!("{expected}{hint}"));
        };
        if columns.contains(&column) {
            return Err(format!("expected each column once, found {} again", quoted(name)));
        }
        columns.push(column);
    }
    match (columns.contains(&0), columns.len(), columns.contains(&3) && columns.contains(&4)) {
        (_, _, true) => Err("expected loss or ber, found both".to_owned()),
        (true, 2.., _) => Ok(columns),
        _ => Err(format!("expected {what}, found {}", quoted(header))),
    }
}

/// What a cell of this column says.
fn value(column: usize, cell: &str, efficiency: f64) -> Result<f64, String> {
    let name = COLUMNS[column];
    let (what, most) = match column {
        0 | 1 => ("seconds", LATEST.as_secs()),
        2 => ("bits a second", MAX_RATE.as_bps() as f64),
        _ => ("a share from 0 to 1", 1.0),
    };
    let found = if cell.is_empty() { "none".to_owned() } else { quoted(cell) };
    let Ok(value) = cell.parse::<f64>() else {
        let bare = if cell.starts_with(|c: char| c.is_ascii_digit()) { ", without a unit" } else { "" };
        return Err(format!("expected a number as {name} ({what}{bare}), found {found}"));
    };
    if !(0.0..=most).contains(&value) {
        return Err(format!("expected {name} ({what}) from 0 to {most}, found {found}"));
    }
    if column == 2 && value > 0.0 && value * efficiency < 1.0 {
        return Err(format!("expected 0 or a {name} that leaves at least 1 bit/s, found {found}"));
    }
    // No rounding turns a rate into a standstill.
    Ok(if column == 2 && value > 0.0 { value.max(1.0) } else { value })
}
