//! Queues before a link, and the schemes that manage them.

mod admission;
mod discipline;
mod external;
mod fifo;
mod options;
mod packets;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use bentpipe_units::registry::Chosen;
use bentpipe_units::{Bytes, Fault, Rate, fault, quoted};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer};

use crate::Stream;

pub(crate) use admission::{Arrival, Gate, packets_in};
pub use discipline::{Drops, Label, Queue, ServerView, Verdict, Waiting};
pub use external::QueueFactory;
pub(crate) use fifo::Fifo;
pub use packets::Packets;

/// A scheme that manages a queue, as its options say it.
trait Scheme {
    /// The most packets that wait.
    fn limit(&self) -> Packets;

    /// The most that waits, in packets and bytes before a link of this rate, without being dropped or marked by the scheme.
    fn calm(&self, _rate: Rate) -> (u32, u64) {
        (self.limit().0, u64::MAX)
    }

    /// Whether the values go together; those that do not, otherwise.
    fn validate(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Whether it draws random numbers on which a result may depend.
    fn draws(&self) -> bool {
        false
    }

    /// The queue before a link of this rate. `stream` is for its random numbers alone.
    fn discipline(&self, rate: Rate, stream: Stream) -> Discipline;
}

/// When a scheme decides.
pub(crate) enum Discipline {
    /// When a packet arrives; the packets leave in the order in which they came.
    OnArrival(Option<Box<Gate>>),
    /// When a packet leaves, too.
    OnLeaving(Box<dyn Queue>),
}

bentpipe_units::spec! {
    /// How a queue is managed actively; `scheme` chooses.
    pub enum ActiveSpec: dyn Scheme;
    dyn QueueFactory "queue.scheme", "a queue", TABLE;
    /// Random early detection.
    Red(RedOptions) in red,
    /// Random exponential marking.
    Rem(RemOptions) in rem,
    /// Controlled delay.
    Codel(CodelOptions) in codel,
    /// Fair queueing with controlled delay.
    FqCodel(FqCodelOptions) in fq_codel,
    /// Deficit round robin.
    Drr(DrrOptions) in drr,
    /// Strict priority.
    Priority(PriorityOptions) in priority,
}

impl ActiveSpec {
    /// The most packets that wait.
    pub fn limit(&self) -> Packets {
        self.options().limit()
    }

    pub(crate) fn discipline(&self, rate: Rate, stream: Stream) -> Discipline {
        self.options().discipline(rate, stream)
    }
}

/// One from outside.
impl Scheme for Chosen<dyn QueueFactory> {
    fn limit(&self) -> Packets {
        self.factory().limit()
    }

    fn draws(&self) -> bool {
        true
    }

    fn discipline(&self, rate: Rate, stream: Stream) -> Discipline {
        Discipline::OnLeaving(self.factory().make(rate, stream))
    }
}

/// A drop-tail queue, written `"25 packets"`, `"64 KiB"` or `"unlimited"`, or a queue that is managed actively, written as
/// a table whose `scheme` chooses.
///
/// Only waiting packets count, not the one that is being sent: with `"0 packets"` a packet that finds the link busy
/// is dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum QueueSpec {
    /// Everything may wait.
    #[default]
    Unlimited,
    /// At most so many packets wait.
    Packets(u32),
    /// At most so many bytes wait.
    Bytes(u64),
    /// Packets are dropped or marked before the queue is full.
    Active(ActiveSpec),
}

const EXPECTED: &str = "a queue such as \"100 packets\", \"64 KiB\" or \"unlimited\"";
const TABLE: &str = "{ scheme = \"red\", limit = \"50 packets\", min = \"5 packets\", max = \"15 packets\" }";

impl QueueSpec {
    /// Names of the field for a queue that has no scheme.
    pub const ALSO: &'static [&'static str] = &["drop-tail", "droptail", "fifo", "tail-drop"];

    /// The most that may wait, in packets and in bytes.
    pub fn room(&self) -> (u32, u64) {
        match self {
            QueueSpec::Unlimited => (u32::MAX, u64::MAX),
            QueueSpec::Packets(packets) => (*packets, u64::MAX),
            QueueSpec::Bytes(bytes) => (u32::MAX, *bytes),
            QueueSpec::Active(spec) => (spec.limit().0, u64::MAX),
        }
    }

    /// The most that waits before a link of this rate without being dropped or marked: what the scheme of a queue steers to.
    pub fn calm(&self, rate: Rate) -> (u32, u64) {
        match self {
            QueueSpec::Active(spec) => spec.options().calm(rate),
            _ => self.room(),
        }
    }

    /// Whether every value is possible; the first that is not, otherwise.
    pub fn validate(&self) -> Result<(), Fault> {
        match self {
            QueueSpec::Active(spec) => spec.options().validate(),
            _ => Ok(()),
        }
    }

    /// Whether it draws random numbers on which a result may depend.
    pub fn draws(&self) -> bool {
        matches!(self, QueueSpec::Active(spec) if spec.options().draws())
    }
}

impl FromStr for QueueSpec {
    type Err = Fault;

    fn from_str(text: &str) -> Result<QueueSpec, Fault> {
        let wrong = || Fault::value(EXPECTED, quoted(text));
        let trimmed = text.trim();
        if trimmed == "unlimited" {
            return Ok(QueueSpec::Unlimited);
        }
        match packets::number(trimmed) {
            None => Bytes::read(trimmed, EXPECTED).map(|bytes| QueueSpec::Bytes(bytes.get())),
            Some(Err(packets::NotANumber)) => Err(wrong()),
            Some(Ok(number)) => number.parse().map(QueueSpec::Packets).map_err(|_| {
                let most = u32::MAX;
                fault!("a queue of at most {most} packets, or \"unlimited\"", "{text:?}")
            }),
        }
    }
}

impl fmt::Display for QueueSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueSpec::Unlimited => f.write_str("unlimited"),
            QueueSpec::Packets(n) => Packets(*n).fmt(f),
            QueueSpec::Bytes(n) => Bytes::new(*n).fmt(f),
            QueueSpec::Active(spec) => write!(f, "{}, {}", spec.name(), spec.limit()),
        }
    }
}

impl<'de> Deserialize<'de> for QueueSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<QueueSpec, D::Error> {
        struct TextOrTable;
        impl<'de> serde::de::Visitor<'de> for TextOrTable {
            type Value = QueueSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{EXPECTED}, or a table such as {TABLE}")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<QueueSpec, E> {
                text.parse().map_err(Fault::into_serde)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<QueueSpec, A::Error> {
                <ActiveSpec as Deserialize>::deserialize(MapAccessDeserializer::new(map))
                    .map(QueueSpec::Active)
            }
        }
        deserializer.deserialize_any(TextOrTable)
    }
}

impl schemars::JsonSchema for QueueSpec {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let table = generator.subschema_for::<ActiveSpec>();
        schemars::json_schema!({
            "oneOf": [
                {
                    "type": "string",
                    "description": EXPECTED,
                    "pattern": "^(unlimited|[0-9_]+ *packets?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$"
                },
                table
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use bentpipe_units::registry::Kind;

    use super::*;

    #[test]
    fn written_forms_are_read_and_printed() {
        for (text, spec, printed) in [
            ("unlimited", QueueSpec::Unlimited, "unlimited"),
            ("25 packets", QueueSpec::Packets(25), "25 packets"),
            ("1_000packets", QueueSpec::Packets(1000), "1000 packets"),
            ("1 packet", QueueSpec::Packets(1), "1 packet"),
            ("0 packets", QueueSpec::Packets(0), "0 packets"),
            ("64 KiB", QueueSpec::Bytes(65_536), "65536 B"),
            ("50 kB", QueueSpec::Bytes(50_000), "50 kB"),
        ] {
            assert_eq!(text.parse().as_ref(), Ok(&spec));
            assert_eq!(spec.to_string(), printed);
            assert_eq!(printed.parse(), Ok(spec));
        }
    }

    #[test]
    fn what_is_not_a_queue_says_what_was_expected() {
        for text in
            ["", "packets", "-1 packets", "+3 packets", "1.5 packets", "12", "12 parcels", "-1 B", "1 s"]
        {
            let error = text.parse::<QueueSpec>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("expected {EXPECTED}")), "{error}");
            assert!(error.ends_with(&format!(", found {text:?}")), "{error}");
        }
        let error = "5000000000 packets".parse::<QueueSpec>().unwrap_err().to_string();
        assert!(error.starts_with("expected a queue of at most 4294967295 packets"), "{error}");
    }

    #[test]
    fn serde_takes_text_or_a_table() {
        assert_eq!(serde_json::from_str::<QueueSpec>("\"9 packets\"").unwrap(), QueueSpec::Packets(9));
        let error = serde_json::from_str::<QueueSpec>("9").unwrap_err().to_string();
        assert!(error.contains(EXPECTED), "{error}");
        for json in [
            r#"{"scheme":"red","limit":"50 packets","min":"5 packets","max":"15 packets"}"#,
            r#"{"scheme":"rem","limit":"50 packets","phi":1.01,"interval":"10 ms","ecn":true}"#,
            r#"{"scheme":"codel","limit":"50 packets","target":"10 ms"}"#,
            r#"{"scheme":"fq-codel","limit":"50 packets","queues":16,"quantum":"300 B","ecn":false}"#,
            r#"{"scheme":"drr","limit":"50 packets","quantum":"500 B","queues":16,"drop":"oldest"}"#,
            r#"{"scheme":"drr","limit":"50 packets","alpha":2.0}"#,
            r#"{"scheme":"priority","limit":"50 packets"}"#,
        ] {
            let spec: QueueSpec = serde_json::from_str(json).unwrap();
            assert_eq!((spec.room(), spec.validate()), ((50, u64::MAX), Ok(())));
        }
    }

    #[test]
    fn a_scheme_has_the_name_that_serde_has_for_it() {
        for scheme in <dyn QueueFactory>::ours().schemes() {
            let name = scheme.name();
            let minimal = format!(
                r#"{{"scheme":"{name}","limit":"50 packets"{}}}"#,
                if name == "red" { r#","min":"5 packets","max":"15 packets""# } else { "" }
            );
            let spec: ActiveSpec = serde_json::from_str(&minimal).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((spec.name(), spec.limit()), (name, Packets(50)));
            assert!(!scheme.summary().is_empty());
        }
    }

    #[test]
    fn impossible_options_are_refused() {
        for (json, part) in [
            (
                r#"{"scheme":"codel","limit":"9 packets","target":"0 s"}"#,
                "expected a time above zero, found 0 s",
            ),
            (
                r#"{"scheme":"codel","limit":"9 packets","target":"100 ms"}"#,
                "interval: expected more than target (100 ms), found 100 ms",
            ),
            (r#"{"scheme":"fq-codel","queues":0}"#, "expected a whole number from 1 to 65536"),
            (r#"{"scheme":"fq-codel","quantum":"0 B"}"#, "expected a size from 1 B to 1048576 B, found 0 B"),
            (
                r#"{"scheme":"drr","limit":"9 packets","alpha":0}"#,
                "expected a number above 0, at most 1000000, found 0",
            ),
            (
                r#"{"scheme":"drr","limit":"9 packets","alpha":1,"drop":"oldest"}"#,
                "drop: cannot be combined with alpha",
            ),
        ] {
            let read = serde_json::from_str::<QueueSpec>(json).map_err(|error| error.to_string());
            let error = read.and_then(|spec| spec.validate().map_err(|fault| fault.to_string())).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }
}
