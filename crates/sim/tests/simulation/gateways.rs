//! Gateways, handovers and on/off writes in whole runs. Debug builds check that no gateway raises a window.

use std::cell::RefCell;
use std::io;
use std::ops::ControlFlow;
use std::rc::Rc;

use bentpipe_drive::pcap::Output;
use bentpipe_sim::{CaptureOptions, RunOptions, RunResult, run, scenario};

use crate::simulate;

const XFWA: &str = r#"{ scheme = "xfwa", isl_delay = "20 ms", packet = "1000 B" }"#;

/// Flows over the LEO chain, whose middle link is guarded.
fn chain(gateway: &str, queue: &str, flows: &str) -> String {
    format!(
        "extends = \"preset:leo-t1\"\ntcp.ecn = true\ntitle = \"chain\"\n[links.isl1]\nqueue = {queue}\ngateway = {gateway}\n{flows}\n"
    )
}

fn flow(name: &str, keys: &str) -> String {
    format!("[flows.{name}]\nfrom = \"source\"\nto = \"destination\"\n{keys}\n")
}

/// One flow has the whole pipe: 1.5 Mbit/s times 160 ms, and a buffer of 30 packets of 1000 bytes. That the round-trip time is
/// right says that the TTLs of both directions are.
#[test]
fn one_flow_is_given_the_pipe_and_the_buffer() {
    let result = simulate(&chain(XFWA, r#""30 packets""#, &flow("f", "bytes = \"2 MB\"")), 1);
    let gateway = &result.gateways[0];
    assert_eq!((gateway.scheme.as_str(), gateway.stats.flows_max), ("xfwa", 1));
    // 60 packets, of which each has 960 bytes of data: 30 in the pipe, 30 in the buffer.
    assert_eq!(gateway.stats.window_mean_bytes, 57_600.0);
    assert!(gateway.stats.windows_lowered > 1000);
    assert_eq!(result.links[2].stats.dropped_packets, 0);
}

/// Groups over 3, 5, 7 and 9 satellites: shares alike with the gateway, far apart without.
#[test]
fn flows_of_different_round_trip_times_share_alike() {
    let text = |gateway: &str| {
        let mut text =
            format!("extends = \"preset:leo-groups\"\nduration = \"60 s\"\n[links.isl4]\n{gateway}\n");
        for group in 1..=4 {
            text += &format!(
                "[flows.g{group}-]\nfrom = \"source{group}\"\nto = \"destination{group}\"\ncount = 2\nvariant = \"newreno\"\n"
            );
        }
        text
    };
    let guarded = simulate(&text(&format!("gateway = {XFWA}")), 1);
    let open = simulate(&text("rate = \"1.5 Mbit/s\""), 1);
    assert!(guarded.jain > Some(0.97), "{:?}", guarded.jain);
    assert!(open.jain < Some(0.93), "{:?}", open.jain);
}

/// A capture in memory.
#[derive(Clone, Debug, Default)]
struct Memory(Rc<RefCell<Vec<u8>>>);

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Memory {
    fn has_room(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn captures_show_the_lowered_window_that_the_host_receives() {
    let text = chain(XFWA, r#""30 packets""#, &flow("f", "bytes = \"300 kB\""));
    let scenario = scenario::parse_str("test.toml", &text, &[]).unwrap();
    let memory = Memory::default();
    let capture = Some(CaptureOptions { output: Box::new(memory.clone()), limit: None, snap: None });
    let options = RunOptions { capture, ..RunOptions::default() };
    let result = run(&scenario, options, &mut |_| ControlFlow::Continue(())).unwrap();
    let capture = memory.0.borrow();
    // An ACK without options: offset 5, the flag, the window.
    let header = [0x50, 0x10, 0xe1, 0x00];
    let seen = capture.windows(4).filter(|bytes| **bytes == header).count() as u64;
    let lowered = result.gateways[0].stats.windows_lowered;
    assert!(lowered > 200 && seen.abs_diff(lowered) <= 2, "{seen} of {lowered}");
}

/// A gateway on the reverse direction, before a host, and on both directions of one link.
#[test]
fn a_gateway_may_guard_any_direction_and_stand_at_a_host() {
    for (link, direction) in [("uplink", ""), ("downlink", ".reverse"), ("isl2", ".reverse")] {
        let gateway = format!("[links.{link}{direction}]\ngateway = {XFWA}\n");
        let up = flow("up", "bytes = \"500 kB\"");
        let down = "[flows.down]\nfrom = \"destination\"\nto = \"source\"\nbytes = \"500 kB\"\n";
        let both = simulate(&chain(XFWA, r#""30 packets""#, &format!("{gateway}{up}{down}")), 1);
        assert!(both.flows.iter().all(|flow| flow.bytes_delivered == 500_000));
        assert_eq!(both.gateways.len(), 2);
        // Every segment that one end sent or received passed each gateway.
        for gateway in &both.gateways {
            assert!(gateway.stats.segments_forward > 500 && gateway.stats.segments_backward > 500);
        }
    }
}

const TWO_WAYS: &str = r#"
    title = "two ways"
    [links.near]
    from = "a"
    to = "x"
    rate = "10 Mbit/s"
    delay = "5 ms"
    [links.north]
    from = "x"
    to = "y"
    rate = "2 Mbit/s"
    delay = "40 ms"
    queue = "30 packets"
    [links.south]
    from = "x"
    to = "y"
    rate = "2 Mbit/s"
    delay = "20 ms"
    queue = "30 packets"
    [links.far]
    from = "y"
    to = "b"
    rate = "10 Mbit/s"
    delay = "5 ms"
    [flows.f]
    from = "a"
    to = "b"
    bytes = "2 MB"
"#;

fn packets(result: &RunResult, link: &str) -> u64 {
    result.links.iter().find(|of| of.name == link).map_or(0, |of| of.stats.delivered_packets)
}

#[test]
fn a_flow_takes_the_links_that_it_asks_for() {
    let free = simulate(TWO_WAYS, 1);
    assert!(packets(&free, "south") > 1000 && packets(&free, "north") == 0);
    let north = simulate(&format!("{TWO_WAYS}\nvia = [\"north\"]"), 1);
    assert!(packets(&north, "north") > 1000 && packets(&north, "south") == 0);
    assert!(packets(&north, "north/reverse") > 500 && packets(&north, "south/reverse") == 0);
    // There, back, and there again.
    let thrice = simulate(&format!("{TWO_WAYS}\nvia = [\"north\", \"south\", \"north\"]"), 1);
    assert_eq!(packets(&thrice, "north"), 2 * packets(&thrice, "south/reverse"));
    assert_eq!(thrice.flows[0].bytes_delivered, 2_000_000);
}

#[test]
fn after_a_handover_packets_take_the_new_way() {
    for (in_flight, lose) in [("deliver", false), ("lose", true)] {
        let handovers = |at: &str, via: &str| {
            format!(
                "[handovers.h]\nat = \"{at}\"\nflows = [\"*\"]\nvia = {via}\nin_flight = \"{in_flight}\"\n"
            )
        };
        let moved = simulate(&format!("{TWO_WAYS}{}", handovers("3 s", "[\"north\"]")), 1);
        assert!(packets(&moved, "south") > 300 && packets(&moved, "north") > 300, "{moved:?}");
        let sent = 3.1 * 2e6 / 8.0 / 1500.0;
        assert!((packets(&moved, "south") as f64) < sent, "{}", packets(&moved, "south"));
        let flow = &moved.flows[0];
        assert_eq!((flow.bytes_delivered, flow.finish_s.is_some()), (2_000_000, true));
        let handover = &moved.handovers[0];
        assert_eq!((handover.name.as_str(), handover.flows, handover.at_s), ("h", 1, 3.0));
        // Of a window under way, all that was on the link is lost; on the others nothing.
        assert_eq!(handover.lost_packets > 5, lose, "{}", handover.lost_packets);
        // The same way again: nothing is left, so nothing is lost.
        let stayed = simulate(&format!("{TWO_WAYS}{}", handovers("3 s", "[\"south\"]")), 1);
        assert_eq!(stayed.handovers[0].lost_packets, 0);
        let without = simulate(TWO_WAYS, 1);
        assert_eq!(stayed.flows[0].finish_s, without.flows[0].finish_s);
    }
}

#[test]
fn copies_of_a_flow_are_handed_over_to_links_of_their_own_number() {
    let ways = TWO_WAYS.replace("links.north", "links.way0").replace("links.south", "links.way1");
    let handover = "count = 2\n[handovers.h]\nat = \"3 s\"\nflows = [\"f*\"]\nvia = [\"way{i}\"]\n";
    let result = simulate(&format!("{ways}{handover}"), 1);
    // Before it both took the southern way, which is the shorter.
    assert!(packets(&result, "way0") > 900 && packets(&result, "way1") > 900, "{result:?}");
    assert!(result.flows.iter().all(|flow| flow.bytes_delivered == 2_000_000));
}

#[test]
fn packets_that_arrive_late_over_the_old_way_are_not_lost() {
    // The new way is faster: what is sent on it overtakes.
    let text = format!(
        "{TWO_WAYS}\nvia = [\"north\"]\n[handovers.h]\nat = \"3 s\"\nflows = [\"f\"]\nvia = [\"south\"]\n"
    );
    let result = simulate(&text, 1);
    assert_eq!(result.handovers[0].lost_packets, 0);
    assert_eq!(result.flows[0].bytes_delivered, 2_000_000);
}

#[test]
fn on_off_writes_have_the_rate_of_their_on_periods_and_close_in_order() {
    let keys = "app = \"onoff\"\nrate = \"400 kbit/s\"\nshape = 2.5\nduration = \"400 s\"";
    let outcome = |flows: &str, seed| {
        let mut result = simulate(&chain(XFWA, r#""30 packets""#, flows), seed);
        result.flows.swap_remove(0)
    };
    let web = outcome(&flow("web", keys), 1);
    assert!((web.goodput_bps - 200e3).abs() < 15e3, "{}", web.goodput_bps);
    assert!(web.finish_s.is_some() && web.bytes_delivered.is_multiple_of(1000));
    assert_ne!(outcome(&flow("web", keys), 2).bytes_delivered, web.bytes_delivered);
    // Another flow beside it changes nothing of what it writes.
    let beside = flow("web", keys) + &flow("ftp", "bytes = \"100 kB\"\nstart = \"30 s\"");
    assert_eq!(outcome(&beside, 1).bytes_delivered, web.bytes_delivered);
}

#[test]
fn thousands_of_flows_pass_one_gateway() {
    let text = r#"
        duration = "1 s"
        [links.satellite]
        from = "a"
        to = "b"
        rate = "500 Mbit/s"
        delay = "20 ms"
        queue = "1000 packets"
        gateway = { scheme = "xfwa", isl_delay = "20 ms", max_flows = 2000 }
        [tcp]
        profile = "ns2"
        [flows.f]
        from = "a"
        to = "b"
        count = 5000
        start_step = "50 us"
    "#;
    let result = simulate(text, 1);
    let gateway = &result.gateways[0].stats;
    assert_eq!(gateway.flows_max, 2000);
    assert!(gateway.evicted >= 3000, "{}", gateway.evicted);
    assert!(result.links[0].stats.utilization > 0.5, "{}", result.links[0].stats.utilization);
}
