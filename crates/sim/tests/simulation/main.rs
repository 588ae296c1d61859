//! Whole runs held against what theory says of them, and against themselves.

mod analytic;
mod applications;
mod bookkeeping;
mod bounds;
mod causes;
mod changes;
mod constellation;
mod externals;
mod gateways;
mod http;
mod limits;
mod matrix;
mod papers;
mod peps;
mod queues;
mod registered;
mod relays;
mod repairs;
mod series;
mod spoofing;
mod traces;
mod transactions;
mod udp;
mod video;
mod voip;
mod warm_up;
mod xcp;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use bentpipe_sim::{FLOW_KINDS, Points, RunOptions, RunResult, SeriesOptions, Subjects, run, scenario};

/// Runs the scenario in `text`.
fn simulate(text: &str, seed: u64) -> RunResult {
    run_of(&scenario(text), seed)
}

fn run_of(scenario: &scenario::Scenario, seed: u64) -> RunResult {
    let options = RunOptions { seed: Some(seed), ..RunOptions::default() };
    run(scenario, options, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

fn scenario(text: &str) -> scenario::Scenario {
    scenario::parse_str("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs the scenario in `text` and watches what its flows send and lose.
fn watch(text: &str, seed: u64) -> (RunResult, Vec<Watched>) {
    let scenario = scenario(text);
    let flows = Subjects::of(&scenario).flows.into_iter();
    let flows = flows.map(|name| Watched { name, ..Watched::default() }).collect();
    let watched: Rc<RefCell<Vec<Watched>>> = Rc::new(RefCell::new(flows));
    let rows = watched.clone();
    let sink = Box::new(move |points: &Points| {
        let values = points.times_s.iter().zip(&points.values);
        for (curve, (time_s, value)) in points.curves.iter().zip(values) {
            let (flow, kind) = (*curve as usize / FLOW_KINDS.len(), *curve as usize % FLOW_KINDS.len());
            let mut flows = rows.borrow_mut();
            let Some(flow) = flows.get_mut(flow) else { continue };
            let row = |which| Row { time_s: *time_s, sequence: *value as u64, which };
            match FLOW_KINDS[kind].0 {
                name @ ("sent" | "resent") => flow.sent.push(row(name == "resent")),
                name @ ("dropped" | "damaged") => flow.lost.push(row(name == "dropped")),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    });
    let series = Some(SeriesOptions { wanted: None, limit: u64::MAX, sink });
    let options = RunOptions { seed: Some(seed), series, ..RunOptions::default() };
    let result = run(&scenario, options, &mut |_| ControlFlow::Continue(()));
    (result.unwrap_or_else(|error| panic!("{error}")), watched.take())
}

/// The segments with payload or datagrams of a connection or a stream, each list in the order of its times.
#[derive(Clone, Debug, Default)]
struct Watched {
    name: String,
    /// Whether sent again.
    sent: Vec<Row>,
    /// Whether by a queue.
    lost: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    time_s: f64,
    sequence: u64,
    which: bool,
}

/// One flow over one link: the lines for the link, for TCP and for the flow.
fn one_flow(link: &str, tcp: &str, flow: &str) -> String {
    format!(
        "title = \"test\"\n[links.path]\nfrom = \"a\"\nto = \"b\"\n{link}\n[tcp]\n{tcp}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}
