//! A telephone call.

use super::prelude::*;

/// One direction of a telephone call: a frame of speech every 20 ms as an RTP packet, in talk spurts. The receiver plays each
/// packet at a fixed delay, and has lost what comes later.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VoipSpec {
    /// How speech is coded: "g711" (the default), 64 kbit/s, or "opus", at `bit_rate`.
    pub codec: Codec,
    /// Bit rate of Opus, from 6 to 510 kbit/s; default "24 kbit/s".
    pub bit_rate: Option<Rate>,
    /// Whether the receiver of G.711 conceals lost packets; default true. A decoder of Opus always does.
    pub concealment: bool,
    /// Equipment impairment factor Ie of the codec (ITU-T G.113); default 0, which for Opus is inferred.
    #[serde(with = "Number::<0, 95>")]
    pub equipment_impairment: f64,
    /// Packet-loss robustness factor Bpl of the codec; default 25.1 for G.711 with concealment and 4.3 without (ITU-T G.113
    /// appendix I), and 19 for Opus, which is inferred: the value of G.729A.
    #[serde(with = "Number::<1, 1000>")]
    pub loss_robustness: Option<f64>,
    /// Send nothing in pauses; default true. Otherwise a packet leaves every 20 ms.
    pub silence_suppression: bool,
    /// Mean length of a talk spurt; default "1.004 s" (ITU-T P.59).
    #[serde(with = "AboveZero")]
    pub spurt: Span,
    /// Mean length of a pause; default "1.587 s" (ITU-T P.59).
    #[serde(with = "AboveZero")]
    pub pause: Span,
    /// How long the receiver holds the packet that comes first, and with it how much longer than this one a packet may take;
    /// default "60 ms".
    pub jitter_buffer: Span,
    /// Stop so long after the start.
    #[serde(with = "AboveZero")]
    pub duration: Option<Span>,
}

/// How speech is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// Each sample by itself.
    #[default]
    G711,
    /// RFC 6716.
    Opus,
}

impl Default for VoipSpec {
    fn default() -> VoipSpec {
        VoipSpec {
            codec: Codec::G711,
            bit_rate: None,
            concealment: true,
            equipment_impairment: 0.0,
            loss_robustness: None,
            silence_suppression: true,
            spurt: Span::from_millis(1004),
            pause: Span::from_millis(1587),
            jitter_buffer: Span::from_millis(60),
            duration: None,
        }
    }
}

impl VoipSpec {
    /// What speech is coded to.
    pub fn coded(&self) -> Rate {
        match self.codec {
            Codec::G711 => Rate::from_bps(64_000),
            Codec::Opus => self.bit_rate.unwrap_or(Rate::from_bps(24_000)),
        }
    }

    /// How long the coder waits for speech behind the frame that it codes: 5 ms to shape noise and 1.5 ms to resample (RFC 6716,
    /// section 2).
    pub fn look_ahead(&self) -> Span {
        match self.codec {
            Codec::G711 => Span::ZERO,
            Codec::Opus => Span::from_nanos(6_500_000),
        }
    }

    /// The packet-loss robustness factor Bpl.
    pub fn robustness(&self) -> f64 {
        self.loss_robustness.unwrap_or(match (self.codec, self.concealment) {
            (Codec::G711, true) => 25.1,
            (Codec::G711, false) => 4.3,
            (Codec::Opus, _) => 19.0,
        })
    }
}

impl App for VoipSpec {
    const NAME: &'static str = "voip";
    const SUMMARY: &'static str = "one direction of a telephone call over UDP, and how good it is (E-model)";
    const ALSO: &'static [&'static str] = &["rtp", "phone", "call"];
    const OVER_UDP: bool = true;

    fn check(&self, written: &Node) -> Result<(), Fault> {
        let steady = !self.silence_suppression;
        let rules = &[
            ("bit_rate", self.codec != Codec::Opus, "needs codec = \"opus\""),
            ("concealment", self.codec != Codec::G711, "needs codec = \"g711\""),
            ("spurt", steady, "needs silence_suppression = true"),
            ("pause", steady, "needs silence_suppression = true"),
        ];
        fitting(written, rules)?;
        let rate = self.coded();
        let fits = (6_000..=510_000).contains(&rate.as_bps());
        ensure!(fits, fault!("6 to 510 kbit/s", "{rate}").under("bit_rate"));
        Ok(())
    }

    fn ends(&self) -> bool {
        self.duration.is_some()
    }

    fn draws(&self) -> bool {
        self.silence_suppression
    }
}
