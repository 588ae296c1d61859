//! From TOML to a tree.

use bentpipe_units::{Fault, Problem, Within, ensure, fault, quoted};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::{Layer, Node, Origin, ScenarioError, Table, Value, dotted};

/// Deeper than any scenario.
const MAX_DEPTH: usize = 16;

/// Where `text` first has more than `most` brackets within each other, or more than `most` dots in one key: the parser takes stack for
/// each level, and a stack may be small.
fn deeper_than(most: usize, text: &str) -> Option<usize> {
    let (mut open, mut dots) = (0_usize, 0_usize);
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => (open, dots) = (open + 1, 0),
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                (open, dots) = (open.saturating_sub(1), 0);
            }
            TokenKind::Equals | TokenKind::Comma | TokenKind::Newline => dots = 0,
            _ => {}
        }
        if open > most || dots > most {
            return Some(token.span().start());
        }
    }
    None
}

fn too_deep() -> Fault {
    fault!("at most {MAX_DEPTH} tables within each other", "more")
}

/// Reads the text of `layer`, which is number `number`.
pub(super) fn parse(layer: &Layer, number: usize) -> Result<Node, ScenarioError> {
    if let Some(at) = deeper_than(MAX_DEPTH, &layer.text) {
        return Err(layer.error(Some(at), key_on(layer, layer.line(at)), too_deep()));
    }
    let root = DeTable::parse(&layer.text).map_err(|error| syntax(layer, &error))?;
    let root = Reader { layer: number, in_file: true }.table(root.into_inner(), 0);
    let table = root.map_err(|fault| {
        let Fault { mut path, at, .. } = fault.clone();
        if path.len() > MAX_DEPTH {
            path.truncate(3);
        }
        let at = if let Some(Within::Byte(at)) = at { Some(at) } else { None };
        layer.error(at, dotted(&path), Fault { path: Vec::new(), at: None, ..fault })
    })?;
    Ok(Node { value: Value::Table(table), origin: Origin { layer: number, at: None } })
}

/// Reads the TOML value `text`, given in layer number `number`; `None` when it is not one, a fault when it is a
/// number that cannot be kept.
pub(super) fn parse_value(text: &str, number: usize) -> Result<Option<Node>, Fault> {
    // As a document, so that the same limits hold; its one key is not seen by anybody.
    let text = format!("value = {text}");
    if deeper_than(MAX_DEPTH, &text).is_some() {
        return Ok(None);
    }
    let Ok(root) = DeTable::parse(&text) else { return Ok(None) };
    let table = Reader { layer: number, in_file: false }.table(root.into_inner(), 0);
    let mut table = table.map_err(|fault| Fault { path: Vec::new(), at: None, ..fault })?;
    Ok(if table.len() == 1 { table.swap_remove("value") } else { None })
}

fn syntax(layer: &Layer, error: &toml::de::Error) -> ScenarioError {
    let span = error.span().unwrap_or(0..0);
    let fault = Problem::Syntax(error.message().to_owned());
    layer.error(Some(span.start), key_on(layer, layer.line(span.start)), fault)
}

/// The dotted key that line number `line` seems to be about; the text there may be anything.
fn key_on(layer: &Layer, line: usize) -> String {
    let plain = |key: &str| {
        let known = |c: char| c.is_alphanumeric() || "-_. \"'{}".contains(c);
        let key = key.trim();
        (!key.is_empty() && key.len() <= 100 && key.chars().all(known)).then(|| key.to_owned())
    };
    let header = |text: &str| plain(text.trim().strip_prefix('[')?.split(']').next()?);
    let before: Vec<&str> = layer.text.lines().take(line).collect();
    let Some((text, before)) = before.split_last() else { return String::new() };
    header(text).unwrap_or_else(|| {
        let table = before.iter().rev().take(1000).find_map(|text| header(text));
        let key = text.split_once('=').and_then(|(key, _)| plain(key));
        [table, key].into_iter().flatten().collect::<Vec<_>>().join(".")
    })
}

/// A TOML number, which must not become another one: none above zero becomes zero, none becomes infinite.
fn number(digits: &str) -> Result<f64, Fault> {
    let wrong = |expected: &str| Fault::value(expected, quoted(digits));
    let value: f64 = digits.parse().map_err(|_| wrong("a number"))?;
    let written = digits.split(['e', 'E']).next().unwrap_or_default();
    if value == 0.0 && written.contains(|c: char| matches!(c, '1'..='9')) {
        return Err(wrong("a number of at least 5e-324, or 0"));
    }
    if value.is_infinite() && !digits.contains("inf") {
        return Err(wrong("a number of at most 1.7e308"));
    }
    Ok(value)
}

struct Reader {
    layer: usize,
    /// Whether people know the text, and so its lines.
    in_file: bool,
}

impl Reader {
    /// A table within `depth` others.
    fn table(&self, table: DeTable<'_>, depth: usize) -> Result<Table, Fault> {
        let entries = table.into_iter().map(|(key, value)| {
            let (at, key) = (key.span().start, key.into_inner().into_owned());
            let node = self.node(&key, at, value, depth)?;
            Ok((key, node))
        });
        entries.collect()
    }

    /// The `value` of `key`, which is written at byte `at`.
    fn node(&self, key: &str, at: usize, value: Spanned<DeValue<'_>>, depth: usize) -> Result<Node, Fault> {
        let value = self.value(value.into_inner(), depth + 1);
        let value = value.map_err(|fault| fault.within(Within::Byte(at)).under(key))?;
        Ok(Node { value, origin: Origin { layer: self.layer, at: self.in_file.then_some(at) } })
    }

    fn value(&self, value: DeValue<'_>, depth: usize) -> Result<Value, Fault> {
        ensure!(depth <= MAX_DEPTH, too_deep());
        Ok(match value {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(value) => Value::Datetime(value.to_string()),
            DeValue::Integer(digits) => {
                let wrong = |_| Fault::value("a whole number of at most 64 bits", quoted(digits.as_str()));
                let value = i64::from_str_radix(digits.as_str(), digits.radix());
                Value::Integer(value.map_err(wrong)?)
            }
            DeValue::Float(digits) => Value::Float(number(digits.as_str())?),
            DeValue::Array(items) => {
                let items = items.into_iter().enumerate();
                let read = |(i, item): (usize, Spanned<_>)| {
                    self.node(&format!("[{i}]"), item.span().start, item, depth)
                };
                Value::Array(items.map(read).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Value::Table(self.table(table, depth)?),
        })
    }
}
