//! The lines of a trace, one after the other: a file of any length takes no more memory than its longest line.

use std::io::{BufRead, Read};

/// Bytes of a line.
const MOST: usize = 64 << 10;

/// What is wrong with a trace, and the byte of its text and the line that say so.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) line: usize,
    pub(super) message: String,
}

pub(super) struct Lines<R> {
    text: R,
    line: Vec<u8>,
    next: Mark,
    last: Mark,
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    at: usize,
    line: usize,
}

impl Mark {
    pub(super) fn fault(self, message: impl Into<String>) -> Fault {
        Fault { at: self.at, line: self.line, message: message.into() }
    }
}

impl<R: BufRead> Lines<R> {
    pub(super) fn of(text: R) -> Lines<R> {
        let first = Mark { at: 0, line: 1 };
        Lines { text, line: Vec::new(), next: first, last: first }
    }

    /// The next line that says something, without the space around it, and where it stands.
    pub(super) fn next(&mut self) -> Result<Option<(Mark, &str)>, Fault> {
        loop {
            self.line.clear();
            let mark = self.next;
            let read = self.text.by_ref().take(MOST as u64 + 1).read_until(b'\n', &mut self.line);
            read.map_err(|error| {
                mark.fault(format!("expected a trace, found none that can be read ({error})"))
            })?;
            if self.line.is_empty() {
                return Ok(None);
            }
            if self.line.len() > MOST {
                return Err(mark.fault(format!("expected lines of at most {MOST} bytes, found a longer one")));
            }
            self.next = Mark { at: mark.at + self.line.len(), line: mark.line + 1 };
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            self.last = mark;
            match said(&self.line) {
                None => return Err(mark.fault("expected text in UTF-8, found bytes that are not")),
                Some(line) if line.is_empty() || line.starts_with('#') => {}
                Some(_) => break,
            }
        }
        Ok(said(&self.line).map(|line| (self.last, line)))
    }

    /// The last line that is no empty one.
    pub(super) fn end(&self) -> Mark {
        self.last
    }
}

fn said(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line).ok().map(|line| line.trim_start_matches('\u{feff}').trim())
}
