//! What a scenario says of a trace.

use bentpipe_units::Span;
use bentpipe_units::bounded::AboveZero;
use schemars::JsonSchema;
use serde::Deserialize;

use super::table_or_file;

/// Names of the field that are answered with a trace.
pub(crate) const ALSO: &[&str] = &["fading", "rain"];

/// How the file of a trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// A header with the names of its columns, and a row for each time.
    #[default]
    Csv,
    /// A time in milliseconds for each delivery of 1500 bytes.
    Mahimahi,
}

/// What holds between two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Between {
    /// The values of the earlier one.
    #[default]
    Steps,
    /// The line from one to the other.
    Lines,
}

/// How a link changes, from a file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TraceFile {
    /// The file, relative to this one.
    pub(crate) file: Option<String>,
    /// What such a file says, in its place.
    pub(crate) text: Option<String>,
    /// SHA-256 of the file in hexadecimal digits; another file is refused. Beside `file`.
    pub(crate) sha256: Option<String>,
    /// A file of delays beside it, or alone.
    #[schemars(schema_with = "table_or_file::<DelayFile>")]
    pub(crate) delays: Option<DelayFile>,
    /// "csv" (the default): a header with time_s and any of delay_s, rate_bps, loss (or ber), and a row for each time; "mahimahi": a
    /// time in milliseconds for each delivery of 1500 bytes.
    pub(crate) format: Option<Format>,
    /// What holds between two rows: "steps" (the default), the values of the earlier one, or "lines" from one to the other.
    pub(crate) between: Option<Between>,
    /// With "lines": how long a value holds, the line's in its middle; default "100 ms".
    #[serde(with = "AboveZero")]
    pub(crate) step: Option<Span>,
    /// Whether the trace begins anew at its last time; default false, with "mahimahi" always.
    pub(crate) repeat: Option<bool>,
}

/// The propagation delay of a link, from a file with a line for each interval.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DelayFile {
    /// The file, relative to this one: a delay in milliseconds a line.
    pub(crate) file: Option<String>,
    /// What such a file says, in its place.
    pub(crate) text: Option<String>,
    /// SHA-256 of the file in hexadecimal digits; another file is refused. Beside `file`.
    pub(crate) sha256: Option<String>,
    /// How long the delay of a line holds; default "10 ms".
    #[serde(with = "AboveZero")]
    pub(crate) step: Option<Span>,
}
