use bentpipe_units::bounded::{Above, Probability, Wholes};
use bentpipe_units::registry::{Chosen, FromOutside, Kind, Scheme};
use bentpipe_units::tree::Node;
use bentpipe_units::{Bytes, Variant, tagged};
use schemars::JsonSchema;
use serde::Deserialize;

use super::LossFactory;
use super::bits::packet_error_rate;

/// Which packets a link damages; `model` chooses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(tag = "model")]
pub enum LossSpec {
    /// Nothing is lost.
    #[default]
    None,
    /// Each packet is lost by itself with the same probability.
    Packet {
        /// Share of packets that are lost, 0 to 1.
        #[serde(with = "Probability")]
        probability: f64,
    },
    /// Independent bit errors: a packet is lost when more of its bits are wrong than the code corrects.
    Ber {
        /// Share of bits that are wrong, 0 to 1.
        #[serde(with = "Probability")]
        ber: f64,
        /// Wrong bits a packet that the code repairs.
        #[serde(default)]
        correctable_bits: u32,
    },
    /// Exactly the packets named are lost, once each.
    Drop {
        /// Which packets, counted from 1 in the order in which the link takes them.
        #[serde(with = "Wholes::<1, 9_223_372_036_854_775_807>")]
        packets: Vec<u64>,
        /// Packets smaller than this are neither counted nor lost.
        #[serde(default)]
        at_least: Bytes,
    },
    /// A good and a bad state, left with a probability a packet (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability that a packet in the good state is followed by one in the bad state, 0 to 1.
        #[serde(with = "Probability")]
        good_to_bad: f64,
        /// Probability that a packet in the bad state is followed by one in the good state, above 0, at most 1.
        #[serde(with = "Above::<0, 1>")]
        bad_to_good: f64,
        /// Share of packets lost in the bad state, 0 to 1.
        #[serde(default = "all", with = "Probability")]
        loss_in_bad: f64,
        /// Share of packets lost in the good state, 0 to 1.
        #[serde(default, with = "Probability")]
        loss_in_good: f64,
    },
    /// One from outside.
    #[serde(skip)]
    #[schemars(skip)]
    External(Chosen<dyn LossFactory>),
}

tagged!(dyn LossFactory, LossSpec);

impl Kind for dyn LossFactory {
    type Known = ();
    type Value = LossSpec;
    const KEY: &'static str = "loss.model";
    const WHAT: &'static str = "a loss model";
    const EXAMPLE: &'static str = "{ model = \"packet\", probability = 1e-3 }";
    bentpipe_units::ours!(dyn LossFactory;
        scheme("none", "nothing is lost"),
        scheme("packet", "each packet is lost by itself with the same probability"),
        scheme("ber", "independent bit errors"),
        scheme("drop", "exactly the packets named are lost"),
        scheme("gilbert-elliott", "a good and a bad state (Gilbert 1960, Elliott 1963)")
            .also(&["fading", "markov"]),
    );
}

fn scheme(name: &'static str, summary: &'static str) -> Scheme<dyn LossFactory> {
    let read = move |options: &Node| LossSpec::deserialize(Variant(name, options));
    Scheme::new(name, summary, ()).with_options([""; 0], || schemars::schema_for!(LossSpec), read)
}

impl FromOutside for dyn LossFactory {
    fn value(chosen: Chosen<Self>) -> LossSpec {
        LossSpec::External(chosen)
    }
}

fn all() -> f64 {
    1.0
}

impl LossSpec {
    /// Whether it draws random numbers on which a result may depend.
    pub fn draws(&self) -> bool {
        let may = |probability: f64| probability > 0.0 && probability < 1.0;
        match *self {
            LossSpec::None | LossSpec::Drop { .. } => false,
            LossSpec::Packet { probability } => may(probability),
            LossSpec::Ber { ber, .. } => may(ber),
            LossSpec::External(_) => true,
            LossSpec::GilbertElliott { good_to_bad, loss_in_bad, loss_in_good, .. } => {
                may(loss_in_good) || (good_to_bad > 0.0 && (loss_in_bad > 0.0 || loss_in_good > 0.0))
            }
        }
    }

    /// Share of packets of `bytes` bytes that are lost in the long run; `None` for a drop list, which has no long run, and for a model
    /// from outside, which does not say it.
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
            LossSpec::Drop { .. } | LossSpec::External(_) => None,
            LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_in_bad, loss_in_good } => {
                let bad = good_to_bad / (good_to_bad + bad_to_good);
                Some(bad * loss_in_bad + (1.0 - bad) * loss_in_good)
            }
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
    fn unknown_models_and_keys_are_refused() {
        for (json, part) in [
            (r#"{"model":"rain"}"#, "model: expected one of the known names (none, packet,"),
            (r#"{"model":"none","probability":0.1}"#, "\"probability\" cannot stand here"),
            (
                r#"{"model":"packet","probability":0.1,"ber":0.1}"#,
                "ber: expected one of the known keys (probability)",
            ),
            (r#"{"model":"packet"}"#, "probability: missing"),
            (r#"{"probability":0.1}"#, "model: missing"),
            (
                r#"{"model":"drop","packets":[-1]}"#,
                "packets.[0]: expected a whole number from 1 to 9223372036854775807, found -1",
            ),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }

    #[test]
    fn impossible_values_are_refused() {
        for (json, part) in [
            (r#"{"model":"packet","probability":1.5}"#, "expected a probability from 0 to 1, found 1.5"),
            (r#"{"model":"ber","ber":-1e-9}"#, "expected a probability from 0 to 1, found -0.000000001"),
            (r#"{"model":"drop","packets":[3,0]}"#, "expected a whole number from 1 to"),
            (
                r#"{"model":"gilbert-elliott","good_to_bad":2,"bad_to_good":0.5}"#,
                "expected a probability from 0 to 1, found 2",
            ),
            (
                r#"{"model":"gilbert-elliott","good_to_bad":0.5,"bad_to_good":0}"#,
                "expected a number above 0, at most 1, found 0",
            ),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }

    #[test]
    fn the_schema_knows_every_model() {
        let schema = serde_json::to_value(schemars::schema_for!(LossSpec)).unwrap();
        let variants = schema["oneOf"].as_array().unwrap();
        let named: Vec<_> =
            variants.iter().map(|v| v["properties"]["model"]["const"].as_str().unwrap()).collect();
        assert_eq!(named, <dyn LossFactory>::ours().names());
        assert!(variants.iter().all(|v| v["additionalProperties"] == false), "{schema:#}");
    }
}
