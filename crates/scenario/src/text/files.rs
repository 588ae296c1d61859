//! The files that a scenario is made of.

use std::io::{self, Read};
use std::path::Path;

use bentpipe_units::{Fault, Problem, fault, quoted};

/// A kind of file that a scenario is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// The noun of its errors.
    pub(crate) noun: &'static str,
    /// Bytes that it may have.
    pub(crate) most: u64,
}

impl FileKind {
    /// No scenario that a person or a script writes comes near its bound.
    pub(crate) const SCENARIO: FileKind = FileKind { noun: "a scenario file", most: 4 << 20 };
    pub(crate) const TRACE: FileKind = FileKind { noun: "a trace", most: u64::MAX };
    pub(crate) const ELEMENTS: FileKind = FileKind { noun: "a file of element sets", most: 64 << 20 };
    pub(crate) const TRANSFERS: FileKind = FileKind { noun: "a file of transfers", most: 64 << 20 };

    pub(crate) fn too_large(self) -> Fault {
        Fault::value(format!("{} of at most {} MiB", self.noun, self.most >> 20), "a larger one")
    }

    pub(crate) fn unreadable(self, error: &io::Error) -> Fault {
        Fault::value(self.noun, format!("none that can be read ({error})"))
    }

    /// All that such a file holds, as text.
    pub(crate) fn text(self, content: Box<dyn Read>) -> Result<String, Fault> {
        let mut bytes = Vec::new();
        let most = self.most.saturating_add(1);
        content.take(most).read_to_end(&mut bytes).map_err(|error| self.unreadable(&error))?;
        self.decode(bytes)
    }

    /// These bytes of such a file as text.
    pub(crate) fn decode(self, bytes: Vec<u8>) -> Result<String, Fault> {
        if bytes.len() as u64 > self.most {
            return Err(self.too_large());
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            let valid = &e.as_bytes()[..e.utf8_error().valid_up_to()];
            let line = 1 + valid.iter().filter(|b| **b == b'\n').count();
            fault!("text in UTF-8", "bytes that are not (line {line})")
        })?;
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }
}

/// What all files of a chain come to as one text, or a finished run's scenario with its traces inside.
pub(crate) const WHOLE_TEXT: FileKind = FileKind { noun: "a scenario file", most: 80 << 20 };

/// Opens a file that a scenario is made of, or says what is wrong with the file.
pub type ReadFile<'a> = dyn Fn(&Path, FileKind) -> Result<Box<dyn Read>, Fault> + 'a;

/// `fault` of a file, with the name that it was asked for by.
pub(crate) fn at_file(mut fault: Fault, name: &str) -> Fault {
    if let Problem::Value { found, .. } | Problem::Conflict(found) = &mut fault.problem {
        *found += &format!(" at {}", quoted(name));
    }
    fault
}
