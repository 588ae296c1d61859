//! How single values are written, where a unit or a plain number does not say it.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use bentpipe_path::gateway::{GatewayFactory, GatewaySpec};
use bentpipe_tcp::{GrowthGate, IdleRestart, Kernel, Spacing};
use bentpipe_units::bounded::{Size, Whole};
use bentpipe_units::registry::Kind;
use bentpipe_units::{Bytes, Fault, Span, quoted, written_as_text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serializer;
use serde::de::{
    Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, Unexpected, Visitor,
    value::MapAccessDeserializer,
};

/// A gateway, or `"none"`, which takes away that of a layer below.
pub(crate) struct GatewayOrNone;

impl GatewayOrNone {
    /// No default has a gateway.
    pub(crate) fn serialize<S: Serializer>(
        _: &Option<GatewaySpec>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_none()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<GatewaySpec>, D::Error> {
        struct TableOrNone;
        impl<'de> Visitor<'de> for TableOrNone {
            type Value = Option<GatewaySpec>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a table such as {}, or \"none\"", <dyn GatewayFactory>::EXAMPLE)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    "none" => Ok(None),
                    _ => Err(E::invalid_type(Unexpected::Str(text), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                <GatewaySpec as Deserialize>::deserialize(MapAccessDeserializer::new(map)).map(Some)
            }
        }
        deserializer.deserialize_any(TableOrNone)
    }
}

impl JsonSchema for GatewayOrNone {
    fn schema_name() -> Cow<'static, str> {
        "GatewayWritten".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<GatewaySpec>();
        json_schema!({
            "description": "A gateway in the schema.",
            "anyOf": [table, { "type": "string", "enum": ["none"] }]
        })
    }
}

/// A table, or the name of a file alone.
pub(crate) fn table_or_file<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<T>();
    json_schema!({ "anyOf": [{ "type": "string" }, table] })
}

/// What opens the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GrowthName {
    /// Each ACK alike (RFC 2581).
    PerAck,
    /// The bytes that an ACK acknowledges (RFC 3465).
    Bytes,
    /// Segments that an ACK reports for the first time, in order or by SACK: without a limit up to ssthresh, then a whole segment for every
    /// cwnd of them. Reductions leave whole segments (Linux).
    Delivered,
}

/// A window as it is written: in bytes, in segments, or by one of the words `W`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window<W> {
    Bytes(u64),
    Segments(u64),
    Word(W),
}

/// The words that a window may be written by.
pub(crate) trait Words: Copy + 'static {
    /// What may stand there.
    const EXPECTED: &'static str;
    const ALL: &'static [(&'static str, Self)];
}

/// A window in bytes or in segments.
pub(crate) type Segments = Window<Infallible>;

/// An initial window, or a rule for it.
pub(crate) type InitialWindow = Window<InitialRule>;

/// A slow-start threshold or a buffer: a window, or none.
pub(crate) type Ssthresh = Window<Unlimited>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InitialRule {
    /// RFC 5681 section 3.1: 2 segments above 2190 B, 4 up to 1095 B, else 3.
    Rfc5681,
    /// RFC 6928 section 2: "min (10*MSS, max (2*MSS, 14600))".
    Rfc6928,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unlimited;

impl Words for Infallible {
    const EXPECTED: &'static str = "a window such as \"64 KiB\" or \"96 segments\"";
    const ALL: &'static [(&'static str, Infallible)] = &[];
}

impl Words for InitialRule {
    const EXPECTED: &'static str =
        "a window such as \"64 KiB\" or \"10 segments\", \"rfc5681\" or \"rfc6928\"";
    const ALL: &'static [(&'static str, InitialRule)] =
        &[("rfc5681", InitialRule::Rfc5681), ("rfc6928", InitialRule::Rfc6928)];
}

impl Words for Unlimited {
    const EXPECTED: &'static str = "a window such as \"64 KiB\" or \"96 segments\", or \"unlimited\"";
    const ALL: &'static [(&'static str, Unlimited)] = &[("unlimited", Unlimited)];
}

impl<W: Words> FromStr for Window<W> {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Window<W>, Fault> {
        let wrong = || Fault::value(W::EXPECTED, quoted(text));
        let trimmed = text.trim();
        if let Some((_, word)) = W::ALL.iter().find(|(word, _)| *word == trimmed) {
            return Ok(Window::Word(*word));
        }
        let number = trimmed.strip_suffix("segments").or_else(|| trimmed.strip_suffix("segment"));
        let Some(number) = number.map(str::trim_end) else {
            return Bytes::read(trimmed, W::EXPECTED).map(|bytes| Window::Bytes(bytes.get()));
        };
        let number = Some(number).filter(|number| number.starts_with(|c: char| c.is_ascii_digit()));
        let number = number.and_then(|number| number.replace('_', "").parse().ok());
        number.map(Window::Segments).ok_or_else(wrong)
    }
}

impl<W> Window<W> {
    /// In bytes, with segments of `mss` bytes, or the word.
    pub(crate) fn bytes(self, mss: u32) -> Result<u64, W> {
        match self {
            Window::Segments(n) => Ok(n.saturating_mul(u64::from(mss))),
            Window::Bytes(n) => Ok(n),
            Window::Word(word) => Err(word),
        }
    }
}

impl InitialRule {
    /// In whole segments of `mss` bytes.
    pub(crate) fn segments(self, mss: u32) -> u32 {
        match (self, mss) {
            (InitialRule::Rfc5681, 0..=1095) => 4,
            (InitialRule::Rfc5681, 1096..=2190) => 3,
            (InitialRule::Rfc5681, _) => 2,
            (InitialRule::Rfc6928, _) => (14_600 / mss).clamp(2, 10),
        }
    }
}

written_as_text!(
    Segments,
    "Segments",
    Infallible::EXPECTED,
    "^([0-9_]+ *segments?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$"
);
written_as_text!(
    InitialWindow,
    "InitialWindow",
    InitialRule::EXPECTED,
    "^(rfc5681|rfc6928|[0-9_]+ *segments?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$"
);
written_as_text!(
    Ssthresh,
    "Ssthresh",
    Unlimited::EXPECTED,
    "^(unlimited|[0-9_]+ *segments?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$"
);

/// When the receiver acknowledges in-order data (RFC 1122 4.2.3.2).
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DelayedAckFile {
    /// An ACK at the latest for so many full-sized segments.
    pub(crate) segments: Option<Whole<1, 1000>>,
    /// An ACK at the latest after this time.
    pub(crate) timeout: Option<Span>,
    /// The shortest such time: below `timeout` it follows the time between segments, and doubles when an ACK has waited to its end (Linux's
    /// `ato`); default `timeout`.
    pub(crate) shortest: Option<Span>,
    /// Most quick ACKs, at most half the window in segments: at the start, after a segment that came twice, and after a pause longer than the
    /// RTO; one for each segment that opens a growing buffer; without profile `linux` also after a hole.
    pub(crate) quick: Option<Whole<0, 1000>>,
}

/// A receive buffer that grows with what the application reads (Linux's tcp_rmem).
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReceiveBufferFile {
    /// Whose growth it has, and whose sizes where none are written; default 6.18.
    pub(crate) kernel: Option<Kernel>,
    /// At first.
    #[serde(with = "Size::<4096, 0x4000_0000>")]
    pub(crate) initial: Option<u64>,
    /// At most.
    #[serde(with = "Size::<4096, 0x4000_0000>")]
    pub(crate) max: Option<u64>,
    /// What a segment of 1448 bytes takes of it, as the network device has it: most 2304 B, a virtual kernel's 2176 B.
    #[serde(with = "Size::<1500, 65_536>")]
    pub(crate) segment: Option<u64>,
}

/// A kind of value that a switch may stand for.
pub(crate) trait Switched: JsonSchema {
    /// What may stand there.
    const EXPECTED: &'static str;
    /// Whether it is a table, or else a name.
    const TABLE: bool = false;
}

impl Switched for IdleRestart {
    const EXPECTED: &'static str =
        "false, true, or what a pause leaves of the window (rfc5681, rfc7661, linux)";
}

impl Switched for GrowthGate {
    const EXPECTED: &'static str = "false, true, or when the window opens (full, rfc7661, linux)";
}

impl Switched for Spacing {
    const EXPECTED: &'static str = "false, true, or how segments are spread (even, linux)";
}

impl Switched for DelayedAckFile {
    const EXPECTED: &'static str = "false, or a table such as { segments = 2, timeout = \"200 ms\" }";
    const TABLE: bool = true;
}

impl Switched for ReceiveBufferFile {
    const EXPECTED: &'static str = "false, or a table such as { initial = \"128 KiB\", max = \"32 MiB\" }";
    const TABLE: bool = true;
}

/// A switch, on as the profile has it or off; or a rule by its name; or a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setting<T> {
    Switch(bool),
    Written(T),
}

impl<T: PartialEq> Setting<T> {
    /// The rule that is meant, where `profile` has that of the profile.
    pub(crate) fn over(self, profile: T, off: T, usual: T) -> T {
        match self {
            Setting::Switch(false) => off,
            Setting::Switch(true) if profile == off => usual,
            Setting::Switch(true) => profile,
            Setting::Written(rule) => rule,
        }
    }
}

impl<'de, T: Deserialize<'de> + Switched> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SwitchOr<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Switched> Visitor<'de> for SwitchOr<T> {
            type Value = Setting<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Setting<T>, E> {
                Ok(Setting::Switch(on))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Setting<T>, E> {
                match T::TABLE {
                    true => Err(E::invalid_type(Unexpected::Str(text), &self)),
                    false => T::deserialize(text.into_deserializer()).map(Setting::Written),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Setting<T>, A::Error> {
                match T::TABLE {
                    true => T::deserialize(MapAccessDeserializer::new(map)).map(Setting::Written),
                    false => Err(A::Error::invalid_type(Unexpected::Map, &self)),
                }
            }
        }
        deserializer.deserialize_any(SwitchOr(PhantomData))
    }
}

impl<T: Switched> JsonSchema for Setting<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let other = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, other] })
    }
}
