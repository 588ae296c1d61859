//! Links that repair their losses, under TCP.

use bentpipe_sim::RunResult;

use crate::{one_flow, simulate};

/// A download over a GEO satellite.
fn geo(loss: &str, repair: &str, variant: &str) -> RunResult {
    let link = format!(
        "rate = \"2.048 Mbit/s\"\ndelay = \"260 ms\"\nqueue = \"200 packets\"\nloss = {loss}\n{repair}"
    );
    let flow = format!("variant = \"{variant}\"\nbytes = \"1 MB\"");
    let result = simulate(&one_flow(&link, "receive_window = \"32 KiB\"", &flow), 1);
    assert_eq!(result.flows[0].bytes_delivered, 1_000_000);
    result
}

/// Timeouts, segments that were resent, and packets that the link did not repair, when one frame is lost so often in a row.
fn lost_in_a_row(times: usize, repair: &str, variant: &str) -> (u64, u64, u64) {
    // The frame's own retransmissions come as 422 and 423, since the window is spent meanwhile.
    let frames = &[400, 422, 423][..times];
    let result = geo(&format!("{{ model = \"drop\", packets = {frames:?} }}"), repair, variant);
    let (flow, link) = (&result.flows[0], &result.links[0].stats);
    assert_eq!(link.dropped_packets, 0);
    (flow.timeouts.unwrap(), flow.retransmitted_segments, link.corrupted_packets)
}

const PERSISTENT: &str = "arq = { attempts = \"unlimited\" }";
const TWICE: &str = "arq = { attempts = 2 }";

#[test]
fn one_more_attempt_over_geo_is_seen_by_nobody_and_two_make_the_timer_expire_for_nothing() {
    assert_eq!(lost_in_a_row(1, "", "newreno"), (0, 1, 1));
    for repair in [TWICE, PERSISTENT] {
        assert_eq!(lost_in_a_row(1, repair, "newreno"), (0, 0, 0));
    }
    // Nothing is lost, and a window of 22 segments is resent.
    for times in [2, 3] {
        assert_eq!(lost_in_a_row(times, PERSISTENT, "newreno"), (1, 21, 0));
    }
    // The time of TCP's own repair is over when the link gives up.
    let (timeouts, resent, lost) = lost_in_a_row(2, TWICE, "newreno");
    assert!(timeouts == 1 && resent <= 2 && lost == 1, "{timeouts} {resent} {lost}");
    // RACK waits for no timer.
    assert_eq!(lost_in_a_row(2, PERSISTENT, "cubic"), (0, 1, 0));
    assert_eq!(lost_in_a_row(2, TWICE, "cubic"), (0, 1, 1));
}

const MANY: &str = "{ model = \"packet\", probability = 0.05 }";

#[test]
fn tcp_takes_late_packets_for_lost_unless_the_link_keeps_their_order() {
    let seen = |repair: &str| {
        let result = geo(MANY, repair, "newreno");
        (result.flows[0].retransmitted_segments, result.flows[0].finish_s.unwrap())
    };
    let disorder = seen("arq = { attempts = \"unlimited\", in_order = false }");
    let order = seen(PERSISTENT);
    let parity = seen("fec = { model = \"packets\", data = 20, parity = 6 }");
    assert!(disorder.0 > 20 && order.0 <= 21 && parity.0 == 0, "{disorder:?} {order:?} {parity:?}");
    assert!(disorder.1 > 2.0 * order.1 && order.1 > parity.1, "{disorder:?} {order:?} {parity:?}");
}

#[test]
fn random_losses_that_the_link_repairs_are_none_to_the_flow() {
    let plain = geo(MANY, "", "sack");
    assert!(plain.flows[0].losses.random > 10, "{:?}", plain.flows[0].losses);
    let repaired = geo(MANY, PERSISTENT, "sack");
    assert_eq!(repaired.flows[0].losses.random, 0);
    let [link, back] = [0, 1].map(|link| repaired.links[link].stats);
    let repair = link.repair.unwrap();
    assert!(repair.retransmitted_frames > 20 && repair.parity_frames == 0, "{repair:?}");
    assert!(
        repair.recovered_packets <= repair.retransmitted_frames && link.corrupted_packets == 0,
        "{repair:?}"
    );
    assert_eq!(back.repair, None);
}
