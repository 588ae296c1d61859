//! A flow of a scenario, whose two ends are real.

use bentpipe_apps::{AppSpec, FtpSpec, Opener};
use bentpipe_drive::addresses;
use bentpipe_net::Router;
use bentpipe_scenario::{FlowSpec, Routing, Scenario};
use bentpipe_tcp::Config;
use bentpipe_units::{Time, fault};
use serde::Serialize;

use crate::LiveError;
use crate::path_setup::{Handover, PathSetup};

/// A bulk transfer of a scenario that a live run makes: its links, its TCP, its bytes.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioFlow<'a> {
    scenario: &'a Scenario,
    index: usize,
}

/// What a [`ScenarioFlow`] is, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowFacts {
    /// The scenario's title.
    pub title: String,
    /// The flow's name.
    pub flow: String,
    /// The host that its data comes from.
    pub from: String,
    /// The host that its data goes to.
    pub to: String,
    /// Directions of links that the data takes at first: `name` or `name/reverse`.
    pub way: Vec<String>,
    /// Directions of links that the acknowledgments take at first.
    pub way_back: Vec<String>,
    /// The name of its recovery.
    pub recovery: String,
    /// The name of its control.
    pub control: String,
    /// How much data; none where the flow does not say it.
    pub bytes: Option<u64>,
    /// Flows of the scenario that are not run: their packets are on no link.
    pub left_out: Vec<String>,
}

/// Whether a live run can do what stands in the network: packets of real hosts are read and rewritten, and none is made or held.
///
/// # Errors
/// For an agent, and for a flow that says that it is encrypted.
pub(crate) fn carries(scenario: &Scenario) -> Result<(), LiveError> {
    for link in &scenario.links {
        for gateway in [&link.forward.gateway, &link.reverse.gateway].into_iter().flatten() {
            if !gateway.needs_limit() {
                let (link, scheme) = (&link.name, gateway.name());
                let fault =
                    fault!("a scheme that lowers windows, which is all that live runs do", "{scheme:?}");
                return Err(fault.under("gateway").under(link).under("links").into());
            }
        }
    }
    match scenario.flows.iter().find(|flow| flow.ipsec) {
        Some(flow) => {
            let fault = fault!("false, which is all that live runs do", "true");
            Err(fault.under("ipsec").under(&flow.name).under("flows").into())
        }
        None => Ok(()),
    }
}

/// So many names are listed in an error.
const LISTED: usize = 10;

impl<'a> ScenarioFlow<'a> {
    /// The flow `name` of `scenario`, or its first bulk transfer.
    ///
    /// # Errors
    /// When there is none, or that flow is something else.
    pub fn choose(scenario: &'a Scenario, name: Option<&str>) -> Result<ScenarioFlow<'a>, LiveError> {
        if scenario.routing == Routing::Dynamic {
            let fault = fault!("\"static\", which is all that live interop does", "\"dynamic\"");
            return Err(fault.under("routing").into());
        }
        if scenario.constellation.is_some() {
            let fault = fault!("links, which is all that live interop does", "satellites that move");
            return Err(fault.under("constellation").into());
        }
        carries(scenario)?;
        let bulk =
            |flow: &FlowSpec| matches!(*flow.app, AppSpec::Ftp(FtpSpec { opened_by: Opener::Sender, .. }));
        let mut flows = scenario.flows.iter();
        let wanted = |flow: &FlowSpec| bulk(flow) && name.is_none_or(|name| name == flow.name);
        if let Some(index) = flows.position(wanted) {
            return Ok(ScenarioFlow { scenario, index });
        }
        let names: Vec<_> = scenario.flows.iter().filter(|flow| bulk(flow)).collect();
        let mut listed: Vec<_> = names.iter().take(LISTED).map(|flow| flow.name.as_str()).collect();
        listed.extend((names.len() > LISTED).then_some("…"));
        Err(match name {
            Some(name) if !names.is_empty() => LiveError::Setting(format!(
                "flow: expected a flow with app = \"ftp\" ({}), found {name:?}",
                listed.join(", ")
            )),
            _ => fault!("one with app = \"ftp\"", "none").under("flows").into(),
        })
    }

    /// What it is.
    pub fn facts(&self) -> FlowFacts {
        let (scenario, spec) = (self.scenario, self.spec());
        let setup = self.path_setup();
        let names = setup.names();
        let routes = setup.routes(&mut Router::new(&setup.topology), &setup.via);
        let [way, way_back] =
            routes.map(|route| route.iter().map(|link| names[link.index()].clone()).collect::<Vec<_>>());
        let AppSpec::Ftp(ftp) = &*spec.app else { unreachable!("a bulk transfer was chosen") };
        let others = scenario.flows.iter().enumerate().filter(|(index, _)| *index != self.index);
        FlowFacts {
            title: scenario.title.clone(),
            flow: spec.name.clone(),
            from: scenario.nodes[spec.from].clone(),
            to: scenario.nodes[spec.to].clone(),
            way,
            way_back,
            recovery: spec.sender.recovery.name().to_owned(),
            control: spec.sender.control.name().to_owned(),
            bytes: ftp.bytes,
            left_out: others.map(|(_, flow)| flow.name.clone()).collect(),
        }
    }

    /// The TCP of the host that sends the data, or of the other.
    pub(crate) fn tcp(&self, sends: bool) -> &'a Config {
        if sends { &self.spec().sender } else { &self.spec().receiver }
    }

    pub(crate) fn path_setup(&self) -> PathSetup {
        let (scenario, spec) = (self.scenario, self.spec());
        let topology = scenario.topology();
        let mut handovers = Vec::new();
        for turn in bentpipe_drive::turns(scenario, &topology) {
            let Some(spec) = turn.handover else { continue };
            let moved = spec.flows.iter().zip(&spec.via).find(|(flow, _)| **flow == self.index);
            handovers.extend(moved.map(|(_, via)| Handover {
                name: spec.name.clone(),
                at: turn.at,
                via: via.clone(),
                loses: turn.loses(),
            }));
        }
        PathSetup {
            topology,
            from: bentpipe_net::NodeId(spec.from as u32),
            to: bentpipe_net::NodeId(spec.to as u32),
            via: spec.via.clone(),
            handovers,
            class: spec.class,
            start: Time::ZERO + scenario.start_of(self.index, scenario.seed),
            key: addresses::of_flow(scenario, self.index),
        }
    }

    fn spec(&self) -> &'a FlowSpec {
        &self.scenario.flows[self.index]
    }
}
