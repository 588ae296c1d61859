//! Traces of transfers from CSV files, whose rows become part of the scenario.

use bentpipe_units::{Fault, fault, quoted};
use csv::{Position, ReaderBuilder, Trim};

use super::{FileKind, Layer, Node, Origin, ReadFile, ScenarioError, Table, Value};

/// Puts the transfers of a CSV file in the place of its name, where a flow has one as its `trace`; each file becomes a layer.
pub(super) fn inline(
    layers: &mut Vec<Layer>,
    root: &mut Node,
    files: &ReadFile<'_>,
) -> Result<(), ScenarioError> {
    for (name, flow) in root.get_mut("flows").and_then(Node::table_mut).into_iter().flatten() {
        let trace = flow.get_mut("trace");
        let Some((target, node)) = trace.and_then(|node| Some((node.text()?.to_owned(), node))) else {
            continue;
        };
        let this = &layers[node.origin.layer];
        let key = format!("flows.{name}.trace");
        let fail = |fault: Fault| this.error(node.origin.at, key.clone(), fault);
        if this.file.is_none() {
            let expected = "a list of transfers, since there is no file that a CSV file lies beside";
            return Err(fail(Fault::value(expected, quoted(&target))));
        }
        let layer = this.beside(&target, FileKind::TRANSFERS, files).map_err(fail)?;
        let rows = transfers(&layer, layers.len(), &key)?;
        *node = Node { value: Value::Array(rows), origin: Origin { layer: layers.len(), at: Some(0) } };
        layers.push(layer);
    }
    Ok(())
}

/// The transfers of `file`; columns that are none of theirs are not read.
fn transfers(file: &Layer, layer: usize, key: &str) -> Result<Vec<Node>, ScenarioError> {
    let mut reader =
        ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(file.text.as_bytes());
    let byte = |at: Option<&Position>| at.map(|at| at.byte() as usize);
    let broken = |error: csv::Error| {
        let fault = fault!("rows of a CSV file", "one that is none: {error}");
        file.error(byte(error.position()), key.to_owned(), fault)
    };
    let header = reader.headers().map_err(broken)?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let (Some(start), Some(bytes)) = (place("start_s"), place("bytes")) else {
        let found = quoted(&header.iter().collect::<Vec<_>>().join(","));
        return Err(file.error(
            Some(0),
            key.to_owned(),
            fault!("a header with start_s and bytes", "{found}"),
        ));
    };
    let transfer = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(broken)?;
        let origin = Origin { layer, at: byte(record.position()) };
        let value = |key: &str, place: usize, unit: &str| {
            let text = format!("{} {unit}", record.get(place).unwrap_or_default());
            (key.to_owned(), Node { value: Value::Text(text), origin })
        };
        let table = Table::from([value("at", start, "s"), value("bytes", bytes, "B")]);
        Ok(Node { value: Value::Table(table), origin })
    };
    reader.into_records().map(transfer).collect()
}
