//! Whole runs held against what theory says of them, and against themselves.

mod analytic;
mod bookkeeping;
mod causes;
mod gateways;
mod http;
mod queues;
mod udp;

use std::ops::ControlFlow;

use bentpipe_sim::{RunOptions, RunResult, run, scenario};

/// Runs the scenario in `text`.
fn simulate(text: &str, seed: u64, series: bool) -> RunResult {
    let scenario =
        scenario::parse_str("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let options = RunOptions { seed: Some(seed), series, pcap: None };
    run(&scenario, &options, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// One flow over one link: the lines for the link, for TCP and for the flow.
fn one_flow(link: &str, tcp: &str, flow: &str) -> String {
    format!(
        "title = \"test\"\n[links.path]\nfrom = \"a\"\nto = \"b\"\n{link}\n[tcp]\n{tcp}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}
