//! What waits before a link, how much of it, and what becomes of the rest.

mod active;
mod options;
mod packets;
mod red;
mod rem;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use bentpipe_units::Bytes;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::InvalidValue;

pub(crate) use active::{ActiveQueue, Arrival, Verdict};
pub use options::{ActiveSpec, RedOptions, RemOptions};
pub use packets::Packets;

/// A drop-tail queue, written `"25 packets"`, `"64 KiB"` or `"unlimited"`, or a queue that is managed actively, written as
/// a table whose `scheme` chooses.
///
/// Only waiting packets count, not the one that is being sent: with `"0 packets"` a packet that finds the link busy
/// is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// The most that may wait, in packets and in bytes.
    pub fn room(&self) -> (u32, u64) {
        match self {
            QueueSpec::Unlimited => (u32::MAX, u64::MAX),
            QueueSpec::Packets(packets) => (*packets, u64::MAX),
            QueueSpec::Bytes(bytes) => (u32::MAX, *bytes),
            QueueSpec::Active(spec) => (spec.limit().0, u64::MAX),
        }
    }

    /// Whether every value is possible; the first that is not, otherwise.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        match self {
            QueueSpec::Active(spec) => spec.validate(),
            _ => Ok(()),
        }
    }
}

impl FromStr for QueueSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<QueueSpec, String> {
        let wrong = || format!("expected {EXPECTED}, found {text:?}");
        let trimmed = text.trim();
        if trimmed == "unlimited" {
            return Ok(QueueSpec::Unlimited);
        }
        match packets::number(trimmed) {
            None => Bytes::read(trimmed, EXPECTED).map(|bytes| QueueSpec::Bytes(bytes.get())),
            Some(Err(packets::NotANumber)) => Err(wrong()),
            Some(Ok(number)) => number.parse().map(QueueSpec::Packets).map_err(|_| {
                format!("expected a queue of at most {} packets, or \"unlimited\", found {text:?}", u32::MAX)
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
            QueueSpec::Active(spec) => write!(f, "{}, {}", spec.scheme(), spec.limit()),
        }
    }
}

impl Serialize for QueueSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            QueueSpec::Active(spec) => spec.serialize(serializer),
            _ => serializer.collect_str(self),
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
                text.parse().map_err(E::custom)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<QueueSpec, A::Error> {
                ActiveSpec::deserialize(MapAccessDeserializer::new(map)).map(QueueSpec::Active)
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
            assert_eq!(text.parse(), Ok(spec));
            assert_eq!(spec.to_string(), printed);
            assert_eq!(printed.parse(), Ok(spec));
        }
    }

    #[test]
    fn what_is_not_a_queue_says_what_was_expected() {
        for text in
            ["", "packets", "-1 packets", "+3 packets", "1.5 packets", "12", "12 parcels", "-1 B", "1 s"]
        {
            let error = text.parse::<QueueSpec>().unwrap_err();
            assert!(error.starts_with(&format!("expected {EXPECTED}")), "{error}");
            assert!(error.ends_with(&format!(", found {text:?}")), "{error}");
        }
        let error = "5000000000 packets".parse::<QueueSpec>().unwrap_err();
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
        ] {
            let spec: QueueSpec = serde_json::from_str(json).unwrap();
            assert_eq!(spec.room(), (50, u64::MAX));
            let written = serde_json::to_string(&spec).unwrap();
            assert_eq!(serde_json::from_str::<QueueSpec>(&written).unwrap(), spec, "{written}");
        }
    }
}
