//! Applications whose users wait for many small things: requests that are answered, and short connections.

use std::borrow::Cow;

use bentpipe_units::bounded::{Whole, above_zero, number_above, size, whole};
use bentpipe_units::{Bytes, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::app::LARGEST;
use super::opener::{Opener, usual_request};
use super::written::{Choice, Names, chosen};

/// Requests, each answered at once, one after the other over one connection that the receiving host opens and that stays
/// open.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionsSpec {
    /// Size of a request; default "350 B".
    #[serde(default = "usual_request", deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub request: u64,
    /// Size of an answer.
    #[serde(deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub response: u64,
    /// From the last byte of an answer to the next request; default "0 s".
    #[serde(default)]
    pub think: Span,
    /// How `think` is distributed: "constant" (the default), or "exponential" with that mean.
    #[serde(default, deserialize_with = "chosen")]
    #[schemars(with = "Choice<Think>")]
    pub think_distribution: Think,
    /// Stop after so many transactions.
    #[serde(default, deserialize_with = "whole::<_, _, 1, 9_007_199_254_740_991>")]
    #[schemars(with = "Whole<1, 9_007_199_254_740_991>")]
    pub transactions: Option<u64>,
    /// Stop so long after the start.
    #[serde(default, deserialize_with = "above_zero")]
    pub duration: Option<Span>,
}

/// Connections that come by a Poisson process, each for one transfer of a size of its own.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortFlowsSpec {
    /// Mean time from one connection's start to the next one's, which is exponentially distributed.
    #[serde(deserialize_with = "above_zero")]
    pub mean_interval: Span,
    /// Size of a transfer, or its mean.
    #[serde(deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub bytes: u64,
    /// How sizes are distributed: "constant" (the default), "exponential" or "pareto".
    #[serde(default, deserialize_with = "chosen")]
    #[schemars(with = "Choice<Sizes>")]
    pub size_distribution: Sizes,
    /// Shape of the Pareto distribution, above 1; default 1.5.
    #[serde(default, deserialize_with = "number_above::<_, _, 1, 1000>")]
    #[schemars(extend("exclusiveMinimum" = 1, "maximum" = 1000))]
    pub shape: Option<f64>,
    /// Beside "pareto" the largest size, above `bytes`, which stays the mean; default none.
    #[serde(default, deserialize_with = "size::<_, _, 2, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub largest: Option<u64>,
    /// Connections, at most.
    #[serde(deserialize_with = "whole::<_, _, 1, 100_000>")]
    #[schemars(with = "Whole<1, 100_000>")]
    pub transfers: u32,
    /// Open no more so long after the start.
    #[serde(default, deserialize_with = "above_zero")]
    pub duration: Option<Span>,
    /// Which host opens the connection: "sender" (the default), or "receiver", with a request.
    #[serde(default, deserialize_with = "chosen")]
    #[schemars(with = "Choice<Opener>")]
    pub opened_by: Opener,
    /// Beside "receiver" the size of the request; default "350 B".
    #[serde(default = "usual_request", deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub request: u64,
}

/// Connections at the times of a trace, each for one transfer of a size that it says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// The transfers, at least one and at most 100,000, by their times; or the name of a CSV file beside the scenario's, with
    /// the columns start_s, in seconds, and bytes.
    #[schemars(with = "TraceOrFile")]
    pub trace: Vec<Transfer>,
    /// Which host opens the connection: "sender" (the default), or "receiver", with a request.
    #[serde(default, deserialize_with = "chosen")]
    #[schemars(with = "Choice<Opener>")]
    pub opened_by: Opener,
    /// Beside "receiver" the size of the request; default "350 B".
    #[serde(default = "usual_request", deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub request: u64,
}

/// A trace as a scenario writes it.
struct TraceOrFile;

impl JsonSchema for TraceOrFile {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "TraceOrFile".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let transfer = generator.subschema_for::<Transfer>();
        json_schema!({
            "type": ["array", "string"],
            "items": transfer,
            "minItems": 1,
            "maxItems": MOST_TRANSFERS,
            "minLength": 1,
        })
    }
}

/// A transfer of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// When its connection is opened, after the start of the flow.
    pub at: Span,
    /// Its size.
    #[serde(deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub bytes: u64,
}

/// How the times are distributed for which a user thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Think {
    /// Each is the same.
    #[default]
    Constant,
    /// Without a memory.
    Exponential,
}

/// How the sizes of transfers are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sizes {
    /// Each is the same.
    #[default]
    Constant,
    /// Most are below the mean, and few are far above it.
    Exponential,
    /// A few carry most of the bytes.
    Pareto,
}

impl Names for Think {
    const WHAT: &'static str = "a distribution of think times";
    fn all() -> Vec<(&'static str, Self)> {
        vec![("constant", Think::Constant), ("exponential", Think::Exponential)]
    }
}

impl Names for Sizes {
    const WHAT: &'static str = "a distribution of sizes";
    fn all() -> Vec<(&'static str, Self)> {
        vec![("constant", Sizes::Constant), ("exponential", Sizes::Exponential), ("pareto", Sizes::Pareto)]
    }
}

impl ShortFlowsSpec {
    /// What is wrong with its sizes, and at which key.
    pub(super) fn wrong(&self) -> Option<(&'static str, String)> {
        if self.size_distribution != Sizes::Pareto {
            let found = Sizes::all().into_iter().find(|(_, sizes)| *sizes == self.size_distribution)?.0;
            let key = [(self.shape.is_some(), "shape"), (self.largest.is_some(), "largest")];
            let key = key.into_iter().find_map(|(there, key)| there.then_some(key))?;
            return Some((
                key,
                format!("expected size_distribution = \"pareto\" beside this key, found {found:?}"),
            ));
        }
        let largest = self.largest.filter(|largest| *largest <= self.bytes)?;
        let (mean, found) = (Bytes::new(self.bytes), Bytes::new(largest));
        Some(("largest", format!("expected a size above the mean ({mean}), found {found}")))
    }
}

impl TraceSpec {
    /// What is wrong with the trace, and below which of the flow's keys.
    pub(super) fn wrong(&self) -> Option<(Vec<String>, String)> {
        let found = self.trace.len();
        if found == 0 || found > MOST_TRANSFERS {
            let message = format!("expected 1 to {MOST_TRANSFERS} transfers, found {found}");
            return Some((vec!["trace".to_owned()], message));
        }
        let early = self.trace.windows(2).position(|pair| pair[1].at < pair[0].at)?;
        let (before, at) = (self.trace[early].at, self.trace[early + 1].at);
        let keys = vec!["trace".to_owned(), format!("[{}]", early + 1), "at".to_owned()];
        Some((keys, format!("expected a time that is not before the last transfer's ({before}), found {at}")))
    }
}

const MOST_TRANSFERS: usize = 100_000;
