//! The files that a scenario names: a short one becomes a part of it, a long trace is known by its digest.

use std::io::{Cursor, Read};

use bentpipe_units::{Fault, fault};
use sha2::{Digest, Sha256};

use super::{Document, FileKind, Layer, Node, Origin, ReadFile, ScenarioError, Table, Value, at_file};

/// Bytes of a trace that become a part of its scenario, so that it needs no file.
const SHORT: usize = 64 << 10;

/// Puts what the files of traces and of element sets say in the place of their names; each file becomes a layer. A name in a file stands for a file
/// beside it, any other for one in the current folder. A long trace keeps its file, and is read where its link is made.
pub(crate) fn inline(document: &mut Document, files: &ReadFile<'_>) -> Result<(), ScenarioError> {
    let Document { layers, root } = document;
    if let Some(elements) = root.get_mut("constellation").and_then(|sky| sky.get_mut("elements")) {
        put(layers, elements, "constellation.elements", FileKind::ELEMENTS, files)?;
    }
    for (name, link) in root.get_mut("links").and_then(Node::table_mut).into_iter().flatten() {
        for path in
            [&["trace"][..], &["trace", "delays"], &["reverse", "trace"], &["reverse", "trace", "delays"]]
        {
            if let Some(trace) = path.iter().try_fold(&mut *link, |node, key| node.get_mut(key)) {
                put(layers, trace, &format!("links.{name}.{}", path.join(".")), FileKind::TRACE, files)?;
            }
        }
    }
    Ok(())
}

fn put(
    layers: &mut Vec<Layer>,
    node: &mut Node,
    key: &str,
    kind: FileKind,
    files: &ReadFile<'_>,
) -> Result<(), ScenarioError> {
    if node.text().is_some() {
        let (file, origin) = (node.clone(), node.origin);
        *node = Node { value: Value::Table(Table::from([("file".to_owned(), file)])), origin };
    }
    let Some(table) = node.table_mut().filter(|table| !table.contains_key("text")) else { return Ok(()) };
    let Some((target, named)) = table.get("file").and_then(|name| Some((name.text()?, name.origin))) else {
        return Ok(());
    };
    let this = &layers[named.layer];
    let file = this.path_to(target);
    let wrong = |fault: Fault| this.error(named.at, key.to_owned(), at_file(fault, target));
    let mut content = files(&file, kind).map_err(wrong)?;
    let (text, digest) = match kind {
        FileKind::TRACE => {
            let (head, digest) = looked_at(&mut content).map_err(|e| wrong(kind.unreadable(&e)))?;
            (head.map(|bytes| kind.decode(bytes)).transpose().map_err(wrong)?, Some(digest))
        }
        kind => (Some(kind.text(content).map_err(wrong)?), None),
    };
    if let Some(known) = table.get("sha256").and_then(Node::text).filter(|_| digest.is_some())
        && Some(known) != digest.as_deref()
    {
        let found = digest.unwrap_or_default();
        return Err(wrong(fault!("the trace with the SHA-256 {known}", "{found}")));
    }
    let origin = Origin { layer: layers.len(), at: Some(0) };
    let node = |text: String| Node { value: Value::Text(text), origin };
    match (&text, digest) {
        (None, Some(digest)) => {
            let whole = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
            let file = Node { value: Value::Text(whole.display().to_string()), origin: named };
            table.extend([("file".to_owned(), file), ("sha256".to_owned(), node(digest))]);
        }
        (text, _) => {
            table.shift_remove("file");
            table.shift_remove("sha256");
            table.insert("text".to_owned(), node(text.clone().unwrap_or_default()));
        }
    }
    layers.push(Layer { name: file.display().to_string(), text: text.unwrap_or_default(), file: Some(file) });
    Ok(())
}

/// What a trace holds, if it is a short one, and its SHA-256.
fn looked_at(content: &mut dyn Read) -> std::io::Result<(Option<Vec<u8>>, String)> {
    let mut head = Vec::new();
    content.take(SHORT as u64 + 1).read_to_end(&mut head)?;
    let short = head.len() <= SHORT;
    let mut digest = Sha256::new();
    let mut rest = Cursor::new(&head).chain(content);
    let mut part = vec![0; SHORT];
    loop {
        match rest.read(&mut part)? {
            0 => break,
            read => digest.update(&part[..read]),
        }
    }
    let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((short.then_some(head), digest))
}
