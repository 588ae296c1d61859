//! A run's result, measured at its end.

use bentpipe_apps::{AppSpec, Users};
use bentpipe_units::Time;

use super::flows::{self, WarmUp};
use super::{EngineResult, FlowResult, RelayResult, RunResult};
use crate::engine::{End, Engine};
use crate::flow::App;
use crate::progress::RunError;
use bentpipe_drive::HandoverResult;
use bentpipe_scenario::{FlowSpec, Scenario};

impl RunResult {
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        end: Time,
        engine: &mut Engine,
        warm_up: &WarmUp,
        wall_s: f64,
    ) -> Result<RunResult, RunError> {
        engine.ask_kernels(end)?;
        let mut users = Users::default();
        for ((flow, _), spec) in engine.flows().zip(&scenario.flows) {
            flow.tell(&mut users, &spec.name, [warm_up.until, end]);
        }
        let relays = relay_results(scenario, engine, end);
        let (flows, data_segments) = flows::flow_results(&scenario.flows, engine, warm_up, end);
        let handovers = HandoverResult::of(&scenario.handovers, engine.handover_losses());
        let paths = engine.path_results(scenario, end);
        let (links, gateways) = engine.network_rows(scenario, end);
        let shares = sharing(scenario, &flows);
        let jain = jain(shares.iter().copied());
        Ok(RunResult {
            scenario: scenario.title.clone(),
            seed,
            duration_s: end.as_secs(),
            warm_up_s: warm_up.until.as_secs(),
            jain,
            jain_flows: jain.map_or(0, |_| shares.len() as u64),
            flows,
            links,
            gateways,
            handovers,
            paths,
            relays,
            users,
            engine: EngineResult { events: engine.events, data_segments, wall_s },
            recording: None,
        })
    }
}

fn relay_results(scenario: &Scenario, engine: &Engine, end: Time) -> Vec<RelayResult> {
    let flows: Vec<_> = engine.flows().collect();
    let relays = scenario.flows.iter().zip(&flows).filter_map(|(spec, (flow, pairs))| {
        let App::Relay(relay) = &flow.app else { return None };
        let upstream = relay.upstream.index();
        let joined = || flows[upstream].1.iter().zip(pairs.iter());
        let acknowledged: u64 = joined().map(|([source, up], _)| acknowledged(source, up)).sum();
        let delivered: u64 = pairs.iter().map(|[_, sink]| sink.tcp.receiver().delivered()).sum();
        let failed = pairs.iter().any(|[down, _]| down.tcp.error().is_some());
        let cut = relay.crashed(end) || relay.broken.is_some() || failed;
        let undelivered =
            (0..).zip(joined()).map(|(number, ([_, up], _))| relay.undelivered(number, &up.tcp));
        Some(RelayResult {
            name: spec.name.clone(),
            upstream: scenario.flows[upstream].name.clone(),
            node: scenario.nodes[spec.from].clone(),
            buffer_bytes: relay.size(),
            buffer_mean_bytes: relay.mean(end, flow.complete(pairs)),
            buffer_max_bytes: relay.most(),
            undelivered_bytes: undelivered.sum(),
            undelivered_max_bytes: relay.most_undelivered(),
            acknowledged_bytes: acknowledged,
            crashed_s: relay.crashed_at(end).map(Time::as_secs),
            lost_bytes: if cut { acknowledged.saturating_sub(delivered) } else { 0 },
        })
    });
    relays.collect()
}

/// Payload bytes that the sending end `source` knows to have come to the other, `sink`.
fn acknowledged(source: &End, sink: &End) -> u64 {
    let receiver = sink.tcp.receiver();
    // A FIN counts in sequence numbers, and is no data.
    let next = receiver.nxt().diff(source.tcp.sender().una()) - i32::from(receiver.finished());
    if receiver.delivered() == 0 { 0 } else { receiver.delivered() - u64::from(next.max(0).unsigned_abs()) }
}

/// Goodputs of the bulk transfers, each over its whole way; without one, of all flows if they ask for the same.
fn sharing(scenario: &Scenario, flows: &[FlowResult]) -> Vec<f64> {
    let specs = &scenario.flows;
    let mut carried_on = vec![false; specs.len()];
    for upstream in specs.iter().filter_map(|spec| spec.upstream) {
        carried_on[upstream] = true;
    }
    let of_bulk = |spec: &FlowSpec| {
        let mut spec = spec;
        while let Some(upstream) = spec.upstream {
            spec = &specs[upstream];
        }
        matches!(*spec.app, AppSpec::Ftp(_))
    };
    let alike = specs.windows(2).all(|pair| pair[0].app == pair[1].app);
    let bulk = specs.iter().zip(&carried_on).map(|(spec, carried_on)| !carried_on && of_bulk(spec));
    let bulk: Vec<bool> = bulk.collect();
    let any_bulk = bulk.contains(&true);
    let shares = bulk.iter().zip(flows).filter(|(bulk, _)| if any_bulk { **bulk } else { alike });
    shares.map(|(_, flow)| flow.goodput_bps).collect()
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
