//! How single values are written, where a unit or a plain number does not say it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use bentpipe_path::gateway::GatewaySpec;
use bentpipe_path::{ArqSpec, FecSpec, LossSpec};
use bentpipe_tcp::{GrowthGate, IdleRestart, Kernel, Profile};
use bentpipe_units::bounded::{Whole, size};
use bentpipe_units::{Bytes, Span, Written, written_as_text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{
    Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor, value::MapAccessDeserializer,
};

use super::error::{expected_one_of, quoted};
use super::link_trace::{Between, Format};
use super::model::{InFlight, Routing};

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

/// How lost frames are sent again.
pub(crate) fn arq<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ArqSpec>, D::Error> {
    let table = Table { example: "{ attempts = 3 }", of: PhantomData };
    deserializer.deserialize_map(table).map(Some)
}

/// Parity that is sent with packets.
pub(crate) fn fec<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FecSpec>, D::Error> {
    let table = Table { example: "{ model = \"packets\", data = 20, parity = 4 }", of: PhantomData };
    deserializer.deserialize_map(table).map(Some)
}

/// A rate or a delay of a link, of which it has one from the start of a run to its end.
pub(crate) fn steady<'de, D: Deserializer<'de>, V: Written, T: From<V>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct Text<V>(PhantomData<V>);
    impl<V: Written> Text<V> {
        fn changing<E: Error>(found: &str) -> E {
            E::custom(format!(
                "expected {}, found {found}; what changes during a run stands in schedule, as schedule = [{{ at = \"30 s\", ... }}]",
                V::EXPECTED
            ))
        }
    }
    impl<'de, V: Written> Visitor<'de> for Text<V> {
        type Value = V;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(V::EXPECTED)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<V, E> {
            text.parse().map_err(E::custom)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<V, A::Error> {
            Err(Self::changing("an array"))
        }
        fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<V, A::Error> {
            Err(Self::changing("a table"))
        }
    }
    deserializer.deserialize_any(Text::<V>(PhantomData)).map(T::from)
}

/// A gateway, or `"none"`, which takes away that of a layer below.
pub(crate) fn gateway<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<GatewaySpec>, D::Error> {
    struct TableOrNone(Table<GatewaySpec>);
    impl<'de> Visitor<'de> for TableOrNone {
        type Value = Option<GatewaySpec>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.expecting(f)?;
            f.write_str(", or \"none\"")
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            match text {
                "none" => Ok(None),
                _ => Err(E::invalid_type(Unexpected::Str(text), &self)),
            }
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            self.0.visit_map(map).map(Some)
        }
    }
    let table = Table { example: "{ scheme = \"xfwa\", isl_delay = \"20 ms\" }", of: PhantomData };
    deserializer.deserialize_any(TableOrNone(table))
}

/// A gateway in the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "read by the schema alone")]
pub(crate) enum GatewayWritten {
    /// Which one.
    Of(GatewaySpec),
    /// None.
    None(NoGateway),
}

/// No gateway, where a layer below has one.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(dead_code, reason = "as above")]
pub(crate) enum NoGateway {
    /// None.
    None,
}

/// A kind of value that is chosen by name.
pub(crate) trait Names: Copy + fmt::Debug + 'static {
    /// In an error: `expected WHAT (a, b, c)`.
    const WHAT: &'static str;
    /// Every name, in the order of a list for people.
    fn all() -> Vec<(&'static str, Self)>;
}

/// One of the names of `T`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<T: Names>(pub(crate) T);

fn names<T: Names>() -> Vec<&'static str> {
    T::all().iter().map(|(name, _)| *name).collect()
}

impl<'de, T: Names> Deserialize<'de> for Choice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name<T>(PhantomData<T>);
        impl<T: Names> Visitor<'_> for Name<T> {
            type Value = Choice<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} ({})", T::WHAT, names::<T>().join(", "))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Choice<T>, E> {
                let found = T::all().into_iter().find(|(name, _)| *name == text);
                let wrong = || E::custom(expected_one_of(T::WHAT, text, &names::<T>()));
                found.map(|(_, value)| Choice(value)).ok_or_else(wrong)
            }
        }
        deserializer.deserialize_str(Name::<T>(PhantomData))
    }
}

/// One of the names of `T`, of which a field holds what it stands for.
pub(crate) fn chosen<'de, D: Deserializer<'de>, T: Names>(deserializer: D) -> Result<T, D::Error> {
    Choice::deserialize(deserializer).map(|choice| choice.0)
}

impl<T: Names> JsonSchema for Choice<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::WHAT.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": names::<T>() })
    }
}

/// What opens the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrowthName {
    PerAck,
    Bytes,
    Delivered,
}

macro_rules! named {
    ($($type:ty: $what:literal, $all:expr;)*) => {
        $(impl Names for $type {
            const WHAT: &'static str = $what;
            fn all() -> Vec<(&'static str, Self)> {
                $all.into_iter().collect()
            }
        })*
    };
}

named! {
    Kernel: "a kernel", Kernel::ALL.map(|kernel| (kernel.name(), kernel));
    Profile: "a profile", Profile::ALL.map(|profile| (profile.name(), profile));
    GrowthName: "what opens the window", [("per-ack", GrowthName::PerAck), ("bytes", GrowthName::Bytes),
        ("delivered", GrowthName::Delivered)];
    IdleRestart: "false, true, or what a pause leaves of the window", [("rfc5681", IdleRestart::Rfc5681),
        ("rfc7661", IdleRestart::Rfc7661), ("linux", IdleRestart::Linux)];
    GrowthGate: "false, true, or when the window opens", [("full", GrowthGate::Full), ("rfc7661", GrowthGate::Rfc7661),
        ("linux", GrowthGate::Linux)];
    Routing: "a routing", [("static", Routing::Static), ("dynamic", Routing::Dynamic)];
    Format: "a format of traces", [("csv", Format::Csv), ("mahimahi", Format::Mahimahi)];
    Between: "what holds between two rows", [("steps", Between::Steps), ("lines", Between::Lines)];
    InFlight: "what becomes of packets under way", [("deliver", InFlight::Deliver), ("lose", InFlight::Lose)];
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

/// An initial window: a number of bytes or segments, or a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InitialWindow {
    /// RFC 5681 section 3.1: 2 segments above 2190 B, 4 up to 1095 B, else 3.
    Rfc5681,
    /// RFC 6928 section 2: "min (10*MSS, max (2*MSS, 14600))".
    Rfc6928,
    Window(Segments),
}

const INITIAL_WINDOW: &str = "a window such as \"64 KiB\" or \"10 segments\", \"rfc5681\" or \"rfc6928\"";

impl FromStr for InitialWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<InitialWindow, String> {
        match text.trim() {
            "rfc5681" => Ok(InitialWindow::Rfc5681),
            "rfc6928" => Ok(InitialWindow::Rfc6928),
            window => Segments::read(window, INITIAL_WINDOW).map(InitialWindow::Window),
        }
    }
}

impl InitialWindow {
    /// In whole segments of `mss` bytes.
    pub(crate) fn segments(self, mss: u32) -> u64 {
        match self {
            InitialWindow::Rfc5681 => match mss {
                0..=1095 => 4,
                1096..=2190 => 3,
                _ => 2,
            },
            InitialWindow::Rfc6928 => (14_600 / u64::from(mss)).clamp(2, 10),
            InitialWindow::Window(written) => written.segments(mss),
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

written_as_text!(Segments, "Segments", SEGMENTS, "^([0-9_]+ *segments?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$");
written_as_text!(
    InitialWindow,
    "InitialWindow",
    INITIAL_WINDOW,
    "^(rfc5681|rfc6928|[0-9_]+ *segments?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$"
);
written_as_text!(
    Ssthresh,
    "Ssthresh",
    SSTHRESH,
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
    /// The shortest such time, where it follows the time from segment to segment; without it, `timeout` is the time.
    pub(crate) shortest: Option<Span>,
    /// So many ACKs at once at the start and after a hole, no more than half the window has segments; default none.
    pub(crate) quick: Option<Whole<0, 1000>>,
}

/// A receive buffer that grows with what the application reads (Linux's tcp_rmem).
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReceiveBufferFile {
    /// Whose growth it has, and whose sizes where none are written; default 6.18.
    pub(crate) kernel: Option<Choice<Kernel>>,
    /// At first.
    #[serde(deserialize_with = "size::<_, _, 4096, 0x4000_0000>")]
    #[schemars(with = "Bytes")]
    pub(crate) initial: Option<u64>,
    /// At most.
    #[serde(deserialize_with = "size::<_, _, 4096, 0x4000_0000>")]
    #[schemars(with = "Bytes")]
    pub(crate) max: Option<u64>,
}

/// Off, on as the profile has it, or one of several rules.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule<T> {
    Switch(bool),
    Named(T),
}

impl<T> Rule<T> {
    /// The rule that is meant, where `profile` has that of the profile.
    pub(crate) fn over(self, profile: T, off: T, usual: T) -> T
    where
        T: PartialEq,
    {
        match self {
            Rule::Switch(false) => off,
            Rule::Switch(true) if profile == off => usual,
            Rule::Switch(true) => profile,
            Rule::Named(rule) => rule,
        }
    }
}

impl<'de, T: Names> Deserialize<'de> for Rule<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SwitchOrName<T>(PhantomData<T>);
        impl<T: Names> Visitor<'_> for SwitchOrName<T> {
            type Value = Rule<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} ({})", T::WHAT, names::<T>().join(", "))
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Rule<T>, E> {
                Ok(Rule::Switch(on))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Rule<T>, E> {
                let named = T::all().into_iter().find(|(name, _)| *name == text);
                let wrong = || E::custom(expected_one_of(T::WHAT, text, &names::<T>()));
                named.map(|(_, rule)| Rule::Named(rule)).ok_or_else(wrong)
            }
        }
        deserializer.deserialize_any(SwitchOrName(PhantomData))
    }
}

impl<T: Names> JsonSchema for Rule<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::WHAT.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "enum": names::<T>() }] })
    }
}

/// What is off, on as somebody else has it, or a table of its own.
#[derive(Clone, Debug)]
pub(crate) enum Setting<T> {
    Switch(bool),
    Table(T),
}

/// A table that a switch may stand for.
pub(crate) trait Switched: Sized + 'static {
    /// Its name in the schema.
    const NAME: &'static str;
    /// What it looks like.
    const EXAMPLE: &'static str;
}

impl Switched for DelayedAckFile {
    const NAME: &'static str = "DelayedAck";
    const EXAMPLE: &'static str = "{ segments = 2, timeout = \"200 ms\" }";
}

impl Switched for ReceiveBufferFile {
    const NAME: &'static str = "ReceiveBuffer";
    const EXAMPLE: &'static str = "{ initial = \"128 KiB\", max = \"32 MiB\" }";
}

impl<'de, T: Deserialize<'de> + Switched> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SwitchOrTable<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Switched> Visitor<'de> for SwitchOrTable<T> {
            type Value = Setting<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "false, or a table such as {}", T::EXAMPLE)
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Setting<T>, E> {
                Ok(Setting::Switch(on))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Setting<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Setting::Table)
            }
        }
        deserializer.deserialize_any(SwitchOrTable(PhantomData))
    }
}

impl<T: Switched + JsonSchema> JsonSchema for Setting<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, table] })
    }
}
