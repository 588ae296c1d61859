//! Short connections.

use bentpipe_units::bounded::{Above, AboveZero, Size, Whole};
use bentpipe_units::{Bytes, Fault, Span, conflict, fault};
use schemars::JsonSchema;
use serde::Deserialize;

use super::opener::{Opener, usual_request};
use super::{App, LARGEST};
use crate::text::Node;

/// Connections that come by a Poisson process, each for one transfer of a size of its own.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortFlowsSpec {
    /// Mean time from one connection's start to the next one's, which is exponentially distributed.
    #[serde(with = "AboveZero")]
    pub mean_interval: Span,
    /// Size of a transfer, or its mean.
    #[serde(with = "Size::<1, LARGEST>")]
    pub bytes: u64,
    /// How sizes are distributed: "constant" (the default), "exponential" or "pareto".
    #[serde(default)]
    pub size_distribution: Sizes,
    /// Shape of the Pareto distribution, above 1; default 1.5.
    #[serde(default, with = "Above::<1, 1000>")]
    pub shape: Option<f64>,
    /// Beside "pareto" the largest size, above `bytes`, which stays the mean; default none.
    #[serde(default, with = "Size::<2, LARGEST>")]
    pub largest: Option<u64>,
    /// Connections, at most.
    #[serde(with = "Whole::<1, 100_000>")]
    pub transfers: u32,
    /// Open no more so long after the start.
    #[serde(default, with = "AboveZero")]
    pub duration: Option<Span>,
    /// Which host opens the connection: "sender" (the default), or "receiver", with a request.
    #[serde(default)]
    pub opened_by: Opener,
    /// Beside "receiver" the size of the request; default "350 B".
    #[serde(default = "usual_request", with = "Size::<1, LARGEST>")]
    pub request: u64,
}

/// How the sizes of transfers are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// Each is the same.
    #[default]
    Constant,
    /// Most are below the mean, and few are far above it.
    Exponential,
    /// A few carry most of the bytes.
    Pareto,
}

impl App for ShortFlowsSpec {
    const NAME: &'static str = "short-flows";
    const SUMMARY: &'static str = "short TCP connections that come by a Poisson process";
    const RELAYED: bool = false;

    fn check(&self, written: &Node) -> Result<(), Fault> {
        self.opened_by.check(written)?;
        let pareto = self.size_distribution == Sizes::Pareto;
        for (key, there) in [("shape", self.shape.is_some()), ("largest", self.largest.is_some())] {
            if there && !pareto {
                return Err(conflict!("needs size_distribution = \"pareto\"").under(key));
            }
        }
        match self.largest.filter(|largest| *largest <= self.bytes) {
            Some(largest) => {
                let (mean, found) = (Bytes::new(self.bytes), Bytes::new(largest));
                Err(fault!("a size above the mean ({mean})", "{found}").under("largest"))
            }
            None => Ok(()),
        }
    }

    fn ends(&self) -> bool {
        true
    }

    fn connections(&self) -> usize {
        self.transfers as usize
    }

    fn is_asked_for(&self) -> bool {
        self.opened_by == Opener::Receiver
    }

    fn draws(&self) -> bool {
        true
    }
}
