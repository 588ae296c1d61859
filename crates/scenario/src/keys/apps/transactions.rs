//! Requests that are answered.

use super::prelude::*;

/// Requests, each answered at once, one after the other over one connection that the receiving host opens and that stays
/// open.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionsSpec {
    /// Size of a request; default "350 B".
    #[serde(default = "size::<350>", with = "Size::<1, LARGEST>")]
    pub request: u64,
    /// Size of an answer.
    #[serde(with = "Size::<1, LARGEST>")]
    pub response: u64,
    /// From the last byte of an answer to the next request; default "0 s".
    #[serde(default)]
    pub think: Span,
    /// How `think` is distributed: "constant" (the default), or "exponential" with that mean.
    #[serde(default)]
    pub think_distribution: Think,
    /// Stop after so many transactions.
    #[serde(default, with = "Whole::<1, 9_007_199_254_740_991>")]
    pub transactions: Option<u64>,
    /// Stop so long after the start.
    #[serde(default, with = "AboveZero")]
    pub duration: Option<Span>,
}

/// How the times are distributed for which a user thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Think {
    /// Each is the same.
    #[default]
    Constant,
    /// Without a memory.
    Exponential,
}

impl App for TransactionsSpec {
    const NAME: &'static str = "transactions";
    const SUMMARY: &'static str =
        "requests and answers, one after the other over a persistent TCP connection";
    const ALSO: &'static [&'static str] = &["telnet"];
    const NO_DELAY: bool = true;
    const ENDS_BY: &'static str = "transactions or duration";

    fn ends(&self) -> bool {
        self.transactions.is_some() || self.duration.is_some()
    }

    fn is_asked_for(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        self.think_distribution != Think::Constant
    }
}
