use bentpipe_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Packets;
use crate::InvalidValue;

/// How a queue is managed actively; `scheme` chooses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "scheme", rename_all = "kebab-case")]
pub enum ActiveSpec {
    /// Random early detection.
    Red(RedOptions),
    /// Random exponential marking.
    Rem(RemOptions),
}

/// Random early detection (Floyd and Jacobson 1993), in packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedOptions {
    /// The most packets that wait.
    pub limit: Packets,
    /// Average queue below which nothing is dropped.
    pub min: Packets,
    /// Average queue at which the probability of a drop reaches `max_p`.
    pub max: Packets,
    /// Probability of a drop at an average queue of `max`, above 0, at most 1.
    #[serde(default = "RedOptions::usual_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub max_p: f64,
    /// Weight of the queue that a packet finds in the average, above 0, at most 1.
    #[serde(default = "RedOptions::usual_weight")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub weight: f64,
    /// Let the probability grow from `max_p` to 1 between `max` and twice `max` (Floyd 2000), instead of all at once.
    #[serde(default = "yes")]
    pub gentle: bool,
    /// Mark packets that are ECN-capable instead of dropping them.
    #[serde(default)]
    pub ecn: bool,
}

/// Random exponential marking (Athuraliya, Low, Li and Yin 2001), in packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemOptions {
    /// The most packets that wait.
    pub limit: Packets,
    /// How much the price moves, above 0.
    #[serde(default = "RemOptions::usual_gamma")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub gamma: f64,
    /// Weight of the queue beside the rate, at least 0.
    #[serde(default = "RemOptions::usual_alpha")]
    #[schemars(range(min = 0))]
    pub alpha: f64,
    /// Base of the probability, above 1.
    #[serde(default = "RemOptions::usual_phi")]
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub phi: f64,
    /// Queue that the price drives at.
    #[serde(default = "RemOptions::usual_target")]
    pub target: Packets,
    /// Time from one change of the price to the next, above zero.
    #[serde(default = "RemOptions::usual_interval")]
    pub interval: Span,
    /// Mark packets that are ECN-capable instead of dropping them.
    #[serde(default)]
    pub ecn: bool,
}

fn yes() -> bool {
    true
}

impl RedOptions {
    fn usual_max_p() -> f64 {
        0.1
    }

    fn usual_weight() -> f64 {
        0.002
    }
}

impl RemOptions {
    fn usual_gamma() -> f64 {
        0.001
    }

    fn usual_alpha() -> f64 {
        0.1
    }

    fn usual_phi() -> f64 {
        1.001
    }

    fn usual_target() -> Packets {
        Packets(20)
    }

    fn usual_interval() -> Span {
        Span::from_millis(2)
    }
}

impl ActiveSpec {
    /// The name that `scheme` has for it.
    pub fn scheme(&self) -> &'static str {
        match self {
            ActiveSpec::Red(_) => "red",
            ActiveSpec::Rem(_) => "rem",
        }
    }

    /// The most packets that wait.
    pub fn limit(&self) -> Packets {
        match self {
            ActiveSpec::Red(options) => options.limit,
            ActiveSpec::Rem(options) => options.limit,
        }
    }

    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        match self {
            ActiveSpec::Red(options) => {
                at_most("min", options.min, options.max, "max")?;
                if options.min == options.max {
                    let message = format!("expected more packets than min, found {}", options.max);
                    return Err(InvalidValue { key: "max", message });
                }
                at_most("max", options.max, options.limit, "limit")?;
                share("max_p", options.max_p)?;
                share("weight", options.weight)
            }
            ActiveSpec::Rem(options) => {
                at_most("target", options.target, options.limit, "limit")?;
                bounded("gamma", options.gamma, options.gamma > 0.0, "a number above 0")?;
                bounded("alpha", options.alpha, options.alpha >= 0.0, "a number of at least 0")?;
                bounded("phi", options.phi, options.phi > 1.0, "a number above 1")?;
                if options.interval == Span::ZERO {
                    let message = "expected a time above zero, found 0 s".to_owned();
                    return Err(InvalidValue { key: "interval", message });
                }
                Ok(())
            }
        }
    }
}

fn at_most(key: &'static str, packets: Packets, most: Packets, of: &str) -> Result<(), InvalidValue> {
    match packets.0 <= most.0 {
        true => Ok(()),
        false => {
            let message = format!("expected at most the queue's {of} ({most}), found {packets}");
            Err(InvalidValue { key, message })
        }
    }
}

fn share(key: &'static str, value: f64) -> Result<(), InvalidValue> {
    match value > 0.0 && value <= 1.0 {
        true => Ok(()),
        false => Err(InvalidValue {
            key,
            message: format!("expected a number above 0 and at most 1, found {value}"),
        }),
    }
}

/// A number in its range, and at most 1e6: far from where the price would overflow.
fn bounded(key: &'static str, value: f64, fits: bool, expected: &str) -> Result<(), InvalidValue> {
    match fits && value <= 1e6 {
        true => Ok(()),
        false => {
            Err(InvalidValue { key, message: format!("expected {expected} and at most 1e6, found {value}") })
        }
    }
}
