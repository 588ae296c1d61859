//! Flows of a kernel in scenarios. They need the kernel that `make virtual-kernel` builds, and say so where it is missing.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::ops::ControlFlow;

use bentpipe_sim::scenario::parse_str;
use bentpipe_sim::{RunError, RunOptions, RunResult};
use bentpipe_virtual::{find, start};

const PATH: &str = r#"
[tcp]
profile = "linux"
[links.path]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "50 ms"
"#;

fn is_built() -> bool {
    let found = find(None);
    if let Err(why) = &found {
        println!("skipped: {why}");
    }
    found.is_ok()
}

fn simulate(text: &str) -> Result<RunResult, RunError> {
    let scenario = parse_str("test", text, &[]).unwrap();
    let options = RunOptions { kernels: Some(Box::new(start)), ..RunOptions::default() };
    bentpipe_sim::run(&scenario, options, &mut |_| ControlFlow::Continue(()))
}

fn flow(name: &str, variant: &str, more: &str) -> String {
    format!("[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nstart = \"250 us\"\nvariant = \"{variant}\"\n{more}\n")
}

#[test]
fn a_kernel_loses_the_same_packets_as_our_tcp_and_repairs_them_as_fast() {
    if !is_built() {
        return;
    }
    let lossy = PATH.to_owned() + "loss = { model = \"drop\", packets = [40, 41, 300] }\n";
    let run = |variant| simulate(&(lossy.clone() + &flow("f", variant, "bytes = \"1 MB\""))).unwrap();
    let (kernel, ours) = (run("linux:reno"), run("rack"));
    let [kernel, ours] = [&kernel.flows[0], &ours.flows[0]];
    assert_eq!(kernel.error, None);
    assert_eq!((kernel.bytes_delivered, kernel.losses.random), (1_000_000, 3));
    assert_eq!(kernel.retransmitted_segments, ours.retransmitted_segments);
    assert_eq!((kernel.timeouts, kernel.recoveries, kernel.losses.cuts), (Some(0), None, None));
    assert_eq!((ours.timeouts, ours.kernel_release.as_deref()), (Some(0), None));
    assert_eq!(kernel.kernel_release, find(None).ok().map(|found| found.release));
    let times = [kernel, ours].map(|flow| flow.finish_s.unwrap());
    assert!((times[0] / times[1] - 1.0).abs() < 0.01, "{times:?}");
}

#[test]
fn two_runs_are_the_same_to_the_last_digit() {
    if !is_built() {
        return;
    }
    let lossy = PATH.to_owned() + "loss = { model = \"packet\", probability = 0.01 }\n";
    let text =
        lossy + &flow("f", "linux:bbr", "bytes = \"1 MB\"") + &flow("g", "linux:cubic", "bytes = \"1 MB\"");
    let run = || serde_json::to_string(&simulate(&text).unwrap()).unwrap();
    assert_eq!(run(), run());
}

#[test]
fn a_kernel_shares_a_link_with_our_tcp() {
    if !is_built() {
        return;
    }
    let text = PATH.to_owned()
        + &flow("linux", "linux:cubic", "bytes = \"2 MB\"")
        + &flow("ours", "cubic", "bytes = \"2 MB\"");
    let result = simulate(&text).unwrap();
    assert!(result.flows.iter().all(|flow| flow.bytes_delivered == 2_000_000), "{:?}", result.flows);
}

#[test]
fn a_control_that_the_kernel_has_not_is_named_with_those_that_it_has() {
    if !is_built() {
        return;
    }
    let error = simulate(&(PATH.to_owned() + &flow("f", "linux:mine", "bytes = \"1 MB\""))).unwrap_err();
    let RunError::NoKernel(line) = error else { panic!("{error}") };
    assert!(line.starts_with("flows.f: variant: linux:mine: expected a control of Linux "), "{line}");
    assert!(line.contains("reno") && !line.contains('\n'), "{line}");
}

#[test]
fn without_anybody_to_start_it_a_kernel_is_a_clear_line() {
    let scenario =
        parse_str("test", &(PATH.to_owned() + &flow("f", "linux:reno", "bytes = \"1 MB\"")), &[]).unwrap();
    let run = bentpipe_sim::run(&scenario, RunOptions::default(), &mut |_| ControlFlow::Continue(()));
    let expected = "flows.f: variant: linux:reno: expected Linux on x86_64, where a kernel can run";
    assert_eq!(run.unwrap_err().to_string(), expected);
}

#[test]
fn applications_use_the_sockets_of_a_kernel_as_ours() {
    if !is_built() {
        return;
    }
    let apps = [
        "bytes = \"200 kB\"\nopened_by = \"receiver\"",
        "app = \"http\"\npages = 2\npage_interval = \"1 s\"",
        "app = \"onoff\"\nrate = \"1 Mbit/s\"\nduration = \"3 s\"",
        "app = \"transactions\"\nrequest = \"300 B\"\nresponse = \"20 kB\"\ntransactions = 3",
        "app = \"short-flows\"\nmean_interval = \"300 ms\"\nbytes = \"20 kB\"\ntransfers = 5",
        "duration = \"2 s\"",
    ];
    for app in apps {
        let text = "duration = \"60 s\"\n".to_owned() + PATH + &flow("f", "linux:reno", app);
        let result = simulate(&text).unwrap();
        let one = &result.flows[0];
        assert_eq!(one.error, None, "{app}");
        assert!(one.bytes_delivered > 0 && one.finish_s.is_some(), "{app}: {one:?}");
    }
}

#[test]
fn a_hundred_flows_share_a_kernel() {
    if !is_built() {
        return;
    }
    let text = PATH.to_owned() + &flow("\"f{i}\"", "linux:cubic", "count = 100\nbytes = \"50 kB\"");
    let result = simulate(&text).unwrap();
    assert_eq!(result.flows.len(), 100);
    assert!(result.flows.iter().all(|flow| flow.finish_s.is_some() && flow.bytes_delivered == 50_000));
}
