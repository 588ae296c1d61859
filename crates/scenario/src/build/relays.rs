//! Relays and the flows whose data they carry on.

use std::collections::HashMap;

use bentpipe_units::{Bytes, Fault, conflict, fault, quoted};

use super::relayed;
use crate::keys::{AppSpec, Carried, no_such};
use crate::model::FlowSpec;
use crate::text::{Place, ScenarioError};

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
        let fail = |key: &str, fault: Fault| at.error(&[key], fault);
        let found = find(*flow, upstream, names, nodes, flows).map_err(|e| fail("upstream", e))?;
        if let Some(other) = taken.insert(found, *flow) {
            let (upstream, other) = (quoted(upstream), quoted(&flows[other].name));
            let message = conflict!("{upstream} is carried on by {other} already");
            return Err(fail("upstream", message));
        }
        let mss = flows[*flow].sender.mss;
        if let AppSpec::Relay(relay) = &flows[*flow].app
            && relay.buffer < u64::from(mss)
        {
            let found = Bytes::new(relay.buffer);
            return Err(fail("buffer", fault!("at least one segment ({mss} B)", "{found}")));
        }
        if let AppSpec::Relay(relay) = &flows[*flow].app
            && let (None, Some(_)) = (relay.crash, relay.back)
        {
            return Err(fail("back", conflict!("needs a crash that it comes back from")));
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
                let message =
                    conflict!("the relays go round in a circle ({}), and none begins it", names.join(", "));
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
            let message = fault!("a time after the start of its data ({start})", "{crash}");
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
) -> Result<usize, Fault> {
    let Some((found, _)) = names.get(upstream).copied() else {
        let known: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
        return Err(no_such("a flow", upstream, &known));
    };
    let (relay_flow, flow) = (&flows[relay], &flows[found]);
    if found == relay {
        return Err(conflict!("{} is the relay itself", quoted(upstream)));
    }
    if !flow.app.relayed() {
        let (upstream, app) = (quoted(upstream), flow.app.name());
        return Err(Fault::value(
            format!("a flow with app = {}", relayed()),
            format!("{upstream}, which has {app:?}"),
        ));
    }
    if flow.to != relay_flow.from {
        return Err(conflict!(
            "{} goes to {}, and the relay is at {}",
            quoted(upstream),
            quoted(&nodes[flow.to]),
            quoted(&nodes[relay_flow.from])
        ));
    }
    Ok(found)
}
