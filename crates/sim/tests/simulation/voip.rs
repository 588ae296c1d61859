//! Telephone calls: what is sent, what the listener loses of it, and how good the E-model says that this is.

use bentpipe_sim::{CallResult, RunResult};

use crate::simulate;

/// A call over a link with these keys, and what else is in the scenario.
fn call(link: &str, keys: &str, rest: &str, seed: u64) -> RunResult {
    let link = format!("[links.path]\nfrom = \"a\"\nto = \"b\"\n{link}\n");
    let flow = format!("[flows.call]\nfrom = \"a\"\nto = \"b\"\napp = \"voip\"\n{keys}\n");
    simulate(&format!("title = \"test\"\n{link}{flow}{rest}"), seed)
}

fn heard(result: &RunResult) -> &CallResult {
    assert_eq!(result.users.calls.len(), 1);
    &result.users.calls[0]
}

fn assert_near(found: Option<f64>, expected: f64, within: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < within), "{found:?}, expected {expected}");
}

/// One way takes 280 ms; a packet of 200 B takes 0.16 ms more.
const GEO: &str = "rate = \"10 Mbit/s\"\ndelay = \"280 ms\"";

const MINUTE: &str = "silence_suppression = false\nduration = \"60 s\"\n";

#[test]
fn a_call_over_geo_is_late_and_whole() {
    let result = call(GEO, &format!("{MINUTE}jitter_buffer = \"0 s\""), "", 1);
    let call = heard(&result);
    assert_eq!((call.packets_sent, call.packets_lost, call.packets_late), (3000, 0, 0));
    assert_eq!((call.loss, call.burst_ratio), (Some(0.0), None));
    assert_near(call.mouth_to_ear_s, 0.300_16, 1e-9);
    // Idd of 300.16 ms: x = lg 3.0016 / lg 2 = 1.5857.
    assert_near(call.rating, 93.2 - 14.778, 0.001);
    assert_near(call.mos, 3.963, 0.001);
    // 160 B of speech and RTP's 12 B.
    assert_eq!((result.flows[0].bytes_delivered, result.flows[0].datagrams_sent), (3000 * 172, 3000));
}

#[test]
fn a_short_way_has_the_highest_rating() {
    let result = call("rate = \"10 Mbit/s\"\ndelay = \"5 ms\"", MINUTE, "", 1);
    assert_near(heard(&result).rating, 93.2, 1e-9);
    assert_near(heard(&result).mos, 4.41, 0.005);
}

#[test]
fn what_a_link_loses_costs_by_the_codec() {
    let lossy = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nloss = { model = \"packet\", probability = 0.1 }";
    let keys = "silence_suppression = false\nduration = \"1000 s\"\n";
    for (own, robustness) in [("concealment = false", 4.3), ("", 25.1), ("codec = \"opus\"", 19.0)] {
        let result = call(lossy, &format!("{keys}{own}"), "", 1);
        let found = heard(&result);
        assert_near(found.loss, 0.1, 0.005);
        assert_near(found.burst_ratio, 1.0, 0.03);
        let percent = 100.0 * found.loss.unwrap_or_default();
        let bursts = found.burst_ratio.unwrap_or_default().max(1.0);
        assert_near(found.rating, 93.2 - 95.0 * percent / (percent / bursts + robustness), 1e-9);
    }
}

#[test]
fn losses_in_bursts_cost_more() {
    let link = |loss: &str| format!("rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nloss = {{ {loss} }}");
    let keys = "silence_suppression = false\nduration = \"1000 s\"\nconcealment = false\n";
    let bursts = "model = \"gilbert-elliott\", good_to_bad = 0.01, bad_to_good = 0.2";
    let single = call(&link("model = \"packet\", probability = 0.05"), keys, "", 1);
    let bursts = call(&link(bursts), keys, "", 1);
    let [single, bursts] = [&single, &bursts].map(heard);
    assert_near(bursts.loss, 0.05, 0.01);
    assert!(bursts.burst_ratio > Some(3.0), "{bursts:?}");
    assert!(bursts.rating < single.rating.map(|rating| rating - 20.0), "{bursts:?}, {single:?}");
}

#[test]
fn opus_sends_its_bit_rate() {
    let result = call(GEO, &format!("{MINUTE}codec = \"opus\"\nbit_rate = \"32 kbit/s\""), "", 1);
    // 80 B and 12 B; the coder looks 6.5 ms ahead.
    assert_eq!(result.flows[0].bytes_delivered, 3000 * 92);
    assert_near(heard(&result).mouth_to_ear_s, 0.02 + 0.0065 + 0.28 + 120.0 * 8e-7 + 0.06, 1e-9);
}

/// A download's queue makes packets wait for longer than the buffer holds the first one.
#[test]
fn what_waits_behind_a_download_is_late() {
    let link = "rate = \"1 Mbit/s\"\ndelay = \"50 ms\"\nqueue = \"100 packets\"";
    let download = "[flows.file]\nfrom = \"a\"\nto = \"b\"\nstart = \"10 s\"\nduration = \"40 s\"\n";
    let result = call(link, MINUTE, download, 1);
    let found = heard(&result);
    assert!(found.packets_late > 500 && found.mos < Some(3.0), "{found:?}");
    let patient = call(link, &format!("{MINUTE}jitter_buffer = \"2 s\""), download, 1);
    assert_eq!(heard(&patient).packets_late, 0);
    assert!(heard(&patient).mouth_to_ear_s > Some(2.0));
}

#[test]
fn the_same_seed_has_the_same_spurts() {
    let run = |seed| heard(&call(GEO, "duration = \"600 s\"", "", seed)).packets_sent;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    // Speech is 39 % of a call.
    let share = run(1) as f64 / 30_000.0;
    assert!((share - 0.395).abs() < 0.05, "{share}");
}

#[test]
fn a_call_of_which_nothing_comes_has_no_rating() {
    let link = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nloss = { model = \"packet\", probability = 1.0 }";
    let result = call(link, MINUTE, "", 1);
    let found = heard(&result);
    assert_eq!((found.packets_lost, found.loss), (3000, Some(1.0)));
    assert_eq!((found.mouth_to_ear_s, found.rating, found.mos), (None, None, None));
}
