//! Links that follow a trace.

use crate::{one_flow, simulate};

/// A link of 4 Mbit/s and 30 ms, with more that is said of it.
fn link(more: &str) -> String {
    format!("rate = \"4 Mbit/s\"\ndelay = \"30 ms\"\nqueue = \"60 packets\"\n{more}")
}

#[test]
fn a_trace_does_what_the_same_schedule_does() {
    let (tcp, flow) = ("receive_window = \"60 kB\"", "bytes = \"5 MB\"");
    let schedule = r#"schedule = [
        { at = "0 s", rate = "4 Mbit/s", delay = "30 ms" },
        { at = "2 s", rate = "1 Mbit/s", delay = "50 ms", loss = { model = "packet", probability = 0.01 } },
        { at = "3 s", outage = "500 ms" },
        { at = "3500 ms", rate = "4 Mbit/s", delay = "30 ms", loss = { model = "none" } },
        { at = "5 s", repeat = true },
    ]"#;
    let rows = "time_s,rate_bps,delay_s,loss\\n0,4e6,0.03,0\\n2,1e6,0.05,0.01\\n3,0,0.05,0.01\\n3.5,4e6,0.03,0\\n5,4e6,0.03,0\\n";
    let trace = format!("trace = {{ text = \"{rows}\", repeat = true }}");
    let run = |more: &str| simulate(&one_flow(&link(more), tcp, flow), 7);
    let (one, other) = (run(schedule), run(&trace));
    // The first row of the trace says that nothing is lost, which is so.
    let numbers = |result: &bentpipe_sim::RunResult| {
        (result.flows[0].finish_s, result.flows[0].retransmitted_segments, result.links[0].stats)
    };
    assert_eq!(numbers(&one), numbers(&other));
    assert!(one.flows[0].retransmitted_segments > 0 && one.flows[0].bytes_delivered == 5_000_000);
}

#[test]
fn opportunities_carry_what_they_say_and_wait_for_nobody() {
    // Three of each four milliseconds: 9 Mbit/s.
    let trace = link("trace = { text = \"1\\n2\\n4\\n\", format = \"mahimahi\" }");
    let stream = |rate: &str| {
        let app = format!("app = \"cbr\"\nrate = \"{rate}\"\npacket = \"1472 B\"\nduration = \"10 s\"");
        simulate(&one_flow(&trace, "", &app), 1)
    };
    let full = stream("20 Mbit/s");
    let sent = full.links[0].stats.delivered_bytes as f64 * 8.0 / 10.0;
    assert!((sent / 9e6 - 1.0).abs() < 0.01, "{sent}");
    let half = stream("4 Mbit/s");
    assert_eq!((half.flows[0].datagrams_lost, half.links[0].stats.dropped_packets), (0, 0));
}

#[test]
fn lines_bring_the_mean_of_their_ends() {
    let app = "app = \"cbr\"\nrate = \"20 Mbit/s\"\npacket = \"1472 B\"\nduration = \"10 s\"";
    let trace = "trace = { text = \"time_s,rate_bps\\n0,0\\n10,8e6\\n\", between = \"lines\" }";
    let sent = simulate(&one_flow(&link(trace), "", app), 1).links[0].stats.delivered_bytes as f64 * 0.8;
    assert!((sent / 4e6 - 1.0).abs() < 0.05, "{sent}");
}
