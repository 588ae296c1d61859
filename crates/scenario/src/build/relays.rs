//! Relays and the flows whose data they carry on.

use std::collections::HashMap;
use std::sync::Arc;

use bentpipe_apps::{AppSpec, Carried};
use bentpipe_units::{Bytes, Fault, Under, conflict, ensure, fault, no_such, quoted};

use super::relayed;
use crate::model::FlowSpec;

/// A relay as written.
pub(super) struct Asked<'a> {
    /// Its place among all flows.
    pub(super) flow: usize,
    /// The name of its table.
    pub(super) of: &'a str,
    /// The name of the flow whose data it carries on.
    pub(super) upstream: String,
}

/// Gives each relay the flow whose data it carries on, and its start; `names` has the place of each flow among all.
pub(super) fn join(
    relays: &[Asked<'_>],
    names: &HashMap<String, (usize, &str)>,
    nodes: &[String],
    flows: &mut [FlowSpec],
) -> Result<(), Fault> {
    let mut taken = HashMap::new();
    for asked in relays {
        carry(asked, names, nodes, flows, &mut taken).under(asked.of).under("flows")?;
    }
    let mut followed = vec![false; flows.len()];
    for asked in relays {
        follow(asked, flows, &mut followed).under("upstream").under(asked.of).under("flows")?;
    }
    for Asked { flow, of, .. } in relays {
        let spec = &flows[*flow];
        let AppSpec::Relay(relay) = &*spec.app else { continue };
        let start = spec.start + spec.start_spread;
        if let Some(crash) = relay.crash.filter(|crash| *crash <= start) {
            let fault = fault!("a time after the start of its data ({start})", "{crash}");
            return Err(fault.under("crash").under(*of).under("flows"));
        }
    }
    Ok(())
}

/// Gives a relay its upstream flow, which no other may have `taken`.
fn carry(
    Asked { flow, upstream, .. }: &Asked<'_>,
    names: &HashMap<String, (usize, &str)>,
    nodes: &[String],
    flows: &mut [FlowSpec],
    taken: &mut HashMap<usize, usize>,
) -> Result<(), Fault> {
    let found = find(*flow, upstream, names, nodes, flows).under("upstream")?;
    if let Some(other) = taken.insert(found, *flow) {
        let (upstream, other) = (quoted(upstream), quoted(&flows[other].name));
        return Err(conflict!("{upstream} is carried on by {other} already").under("upstream"));
    }
    let spec = &flows[*flow];
    let AppSpec::Relay(relay) = &*spec.app else { return Ok(()) };
    let (mss, buffer) = (spec.sender.mss, Bytes::new(relay.buffer));
    let small = || fault!("at least one segment ({mss} B)", "{buffer}").under("buffer");
    ensure!(buffer.get() >= u64::from(mss), small());
    ensure!(
        relay.crash.is_some() || relay.back.is_none(),
        conflict!("needs a crash that it comes back from").under("back")
    );
    flows[*flow].upstream = Some(found);
    Ok(())
}

/// Gives a relay, and those before it, what the flow has that their data begins with.
fn follow(
    Asked { flow, .. }: &Asked<'_>,
    flows: &mut [FlowSpec],
    followed: &mut [bool],
) -> Result<(), Fault> {
    // From the relay to where its data begins, or to one that was followed before.
    let mut chain = vec![*flow];
    while let Some(upstream) = flows[chain[chain.len() - 1]].upstream
        && !followed[upstream]
    {
        if upstream == *flow {
            let names: Vec<_> = chain.iter().take(4).map(|flow| quoted(&flows[*flow].name)).collect();
            let names = names.join(", ");
            return Err(conflict!("the relays go round in a circle ({names}), and none begins it"));
        }
        chain.push(upstream);
    }
    while let Some(relay) = chain.pop() {
        followed[relay] = true;
        let Some(upstream) = flows[relay].upstream else { continue };
        let FlowSpec { app: source, start, start_spread, .. } = &flows[upstream];
        let asked = source.facts().is_asked_for && !matches!(**source, AppSpec::Ftp(_));
        let carried = Carried { connections: source.connections(), asked };
        (flows[relay].start, flows[relay].start_spread) = (*start, *start_spread);
        if let AppSpec::Relay(spec) = Arc::make_mut(&mut flows[relay].app) {
            spec.carried = carried;
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
    let upstream = quoted(upstream);
    ensure!(found != relay, conflict!("{upstream} is the relay itself"));
    let (relayed, app) = (relayed(), flow.app.name());
    ensure!(flow.app.relayed(), fault!("a flow with app = {relayed}", "{upstream}, which has {app:?}"));
    let [to, at] = [flow.to, relay_flow.from].map(|node| quoted(&nodes[node]));
    ensure!(flow.to == relay_flow.from, conflict!("{upstream} goes to {to}, and the relay is at {at}"));
    Ok(found)
}
