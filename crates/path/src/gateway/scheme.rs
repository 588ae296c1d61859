//! What a gateway's scheme is, and what the options of several of them need.

use std::fmt;

use bentpipe_units::registry::Chosen;
use bentpipe_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::flow::Flow;
use super::flows::FlowTable;
use super::{Demand, LinkView, Scheme};

/// As `options!`, for a scheme that writes windows: options that all of them have come behind its own, of which `packet` is one.
macro_rules! window_options {
    ($name:literal, $summary:literal; $(#[$meta:meta])* pub struct $options:ident { $($own:tt)* }) => {
        bentpipe_units::options! {
            $name, $summary;
            $(#[$meta])*
            pub struct $options {
                $($own)*
                /// No window is lowered below this.
                #[serde(with = "SomeBytes")]
                pub least: Bytes = LEAST,
                /// Most flows remembered; beyond them the least recently active is forgotten.
                #[serde(with = "Whole::<1, 4_294_967_295>")]
                pub max_flows: u32 = MAX_FLOWS,
                /// What to do about flows first seen midway.
                pub unknown_scale: UnknownScale = UnknownScale::Leave,
            }
        }

        impl $options {
            fn shared(&self) -> Option<Common> {
                let $options { packet, least, max_flows, unknown_scale, .. } = *self;
                Some(Common { packet, least, max_flows, unknown_scale })
            }
        }
    };
}

pub(super) use window_options;

/// A scheme at work: the window that each flow is to have.
pub(super) trait Windows: fmt::Debug + Send {
    /// Time has come to `now`.
    fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable);

    /// The flow's round-trip time in nanoseconds, where the scheme asks for it.
    fn rtt(&self, _flow: &Flow) -> Option<u64> {
        None
    }

    /// The window in bytes of a flow with this round-trip time; `None` before anything is known.
    fn window(&self, rtt: Option<u64>, link: &LinkView) -> Option<f64>;

    /// Bytes of that window a byte of the flow's data.
    fn overhead(&self, _flow: &Flow) -> f64 {
        1.0
    }

    /// The time that counts as that of a flow's last packet, where one of `packet` bytes arrives now.
    fn last_packet(&self, now: Time, _packet: u32, _link: &LinkView) -> Time {
        now
    }

    /// Whether a SYN makes a flow active, before it has sent data.
    fn counts_syns(&self) -> bool {
        true
    }

    /// Whether it goes by congestion headers.
    fn reads_demands(&self) -> bool {
        false
    }

    /// A packet of `bytes` bytes enters the link, and asks for a change of throughput or for none.
    fn enters(&mut self, _bytes: u32, _demand: Option<&mut Demand>) {}
}

/// Options that every scheme has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common {
    /// Length of a packet where the queue is given in packets.
    pub(super) packet: Bytes,
    /// The least window written.
    pub(super) least: Bytes,
    /// Most flows remembered.
    pub(super) max_flows: u32,
    /// What happens to flows first seen midway.
    pub(super) unknown_scale: UnknownScale,
}

impl Common {
    pub(super) fn usual(max_flows: u32) -> Common {
        Common { packet: PACKET, least: LEAST, max_flows, unknown_scale: UnknownScale::Leave }
    }
}

/// What to do about the window scale of a flow whose SYN and SYN/ACK were not both seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownScale {
    /// Leave the flow's windows alone.
    #[default]
    Leave,
    /// Take it for zero: right for hosts that do not scale, far too deep a cut for those that do.
    Zero,
}

pub(super) const PACKET: Bytes = Bytes::new(1500);
pub(super) const LEAST: Bytes = Bytes::new(1460);
pub(super) const MAX_FLOWS: u32 = 65_536;

/// A rule that gives each flow over a link the same window.
pub trait WindowRule: fmt::Debug + Send {
    /// The window in bytes that acknowledgments have from now on, with so many flows active; none leaves theirs. It is asked for each
    /// packet that passes, in either direction.
    fn window(&mut self, now: Time, flows: u32, link: &LinkView) -> Option<f64>;
}

/// What makes a gateway for each direction of a link that names it.
pub trait GatewayFactory: fmt::Debug + Send + Sync {
    /// A rule that has seen nothing.
    fn make(&self) -> Box<dyn WindowRule>;

    /// How long a flow counts as active after its last data.
    fn counted_for(&self) -> Span {
        Span::from_millis(500)
    }
}

/// One from outside, which has what all of ours have by default.
impl Scheme for Chosen<dyn GatewayFactory> {
    fn common(&self) -> Option<Common> {
        Some(Common::usual(MAX_FLOWS))
    }

    fn windows(&self) -> Option<Box<dyn Windows>> {
        let (rule, counted_for) = (self.factory().make(), self.factory().counted_for());
        Some(Box::new(Ruled { rule, counted_for, window: None }))
    }
}

/// Such a rule at work.
#[derive(Debug)]
struct Ruled {
    rule: Box<dyn WindowRule>,
    counted_for: Span,
    window: Option<f64>,
}

impl Windows for Ruled {
    fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable) {
        flows.expire(now, self.counted_for);
        self.window = self.rule.window(now, flows.active_flows(), link);
    }

    fn window(&self, _: Option<u64>, _: &LinkView) -> Option<f64> {
        self.window
    }
}
