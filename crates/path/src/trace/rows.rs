//! Traces as CSV: a header, and a row for each time.

use std::io::BufRead;

use bentpipe_units::{Fault, LATEST, MAX_RATE, Span, ensure, fault, no_such, quoted};

use super::changes::{self, Changes, Row};
use super::lines::Lines;
use crate::Change;

const TIME: &str = "time_s";
const COLUMNS: [&str; 5] = [TIME, "delay_s", "rate_bps", "loss", "ber"];

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| cell.trim().trim_matches('"').trim())
}

/// How rows become changes.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Share of a rate of which at least 1 bit/s must be left.
    pub efficiency: f64,
    /// Whether the trace begins anew at its last time.
    pub repeats: bool,
    /// How long a value of a line from row to row holds; none where a row's holds until the next.
    pub step: Option<Span>,
}

/// The changes that a CSV file comes to, and its end where it repeats.
pub fn read_rows<R: BufRead>(
    lines: &mut Lines<R>,
    rules: &Rules,
) -> Result<(Vec<Change>, Option<Span>), Fault> {
    let columns = match lines.next(|header, _| columns(header))? {
        Some(columns) => columns,
        None => columns("").map_err(|fault| fault.within(lines.end()))?,
    };
    let (mut changes, mut before): (_, Option<Row>) = (Changes::default(), None);
    let (mut steps, mut several) = (0_u64, false);
    let mut add = |line: &str| {
        let row = row(line, &columns, rules.efficiency)?;
        if let Some(from) = before.take() {
            let late = |last: f64| {
                let found = columns.iter().zip(cells(line)).find(|(column, _)| **column == 0);
                let (_, found) = found.unwrap_or((&0, ""));
                fault!("a {TIME} after that of the row before ({last})", "{found}")
            };
            ensure!(from.at < row.at, late(from.at.as_secs()));
            stretch(&mut changes, from, &row, rules, &mut steps)?;
            several = true;
        }
        before = Some(row);
        Ok(())
    };
    while lines.next(|line, _| add(line))?.is_some() {}
    let end = lines.end();
    let last = before.ok_or_else(|| fault!("a row below the header", "none").within(end))?;
    if !rules.repeats {
        changes.row(last).map_err(|fault| fault.within(end))?;
        return Ok((changes.until(LATEST), None));
    }
    let expected = "two rows or more in a trace that repeats, whose last time is its end";
    ensure!(several && last.at > Span::ZERO, Fault::value(expected, "one").within(end));
    Ok((changes.until(last.at), Some(last.at)))
}

/// What a line says.
fn row(line: &str, columns: &[usize], efficiency: f64) -> Result<Row, Fault> {
    let (many, found) = (columns.len(), cells(line).count());
    ensure!(found == many, fault!("{many} columns, as the header has", "{found}"));
    let mut values = [None; COLUMNS.len()];
    for (column, cell) in columns.iter().zip(cells(line)) {
        values[*column] = Some(value(*column, cell, efficiency)?);
    }
    let [time_s, delay_s, rate_bps, loss, ber] = values;
    Ok(Row { at: Span::from_secs(time_s.unwrap_or_default()), delay_s, rate_bps, loss, ber })
}

/// What changes from a row to the next: its values, or those of the lines, each in the middle of a step.
fn stretch(changes: &mut Changes, from: Row, to: &Row, rules: &Rules, steps: &mut u64) -> Result<(), Fault> {
    let Some(step) = rules.step else { return changes.row(from) };
    let length = to.at - from.at;
    let many = length.as_nanos().div_ceil(step.as_nanos());
    *steps = steps.saturating_add(many);
    let most = changes::MOST as u64;
    ensure!(*steps <= most, fault!("lines of at most {most} steps of {step}", "more"));
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
fn columns(header: &str) -> Result<Vec<usize>, Fault> {
    let what = format!("a header with {TIME} and any of {}", COLUMNS[1..].join(", "));
    ensure!(!header.is_empty(), fault!("{what}", "none"));
    let other = || Fault::value(&what, quoted(header));
    if header.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(other().or("a trace of deliveries has format = \"mahimahi\""));
    }
    let mut columns = Vec::new();
    for name in cells(header) {
        let Some(column) = COLUMNS.iter().position(|column| *column == name) else {
            let fault = no_such("one of the columns", name, &COLUMNS);
            let spaced = fault.hint.is_none() && header.contains([';', '\t']);
            return Err(if spaced { fault.or("columns are separated by commas") } else { fault });
        };
        let name = quoted(name);
        ensure!(!columns.contains(&column), fault!("each column once", "{name} again"));
        columns.push(column);
    }
    ensure!(!(columns.contains(&3) && columns.contains(&4)), fault!("loss or ber", "both"));
    ensure!(columns.contains(&0) && columns.len() > 1, other());
    Ok(columns)
}

/// What a cell of this column says.
fn value(column: usize, cell: &str, efficiency: f64) -> Result<f64, Fault> {
    let name = COLUMNS[column];
    let (what, most) = match column {
        0 | 1 => ("seconds", LATEST.as_secs()),
        2 => ("bits a second", MAX_RATE.as_bps() as f64),
        _ => ("a share from 0 to 1", 1.0),
    };
    let found = if cell.is_empty() { "none".to_owned() } else { quoted(cell) };
    let Ok(value) = cell.parse::<f64>() else {
        let bare = if cell.starts_with(|c: char| c.is_ascii_digit()) { ", without a unit" } else { "" };
        return Err(fault!("a number as {name} ({what}{bare})", "{found}"));
    };
    ensure!((0.0..=most).contains(&value), fault!("{name} ({what}) from 0 to {most}", "{found}"));
    let sends = column == 2 && value > 0.0;
    let little = || fault!("0 or a {name} that leaves at least 1 bit/s", "{found}");
    ensure!(!sends || value * efficiency >= 1.0, little());
    // No rounding turns a rate into a standstill.
    Ok(if sends { value.max(1.0) } else { value })
}
