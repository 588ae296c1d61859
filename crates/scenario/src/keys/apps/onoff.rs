//! Writes in on periods.

use super::prelude::*;

/// Writes at a constant rate during on periods, and nothing during off periods: each of a Pareto-distributed length. Over
/// one connection.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Bytes written, over the time of on periods.
    pub rate: Rate,
    /// Bytes of a write; default "1000 B".
    #[serde(default = "small::<1000>", with = "Size::<1, DATAGRAM>")]
    pub packet: u32,
    /// Mean length of an on period; default "160 ms".
    #[serde(default = "ms::<160>", with = "AboveZero")]
    pub mean_on: Span,
    /// Mean length of an off period; default "160 ms".
    #[serde(default = "ms::<160>")]
    pub mean_off: Span,
    /// Shape of the Pareto distributions of both, above 1; default 1.5.
    #[serde(default = "usual_shape", with = "Above::<1, 1000>")]
    pub shape: f64,
    /// What it starts in: "equilibrium" (the default), some moment of a period, on or off, or "on", the beginning of an on period.
    #[serde(default)]
    pub begins: Begins,
    /// Stop so long after the start.
    #[serde(default, with = "AboveZero")]
    pub duration: Option<Span>,
}

/// What periods of on and off start in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Begins {
    /// Some moment of one that began long ago.
    #[default]
    Equilibrium,
    /// The beginning of an on period.
    On,
}

fn usual_shape() -> f64 {
    1.5
}

impl App for OnOffSpec {
    const NAME: &'static str = "onoff";
    const SUMMARY: &'static str = "writes over TCP at a constant rate during Pareto-distributed on periods";

    fn ends(&self) -> bool {
        self.duration.is_some()
    }

    fn draws(&self) -> bool {
        true
    }
}
