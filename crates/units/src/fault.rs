//! What is wrong with a value, as data; whoever knows the file makes a line of it.

use std::cell::RefCell;
use std::fmt;

use serde::de::{Error, Unexpected};

/// What is wrong with a value that somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The keys that lead to the value from where this is told; none for the value at hand.
    pub path: Vec<String>,
    /// Where in the value it is wrong, where it is a long text.
    pub at: Option<Within>,
    /// What is wrong.
    pub problem: Problem,
    /// What may have been meant.
    pub hint: Option<String>,
}

/// A place in a long text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// A byte.
    Byte(usize),
    /// A line, counted from 1, of a file that is not kept.
    Line(usize),
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A value is none of those that may stand there.
    Value {
        /// What may stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A name is none of those that there are.
    Name {
        /// What it is the name of, and the names that there are.
        expected: String,
        /// The name.
        found: String,
    },
    /// A key without a default has no value.
    Missing,
    /// Values do not go together, each of which could stand by itself.
    Conflict(String),
    /// A text is not TOML.
    Syntax(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Value { expected, found } => write!(f, "expected {expected}, found {found}"),
            Problem::Name { expected, found } => write!(f, "expected {expected}, found {}", quoted(found)),
            Problem::Missing => f.write_str("missing, and there is no default"),
            Problem::Conflict(text) => f.write_str(text),
            Problem::Syntax(text) => write!(f, "not TOML: {text}"),
        }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Fault {
        Fault { path: Vec::new(), at: None, problem, hint: None }
    }
}

impl From<String> for Fault {
    fn from(text: String) -> Fault {
        Fault::conflict(text)
    }
}

impl From<&str> for Fault {
    fn from(text: &str) -> Fault {
        Fault::conflict(text)
    }
}

impl Fault {
    /// `found` stands where only `expected` may.
    pub fn value(expected: impl Into<String>, found: impl Into<String>) -> Fault {
        Problem::Value { expected: expected.into(), found: found.into() }.into()
    }

    /// What does not go together, as a sentence.
    pub fn conflict(text: impl Into<String>) -> Fault {
        Problem::Conflict(text.into()).into()
    }

    /// The fault of the value that `key` leads to.
    #[must_use]
    pub fn under(mut self, key: impl Into<String>) -> Fault {
        self.path.insert(0, key.into());
        self
    }

    /// The fault of the value that the keys of `path` lead to.
    #[must_use]
    pub fn below(self, path: &[&str]) -> Fault {
        path.iter().rev().fold(self, |fault, key| fault.under(*key))
    }

    /// The fault at byte `at` of the value.
    #[must_use]
    pub fn at(self, at: usize) -> Fault {
        self.within(Within::Byte(at))
    }

    /// The fault at this place of the value, unless it has one.
    #[must_use]
    pub fn within(self, at: Within) -> Fault {
        Fault { at: self.at.or(Some(at)), ..self }
    }

    /// The fault with what may have been meant.
    #[must_use]
    pub fn or(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }

    /// The fault as an error of serde, which keeps apart what was expected and what was found.
    pub fn into_serde<E: Error>(self) -> E {
        match &self.problem {
            Problem::Value { expected, found } if self.hint.is_none() && self.path.is_empty() => {
                E::invalid_value(Unexpected::Other(found), &expected.as_str())
            }
            _ => {
                let text = self.to_string();
                HANDED_ON.set(Some(self));
                let error = E::custom(text);
                HANDED_ON.set(None);
                error
            }
        }
    }

    /// The fault that [`Fault::into_serde`] is handing on, or one that `text` says.
    pub(crate) fn handed_on(text: String) -> Fault {
        HANDED_ON.take().unwrap_or_else(|| Fault::conflict(text))
    }
}

thread_local! {
    /// Serde takes a text alone for an error; where that is a fault again, it is this one.
    static HANDED_ON: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

impl fmt::Display for Fault {
    /// The key, what is wrong, and what may have been meant.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path.join("."))?;
        }
        write!(f, "{}", self.problem)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// What may have a fault in it.
pub trait Under {
    /// The fault, if it is one, of the value that `key` leads to.
    #[must_use]
    fn under(self, key: impl Into<String>) -> Self;
}

impl<T> Under for Result<T, Fault> {
    fn under(self, key: impl Into<String>) -> Self {
        self.map_err(|fault| fault.under(key))
    }
}

/// `text` in quotes, escaped, and cut when it is long.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{:?}…", &text[..cut]),
        None => format!("{text:?}"),
    }
}

/// The fault of a value: `fault!("a rate of at most {most}", "{rate}")` says what may stand there, and what does.
#[macro_export]
macro_rules! fault {
    ($expected:literal, $found:literal) => {
        $crate::Fault::value(format!($expected), format!($found))
    };
}

/// Returns a fault unless a condition holds: `ensure!(rate <= most, fault!("a rate of at most {most}", "{rate}"))`.
#[macro_export]
macro_rules! ensure {
    ($holds:expr, $fault:expr $(,)?) => {
        if !$holds {
            return Err($fault);
        }
    };
}

/// The fault of values that do not go together: `conflict!("{a} cannot be combined with {b}")`.
#[macro_export]
macro_rules! conflict {
    ($($text:tt)*) => {
        $crate::Fault::conflict(format!($($text)*))
    };
}
