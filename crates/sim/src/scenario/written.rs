//! How single values are written, where a unit or a plain number does not say it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use bentpipe_path::LossSpec;
use bentpipe_path::gateway::GatewaySpec;
use bentpipe_tcp::control::{AvoidanceReading, DelayedGrowth, RwndReading};
use bentpipe_tcp::{ControlKind, Profile, RecoveryKind};
use bentpipe_units::{Bytes, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{
    Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor, value::MapAccessDeserializer,
};

use super::app::AppKind;
use super::error::{expected_one_of, quoted};
use super::model::InFlight;

/// A table whose keys are names that the scenario makes up; the entries are read one by one.
#[derive(Debug)]
pub(crate) struct Named<T>(PhantomData<T>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(PhantomData)
    }
}

impl<'de, T> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables;
        impl<'de> Visitor<'de> for Tables {
            type Value = ();
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of names")
            }
            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
                Ok(())
            }
        }
        deserializer.deserialize_map(Tables).map(|()| Named(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Named{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": value })
    }
}

/// A kind of value that is a table only; serde would also take one from an array.
struct Table<T> {
    example: &'static str,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Table<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table such as {}", self.example)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// A loss model.
pub(crate) fn loss<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<LossSpec>, D::Error> {
    let table = Table { example: "{ model = \"packet\", probability = 1e-3 }", of: PhantomData };
    deserializer.deserialize_map(table).map(Some)
}

/// A rate or a delay of a link.
pub(crate) fn steady<'de, D: Deserializer<'de>, T: Steady>(deserializer: D) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);
    impl<'de, T: Steady> Visitor<'de> for Text<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<T, A::Error> {
            Err(changing::<T, _>("an array"))
        }
        fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<T, A::Error> {
            Err(changing::<T, _>("a table"))
        }
    }
    deserializer.deserialize_any(Text(PhantomData))
}

/// As [`steady`], where nothing needs to be said.
pub(crate) fn maybe_steady<'de, D: Deserializer<'de>, T: Steady>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    steady(deserializer).map(Some)
}

/// What a link has one of, from the start of a run to its end.
pub(crate) trait Steady: FromStr<Err = String> {
    const EXPECTED: &'static str;
}

impl Steady for Rate {
    const EXPECTED: &'static str = "a rate such as \"2.048 Mbit/s\"";
}

impl Steady for Span {
    const EXPECTED: &'static str = "a time such as \"250 ms\"";
}

fn changing<T: Steady, E: Error>(found: &str) -> E {
    E::custom(format!(
        "expected {}, found {found}; rates and delays of a link do not change during a run yet: a handover moves flows to \
         another link, and flows such as cbr and onoff take a share of one",
        T::EXPECTED
    ))
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole<const LEAST: u64, const MOST: u64>(u64);

impl<const LEAST: u64, const MOST: u64> Whole<LEAST, MOST> {
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Whole<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<const LEAST: u64, const MOST: u64>;
        impl<const LEAST: u64, const MOST: u64> Visitor<'_> for Number<LEAST, MOST> {
            type Value = Whole<LEAST, MOST>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {LEAST} to {MOST}")
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Self::Value, E> {
                match (LEAST..=MOST).contains(&n) {
                    true => Ok(Whole(n)),
                    false => Err(E::invalid_value(Unexpected::Unsigned(n), &self)),
                }
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl<const LEAST: u64, const MOST: u64> JsonSchema for Whole<LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Whole{LEAST}To{MOST}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": LEAST, "maximum": MOST })
    }
}

/// A gateway.
pub(crate) fn gateway<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<GatewaySpec>, D::Error> {
    let table = Table { example: "{ scheme = \"xfwa\", isl_delay = \"20 ms\" }", of: PhantomData };
    deserializer.deserialize_map(table).map(Some)
}

/// A kind of value that is chosen by name.
pub(crate) trait Names {
    /// What the name stands for.
    type Value: Copy + fmt::Debug;
    /// In an error: `expected WHAT (a, b, c)`.
    const WHAT: &'static str;
    /// Every name, in the order of a list for people.
    fn all() -> Vec<(&'static str, Self::Value)>;
}

/// One of the names of `N`.
#[derive(Debug)]
pub(crate) struct Choice<N: Names>(pub(crate) N::Value);

impl<N: Names> Clone for Choice<N> {
    fn clone(&self) -> Self {
        Choice(self.0)
    }
}

impl<'de, N: Names> Deserialize<'de> for Choice<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name<N>(PhantomData<N>);
        impl<N: Names> Visitor<'_> for Name<N> {
            type Value = Choice<N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let names: Vec<_> = N::all().iter().map(|(name, _)| *name).collect();
                write!(f, "{} ({})", N::WHAT, names.join(", "))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Choice<N>, E> {
                let all = N::all();
                let found = all.iter().find(|(name, _)| *name == text);
                found.map(|(_, value)| Choice(*value)).ok_or_else(|| {
                    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
                    E::custom(expected_one_of(N::WHAT, text, &names))
                })
            }
        }
        deserializer.deserialize_str(Name::<N>(PhantomData))
    }
}

impl<N: Names> JsonSchema for Choice<N> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        N::WHAT.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = N::all().iter().map(|(name, _)| *name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

macro_rules! names {
    ($name:ident, $value:ty, $what:literal, $all:expr) => {
        #[derive(Debug)]
        pub(crate) struct $name;
        impl Names for $name {
            type Value = $value;
            const WHAT: &'static str = $what;
            fn all() -> Vec<(&'static str, $value)> {
                $all
            }
        }
    };
}

names!(ProfileName, Profile, "a profile", Profile::ALL.map(|profile| (profile.name(), profile)).to_vec());
names!(RecoveryName, RecoveryKind, "a recovery", RecoveryKind::ALL.map(|kind| (kind.name(), kind)).to_vec());
names!(ControlName, ControlKind, "a control", ControlKind::ALL.map(|kind| (kind.name(), kind)).to_vec());
names!(VariantName, (RecoveryKind, ControlKind), "a variant", variants());
names!(RwndReadingName, RwndReading, "a reading", RWND_READINGS.to_vec());
names!(AvoidanceReadingName, AvoidanceReading, "a reading", AVOIDANCE_READINGS.to_vec());
names!(DelayedGrowthName, DelayedGrowth, "a reading", DELAYED_GROWTHS.to_vec());
names!(GrowthName, bool, "what opens the window", vec![("per-ack", false), ("bytes", true)]);
names!(InFlightName, InFlight, "what becomes of packets under way", IN_FLIGHT.to_vec());
names!(AppName, AppKind, "an application", AppKind::ALL.map(|kind| (kind.name(), kind)).to_vec());

const RWND_READINGS: [(&str, RwndReading); 4] = [
    ("per-segment", RwndReading::PerSegment),
    ("from-advertised", RwndReading::FromAdvertised),
    ("per-ack", RwndReading::PerAck),
    ("accumulating", RwndReading::Accumulating),
];

const AVOIDANCE_READINGS: [(&str, AvoidanceReading); 2] =
    [("paper", AvoidanceReading::Paper), ("slides", AvoidanceReading::Slides)];

const IN_FLIGHT: [(&str, InFlight); 2] = [("deliver", InFlight::Deliver), ("lose", InFlight::Lose)];

const DELAYED_GROWTHS: [(&str, DelayedGrowth); 2] =
    [("held", DelayedGrowth::Held), ("credited", DelayedGrowth::Credited)];

/// Every variant: a recovery and a control under the one name that the field has for them.
pub fn variants() -> Vec<(&'static str, (RecoveryKind, ControlKind))> {
    let mut variants =
        RecoveryKind::ALL.map(|recovery| (recovery.name(), (recovery, ControlKind::Standard))).to_vec();
    variants.push(("adalr-sack", (RecoveryKind::Sack, ControlKind::Adalr)));
    variants.push(("adalr-newreno", (RecoveryKind::NewReno, ControlKind::Adalr)));
    variants.push(("afc", (RecoveryKind::Sack, ControlKind::Afc)));
    variants.push(("adalr+afc", (RecoveryKind::Sack, ControlKind::AdalrAfc)));
    variants
}

/// A window in bytes or in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segments {
    Segments(u64),
    Bytes(u64),
}

const SEGMENTS: &str = "a window such as \"64 KiB\" or \"96 segments\"";

impl FromStr for Segments {
    type Err = String;

    fn from_str(text: &str) -> Result<Segments, String> {
        Segments::read(text, SEGMENTS)
    }
}

impl Segments {
    /// Reads a window where `expected` says what may stand.
    fn read(text: &str, expected: &str) -> Result<Segments, String> {
        let wrong = || format!("expected {expected}, found {}", quoted(text));
        let trimmed = text.trim();
        let number = trimmed.strip_suffix("segments").or_else(|| trimmed.strip_suffix("segment"));
        let Some(number) = number.map(str::trim_end) else {
            return Bytes::read(trimmed, expected).map(|bytes| Segments::Bytes(bytes.get()));
        };
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(wrong());
        }
        number.replace('_', "").parse().map(Segments::Segments).map_err(|_| wrong())
    }

    /// In bytes, with segments of `mss` bytes.
    pub(crate) fn bytes(self, mss: u32) -> u64 {
        match self {
            Segments::Segments(n) => n.saturating_mul(u64::from(mss)),
            Segments::Bytes(n) => n,
        }
    }

    /// In whole segments of `mss` bytes, rounded down.
    pub(crate) fn segments(self, mss: u32) -> u64 {
        match self {
            Segments::Segments(n) => n,
            Segments::Bytes(n) => n / u64::from(mss),
        }
    }
}

/// A slow-start threshold: a window, or none at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ssthresh {
    Unlimited,
    Window(Segments),
}

const SSTHRESH: &str = "a window such as \"64 KiB\" or \"96 segments\", or \"unlimited\"";

impl FromStr for Ssthresh {
    type Err = String;

    fn from_str(text: &str) -> Result<Ssthresh, String> {
        match text.trim() {
            "unlimited" => Ok(Ssthresh::Unlimited),
            window => Segments::read(window, SSTHRESH).map(Ssthresh::Window),
        }
    }
}

macro_rules! written_as_text {
    ($type:ident, $expected:expr, $pattern:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

written_as_text!(Segments, SEGMENTS, "^([0-9_]+ *segments?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$");
written_as_text!(Ssthresh, SSTHRESH, "^(unlimited|[0-9_]+ *segments?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$");

/// Delayed acknowledgments: off, as the profile has them, or as given.
#[derive(Clone, Debug)]
pub(crate) enum DelayedAckSetting {
    Switch(bool),
    Table(DelayedAckFile),
}

/// When the receiver acknowledges in-order data (RFC 1122 4.2.3.2).
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DelayedAckFile {
    /// An ACK at the latest for so many full-sized segments.
    pub(crate) segments: Option<Whole<1, 1000>>,
    /// An ACK at the latest after this time.
    pub(crate) timeout: Option<Span>,
}

impl<'de> Deserialize<'de> for DelayedAckSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SwitchOrTable;
        impl<'de> Visitor<'de> for SwitchOrTable {
            type Value = DelayedAckSetting;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("false, or a table such as { segments = 2, timeout = \"200 ms\" }")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<DelayedAckSetting, E> {
                Ok(DelayedAckSetting::Switch(on))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DelayedAckSetting, A::Error> {
                DelayedAckFile::deserialize(MapAccessDeserializer::new(map)).map(DelayedAckSetting::Table)
            }
        }
        deserializer.deserialize_any(SwitchOrTable)
    }
}

impl JsonSchema for DelayedAckSetting {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "DelayedAck".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<DelayedAckFile>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, table] })
    }
}
