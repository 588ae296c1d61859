//! How much may wait before a link.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use bentpipe_units::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The room of a drop-tail queue, written `"25 packets"`, `"64 KiB"` or `"unlimited"`.
///
/// Only waiting packets count, not the one that is being sent: with `"0 packets"` a packet that finds the link busy
/// is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueSpec {
    /// Everything may wait.
    #[default]
    Unlimited,
    /// At most so many packets wait.
    Packets(u32),
    /// At most so many bytes wait.
    Bytes(u64),
}

const EXPECTED: &str = "a queue such as \"100 packets\", \"64 KiB\" or \"unlimited\"";

impl FromStr for QueueSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<QueueSpec, String> {
        let wrong = || format!("expected {EXPECTED}, found {text:?}");
        let trimmed = text.trim();
        if trimmed == "unlimited" {
            return Ok(QueueSpec::Unlimited);
        }
        let number = trimmed.strip_suffix("packets").or_else(|| trimmed.strip_suffix("packet"));
        let Some(number) = number.map(str::trim_end) else {
            return trimmed.parse::<Bytes>().map(|bytes| QueueSpec::Bytes(bytes.get())).map_err(|_| wrong());
        };
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
            return Err(wrong());
        }
        let number = number.replace('_', "");
        number.parse().map(QueueSpec::Packets).map_err(|_| {
            format!("expected a queue of at most {} packets, or \"unlimited\", found {text:?}", u32::MAX)
        })
    }
}

impl fmt::Display for QueueSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueSpec::Unlimited => f.write_str("unlimited"),
            QueueSpec::Packets(1) => f.write_str("1 packet"),
            QueueSpec::Packets(n) => write!(f, "{n} packets"),
            QueueSpec::Bytes(n) => Bytes::new(*n).fmt(f),
        }
    }
}

impl Serialize for QueueSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for QueueSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<QueueSpec, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = QueueSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<QueueSpec, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl schemars::JsonSchema for QueueSpec {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": EXPECTED,
            "pattern": "^(unlimited|[0-9_]+ *packets?|[0-9.eE+_-]+ *([kMG]|[KMG]i)?B)$"
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
            assert_eq!(error, format!("expected {EXPECTED}, found {text:?}"));
        }
        let error = "5000000000 packets".parse::<QueueSpec>().unwrap_err();
        assert!(error.starts_with("expected a queue of at most 4294967295 packets"), "{error}");
    }

    #[test]
    fn serde_takes_text_only() {
        assert_eq!(serde_json::from_str::<QueueSpec>("\"9 packets\"").unwrap(), QueueSpec::Packets(9));
        let error = serde_json::from_str::<QueueSpec>("9").unwrap_err().to_string();
        assert!(error.contains(EXPECTED), "{error}");
    }
}
