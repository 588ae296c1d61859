//! Short connections.

use super::prelude::*;

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
    #[serde(default = "size::<350>", with = "Size::<1, LARGEST>")]
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
        let (other, needs) =
            (self.size_distribution != Sizes::Pareto, "needs size_distribution = \"pareto\"");
        fitting(written, &[("shape", other, needs), ("largest", other, needs)])?;
        let (mean, largest) = (Bytes::new(self.bytes), Bytes::new(self.largest.unwrap_or(u64::MAX)));
        ensure!(largest > mean, fault!("a size above the mean ({mean})", "{largest}").under("largest"));
        Ok(())
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
