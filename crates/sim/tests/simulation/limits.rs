//! What limits a flow, where it is known beforehand.

use std::ops::ControlFlow;

use bentpipe_sim::{FlowLimits, RunOptions, run};

use crate::{one_flow, scenario, simulate};

/// 2 Mbit/s over 270 ms one way: 135 kB fill it.
const GEO: &str = "rate = \"2 Mbit/s\"\ndelay = \"270 ms\"\n";
const LARGE: &str = "mss = \"960 B\"\nreceive_window = \"4 MiB\"\n";

fn limits(text: &str) -> Vec<FlowLimits> {
    let options = RunOptions { seed: Some(1), limits: true, ..RunOptions::default() };
    let result = run(&scenario(text), options, &mut |_| ControlFlow::Continue(()));
    let mut result = result.unwrap_or_else(|error| panic!("{error}"));
    let Some(limits) = result.recording.take().and_then(|recording| recording.limits) else {
        panic!("no limits")
    };
    // It measures, and changes nothing.
    let mut plain = simulate(text, 1);
    (plain.engine.wall_s, result.engine.wall_s) = (0.0, 0.0);
    assert_eq!(format!("{result:?}"), format!("{plain:?}"));
    limits
}

fn seconds(of: &FlowLimits) -> [f64; 7] {
    let FlowLimits { link_s, receive_window_s, loss_response_s, slow_start_s, timeouts_s, .. } = *of;
    [link_s, receive_window_s, loss_response_s, slow_start_s, timeouts_s, of.application_s, of.control_s]
}

/// The shares of the only flow's time.
fn shares(link: &str, tcp: &str, flow: &str) -> FlowLimits {
    let text = one_flow(link, tcp, flow);
    let found = limits(&text);
    let sum: f64 = seconds(&found[0]).iter().sum();
    let flow = &simulate(&text, 1).flows[0];
    // From the SYN on, and until the ACK of the FIN.
    assert!((flow.duration_s - 1e-6..flow.duration_s + 1.5).contains(&sum), "{sum} s of {}", flow.duration_s);
    let [link_s, receive_window_s, loss_response_s, slow_start_s, timeouts_s, application_s, control_s] =
        seconds(&found[0]).map(|seconds| seconds / sum);
    FlowLimits {
        flow: found[0].flow.clone(),
        link_s,
        receive_window_s,
        loss_response_s,
        slow_start_s,
        timeouts_s,
        application_s,
        control_s,
    }
}

fn lossy(probability: f64) -> String {
    format!("{GEO}queue = \"200 packets\"\nloss = {{ model = \"packet\", probability = {probability} }}")
}

#[test]
fn a_window_of_half_a_round_trip_is_the_limit() {
    for variant in ["newreno", "sack", "cubic", "bbr1"] {
        let flow = format!("variant = \"{variant}\"\nbytes = \"10 MB\"");
        let found = shares(GEO, "mss = \"960 B\"\nreceive_window = \"64 KiB\"", &flow);
        assert!(found.receive_window_s > 0.75, "{variant}: {found:?}");
        assert_eq!((found.link_s, found.loss_response_s, found.timeouts_s), (0.0, 0.0, 0.0), "{found:?}");
    }
}

#[test]
fn of_a_long_transfer_without_errors_it_is_the_link_however_that_is_computed() {
    let steps = format!("{GEO}queue = \"6000 packets\"\nschedule = [{{ at = \"9000 s\", delay = \"1 s\" }}]");
    for variant in ["newreno", "cubic"] {
        let flow = format!("variant = \"{variant}\"\nbytes = \"30 MB\"");
        let closed = shares(&format!("{GEO}queue = \"6000 packets\""), LARGE, &flow);
        assert!(closed.link_s > 0.93, "{variant}: {closed:?}");
        assert_eq!(closed, shares(&steps, LARGE, &flow));
    }
}

#[test]
fn a_link_full_of_what_others_send_is_the_limit_too() {
    let text =
        one_flow(&format!("{GEO}queue = \"100 packets\""), LARGE, "variant = \"sack\"\nbytes = \"300 MB\"");
    let both = format!(
        "duration = \"100 s\"\n{text}[flows.call]\nfrom = \"a\"\nto = \"b\"\napp = \"cbr\"\nrate = \"1900 kbit/s\"\n"
    );
    let found = limits(&both);
    assert_eq!(found.len(), 1, "a flow over UDP has none");
    assert!(found[0].link_s > 40.0, "{found:?}");
}

#[test]
fn errors_make_the_answer_to_losses_the_limit() {
    for variant in ["newreno", "sack", "cubic"] {
        let found = shares(&lossy(0.01), LARGE, &format!("variant = \"{variant}\"\nbytes = \"3 MB\""));
        assert!(found.loss_response_s > 0.5, "{variant}: {found:?}");
    }
}

#[test]
fn a_short_transfer_is_over_in_slow_start() {
    let found = shares(GEO, LARGE, "variant = \"cubic\"\nbytes = \"50 kB\"");
    assert!(found.slow_start_s > 0.7, "{found:?}");
    // The last round trip, in which there is nothing more to send.
    assert!((found.slow_start_s + found.application_s - 1.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn who_has_little_to_send_is_its_own_limit() {
    let app = "app = \"onoff\"\nrate = \"100 kbit/s\"\nduration = \"60 s\"";
    let found = shares(GEO, LARGE, app);
    assert!(found.application_s > 0.9, "{found:?}");
}

#[test]
fn heavy_losses_make_timeouts_the_limit() {
    let found = shares(&lossy(0.3), LARGE, "variant = \"tahoe\"\nbytes = \"200 kB\"");
    assert!(found.timeouts_s > 0.5, "{found:?}");
    let none = shares(GEO, LARGE, "variant = \"tahoe\"\nbytes = \"50 kB\"");
    assert_eq!(none.timeouts_s, 0.0);
}
