//! What a run gives: the numbers of the design's JSON contract, with units in their names.

use bentpipe_tcp::{Endpoint, State};
use bentpipe_units::Time;
use serde::Serialize;

use crate::engine::{Engine, Flow};
use crate::scenario::Scenario;
use crate::series::Series;

/// The outcome of a run.
#[derive(Debug, Serialize)]
pub struct RunResult {
    /// The scenario's title.
    pub scenario: String,
    /// The seed that the random streams were derived from.
    pub seed: u64,
    /// Simulated time at the end, in seconds.
    pub duration_s: f64,
    /// One entry a flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// Two entries a link, in the scenario's order: `name` and `name/reverse`.
    pub links: Vec<LinkResult>,
    /// Page response times of HTTP flows; there are none yet in a scenario of bulk transfers.
    pub pages: Vec<PageResult>,
    /// Jain's index over the flows' goodputs: (Σx)² / (n Σx²); null when nothing was delivered.
    pub jain: Option<f64>,
    /// What the run cost.
    pub engine: EngineResult,
    /// Time series, when they were asked for.
    #[serde(skip)]
    pub series: Option<Series>,
}

/// One flow.
#[derive(Debug, Serialize)]
pub struct FlowResult {
    /// The flow's name.
    pub name: String,
    /// Recovery and control, such as `sack`.
    pub variant: String,
    /// Payload bytes delivered in order to the application.
    pub bytes_delivered: u64,
    /// When the connection was opened, in seconds.
    pub start_s: f64,
    /// When the last byte was delivered, in seconds; null when the flow did not finish.
    pub finish_s: Option<f64>,
    /// From the first SYN to the last byte, or to the end of the run, in seconds.
    pub duration_s: f64,
    /// Payload delivered over `duration_s`, in bits a second.
    pub goodput_bps: f64,
    /// Payload sent, retransmissions included, over `duration_s`, in bits a second.
    pub throughput_bps: f64,
    /// Segments sent again, by fast retransmit, by the timer or after it.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Mean of the RTT samples in seconds; null without a sample.
    pub rtt_mean_s: Option<f64>,
    /// Segments with payload that the sender sent.
    pub data_segments_sent: u64,
    /// Recovery phases entered.
    pub recoveries: u64,
    /// Payload bytes that the receiver dropped because they lay beyond its window.
    pub beyond_window_bytes: u64,
    /// Payload bytes that the receiver held already.
    pub duplicate_bytes: u64,
    /// Why the connection ended early; null when it did not.
    pub error: Option<String>,
}

/// One direction of a link.
#[derive(Debug, Serialize)]
pub struct LinkResult {
    /// `name`, or `name/reverse`.
    pub name: String,
    /// Its measurements.
    #[serde(flatten)]
    pub stats: bentpipe_path::LinkStats,
}

/// One page of an HTTP flow.
#[derive(Debug, Serialize)]
pub struct PageResult {
    /// From the moment the user asks to the last byte of the last object, in seconds.
    pub response_s: f64,
}

/// What a run cost.
#[derive(Debug, Serialize)]
pub struct EngineResult {
    /// Events handled: arrivals at a link's far end, timers, applications.
    pub events: u64,
    /// Segments with payload that were sent.
    pub data_segments: u64,
    /// Wall-clock time of the event loop in seconds.
    pub wall_s: f64,
}

impl RunResult {
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        end: Time,
        engine: &mut Engine,
        wall_s: f64,
    ) -> RunResult {
        let flows: Vec<FlowResult> = engine
            .flows()
            .zip(&scenario.flows)
            .map(|((flow, sender, receiver), spec)| {
                flow_result(&spec.name, &spec.variant, flow, sender, receiver, end)
            })
            .collect();
        let names =
            scenario.links.iter().flat_map(|link| [link.name.clone(), format!("{}/reverse", link.name)]);
        let links = names
            .zip(engine.links_mut())
            .map(|(name, link)| LinkResult { name, stats: link.stats(end) })
            .collect();
        let data_segments = flows.iter().map(|flow| flow.data_segments_sent).sum();
        RunResult {
            scenario: scenario.title.clone(),
            seed,
            duration_s: end.as_secs(),
            jain: jain(flows.iter().map(|flow| flow.goodput_bps)),
            flows,
            links,
            pages: Vec::new(),
            engine: EngineResult { events: engine.events, data_segments, wall_s },
            series: None,
        }
    }
}

fn flow_result(
    name: &str,
    variant: &str,
    flow: &Flow,
    sender: &Endpoint,
    receiver: &Endpoint,
    end: Time,
) -> FlowResult {
    let delivered = receiver.receiver().delivered();
    let complete = match flow.bytes {
        // By duration: finished when the FIN behind the last byte has arrived.
        u64::MAX => receiver.receiver().finished(),
        bytes => delivered == bytes,
    };
    let duration = flow.active(end, complete).as_secs();
    let per_second = |bytes: u64| if duration > 0.0 { bytes as f64 * 8.0 / duration } else { 0.0 };
    let stats = sender.sender().stats();
    FlowResult {
        name: name.to_owned(),
        variant: variant.to_owned(),
        bytes_delivered: delivered,
        start_s: flow.start.as_secs(),
        finish_s: flow.last_delivery.filter(|_| complete).map(Time::as_secs),
        duration_s: duration,
        goodput_bps: per_second(delivered),
        throughput_bps: per_second(stats.data_bytes),
        retransmitted_segments: stats.retransmitted_segments,
        timeouts: stats.timeouts,
        rtt_mean_s: sender.sender().rtt().mean_secs(),
        data_segments_sent: stats.data_segments,
        recoveries: u64::from(sender.sender().recovery_phases()),
        beyond_window_bytes: receiver.receiver().stats().beyond_window_bytes,
        duplicate_bytes: receiver.receiver().stats().duplicate_bytes,
        error: sender.error().filter(|_| sender.state() == State::Closed).map(|error| error.to_string()),
    }
}

/// Jain's fairness index (Chiu and Jain 1989): 1 for equal shares, 1/n when one has all.
fn jain(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        n += 1.0;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn jain_is_one_for_equal_shares_and_one_over_n_for_a_monopoly() {
        assert_eq!(jain([3.0, 3.0, 3.0].into_iter()), Some(1.0));
        assert_eq!(jain([1.0, 0.0, 0.0, 0.0].into_iter()), Some(0.25));
        assert_eq!(jain([0.0].into_iter()), None);
    }
}
