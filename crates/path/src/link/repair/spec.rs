//! What repairs a link's losses, as scenarios say it.

use std::borrow::Cow;
use std::fmt;

use bentpipe_units::bounded::Whole;
use bentpipe_units::registry::{Kind, Scheme};
use bentpipe_units::{Span, Variant, tagged};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::packet_error_rate;

/// How a link repairs its losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Repair {
    /// Not at all.
    #[default]
    None,
    /// Frames that were lost are sent again.
    Arq(ArqSpec),
    /// Parity is sent with them.
    Fec(FecSpec),
}

/// Automatic repeat request: frames that were lost are sent again (RFC 3366).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArqSpec {
    /// How often a frame is sent at most, 1 to 1000, or "unlimited".
    pub attempts: Attempts,
    /// Whether packets wait at the far end for those before them; default true.
    #[serde(default = "yes")]
    pub in_order: bool,
    /// How much longer than two propagation delays it takes until the sender knows that a frame was lost; default "0 s".
    #[serde(default)]
    pub turnaround: Span,
}

/// Forward error correction; `model` chooses.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(tag = "model")]
pub enum FecSpec {
    /// A block code over packets: as many frames of a block as it has packets give all of them.
    Packets {
        /// Packets of a block, 1 to 1000.
        #[serde(with = "Whole::<1, 1000>")]
        data: u32,
        /// Frames of parity behind them, 1 to 1000.
        #[serde(with = "Whole::<1, 1000>")]
        parity: u32,
        /// How long a block stays open for packets after its first one began to be sent; default as long as `data` packets of
        /// 1500 B take.
        #[serde(default)]
        wait: Option<Span>,
        /// Whether packets wait at the far end for those before them; default true.
        #[serde(default = "yes")]
        in_order: bool,
    },
}

impl Kind for FecSpec {
    type Known = ();
    type Value = FecSpec;
    const KEY: &'static str = "fec.model";
    const WHAT: &'static str = "a code";
    const EXAMPLE: &'static str = "{ model = \"packets\", data = 20, parity = 4 }";
    bentpipe_units::ours!(FecSpec; Scheme::new("packets", "a block code over packets", ()).with_options(
        [""; 0],
        || schemars::schema_for!(FecSpec),
        |options| FecSpec::deserialize(Variant("packets", options)),
    ));
}

tagged!(FecSpec, FecSpec);

fn yes() -> bool {
    true
}

const MOST: u32 = 1000;

impl Repair {
    /// Of the packets that such a link takes, the share that arrives, where frames are lost with this probability, each by
    /// itself.
    ///
    /// ARQ: 1 - p^n with n attempts. FEC with k packets and m of parity: a packet is lost for good if its frame is, and m or more
    /// of the other k + m - 1.
    pub fn delivered(&self, loss: f64) -> f64 {
        match *self {
            Repair::None => 1.0 - loss,
            Repair::Arq(ArqSpec { attempts: Attempts::Unlimited, .. }) => 1.0,
            Repair::Arq(ArqSpec { attempts: Attempts::AtMost(n), .. }) => 1.0 - libm::pow(loss, f64::from(n)),
            Repair::Fec(FecSpec::Packets { data, parity, .. }) => {
                1.0 - loss * packet_error_rate(loss, u64::from(data + parity - 1), parity - 1)
            }
        }
    }

    /// Of what such a link can send, the share that arrives as packets, when it sends all the while.
    pub fn carried(&self, loss: f64) -> f64 {
        match *self {
            Repair::None | Repair::Arq(_) => 1.0 - loss,
            Repair::Fec(FecSpec::Packets { data, parity, .. }) => {
                self.delivered(loss) * f64::from(data) / f64::from(data + parity)
            }
        }
    }
}

/// How persistent ARQ is, written as a number of attempts or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempts {
    /// A frame is sent until it arrives.
    Unlimited,
    /// A frame is sent so often at most.
    AtMost(u32),
}

impl Attempts {
    pub(super) fn most(self) -> u64 {
        match self {
            Attempts::Unlimited => u64::MAX,
            Attempts::AtMost(most) => u64::from(most),
        }
    }
}

impl<'de> Deserialize<'de> for Attempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Attempts, D::Error> {
        struct NumberOrText;
        impl serde::de::Visitor<'_> for NumberOrText {
            type Value = Attempts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "1 to {MOST} attempts, or \"unlimited\"")
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Attempts, E> {
                let found = u32::try_from(number).ok().filter(|number| (1..=MOST).contains(number));
                let wrong = || E::invalid_value(serde::de::Unexpected::Unsigned(number), &self);
                found.map(Attempts::AtMost).ok_or_else(wrong)
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Attempts, E> {
                match u64::try_from(number) {
                    Ok(number) => self.visit_u64(number),
                    Err(_) => Err(E::invalid_value(serde::de::Unexpected::Signed(number), &self)),
                }
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Attempts, E> {
                match text {
                    "unlimited" => Ok(Attempts::Unlimited),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

impl JsonSchema for Attempts {
    fn schema_name() -> Cow<'static, str> {
        "Attempts".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "oneOf": [
                { "type": "integer", "minimum": 1, "maximum": MOST },
                { "type": "string", "enum": ["unlimited"] }
            ]
        })
    }
}
