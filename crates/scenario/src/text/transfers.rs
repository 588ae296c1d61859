//! Traces of transfers from CSV files, whose rows become part of the scenario.

use std::path::Path;

use bentpipe_units::{Fault, fault, quoted};
use csv::{Reader, ReaderBuilder, StringRecord, Trim};

use super::{FileKind, Layer, Node, Origin, ReadFile, ScenarioError, Table, Value, at_file};

/// Columns that a file has, and the keys and units that they stand for.
const COLUMNS: [(&str, &str, &str); 2] = [("start_s", "at", "s"), ("bytes", "bytes", "B")];

/// Puts the transfers of a CSV file in the place of its name, where a flow has one as its `trace`; each file becomes a layer.
pub(crate) fn inline(
    layers: &mut Vec<Layer>,
    root: &mut Node,
    files: &ReadFile<'_>,
) -> Result<(), ScenarioError> {
    let flows = root.table_mut().and_then(|root| root.get_mut("flows")).and_then(Node::table_mut);
    for (name, flow) in flows.into_iter().flatten() {
        let trace = flow.table_mut().and_then(|flow| flow.get_mut("trace"));
        let Some(node) = trace.filter(|trace| trace.text().is_some()) else { continue };
        let target = node.text().unwrap_or_default().to_owned();
        let this = &layers[node.origin.layer];
        let key = format!("flows.{name}.trace");
        let fail = |fault: Fault| this.error(node.origin.at, key.clone(), fault);
        let Some(beside) = &this.file else {
            let expected = "a list of transfers, since there is no file that a CSV file lies beside";
            return Err(fail(Fault::value(expected, quoted(&target))));
        };
        let file = beside.parent().unwrap_or(Path::new("")).join(&target);
        let kind = FileKind::TRANSFERS;
        let text = files(&file, kind)
            .and_then(|content| kind.text(content))
            .map_err(|fault| fail(at_file(fault, &target)))?;
        let layer = Layer { name: file.display().to_string(), text, file: Some(file) };
        let rows = transfers(&layer, layers.len(), &key)?;
        *node = Node { value: Value::Array(rows), origin: Origin { layer: layers.len(), at: Some(0) } };
        layers.push(layer);
    }
    Ok(())
}

fn transfers(file: &Layer, layer: usize, key: &str) -> Result<Vec<Node>, ScenarioError> {
    let mut reader =
        ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(file.text.as_bytes());
    let broken = |error: csv::Error| {
        let at = error.position().map(|position| position.byte() as usize);
        file.error(at, key.to_owned(), fault!("rows of a CSV file", "one that is none: {error}"))
    };
    let places = places(&mut reader, &broken, file, key)?;
    let mut rows = Vec::new();
    for record in reader.into_records() {
        let record = record.map_err(&broken)?;
        let at = record.position().map(|position| position.byte() as usize);
        let origin = Origin { layer, at };
        let value = |(place, (_, key, unit)): (&usize, &(&str, &str, &str))| {
            let text = format!("{} {unit}", record.get(*place).unwrap_or_default());
            ((*key).to_owned(), Node { value: Value::Text(text), origin })
        };
        let transfer: Table = places.iter().zip(&COLUMNS).map(value).collect();
        rows.push(Node { value: Value::Table(transfer), origin });
    }
    Ok(rows)
}

/// Where the columns stand that the header names; others are not read.
fn places(
    reader: &mut Reader<&[u8]>,
    broken: &dyn Fn(csv::Error) -> ScenarioError,
    file: &Layer,
    key: &str,
) -> Result<Vec<usize>, ScenarioError> {
    let header: &StringRecord = reader.headers().map_err(broken)?;
    let place = |name: &str| header.iter().position(|column| column == name);
    let found = COLUMNS.iter().map(|(name, ..)| place(name)).collect::<Option<Vec<usize>>>();
    found.ok_or_else(|| {
        let names: Vec<&str> = COLUMNS.iter().map(|(name, ..)| *name).collect();
        let expected = names.join(" and ");
        let line: Vec<&str> = header.iter().collect();
        file.error(
            Some(0),
            key.to_owned(),
            Fault::value(format!("a header with {expected}"), quoted(&line.join(","))),
        )
    })
}
