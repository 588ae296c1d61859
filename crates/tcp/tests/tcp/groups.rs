//! Segments that leave a Linux host as one packet of several: PSH at its end.

use bentpipe_tcp::{Config, Flags, Host, Incoming, Sender, Seq};
use bentpipe_units::{Span, Time};

use crate::harness::config;

/// A sender of segments of 1000 bytes, with a window of so many and a round trip of so many ms, and which of what it sends at first have PSH.
fn pushed(host: Host, window: u32, rtt_ms: u64) -> (Sender, Vec<bool>) {
    let mut sender = Sender::new(&Config { host, initial_window: window, ..config("rack") }, Seq(0));
    sender.set_peer_window(1 << 20);
    sender.sample_handshake(Time::ZERO, Span::from_millis(rtt_ms));
    sender.write(u64::MAX);
    let flags = pushes(&mut sender, 0);
    (sender, flags)
}

fn pushes(sender: &mut Sender, ms: u64) -> Vec<bool> {
    let now = Time::ZERO + Span::from_millis(ms);
    std::iter::from_fn(|| sender.poll(now)).map(|sent| sent.flags.has(Flags::PSH)).collect()
}

#[test]
fn the_last_of_two_segments_that_go_together_has_psh_and_one_alone_has_none() {
    let (mut sender, flags) = pushed(Host::Linux, 5, 200);
    assert_eq!(flags, [false, true, false, true, false]);
    sender.on_ack(Time::ZERO + Span::from_millis(200), &Incoming::of(Seq(1000)));
    assert_eq!(pushes(&mut sender, 200), [false, true]);
}

#[test]
fn as_many_go_together_as_a_millisecond_takes_at_twice_the_window_a_round_trip() {
    // 20 segments in 10 ms, twice as fast: 4 in 1/1024 s, and 65,536 bytes halved for each of 19 times 512 µs.
    assert_eq!(pushed(Host::Linux, 20, 10).1[..8], [false, false, true, false, false, true, false, false]);
    // Half of cwnd at most.
    assert_eq!(pushed(Host::Linux, 4, 1).1, [false, true, false, true]);
}

#[test]
fn another_host_pushes_nothing_while_more_waits() {
    assert!(!pushed(Host::Rfc, 20, 10).1.contains(&true));
}
