//! Addresses and ports of every connection: what captures write, and what gateways know flows by.

use bentpipe_apps::AppSpec;
use bentpipe_path::gateway::FlowKey;
use bentpipe_scenario::{FlowSpec, Scenario};

/// Ports for those who open connections (RFC 6335: 49152 to 65535).
const FIRST_PORT: u16 = 49_152;
const PORTS: usize = 16_384;

/// The flow of each connection, and behind them all UDP flows: the order in which ends are numbered, two a line.
pub fn lines(scenario: &Scenario) -> impl Iterator<Item = &FlowSpec> {
    let connections = scenario.flows.iter().flat_map(|flow| (0..flow.app.connections()).map(move |_| flow));
    connections.chain(scenario.udp_flows().map(|(_, flow)| flow))
}

/// For each end, what it writes into the headers of its packets.
pub fn keys(scenario: &Scenario) -> impl Iterator<Item = FlowKey> {
    lines(scenario).enumerate().flat_map(|(line, flow)| {
        let key = key(line, flow);
        [key, key.reversed()]
    })
}

/// Addresses and ports of the flow with this index, as the host writes them that its data comes from; of its first connection, where it
/// has several.
pub fn of_flow(scenario: &Scenario, flow: usize) -> FlowKey {
    let (before, spec) = (&scenario.flows[..flow], &scenario.flows[flow]);
    let line = if spec.app.over_udp() {
        scenario.connections() + before.iter().filter(|flow| flow.app.over_udp()).count()
    } else {
        before.iter().map(|flow| flow.app.connections()).sum()
    };
    key(line, spec)
}

fn key(line: usize, flow: &FlowSpec) -> FlowKey {
    let opener = FIRST_PORT + (line % PORTS) as u16;
    // Between two hosts there may be more connections than one end has ports.
    let server = (line / PORTS) as u16;
    let (source_port, destination_port) = match *flow.app {
        AppSpec::Http(_) | AppSpec::Video(_) => (80 + server, opener),
        ref app if app.facts().is_asked_for => (5001 + server, opener),
        _ => (opener, 5001 + server),
    };
    let (source, destination) = (address(flow.from), address(flow.to));
    FlowKey { source, destination, source_port, destination_port }
}

/// The IPv4 address of a node in 10.0.0.0/8, as captures have it.
pub fn address(node: usize) -> u32 {
    let node = node as u32 + 1;
    0x0a00_0000 | (node & 0x00ff_ffff)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use bentpipe_scenario::parse_str;

    use super::*;

    #[test]
    fn forty_thousand_connections_between_two_hosts_are_told_apart() {
        let text = "duration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                    [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = 40000\n";
        let scenario = parse_str("test", text, &[]).unwrap();
        let all: HashSet<FlowKey> = keys(&scenario).collect();
        assert_eq!(all.len(), 80_000);
    }

    #[test]
    fn a_flow_has_the_addresses_of_its_first_connection() {
        let flow = |name: &str, rest: &str| format!("[flows.{name}]\nfrom = \"a\"\nto = \"b\"\n{rest}\n");
        let text =
            "duration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n"
                .to_owned()
                + &flow("voice", "app = \"cbr\"\nrate = \"1 Mbit/s\"")
                + &flow("web", "app = \"http\"\nconnections = 3")
                + &flow("file", "") + &flow("video", "app = \"multimedia\"");
        let scenario = parse_str("test", &text, &[]).unwrap();
        let all: Vec<FlowKey> = keys(&scenario).step_by(2).collect();
        let first: Vec<usize> =
            (0..4).map(|flow| all.iter().position(|key| *key == of_flow(&scenario, flow)).unwrap()).collect();
        assert_eq!(first, [4, 0, 3, 5]);
    }
}
