//! Errors of scenarios: a fault and its place, which print as one line.

use std::fmt;

use bentpipe_units::Fault;

use super::dotted;

/// Why a scenario cannot be run; prints as one line, `FILE:LINE: KEY: MESSAGE; HINT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file at fault; `--set` for an override given beside the file.
    pub file: String,
    /// The line at fault, counted from 1, where there is one.
    pub line: Option<usize>,
    /// The dotted key at fault; empty when it is the file as a whole.
    pub key: String,
    /// What is wrong there.
    pub fault: Box<Fault>,
}

impl ScenarioError {
    pub(crate) fn new(file: &str, line: Option<usize>, key: String, fault: Fault) -> ScenarioError {
        ScenarioError { file: file.to_owned(), line, key, fault: Box::new(fault) }
    }

    /// The error that `fault` is in the file as a whole, where no line is known.
    pub fn of(file: &str, mut fault: Fault) -> ScenarioError {
        let key = dotted(&fault.path);
        fault.path.clear();
        ScenarioError::new(file, None, key, fault)
    }

    /// What is wrong: what was expected and what was found, or what does not go together.
    pub fn message(&self) -> String {
        self.fault.problem.to_string()
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&error_line(
            &self.file,
            self.line,
            &self.key,
            &self.message(),
            self.fault.hint.as_deref(),
        ))
    }
}

/// The one line that the parts of an error make.
pub fn error_line(file: &str, line: Option<usize>, key: &str, message: &str, hint: Option<&str>) -> String {
    let file = one_line(file, 400);
    let place = line.map_or(file.clone(), |line| format!("{file}:{line}"));
    let parts = [place, one_line(key, 200), one_line(message, 800)];
    let line = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    match hint {
        Some(hint) => format!("{line}; {}", one_line(hint, 400)),
        None => line,
    }
}

impl std::error::Error for ScenarioError {}

/// `text` without anything that could break or disguise a line, cut after `most` characters.
fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == most {
            line.push('…');
            break;
        }
        // Line and paragraph separators, and the marks that reorder text on a terminal.
        let disguise = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if c.is_control() || disguise {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line
}
