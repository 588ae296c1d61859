use bentpipe_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::InvalidValue;
use crate::loss::bits::packet_error_rate;

/// Which packets a link damages; `model` chooses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// Nothing is lost.
    #[default]
    #[serde(deserialize_with = "no_keys")]
    None,
    /// Each packet is lost by itself with the same probability.
    Packet {
        /// Share of packets that are lost, 0 to 1.
        #[schemars(range(min = 0, max = 1))]
        probability: f64,
    },
    /// Independent bit errors: a packet is lost when more of its bits are wrong than the code corrects.
    Ber {
        /// Share of bits that are wrong, 0 to 1.
        #[schemars(range(min = 0, max = 1))]
        ber: f64,
        /// Wrong bits a packet that the code repairs.
        #[serde(default)]
        correctable_bits: u32,
    },
    /// Exactly the packets named are lost, once each.
    Drop {
        /// Which packets, counted from 1 in the order in which the link takes them.
        #[schemars(inner(range(min = 1)))]
        packets: Vec<u64>,
        /// Packets smaller than this are neither counted nor lost.
        #[serde(default)]
        at_least: Bytes,
    },
    /// A good and a bad state, left with a probability a packet (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability that a packet in the good state is followed by one in the bad state, 0 to 1.
        #[schemars(range(min = 0, max = 1))]
        good_to_bad: f64,
        /// Probability that a packet in the bad state is followed by one in the good state, above 0, at most 1.
        #[schemars(range(min = 0, max = 1))]
        bad_to_good: f64,
        /// Share of packets lost in the bad state, 0 to 1.
        #[serde(default = "all")]
        #[schemars(range(min = 0, max = 1))]
        loss_in_bad: f64,
        /// Share of packets lost in the good state, 0 to 1.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1))]
        loss_in_good: f64,
    },
}

fn all() -> f64 {
    1.0
}

/// A unit variant of a tagged enum would let any other key pass.
fn no_keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoKeys {}
    NoKeys::deserialize(deserializer).map(|NoKeys {}| ())
}

pub(crate) fn probability(key: &'static str, value: f64) -> Result<(), InvalidValue> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(InvalidValue { key, message: format!("expected a probability from 0 to 1, found {value}") })
}

impl LossSpec {
    /// Every name that `model` takes.
    pub const MODELS: [&'static str; 5] = ["none", "packet", "ber", "drop", "gilbert-elliott"];

    /// Whether every value is possible; the first that is not, otherwise.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        match self {
            LossSpec::None => Ok(()),
            LossSpec::Packet { probability: p } => probability("probability", *p),
            LossSpec::Ber { ber, .. } => probability("ber", *ber),
            LossSpec::Drop { packets, .. } if packets.contains(&0) => Err(InvalidValue {
                key: "packets",
                message: "expected packet numbers from 1 on, found 0".to_owned(),
            }),
            LossSpec::Drop { .. } => Ok(()),
            LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_in_bad, loss_in_good } => {
                probability("good_to_bad", *good_to_bad)?;
                probability("bad_to_good", *bad_to_good)?;
                probability("loss_in_bad", *loss_in_bad)?;
                probability("loss_in_good", *loss_in_good)?;
                if *bad_to_good == 0.0 {
                    let message =
                        "expected a probability above 0 (the bad state must end), found 0".to_owned();
                    return Err(InvalidValue { key: "bad_to_good", message });
                }
                Ok(())
            }
        }
    }
}

impl LossSpec {
    /// Share of packets of `bytes` bytes that are lost in the long run; `None` for a drop list, which has no long run.
    ///
    /// Gilbert-Elliott: with p and r the probabilities of leaving the good and the bad state, the bad state holds for
    /// p/(p+r) of the packets (Elliott 1963).
    pub fn mean_loss(&self, bytes: u32) -> Option<f64> {
        match self {
            LossSpec::None => Some(0.0),
            LossSpec::Packet { probability } => Some(*probability),
            LossSpec::Ber { ber, correctable_bits } => {
                Some(packet_error_rate(*ber, u64::from(bytes) * 8, *correctable_bits))
            }
            LossSpec::Drop { .. } => None,
            LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_in_bad, loss_in_good } => {
                let bad = good_to_bad / (good_to_bad + bad_to_good);
                Some(bad * loss_in_bad + (1.0 - bad) * loss_in_good)
            }
        }
    }

    /// Mean length of a stay in the bad state, in packets: 1/r (Gilbert-Elliott only).
    pub fn mean_burst_packets(&self) -> Option<f64> {
        match self {
            LossSpec::GilbertElliott { bad_to_good, .. } => Some(1.0 / bad_to_good),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<LossSpec, String> {
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    #[test]
    fn every_model_reads_with_its_defaults() {
        assert_eq!(read(r#"{"model":"none"}"#), Ok(LossSpec::None));
        let packet = LossSpec::Packet { probability: 0.0 };
        assert_eq!(read(r#"{"model":"packet","probability":0}"#), Ok(packet));
        let ber = LossSpec::Ber { ber: 1e-6, correctable_bits: 0 };
        assert_eq!(read(r#"{"model":"ber","ber":1e-6}"#), Ok(ber));
        let drop = LossSpec::Drop { packets: vec![14, 26], at_least: Bytes::new(100) };
        assert_eq!(read(r#"{"model":"drop","packets":[14,26],"at_least":"100 B"}"#), Ok(drop));
        let bursts = LossSpec::GilbertElliott {
            good_to_bad: 0.01,
            bad_to_good: 0.25,
            loss_in_bad: 1.0,
            loss_in_good: 0.0,
        };
        assert_eq!(read(r#"{"model":"gilbert-elliott","good_to_bad":0.01,"bad_to_good":0.25}"#), Ok(bursts));
    }

    #[test]
    fn what_is_written_reads_back() {
        for json in [
            r#"{"model":"none"}"#,
            r#"{"model":"packet","probability":0.001}"#,
            r#"{"model":"ber","ber":1e-6,"correctable_bits":3}"#,
            r#"{"model":"drop","packets":[14,26],"at_least":"100 B"}"#,
            r#"{"model":"gilbert-elliott","good_to_bad":0.1,"bad_to_good":0.5,"loss_in_bad":1.0,"loss_in_good":0.0}"#,
        ] {
            let spec = read(json).unwrap();
            assert_eq!(read(&serde_json::to_string(&spec).unwrap()).unwrap(), spec);
            assert_eq!(spec.validate(), Ok(()));
        }
    }

    #[test]
    fn unknown_models_and_keys_are_refused() {
        for (json, part) in [
            (r#"{"model":"rain"}"#, "unknown variant `rain`, expected one of `none`, `packet`"),
            (r#"{"model":"none","probability":0.1}"#, "unknown field `probability`"),
            (
                r#"{"model":"packet","probability":0.1,"ber":0.1}"#,
                "unknown field `ber`, expected `probability`",
            ),
            (r#"{"model":"packet"}"#, "missing field `probability`"),
            (r#"{"probability":0.1}"#, "missing field `model`"),
            (r#"{"model":"drop","packets":[-1]}"#, "invalid value: integer `-1`"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }

    #[test]
    fn impossible_values_name_their_key() {
        let bursts = |good_to_bad, bad_to_good| LossSpec::GilbertElliott {
            good_to_bad,
            bad_to_good,
            loss_in_bad: 1.0,
            loss_in_good: 0.0,
        };
        for (spec, message) in [
            (
                LossSpec::Packet { probability: 1.5 },
                "probability: expected a probability from 0 to 1, found 1.5",
            ),
            (
                LossSpec::Packet { probability: f64::NAN },
                "probability: expected a probability from 0 to 1, found NaN",
            ),
            (
                LossSpec::Ber { ber: -1e-9, correctable_bits: 0 },
                "ber: expected a probability from 0 to 1, found -0.000000001",
            ),
            (
                LossSpec::Drop { packets: vec![3, 0], at_least: Bytes::default() },
                "packets: expected packet numbers from 1 on, found 0",
            ),
            (bursts(2.0, 0.5), "good_to_bad: expected a probability from 0 to 1, found 2"),
            (
                bursts(0.5, 0.0),
                "bad_to_good: expected a probability above 0 (the bad state must end), found 0",
            ),
        ] {
            assert_eq!(spec.validate().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn the_schema_knows_every_model() {
        let schema = serde_json::to_value(schemars::schema_for!(LossSpec)).unwrap();
        let variants = schema["oneOf"].as_array().unwrap();
        let named: Vec<_> =
            variants.iter().map(|v| v["properties"]["model"]["const"].as_str().unwrap()).collect();
        assert_eq!(named, LossSpec::MODELS);
        assert!(variants.iter().all(|v| v["additionalProperties"] == false), "{schema:#}");
    }
}
