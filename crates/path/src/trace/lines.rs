//! The lines of a trace, one after the other: a file of any length takes no more memory than its longest line.

use std::io::{BufRead, Read};

use bentpipe_units::{Fault, Within, ensure, fault};

/// Bytes of a line.
const MOST: usize = 64 << 10;

/// The lines of a text that say something.
#[derive(Debug)]
pub struct Lines<R> {
    text: R,
    line: Vec<u8>,
    next: Within,
    last: Within,
}

impl<R: BufRead> Lines<R> {
    /// The lines of a text, the first of which is at `first`.
    pub fn of(text: R, first: Within) -> Lines<R> {
        Lines { text, line: Vec::new(), next: first, last: first }
    }

    /// What `read` makes of the next line that says something, without the space around it, and of its place, which is that of a fault.
    pub(super) fn next<T>(
        &mut self,
        read: impl FnOnce(&str, Within) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        loop {
            self.line.clear();
            let at = self.next;
            let got = self.text.by_ref().take(MOST as u64 + 1).read_until(b'\n', &mut self.line);
            got.map_err(|error| fault!("a trace", "none that can be read ({error})").within(at))?;
            if self.line.is_empty() {
                return Ok(None);
            }
            let long = || fault!("lines of at most {MOST} bytes", "a longer one");
            ensure!(self.line.len() <= MOST, long().within(at));
            self.next = match at {
                Within::Byte(byte) => Within::Byte(byte + self.line.len()),
                Within::Line(line) => Within::Line(line + 1),
            };
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            self.last = at;
            let line = std::str::from_utf8(&self.line);
            let line = line.map_err(|_| fault!("text in UTF-8", "bytes that are not").within(at))?;
            let line = line.trim_start_matches('\u{feff}').trim();
            if !line.is_empty() && !line.starts_with('#') {
                return read(line, at).map(Some).map_err(|fault| fault.within(at));
            }
        }
    }

    /// The last line that is no empty one.
    pub(super) fn end(&self) -> Within {
        self.last
    }
}
