//! Relays and the flows whose data they carry on.

use std::collections::HashMap;

use bentpipe_units::Bytes;

use super::app::{AppSpec, Carried};
use super::error::{ScenarioError, expected_one_of, quoted};
use super::model::FlowSpec;
use super::tree::Place;

/// A relay as written.
pub(super) struct Asked<'a> {
    /// Its place among all flows.
    pub(super) flow: usize,
    /// Where it stands in the document.
    pub(super) at: Place<'a>,
    /// The name of the flow whose data it carries on.
    pub(super) upstream: String,
}

/// Gives each relay the flow whose data it carries on, and its start; `names` has the place of each flow among all.
pub(super) fn join(
    relays: &[Asked<'_>],
    names: &HashMap<String, (usize, &str)>,
    nodes: &[String],
    flows: &mut [FlowSpec],
) -> Result<(), ScenarioError> {
    let mut taken = HashMap::new();
    for Asked { flow, at, upstream } in relays {
        let fail = |key: &str, message: String| at.error(&[key], message);
        let found = find(*flow, upstream, names, nodes, flows).map_err(|e| fail("upstream", e))?;
        if let Some(other) = taken.insert(found, *flow) {
            let (upstream, other) = (quoted(upstream), quoted(&flows[other].name));
            let message = format!(
                "expected a flow that no other relay carries on, found {upstream}, which {other} does"
            );
            return Err(fail("upstream", message));
        }
        let mss = flows[*flow].sender.mss;
        if let AppSpec::Relay(relay) = &flows[*flow].app
            && relay.buffer < u64::from(mss)
        {
            let found = Bytes::new(relay.buffer);
            return Err(fail("buffer", format!("expected at least one segment ({mss} B), found {found}")));
        }
        if let AppSpec::Relay(relay) = &flows[*flow].app
            && let (None, Some(back)) = (relay.crash, relay.back)
        {
            return Err(fail(
                "back",
                format!("expected a crash that it comes back from, found {back} and no crash"),
            ));
        }
        flows[*flow].upstream = Some(found);
    }
    let mut followed = vec![false; flows.len()];
    for Asked { flow, at, .. } in relays {
        // From each relay to where its data begins, or to one that was followed before.
        let mut chain = vec![*flow];
        while let Some(upstream) = flows[chain[chain.len() - 1]].upstream
            && !followed[upstream]
        {
            if upstream == *flow {
                let names: Vec<_> = chain.iter().take(4).map(|flow| quoted(&flows[*flow].name)).collect();
                let message = format!(
                    "expected a chain of relays that begins with a sender, found one that goes round in a circle ({})",
                    names.join(", ")
                );
                return Err(at.error(&["upstream"], message));
            }
            chain.push(upstream);
        }
        while let Some(relay) = chain.pop() {
            followed[relay] = true;
            if let Some(upstream) = flows[relay].upstream {
                let source = &flows[upstream].app;
                let carried = Carried {
                    connections: source.connections(),
                    asked: source.is_asked_for() && !matches!(source, AppSpec::Ftp(_)),
                };
                if let AppSpec::Relay(spec) = &mut flows[relay].app {
                    spec.carried = carried;
                }
                flows[relay].start = flows[upstream].start;
                flows[relay].start_spread = flows[upstream].start_spread;
            }
        }
    }
    for Asked { flow, at, .. } in relays {
        let FlowSpec { app: AppSpec::Relay(relay), start, start_spread, .. } = &flows[*flow] else {
            continue;
        };
        let start = *start + *start_spread;
        if let Some(crash) = relay.crash.filter(|crash| *crash <= start) {
            let message = format!("expected a time after the start of its data ({start}), found {crash}");
            return Err(at.error(&["crash"], message));
        }
    }
    Ok(())
}

/// The flow called `upstream`, if relay number `relay` can carry it on.
fn find(
    relay: usize,
    upstream: &str,
    names: &HashMap<String, (usize, &str)>,
    nodes: &[String],
    flows: &[FlowSpec],
) -> Result<usize, String> {
    let Some((found, _)) = names.get(upstream).copied() else {
        let known: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
        return Err(expected_one_of("a flow", upstream, &known));
    };
    let (relay_flow, flow) = (&flows[relay], &flows[found]);
    if found == relay {
        return Err(format!("expected another flow than the relay itself, found {} again", quoted(upstream)));
    }
    if flow.app.over_udp() || matches!(flow.app, AppSpec::ShortFlows(_) | AppSpec::Trace(_)) {
        return Err(format!(
            "expected a flow with app = \"ftp\", \"http\", \"onoff\", \"transactions\", \"video\" or \"relay\", found {}, which has {:?}",
            quoted(upstream),
            flow.app.name()
        ));
    }
    if flow.to != relay_flow.from {
        return Err(format!(
            "expected a flow to {}, where the relay is, found {}, which goes to {}",
            quoted(&nodes[relay_flow.from]),
            quoted(upstream),
            quoted(&nodes[flow.to])
        ));
    }
    Ok(found)
}
