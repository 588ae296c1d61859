use std::fmt;

/// A setting that no path can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidValue {
    /// The key as scenarios write it, such as `probability`.
    pub key: &'static str,
    /// What was expected and what was found.
    pub message: String,
}

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for InvalidValue {}
