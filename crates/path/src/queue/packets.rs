use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer};

/// A number of packets, written `"50 packets"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets(pub u32);

/// What stands before the word `packets` is no whole number.
pub(super) struct NotANumber;

/// The digits before the word `packets`; none when that word is not there.
pub(super) fn number(text: &str) -> Option<Result<String, NotANumber>> {
    let number = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"))?.trim_end();
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return Some(Err(NotANumber));
    }
    Some(Ok(number.replace('_', "")))
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packet{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

impl<'de> Deserialize<'de> for Packets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Packets, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Packets;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of packets such as \"50 packets\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Packets, E> {
                let digits = number(text.trim()).and_then(Result::ok);
                let packets = digits.and_then(|digits| digits.parse().ok()).map(Packets);
                packets.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl schemars::JsonSchema for Packets {
    fn schema_name() -> Cow<'static, str> {
        "Packets".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "a number of packets such as \"50 packets\"",
            "pattern": "^[0-9_]+ *packets?$"
        })
    }
}
