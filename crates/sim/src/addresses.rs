//! Addresses and ports of every connection: what captures write, and what gateways know flows by.

use bentpipe_path::gateway::FlowKey;

use crate::scenario::{AppSpec, FlowSpec, Scenario};

/// Ports for those who open connections (RFC 6335: 49152 to 65535).
const FIRST_PORT: u16 = 49_152;
const PORTS: usize = 16_384;

/// The flow of each connection, and behind them all UDP flows: the order in which ends are numbered, two a line.
pub(crate) fn lines(scenario: &Scenario) -> impl Iterator<Item = &FlowSpec> {
    let connections = scenario.flows.iter().flat_map(|flow| (0..flow.app.connections()).map(move |_| flow));
    connections.chain(scenario.udp_flows().map(|(_, flow)| flow))
}

/// For each end, what it writes into the headers of its packets.
pub(crate) fn keys(scenario: &Scenario) -> impl Iterator<Item = FlowKey> {
    lines(scenario).enumerate().flat_map(|(index, flow)| {
        let opener = FIRST_PORT + (index % PORTS) as u16;
        // Between two hosts there may be more connections than one end has ports.
        let server = (index / PORTS) as u16;
        let (source_port, destination_port) = match flow.app {
            AppSpec::Http(_) => (80 + server, opener),
            _ => (opener, 5001 + server),
        };
        let (source, destination) = (address(flow.from), address(flow.to));
        let key = FlowKey { source, destination, source_port, destination_port };
        [key, key.reversed()]
    })
}

/// 10.0.0.0/8, by the host's number.
fn address(node: usize) -> u32 {
    let node = node as u32 + 1;
    0x0a00_0000 | (node & 0x00ff_ffff)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::scenario::parse_str;

    #[test]
    fn forty_thousand_connections_between_two_hosts_are_told_apart() {
        let text = "duration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                    [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = 40000\n";
        let scenario = parse_str("test", text, &[]).unwrap();
        let all: HashSet<FlowKey> = keys(&scenario).collect();
        assert_eq!(all.len(), 80_000);
    }
}
