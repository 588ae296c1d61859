//! What a gateway is set up with.

use bentpipe_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::InvalidValue;

/// How a gateway computes the windows that it writes into passing acknowledgments; `scheme` chooses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "scheme", rename_all = "kebab-case")]
pub enum GatewaySpec {
    /// Shares in proportion to the round-trip times (`xfwa`, equation 1).
    Xfwa(XfwaOptions),
    /// The same window for all, from the logarithm of the free buffer (EWA).
    Ewa(EwaOptions),
    /// The same window for all, tracked towards a queue length (WINTRAC).
    Wintrac(WintracOptions),
}

/// Where XFWA has its round-trip times from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttSource {
    /// The hops that packets have passed, by their time to live, times `isl_delay`.
    #[default]
    Ttl,
    /// The time from a SYN to the acknowledgment that completes the handshake, as seen at the gateway.
    Handshake,
    /// One value for every flow, `told`.
    Told,
}

/// What to do about the window scale of a flow whose SYN and SYN/ACK were not both seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownScale {
    /// Leave the flow's windows alone.
    #[default]
    Leave,
    /// Take it for zero: right for hosts that do not scale, far too deep a cut for those that do.
    Zero,
}

/// Settings of XFWA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct XfwaOptions {
    /// Where the round-trip times come from.
    pub rtt: RttSource,
    /// Delay of one hop between satellites; needed by `rtt = "ttl"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isl_delay: Option<Span>,
    /// Round-trip time of every flow; needed by `rtt = "told"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<Span>,
    /// Every round-trip time is taken times this; above 0 (1: as estimated).
    pub rtt_factor: f64,
    /// A flow is active until so many mean round-trip times after its last data (1: the document's delta); above 0.
    pub delta_factor: f64,
    /// What flows that are limited elsewhere cannot use goes to the others.
    pub redistribute: bool,
    /// Length of a packet where the queue is given in packets.
    pub packet: Bytes,
    /// No window is lowered below this.
    pub least: Bytes,
    /// Most flows remembered; beyond them the least recently active is forgotten.
    pub max_flows: u32,
    /// What to do about flows first seen midway.
    pub unknown_scale: UnknownScale,
}

/// Settings of EWA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EwaOptions {
    /// Payload of a full segment, the unit of the window.
    pub segment: Bytes,
    /// Time between two adaptations of alpha.
    pub interval: Span,
    /// Share of the buffer below which alpha rises and above which it falls, 0 to 1.
    pub threshold: f64,
    /// Added to alpha while the queue is below the threshold.
    pub increase: f64,
    /// Alpha is multiplied by this while the queue is above the threshold; above 0, at most 1.
    pub decrease: f64,
    /// Largest alpha.
    pub alpha_max: f64,
    /// Length of a packet, the unit of the free buffer.
    pub packet: Bytes,
    /// No window is lowered below this.
    pub least: Bytes,
    /// Most flows remembered; beyond them the least recently active is forgotten.
    pub max_flows: u32,
    /// What to do about flows first seen midway.
    pub unknown_scale: UnknownScale,
}

/// Settings of WINTRAC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WintracOptions {
    /// Time between two steps of the window.
    pub interval: Span,
    /// Share of the buffer that the queue is steered to, 0 to 1.
    pub target: f64,
    /// Share of the distance from the target that the windows together move in one step; above 0.
    pub gain: f64,
    /// A flow counts for so long after its last data.
    pub delta: Span,
    /// Largest window.
    pub most: Bytes,
    /// Length of a packet where the queue is given in packets.
    pub packet: Bytes,
    /// No window is lowered below this.
    pub least: Bytes,
    /// Most flows remembered; beyond them the least recently active is forgotten.
    pub max_flows: u32,
    /// What to do about flows first seen midway.
    pub unknown_scale: UnknownScale,
}

const PACKET: Bytes = Bytes::new(1500);
const LEAST: Bytes = Bytes::new(1460);
const MAX_FLOWS: u32 = 65_536;

impl Default for XfwaOptions {
    fn default() -> XfwaOptions {
        XfwaOptions {
            rtt: RttSource::Ttl,
            isl_delay: None,
            told: None,
            rtt_factor: 1.0,
            delta_factor: 1.0,
            redistribute: false,
            packet: PACKET,
            least: LEAST,
            max_flows: MAX_FLOWS,
            unknown_scale: UnknownScale::Leave,
        }
    }
}

impl Default for EwaOptions {
    fn default() -> EwaOptions {
        EwaOptions {
            segment: LEAST,
            interval: Span::from_millis(10),
            threshold: 0.5,
            increase: 1.0 / 8.0,
            decrease: 31.0 / 32.0,
            alpha_max: 64.0,
            packet: PACKET,
            least: LEAST,
            max_flows: MAX_FLOWS,
            unknown_scale: UnknownScale::Leave,
        }
    }
}

impl Default for WintracOptions {
    fn default() -> WintracOptions {
        WintracOptions {
            interval: Span::from_millis(50),
            target: 0.5,
            gain: 0.1,
            delta: Span::from_millis(500),
            most: Bytes::new(65_535),
            packet: PACKET,
            least: LEAST,
            max_flows: MAX_FLOWS,
            unknown_scale: UnknownScale::Leave,
        }
    }
}

fn invalid(key: &'static str, message: String) -> Result<(), InvalidValue> {
    Err(InvalidValue { key, message })
}

fn share(key: &'static str, value: f64) -> Result<(), InvalidValue> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    invalid(key, format!("expected a share from 0 to 1, found {value}"))
}

/// `max` keeps what is computed from the value finite.
fn positive(key: &'static str, value: f64, max: f64) -> Result<(), InvalidValue> {
    if value > 0.0 && value <= max {
        return Ok(());
    }
    invalid(key, format!("expected a number above 0, at most {max}, found {value}"))
}

fn some_time(key: &'static str, value: Span) -> Result<(), InvalidValue> {
    if value > Span::ZERO {
        return Ok(());
    }
    invalid(key, "expected a time above 0 s, found 0 s".to_owned())
}

fn some_bytes(key: &'static str, value: Bytes) -> Result<(), InvalidValue> {
    if value.get() > 0 {
        return Ok(());
    }
    invalid(key, "expected a size above 0 B, found 0 B".to_owned())
}

fn needed(key: &'static str, value: Option<Span>, source: &str) -> Result<(), InvalidValue> {
    match value {
        Some(value) => some_time(key, value),
        None => {
            invalid(key, format!("expected a time such as \"20 ms\" (rtt = {source:?} needs it), found none"))
        }
    }
}

impl GatewaySpec {
    /// Every name that `scheme` takes.
    pub const SCHEMES: [&'static str; 3] = ["xfwa", "ewa", "wintrac"];

    /// Whether every value is possible; the first that is not, otherwise.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        match self {
            GatewaySpec::Xfwa(options) => {
                match options.rtt {
                    RttSource::Ttl => needed("isl_delay", options.isl_delay, "ttl")?,
                    RttSource::Told => needed("told", options.told, "told")?,
                    RttSource::Handshake => {}
                }
                positive("rtt_factor", options.rtt_factor, 1e6)?;
                positive("delta_factor", options.delta_factor, 1e6)?;
            }
            GatewaySpec::Ewa(options) => {
                some_bytes("segment", options.segment)?;
                some_time("interval", options.interval)?;
                share("threshold", options.threshold)?;
                positive("increase", options.increase, 1e6)?;
                positive("decrease", options.decrease, 1.0)?;
                positive("alpha_max", options.alpha_max, 1e6)?;
            }
            GatewaySpec::Wintrac(options) => {
                some_time("interval", options.interval)?;
                share("target", options.target)?;
                positive("gain", options.gain, 1e6)?;
                some_time("delta", options.delta)?;
                some_bytes("most", options.most)?;
            }
        }
        some_bytes("packet", self.packet())?;
        some_bytes("least", self.least())?;
        if self.max_flows() == 0 {
            return invalid("max_flows", "expected a number of flows from 1 on, found 0".to_owned());
        }
        Ok(())
    }

    /// The scheme as scenarios write it.
    pub fn name(&self) -> &'static str {
        match self {
            GatewaySpec::Xfwa(_) => "xfwa",
            GatewaySpec::Ewa(_) => "ewa",
            GatewaySpec::Wintrac(_) => "wintrac",
        }
    }

    /// Length of a packet where the queue is given in packets.
    pub fn packet(&self) -> Bytes {
        match self {
            GatewaySpec::Xfwa(options) => options.packet,
            GatewaySpec::Ewa(options) => options.packet,
            GatewaySpec::Wintrac(options) => options.packet,
        }
    }

    /// The least window written.
    pub fn least(&self) -> Bytes {
        match self {
            GatewaySpec::Xfwa(options) => options.least,
            GatewaySpec::Ewa(options) => options.least,
            GatewaySpec::Wintrac(options) => options.least,
        }
    }

    /// Most flows remembered.
    pub fn max_flows(&self) -> u32 {
        match self {
            GatewaySpec::Xfwa(options) => options.max_flows,
            GatewaySpec::Ewa(options) => options.max_flows,
            GatewaySpec::Wintrac(options) => options.max_flows,
        }
    }

    /// What happens to flows first seen midway.
    pub fn unknown_scale(&self) -> UnknownScale {
        match self {
            GatewaySpec::Xfwa(options) => options.unknown_scale,
            GatewaySpec::Ewa(options) => options.unknown_scale,
            GatewaySpec::Wintrac(options) => options.unknown_scale,
        }
    }
}
