//! What each flow got and what it cost: counted, and told over the time that is measured.

use bentpipe_apps::Socket;
use bentpipe_tcp::{ReceiverStats, RttDistribution, SenderStats, State};
use bentpipe_units::Time;

use super::{FlowResult, Responses};
use crate::causes::LossCauses;
use crate::engine::{End, Engine};
use crate::flow::{App, Flow};
use crate::progress::RunError;
use bentpipe_scenario::FlowSpec;

/// What a flow had done by a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    delivered_bytes: u64,
    sent_bytes: u64,
    retransmitted_segments: u64,
    timeouts: Option<u64>,
    round_trips: RttDistribution,
    data_segments: u64,
    mark_reductions: Option<u64>,
    recoveries: Option<u64>,
    beyond_window_bytes: Option<u64>,
    duplicate_bytes: u64,
    datagrams_sent: u64,
    datagrams_lost: u64,
    losses: LossCauses,
}

/// From when on a run is measured, and what its flows had done by then.
pub(crate) struct WarmUp {
    pub(super) until: Time,
    /// None where that is nothing.
    flows: Vec<Counts>,
}

impl WarmUp {
    /// The measurement begins at the start of the run.
    pub(crate) fn none() -> WarmUp {
        WarmUp { until: Time::ZERO, flows: Vec::new() }
    }

    /// The measurement begins `now`.
    pub(crate) fn end(engine: &mut Engine, now: Time) -> Result<WarmUp, RunError> {
        engine.ask_kernels(now)?;
        engine.join_causes(now);
        let counts = |(flow, pairs)| Counts::of(flow, pairs, engine.loss_causes(flow));
        let flows = engine.flows().map(counts).collect();
        for link in engine.links_mut() {
            link.measure_from(now);
        }
        engine.measure_limits_from(now);
        engine.measure_paths_from(now);
        Ok(WarmUp { until: now, flows })
    }
}

/// The results of all flows at `end`, and the data segments that they sent in the whole run. The ends of their connections are gone then.
pub(super) fn flow_results(
    specs: &[FlowSpec],
    engine: &mut Engine,
    warm_up: &WarmUp,
    end: Time,
) -> (Vec<FlowResult>, u64) {
    engine.join_causes(end);
    let mut data_segments = 0;
    let mut results = Vec::with_capacity(specs.len());
    for (number, spec) in specs.iter().enumerate().rev() {
        let (flow, pairs) = engine.flow(number);
        let mut counts = Counts::of(flow, pairs, engine.loss_causes(flow));
        data_segments += counts.data_segments;
        if let Some(before) = warm_up.flows.get(number) {
            counts = counts.since(before);
        }
        results.push(result(spec, flow, pairs, &counts, [warm_up.until, end]));
        engine.forget_ends(number);
    }
    results.reverse();
    (results, data_segments)
}

impl Counts {
    fn of(flow: &Flow, pairs: &[[End; 2]], losses: LossCauses) -> Counts {
        if let App::Udp(udp) = &flow.app {
            return Counts {
                delivered_bytes: udp.got.bytes(),
                sent_bytes: udp.sent_bytes,
                datagrams_sent: udp.sent,
                datagrams_lost: udp.lost,
                timeouts: Some(0),
                mark_reductions: Some(0),
                recoveries: Some(0),
                beyond_window_bytes: Some(0),
                ..Counts::default()
            };
        }
        if pairs.iter().flatten().any(|end| end.remote.is_some()) {
            return Counts::of_kernel(pairs, losses);
        }
        let senders = || pairs.iter().map(|[data, _]| data.tcp.sender());
        let receivers = || pairs.iter().map(|[_, back]| back.tcp.receiver());
        let sent = |counter: fn(&SenderStats) -> u64| senders().map(|sender| counter(sender.stats())).sum();
        let received = |counter: fn(&ReceiverStats) -> u64| -> u64 {
            receivers().map(|receiver| counter(receiver.stats())).sum()
        };
        let mut round_trips = RttDistribution::default();
        for sender in senders() {
            sender.add_round_trips_to(&mut round_trips);
        }
        Counts {
            delivered_bytes: receivers().map(|receiver| receiver.delivered()).sum(),
            sent_bytes: sent(|stats| stats.data_bytes),
            retransmitted_segments: sent(|stats| stats.retransmitted_segments),
            timeouts: Some(sent(|stats| stats.timeouts)),
            round_trips,
            data_segments: sent(|stats| stats.data_segments),
            mark_reductions: Some(sent(|stats| stats.mark_reductions)),
            recoveries: Some(senders().map(|sender| u64::from(sender.recovery_phases())).sum()),
            beyond_window_bytes: Some(received(|stats| stats.beyond_window_bytes)),
            duplicate_bytes: received(|stats| stats.duplicate_bytes),
            datagrams_sent: 0,
            datagrams_lost: 0,
            losses,
        }
    }

    /// Of a kernel's sockets: what was seen on the wire, and what it tells.
    fn of_kernel(pairs: &[[End; 2]], losses: LossCauses) -> Counts {
        let losses = losses.without_reductions();
        let mut counts = Counts { losses, timeouts: Some(0), ..Counts::default() };
        for [data, back] in pairs {
            let (Some(data), Some(back)) = (&data.remote, &back.remote) else { continue };
            counts.delivered_bytes += back.received.delivered();
            counts.sent_bytes += data.sent.data_bytes;
            counts.retransmitted_segments += data.sent.retransmitted_segments;
            counts.timeouts = counts.timeouts.zip(data.facts.timeouts).map(|(sum, more)| sum + more);
            counts.data_segments += data.sent.data_segments;
            counts.duplicate_bytes += back.received.duplicate_bytes;
        }
        counts
    }

    fn since(self, earlier: &Counts) -> Counts {
        let less = |now: Option<u64>, then: Option<u64>| now.map(|now| now - then.unwrap_or(0));
        Counts {
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
            retransmitted_segments: self.retransmitted_segments - earlier.retransmitted_segments,
            timeouts: less(self.timeouts, earlier.timeouts),
            round_trips: self.round_trips.since(&earlier.round_trips),
            data_segments: self.data_segments - earlier.data_segments,
            mark_reductions: less(self.mark_reductions, earlier.mark_reductions),
            recoveries: less(self.recoveries, earlier.recoveries),
            beyond_window_bytes: less(self.beyond_window_bytes, earlier.beyond_window_bytes),
            duplicate_bytes: self.duplicate_bytes - earlier.duplicate_bytes,
            datagrams_sent: self.datagrams_sent - earlier.datagrams_sent,
            datagrams_lost: self.datagrams_lost - earlier.datagrams_lost,
            losses: self.losses.since(&earlier.losses),
        }
    }
}

fn result(
    spec: &FlowSpec,
    flow: &Flow,
    pairs: &[[End; 2]],
    counts: &Counts,
    [from, end]: [Time; 2],
) -> FlowResult {
    let got: Vec<_> = match &flow.app {
        App::Udp(udp) => vec![&udp.got],
        _ => pairs.iter().map(|[_, back]| &back.got).collect(),
    };
    let last_byte = got.iter().filter_map(|got| got.last()).max();
    let since_start = |time: Time| time.since(flow.start).as_secs();
    let finish = last_byte.filter(|_| flow.complete(pairs));
    let duration = finish.unwrap_or(end).since(flow.start.max(from)).as_secs();
    // Of a page, either host may have given up.
    let judged = if spec.app.facts().is_asked_for { 2 } else { 1 };
    let failed = pairs.iter().flat_map(|pair| &pair[..judged]);
    let error = failed.filter(|end| end.state() == State::Closed).find_map(End::error);
    let remote = pairs.first().and_then(|[data, _]| data.remote.as_ref());
    let [p50, p95, p99] = counts.round_trips.quantiles_secs([0.5, 0.95, 0.99]);
    let measured = flow.exchanges().iter().filter(|exchange| exchange.start >= from);
    FlowResult {
        name: spec.name.clone(),
        group: spec.group.clone(),
        variant: spec.variant.clone(),
        kernel_release: remote.map(|remote| remote.release.clone()),
        bytes_delivered: counts.delivered_bytes,
        start_s: flow.start.as_secs(),
        finish_s: finish.map(Time::as_secs),
        duration_s: duration,
        first_byte_s: got.iter().filter_map(|got| got.first()).min().map(since_start),
        bytes_90_s: got.iter().find_map(|got| got.most()).map(since_start),
        goodput_bps: per_second(counts.delivered_bytes, duration),
        throughput_bps: per_second(counts.sent_bytes, duration),
        retransmitted_segments: counts.retransmitted_segments,
        timeouts: counts.timeouts,
        rtt_mean_s: counts.round_trips.mean_secs(),
        rtt_p50_s: p50,
        rtt_p95_s: p95,
        rtt_p99_s: p99,
        data_segments_sent: counts.data_segments,
        ecn_reductions: counts.mark_reductions,
        recoveries: counts.recoveries,
        beyond_window_bytes: counts.beyond_window_bytes,
        duplicate_bytes: counts.duplicate_bytes,
        datagrams_sent: counts.datagrams_sent,
        datagrams_lost: counts.datagrams_lost,
        losses: counts.losses,
        responses: Responses::of(measured),
        error: error.or_else(|| upstream_error(flow, pairs, end)),
    }
}

/// Why a relay broke its connection off, or forgot it, before all was delivered.
fn upstream_error(flow: &Flow, pairs: &[[End; 2]], end: Time) -> Option<String> {
    let App::Relay(relay) = &flow.app else { return None };
    if flow.complete(pairs) {
        return None;
    }
    let broken = relay.broken.map(|error| format!("the connection upstream broke: {error}"));
    broken.or_else(|| relay.crashed_at(end).map(|at| format!("the relay crashed at {} s", at.as_secs())))
}

/// In bits a second.
fn per_second(bytes: u64, duration_s: f64) -> f64 {
    if duration_s > 0.0 { bytes as f64 * 8.0 / duration_s } else { 0.0 }
}
