//! XCP, the part of a router (draft-falk-xcp-spec-03 section 4.2): what each packet's sender may change of its throughput.

use bentpipe_units::bounded::{Above, AboveZero, Number, Whole};
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::flows::FlowTable;
use super::scheme::{Common, MAX_FLOWS, Windows};
use super::{Demand, LinkView, Scheme};
use bentpipe_units::{Fault, fault, options};

options! {
    "xcp", "a router of XCP: tells each packet's sender how to change its throughput";
    /// Settings of a router of XCP.
    pub struct XcpOptions {
        /// Share of the spare rate that is given away a control interval; above 0, at most 1.
        #[serde(with = "Above::<0, 1>")]
        pub alpha: f64 = 0.4,
        /// Share of the standing queue that is taken back a control interval, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub beta: f64 = 0.226,
        /// Share of the traffic that changes hands a control interval at least, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub gamma: f64 = 0.1,
        /// The shortest control interval, and the first.
        #[serde(with = "AboveZero")]
        pub least_interval: Span = Span::from_millis(10),
        /// The longest control interval.
        pub longest_interval: Span = Span::from_millis(1000),
        /// The shortest time over which a queue counts as standing.
        #[serde(with = "AboveZero")]
        pub allowed_queue: Span = Span::from_millis(2),
        /// What is made of packets that take less than the router gives.
        pub limited: Limited = Limited::Ignore,
        /// The largest share of limited connections that is reckoned with; from 0 on, below 1.
        #[serde(with = "Number::<0, 1>")]
        pub limited_most: f64 = 0.9,
        /// Most flows remembered, for the statistics alone; beyond them the least recently active is forgotten.
        #[serde(with = "Whole::<1, 4_294_967_295>")]
        pub max_flows: u32 = MAX_FLOWS,
    }
}

/// What a router makes of packets that take less than it gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limited {
    /// What they leave is lost for the interval: XCP.
    #[default]
    Ignore,
    /// What is given away is scaled to the connections that take it: P-XCP.
    Scale,
}

impl Scheme for XcpOptions {
    fn validate(&self) -> Result<(), Fault> {
        let XcpOptions { least_interval: least, longest_interval: longest, limited_most, .. } = self;
        if longest < least {
            return Err(fault!("least_interval ({least}) or more", "{longest}").under("longest_interval"));
        }
        match *limited_most < 1.0 {
            true => Ok(()),
            false => Err(fault!("a share below 1", "{limited_most}").under("limited_most")),
        }
    }

    fn common(&self) -> Option<Common> {
        Some(Common::usual(self.max_flows))
    }

    fn windows(&self) -> Option<Box<dyn Windows>> {
        Some(Box::new(Xcp::new(self)))
    }
}

/// A router of XCP at work; the lines are those of the draft's pseudo-code.
///
/// It lowers no window. A control interval, and one in which the least queue is looked for, end with the first packet that comes
/// when their time has passed: what came is divided by the time that it took to come. The draft decides on a packet when it
/// leaves the queue, this when it enters.
#[derive(Clone, Debug)]
pub(super) struct Xcp {
    options: XcpOptions,
    began: Time,
    interval: Span,
    /// Seconds; 0 before any is known.
    mean_rtt: f64,
    /// Bytes, and seconds, of the interval under way.
    came: f64,
    sum_x: f64,
    sum_x_rtt: f64,
    /// Of the sum of X, what is of packets that took less than was given.
    sum_x_limited: f64,
    /// What an interval of X gets, and what a byte loses, in bytes a second.
    gives: f64,
    takes: f64,
    /// What is left to give and to take, in bytes a second.
    to_give: f64,
    to_take: f64,
    queue: Standing,
}

/// The persistent queue: the least that was found in a while.
#[derive(Clone, Copy, Debug)]
struct Standing {
    bytes: f64,
    least: f64,
    ends: Time,
}

impl Xcp {
    fn new(options: &XcpOptions) -> Xcp {
        Xcp {
            options: *options,
            began: Time::ZERO,
            interval: options.least_interval,
            mean_rtt: 0.0,
            came: 0.0,
            sum_x: 0.0,
            sum_x_rtt: 0.0,
            sum_x_limited: 0.0,
            gives: 0.0,
            takes: 0.0,
            to_give: 0.0,
            to_take: 0.0,
            queue: Standing { bytes: 0.0, least: f64::INFINITY, ends: Time::ZERO },
        }
    }

    /// Lines 7 to 19: a control interval has passed, `elapsed` seconds of it.
    fn turn(&mut self, elapsed: f64, capacity: f64) {
        if self.sum_x > 0.0 {
            self.mean_rtt = self.sum_x_rtt / self.sum_x;
        }
        let rate = self.came / elapsed;
        let drain = if self.mean_rtt > 0.0 { self.queue.bytes / self.mean_rtt } else { 0.0 };
        let change = self.options.alpha * (capacity - rate) - self.options.beta * drain;
        let shuffled = (self.options.gamma * rate - change.abs()).max(0.0);
        self.to_give = self.scaled(change.max(0.0)) + shuffled;
        self.to_take = (-change).max(0.0) + shuffled;
        self.gives = if self.sum_x > 0.0 { self.to_give / self.sum_x } else { 0.0 };
        self.takes = if self.came > 0.0 { self.to_take / self.came } else { 0.0 };
        (self.came, self.sum_x, self.sum_x_rtt, self.sum_x_limited) = (0.0, 0.0, 0.0, 0.0);
        self.interval = Span::from_secs(self.mean_rtt).max(self.options.least_interval);
    }

    /// P-XCP: what is given away, times all connections over those that are not limited elsewhere.
    ///
    /// The packets of a connection add the length of the interval to the sum of X, however fast they come, so that shares of it are
    /// shares of the connections.
    fn scaled(&self, change: f64) -> f64 {
        match self.options.limited {
            Limited::Scale if self.sum_x > 0.0 => {
                change / (1.0 - (self.sum_x_limited / self.sum_x).min(self.options.limited_most))
            }
            _ => change,
        }
    }

    /// Lines 32 to 36. A queue that is looked at when packets come is at its least just before one does.
    fn update_standing_queue(&mut self, now: Time, link: &LinkView) {
        let bytes = link.queued_bytes as f64;
        self.queue.least = self.queue.least.min(bytes);
        if now < self.queue.ends {
            return;
        }
        let capacity = link.rate.as_bps() as f64 / 8.0;
        let half = Span::from_secs(((self.mean_rtt - bytes / capacity) / 2.0).max(0.0));
        self.queue = Standing {
            bytes: self.queue.least,
            least: bytes,
            ends: now + half.max(self.options.allowed_queue),
        };
    }
}

impl Windows for Xcp {
    fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable) {
        self.update_standing_queue(now, link);
        let elapsed = now.since(self.began);
        if elapsed < self.interval {
            return;
        }
        flows.expire(now, self.options.longest_interval);
        self.turn(elapsed.as_secs(), link.rate.as_bps() as f64 / 8.0);
        self.began = now;
    }

    fn window(&self, _rtt: Option<u64>, _link: &LinkView) -> Option<f64> {
        None
    }

    /// Lines 1 to 6 and 20 to 31.
    fn reads_demands(&self) -> bool {
        true
    }

    fn enters(&mut self, bytes: u32, demand: Option<&mut Demand>) {
        let bytes = f64::from(bytes);
        self.came += bytes;
        let Some(demand) = demand else { return };
        self.sum_x += demand.interval;
        self.sum_x_rtt += demand.interval * demand.rtt.min(self.options.longest_interval.as_secs());
        let mut give = (self.gives * demand.interval).min(self.to_give);
        let mut take = (self.takes * bytes).min(self.to_take);
        let feedback = give - take;
        if demand.delta > feedback {
            demand.delta = feedback;
        } else {
            if demand.delta < feedback {
                self.sum_x_limited += demand.interval;
            }
            take = (take + (feedback - demand.delta)).min(self.to_take);
            give = demand.delta + take;
        }
        // Lines 30 and 31 follow: where a pool is empty, `min` leaves nothing of it.
        self.to_give = (self.to_give - give).max(0.0);
        self.to_take = (self.to_take - take).max(0.0);
    }
}
