//! Traces as CSV: a header, and a row for each time.

use bentpipe_units::{Rate, Span};

use super::super::error::{closest, expected_one_of, quoted};
use super::super::network::MAX_RATE;
use super::super::resolve::LATEST;
use super::{Fault, MAX_CHANGES, Row};

/// Rows of a file: more than ten days of them at one a second.
const MAX_ROWS: usize = 1_000_000;

const TIME: &str = "time_s";
const COLUMNS: [&str; 5] = [TIME, "delay_s", "rate_bps", "loss", "ber"];

/// The rate of so many bits a second.
pub(super) fn rate(bps: f64) -> Rate {
    Rate::from_bps(bps.round() as u64)
}

/// The lines of a text that say something, each with the byte that it begins at.
pub(super) fn said(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let begins = at;
        at += line.len();
        (begins, line.trim_start_matches('\u{feff}').trim())
    });
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| cell.trim().trim_matches('"').trim())
}

/// The rows of a CSV file, in the order of their times.
pub(super) fn read(text: &str, efficiency: f64) -> Result<Vec<Row>, Fault> {
    let mut lines = said(text);
    let (at, header) = lines.next().unwrap_or((0, ""));
    let columns = columns(header).map_err(|message| Fault { at, message })?;
    let mut rows: Vec<Row> = Vec::new();
    for (at, line) in lines {
        let fault = |message: String| Fault { at, message };
        if rows.len() == MAX_ROWS {
            return Err(fault(format!("expected at most {MAX_ROWS} rows, found more")));
        }
        let found = cells(line).count();
        if found != columns.len() {
            let expected = columns.len();
            return Err(fault(format!("expected {expected} columns, as the header has, found {found}")));
        }
        let mut values = [None; COLUMNS.len()];
        for (column, cell) in columns.iter().zip(cells(line)) {
            values[*column] = Some(value(*column, cell, efficiency).map_err(fault)?);
        }
        let [time_s, delay_s, rate_bps, loss, ber] = values;
        let row = Row { at: Span::from_secs(time_s.unwrap_or_default()), delay_s, rate_bps, loss, ber };
        if let Some(before) = rows.last().filter(|before| before.at >= row.at) {
            let found = cells(line).nth(columns.iter().position(|column| *column == 0).unwrap_or(0));
            let found = found.unwrap_or_default();
            return Err(fault(format!(
                "expected a {TIME} after that of the row before ({}), found {found}",
                before.at.as_secs()
            )));
        }
        rows.push(row);
    }
    match rows.is_empty() {
        true => {
            Err(Fault { at: text.len(), message: "expected a row below the header, found none".to_owned() })
        }
        false => Ok(rows),
    }
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

/// The time after which a trace with these rows begins anew.
pub(super) fn period(text: &str, rows: &[Row]) -> Result<Span, Fault> {
    let message = "expected two rows or more in a trace that repeats, whose last time is its end, found one";
    let end = rows.last().map_or(Span::ZERO, |row| row.at);
    match rows.len() < 2 || end == Span::ZERO {
        true => Err(Fault { at: text.len(), message: message.to_owned() }),
        false => Ok(end),
    }
}

/// Lines from row to row as steps of `step`, each with the line's value in its middle; the last row as it is.
pub(super) fn lines(text: &str, rows: Vec<Row>, step: Span, efficiency: f64) -> Result<Vec<Row>, Fault> {
    let steps = |pair: &[Row]| (pair[1].at - pair[0].at).as_nanos().div_ceil(step.as_nanos());
    let all = rows.windows(2).map(steps).fold(0_u64, u64::saturating_add);
    if all > MAX_CHANGES as u64 {
        let message = format!("expected lines of at most {MAX_CHANGES} steps of {step}, found more");
        return Err(Fault { at: text.len(), message });
    }
    let mut points = Vec::with_capacity(all as usize + 1);
    for pair in rows.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        let length_s = (to.at - from.at).as_secs();
        for place in 0..steps(pair) {
            let begins = step * place;
            let ends = (begins + step).min(to.at - from.at);
            let share = (begins.as_secs() + ends.as_secs()) / 2.0 / length_s;
            let line = |from: Option<f64>, to: Option<f64>| Some(from? + (to? - from?) * share);
            let rate_bps = line(from.rate_bps, to.rate_bps);
            points.push(Row {
                at: from.at + begins,
                delay_s: line(from.delay_s, to.delay_s),
                // A line that begins at nothing begins with less than a link can send.
                rate_bps: rate_bps.map(|bps| if bps * efficiency < 1.0 { 0.0 } else { bps }),
                loss: line(from.loss, to.loss),
                ber: line(from.ber, to.ber),
            });
        }
    }
    points.extend(rows.last().cloned());
    Ok(points)
}
