//! XFWA: every flow's window in proportion to its round-trip time (`xfwa`, equation 1).

use bentpipe_units::bounded::{Above, AboveZero, SomeBytes, Whole};
use bentpipe_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::flow::Flow;
use super::flows::FlowTable;
use super::scheme::{Common, LEAST, MAX_FLOWS, PACKET, UnknownScale, Windows, window_options};
use super::share::{Claim, water_level};
use super::{LinkView, Scheme};
use bentpipe_units::{Fault, conflict};

/// Where XFWA has its round-trip times from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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

/// The time that counts as a flow's "last packet transmission time" (`xfwa`, section III).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LastPacket {
    /// The packet has left the queue: what waits and the packet itself at the link's rate after its arrival.
    #[default]
    Transmitted,
    /// The packet arrives at the queue.
    Arrived,
}

/// The first packet of a flow that makes it one in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountsFrom {
    /// Its data, as in the kernel's gateway: a flood of SYNs takes nobody's window.
    #[default]
    Data,
    /// Its SYN.
    Syn,
}

/// The bytes that equation 1 shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShareOf {
    /// Whole packets, as the link and its buffer count them: a window has room for the data in its share of them.
    #[default]
    Packets,
    /// Data alone: with headers more is under way than pipe and buffer hold.
    Data,
}

window_options! {
    "xfwa", "windows in proportion to the round-trip times that together fill pipe and buffer";
    /// Settings of XFWA.
    pub struct XfwaOptions {
        /// Where the round-trip times come from.
        pub rtt: RttSource = RttSource::Ttl,
        /// Delay of one hop between satellites; needed by `rtt = "ttl"`.
        #[serde(with = "AboveZero")]
        pub isl_delay: Option<Span> = None,
        /// Round-trip time of every flow; needed by `rtt = "told"`.
        #[serde(with = "AboveZero")]
        pub told: Option<Span> = None,
        /// Every round-trip time is taken times this; above 0 (1: as estimated).
        #[serde(with = "Above::<0, 1_000_000>")]
        pub rtt_factor: f64 = 1.0,
        /// A flow is active until so many mean round-trip times after its last data (1: the document's delta); above 0.
        #[serde(with = "Above::<0, 1_000_000>")]
        pub delta_factor: f64 = 1.0,
        /// The time that counts as that of a flow's last packet.
        pub last_packet: LastPacket = LastPacket::default(),
        /// The bytes that equation 1 shares.
        pub share_of: ShareOf = ShareOf::default(),
        /// The first packet of a flow that makes it one in progress.
        pub counts_from: CountsFrom = CountsFrom::default(),
        /// What flows that are limited elsewhere cannot use goes to the others.
        pub redistribute: bool = false,
        /// Length of a packet where the queue is given in packets.
        #[serde(with = "SomeBytes")]
        pub packet: Bytes = PACKET,
    }
}

impl Scheme for XfwaOptions {
    fn validate(&self) -> Result<(), Fault> {
        let (key, there, source) = match self.rtt {
            RttSource::Ttl => ("isl_delay", self.isl_delay.is_some(), "ttl"),
            RttSource::Told => ("told", self.told.is_some(), "told"),
            RttSource::Handshake => return Ok(()),
        };
        match there {
            true => Ok(()),
            false => Err(conflict!("rtt = {source:?} needs {key}, a time such as \"20 ms\"").under(key)),
        }
    }

    fn common(&self) -> Option<Common> {
        self.shared()
    }

    fn windows(&self) -> Option<Box<dyn Windows>> {
        Some(Box::new(Xfwa::new(self)))
    }
}

/// An hour: no estimate is longer, so that no sum overflows.
const LONGEST_NANOS: f64 = 3.6e12;

/// A flow may double its window in the interval that follows, as slow start does, so that it claims twice its use.
const ROOM_TO_GROW: f64 = 2.0;

/// feedback_i = RTT_i / Σ RTT_j × (Bw RTT_avg + Q), with everything but RTT_i from a snapshot taken every RTT_avg.
#[derive(Clone, Debug)]
pub(super) struct Xfwa {
    options: XfwaOptions,
    snapshot: Option<Snapshot>,
    /// A mean round-trip time in nanoseconds, and for how long a flow is active by it.
    active: (f64, Span),
    /// Of the redistribution; kept to be used again.
    claims: Vec<Claim>,
}

#[derive(Clone, Copy, Debug)]
struct Snapshot {
    /// Bytes of window a nanosecond of round-trip time: (Bw RTT_avg + Q) / Σ RTT_j, or what redistribution makes of it.
    level: f64,
    /// RTT_avg in nanoseconds.
    mean_rtt: f64,
    taken: Time,
}

impl Xfwa {
    fn new(options: &XfwaOptions) -> Xfwa {
        Xfwa { options: *options, snapshot: None, active: (0.0, Span::ZERO), claims: Vec::new() }
    }

    fn take_snapshot(&mut self, now: Time, mean_rtt: f64, link: &LinkView, flows: &mut FlowTable) {
        // Flows whose time is not known count with the mean.
        let rtt_sum = mean_rtt * f64::from(flows.active_flows());
        let pipe = link.rate.as_bps() as f64 / 8e9 * mean_rtt;
        let capacity = pipe + link.buffer_bytes as f64;
        let mut level = capacity / rtt_sum;
        if self.options.redistribute {
            // Together the windows exceed the pipe by the buffer, the rates cannot exceed the link: a rate claims as much
            // window as an equal share of the link has by equation 1.
            let elapsed = self.snapshot.map_or(0, |last| now.since(last.taken).as_nanos()) as f64;
            let window_a_rate = capacity / pipe * ROOM_TO_GROW / elapsed;
            self.claims.clear();
            let share_of = self.options.share_of;
            flows.each_active(|flow, rtt| {
                let rtt = rtt.map_or(mean_rtt, |rtt| rtt as f64);
                let used = if flow.fresh || elapsed == 0.0 {
                    f64::INFINITY
                } else {
                    flow.sent as f64 * rtt * window_a_rate
                };
                let demand = flow.advertised.map_or(used, |bytes| used.min(bytes as f64));
                self.claims.push(Claim { demand: demand * share_of.overhead(flow), rtt });
                flow.begin_interval(false);
            });
            level = water_level(&mut self.claims, capacity);
        }
        self.snapshot = Some(Snapshot { level, mean_rtt, taken: now });
    }
}

impl ShareOf {
    /// Bytes that equation 1 counts a byte of the flow's data.
    fn overhead(self, flow: &Flow) -> f64 {
        match self {
            ShareOf::Packets => flow.overhead(),
            ShareOf::Data => 1.0,
        }
    }
}

impl Windows for Xfwa {
    fn rtt(&self, flow: &Flow) -> Option<u64> {
        let nanos = match self.options.rtt {
            // `xfwa`, section III: RTT = 2 (H_b + H_f + 2) ISL_delay.
            RttSource::Ttl => {
                self.options.isl_delay.map(|delay| delay.as_nanos() as f64 * (2 * (flow.hops() + 2)) as f64)
            }
            RttSource::Handshake => flow.handshake_nanos().map(|nanos| nanos as f64),
            RttSource::Told => self.options.told.map(|told| told.as_nanos() as f64),
        };
        nanos.map(|nanos| (nanos * self.options.rtt_factor).round().clamp(1.0, LONGEST_NANOS) as u64)
    }

    /// Lets flows expire, and takes a new snapshot if the last is RTT_avg old.
    ///
    /// While nobody is active the last snapshot holds: acknowledgments still under way answer to it.
    fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable) {
        let due = match self.snapshot {
            Some(last) => now.since(last.taken).as_nanos() as f64 >= last.mean_rtt,
            None => true,
        };
        if let Some(mean_rtt) = flows.mean_rtt().or(self.snapshot.map(|last| last.mean_rtt)) {
            if mean_rtt != self.active.0 {
                let delta = (mean_rtt * self.options.delta_factor).ceil();
                self.active = (mean_rtt, Span::from_nanos(delta as u64));
            }
            flows.expire(now, self.active.1);
        }
        if !due {
            return;
        }
        match (flows.mean_rtt(), &mut self.snapshot) {
            (Some(mean_rtt), _) => self.take_snapshot(now, mean_rtt, link, flows),
            (None, Some(last)) => last.taken = now,
            (None, None) => {}
        }
    }

    fn window(&self, rtt: Option<u64>, _link: &LinkView) -> Option<f64> {
        let snapshot = self.snapshot?;
        Some(snapshot.level * rtt.map_or(snapshot.mean_rtt, |rtt| rtt as f64))
    }

    fn overhead(&self, flow: &Flow) -> f64 {
        self.options.share_of.overhead(flow)
    }

    fn counts_syns(&self) -> bool {
        self.options.counts_from == CountsFrom::Syn
    }

    fn last_packet(&self, now: Time, packet: u32, link: &LinkView) -> Time {
        match self.options.last_packet {
            LastPacket::Transmitted => now + link.rate.time_to_send(link.queued_bytes + u64::from(packet)),
            LastPacket::Arrived => now,
        }
    }
}
