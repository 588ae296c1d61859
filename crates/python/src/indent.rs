//! JSON as people read it, from JSON in one line: Python's own writer takes ten times as long for it.

use pyo3::prelude::*;

const STEP: usize = 2;

/// `compact`, valid JSON without spaces between its parts, with a line for each part of a list or an object.
#[pyfunction]
pub(crate) fn indented(compact: &str) -> String {
    let mut out = String::with_capacity(2 * compact.len());
    let mut depth = 0;
    // Text from here on is copied when the next line begins.
    let mut from = 0;
    let bytes = compact.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes.get(at + 1).copied();
        match bytes[at] {
            b'"' => at = end_of_text(bytes, at),
            b'{' | b'[' if matches!(next, Some(b'}' | b']')) => at += 1,
            b'{' | b'[' => {
                depth += STEP;
                out.push_str(&compact[from..=at]);
                new_line(&mut out, depth);
                from = at + 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(STEP);
                out.push_str(&compact[from..at]);
                new_line(&mut out, depth);
                from = at;
            }
            b',' => {
                out.push_str(&compact[from..=at]);
                new_line(&mut out, depth);
                from = at + 1;
            }
            b':' => {
                out.push_str(&compact[from..=at]);
                out.push(' ');
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(&compact[from..]);
    out
}

/// Where the text that begins at `at` has its closing quote.
fn end_of_text(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += 1;
        match bytes.get(at) {
            Some(b'\\') => at += 1,
            Some(b'"') | None => return at,
            Some(_) => {}
        }
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', depth));
}
