//! The two windows: what the receiver offers, what the sender makes of it and of cwnd.

use bentpipe_tcp::{Config, ConnectionError, Growth, GrowthGate, IdleRestart, Nagle, State};
use bentpipe_units::Span;

use crate::harness::{CLIENT, Fate, Net, Reader, SERVER, Sent, config};

fn reno() -> Config {
    config("reno")
}

/// The server's window is 4000 bytes and its application does not read; the client has 20,000 bytes.
fn stuffed(config: Config) -> Net {
    let mut net = Net::alike(Config { receive_window: 4000, ..config });
    net.readers[SERVER] = Reader::Never;
    net.open();
    net.ends[CLIENT].write(20_000);
    net.close(CLIENT);
    net.run_to(900);
    assert_eq!(net.ends[CLIENT].sender().peer_window(), 0);
    assert_eq!(net.ends[SERVER].receiver().unread(), 4000);
    net
}

fn probes(net: &Net) -> Vec<&Sent> {
    net.sent_by(CLIENT).filter(|sent| sent.passing.segment.len == 1).collect()
}

#[test]
fn a_window_shut_for_ten_seconds_is_probed_and_then_used() {
    let mut net = stuffed(reno());
    net.run_to(10_000);
    let first = net.data_by(CLIENT).iter().find(|sent| sent.passing.segment.len == 1).map_or(0.0, Sent::ms);
    // The window shut with the ACK of 300 ms: RTO 1 s later, then twice as long each time.
    let times: Vec<f64> = probes(&net).iter().map(|sent| sent.ms() - first).collect();
    assert_eq!((first, &times[..]), (1300.0, &[0.0, 2000.0, 6000.0][..]), "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().stats().timeouts, 0);
    net.readers[SERVER] = Reader::AtOnce;
    net.serve(SERVER);
    let opened = net.now;
    net.run();
    assert_eq!((net.read[SERVER], net.errors(), net.states()), (20_000, [None, None], [State::Closed; 2]));
    // The update itself gets things going, not the next probe.
    let next =
        net.data_by(CLIENT).into_iter().find(|sent| sent.at > opened).map(|sent| sent.at.since(opened));
    assert_eq!(next, Some(Span::from_millis(50)), "{}", net.trace());
}

#[test]
fn probes_go_on_for_as_long_as_they_are_answered() {
    // RFC 9293 section 3.8.6.1: "the sending TCP peer MUST allow the connection to stay open".
    let mut net = stuffed(Config { max_retransmissions: 4, ..reno() });
    net.run_to(3_600_000);
    assert_eq!(net.states(), [State::Established; 2]);
    // 1 + 2 + ... + 32 s, then one a minute.
    assert_eq!(probes(&net).len(), 6 + (3600 - 64) / 60, "{}", net.trace());
    net.readers[SERVER] = Reader::AtOnce;
    net.serve(SERVER);
    net.run();
    assert_eq!(net.read[SERVER], 20_000);
}

#[test]
fn probes_without_an_answer_end_the_connection() {
    let mut net = stuffed(Config { max_retransmissions: 4, ..reno() });
    net.set_network(|p| if p.from == SERVER { Fate::drop() } else { Fate::pass() });
    net.run();
    assert_eq!(net.errors()[CLIENT], Some(ConnectionError::TimedOut));
    assert_eq!(probes(&net).len(), 4);
}

#[test]
fn probing_does_not_slow_what_follows() {
    let mut net = stuffed(reno());
    net.run_to(20_000);
    net.readers[SERVER] = Reader::AtOnce;
    net.serve(SERVER);
    let count = net.data_by(CLIENT).len();
    net.set_network(move |p| {
        if (count + 1..count + 8).contains(&p.data_number) { Fate::drop() } else { Fate::pass() }
    });
    net.run();
    let data = net.data_by(CLIENT);
    let first = data[count].at;
    let waited = data.iter().find(|sent| sent.at > first).map(|sent| sent.at.since(first));
    // RTO is 1 s; the probes had come to 16 s.
    assert_eq!(waited, Some(Span::from_millis(1000)), "{}", net.trace());
}

#[test]
fn closing_with_discard_ends_the_probing() {
    for ms in [1000, 5000] {
        let mut net = stuffed(reno());
        net.run_to(ms);
        net.ends[CLIENT].close(true);
        net.serve(CLIENT);
        net.run_to(ms + 30_000);
        net.readers[SERVER] = Reader::AtOnce;
        net.serve(SERVER);
        net.run();
        assert_eq!((net.states(), net.errors()), ([State::Closed; 2], [None, None]), "{}", net.trace());
        assert_eq!(
            net.read[SERVER],
            if ms == 1000 { 4000 } else { 4001 },
            "the probe's byte is data\n{}",
            net.trace()
        );
    }
}

#[test]
fn an_end_that_probes_can_still_acknowledge() {
    let mut net = stuffed(reno());
    net.run_to(1400);
    assert_eq!(probes(&net).len(), 1);
    net.write(SERVER, 3000);
    net.run_to(1900);
    assert_eq!(net.read[CLIENT], 3000);
    assert!(net.ends[SERVER].sender().all_acknowledged(), "{}", net.trace());
    assert_eq!(net.ends[SERVER].sender().stats().retransmitted_segments, 0);
}

#[test]
fn the_receiver_offers_no_silly_window() {
    // RFC 9293 section 3.8.6.2.2: the right edge moves by min(buffer / 2, MSS) at least.
    let mut net = Net::alike(Config { receive_window: 4000, ..reno() });
    net.readers[SERVER] = Reader::Slow { bytes: 100, every_ms: 20 };
    let net = net.transfer(30_000);
    let edges: Vec<i64> = net
        .acks_by(SERVER)
        .iter()
        .map(|sent| net.relative(CLIENT, sent.passing.segment.ack) + i64::from(sent.passing.segment.window))
        .collect();
    let steps: Vec<i64> = edges.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step != 0).collect();
    // The last step counts FIN.
    let least = steps[..steps.len() - 1].iter().min();
    assert!(least >= Some(&1000), "{steps:?}\n{}", net.trace());
    assert!(steps.len() > 10, "{steps:?}");
}

#[test]
fn the_sender_sends_no_silly_segment() {
    // A window of 2500 bytes has room for two segments of 1000 and not for a third.
    let net = Net::alike(Config { receive_window: 2500, ..reno() }).transfer(20_500);
    let lengths: Vec<u32> = net.data_by(CLIENT).iter().map(|sent| sent.passing.segment.len).collect();
    assert_eq!(lengths[..20], [1000; 20], "{}", net.trace());
    assert_eq!(lengths[20..], [500]);
}

#[test]
fn a_window_below_one_segment_is_used_all_the_same() {
    // RFC 9293 section 3.8.6.2.1 (3): at least half of the largest window seen.
    let net = Net::alike(Config { receive_window: 300, ..reno() }).transfer(3000);
    let lengths: Vec<u32> = net.data_by(CLIENT).iter().map(|sent| sent.passing.segment.len).collect();
    assert_eq!(lengths, [300; 10], "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().stats().window_probes, 0);
}

#[test]
fn without_scaling_a_large_buffer_is_65535_bytes() {
    let config = Config { window_scaling: false, receive_window: 1_000_000, ..reno() };
    let net = Net::alike(config).transfer(400_000);
    let most = net.data_by(CLIENT).iter().map(|sent| sent.cwnd as u64).max();
    assert!(most <= Some(133_000), "cwnd grows to twice what limits it: {most:?}");
    let net = Net::alike(Config { receive_window: 1_000_000, ..reno() }).transfer(400_000);
    let largest = net.data_by(CLIENT).iter().map(|sent| sent.cwnd as u64).max();
    assert!(largest > Some(65_535), "cwnd {largest:?}");
}

/// cwnd just after each of the first round trips' ACKs, in segments.
fn growth(growth: Growth, ack_each: u32) -> Vec<f64> {
    let mut config = Config { growth, initial_window: 4, grow_only_when_limited: GrowthGate::Off, ..reno() };
    config.delayed_ack.segments = ack_each;
    let mut net = Net::alike(config);
    net.open();
    net.write(CLIENT, 200_000);
    (1..4)
        .map(|round| {
            net.run_to(100 * (round + 1));
            net.ends[CLIENT].sender().window().cwnd / 1000.0
        })
        .collect()
}

// adalr, section 3.2: slow start needs ACKs, so that long delays keep it slow
// adalr, section 4.1: a delayed ACK of two segments sends four: bursts
// sack, section 2, parts: Tahoe has slow start, congestion avoidance and fast retransmit
#[test]
fn slow_start_counts_acks_or_bytes() {
    // Every segment acknowledged: cwnd doubles each round trip however it is counted.
    for by in [Growth::PerAck, Growth::Bytes { limit: 1 }, Growth::Bytes { limit: 2 }] {
        assert_eq!(growth(by, 1), [8.0, 16.0, 32.0], "{by:?}");
    }
    // Every second one: half as many ACKs (RFC 5681), unless an ACK may count for two segments (RFC 3465).
    for by in [Growth::PerAck, Growth::Bytes { limit: 1 }] {
        assert_eq!(growth(by, 2), [6.0, 9.0, 13.0], "{by:?}");
    }
    assert_eq!(growth(Growth::Bytes { limit: 2 }, 2), [8.0, 16.0, 32.0]);
}

#[test]
fn an_ack_of_many_segments_counts_for_at_most_l() {
    for (limit, expected) in [(1, 9000.0), (2, 10_000.0), (3, 11_000.0), (10, 16_000.0)] {
        let mut config = Config { growth: Growth::Bytes { limit }, initial_window: 8, ..reno() };
        config.delayed_ack.segments = 8;
        let mut net = Net::alike(config);
        net.open();
        net.write(CLIENT, 200_000);
        net.run_to(200);
        assert_eq!(net.ends[CLIENT].sender().window().cwnd, expected, "L = {limit}");
    }
}

// adalr, section 2: four algorithms; cwnd grows exponentially, then linearly, by acknowledged bytes (profile opnet counts ACKs, which more rows agree with: of 184 that count 92 match and 68 differ, by bytes, tcp.growth, 80 and 82: docs/explanation/adalr-afc.md)
// adalr, slides, TCP congestion control algorithms: phases of cwnd, a drawing
// sack, section 2, parts: Tahoe has slow start, congestion avoidance and fast retransmit
#[test]
fn congestion_avoidance_adds_a_segment_a_round_trip() {
    // RFC 5681 equation 3, and by bytes alike when each segment is acknowledged.
    for growth in [Growth::PerAck, Growth::Bytes { limit: 1 }] {
        let config = Config { growth, initial_window: 10, initial_ssthresh: Some(10_000), ..reno() };
        let mut net = Net::alike(config);
        net.open();
        net.write(CLIENT, 10_000_000);
        net.run_to(250);
        let cwnd = net.ends[CLIENT].sender().window().cwnd;
        let expected = (1..11).fold(10_000.0, |cwnd, _| cwnd + 1e6 / cwnd);
        assert!((cwnd - expected).abs() < 1e-6, "{cwnd} {expected}");
    }
    // With delayed ACKs, equation 3 counts ACKs and so adds half of that; byte counting does not care.
    for (growth, each) in [(Growth::PerAck, 1e6), (Growth::Bytes { limit: 1 }, 2e6)] {
        let mut config = Config { growth, initial_window: 10, initial_ssthresh: Some(10_000), ..reno() };
        config.delayed_ack.segments = 2;
        let mut net = Net::alike(config);
        net.open();
        net.write(CLIENT, 10_000_000);
        net.run_to(250);
        let cwnd = net.ends[CLIENT].sender().window().cwnd;
        let expected = (1..6).fold(10_000.0, |cwnd, _| cwnd + each / cwnd);
        assert!((cwnd - expected).abs() < 1e-6, "{growth:?} {cwnd} {expected}");
    }
}

#[test]
fn cwnd_grows_only_while_it_is_what_limits() {
    let window = |grow_only_when_limited| {
        let mut net = Net::alike(Config { grow_only_when_limited, initial_window: 10, ..reno() });
        net.open();
        for turn in 0..20 {
            net.write(CLIENT, 1000);
            net.run_to(200 * (turn + 1));
        }
        net.ends[CLIENT].sender().window().cwnd
    };
    let by = [GrowthGate::Full, GrowthGate::Rfc7661, GrowthGate::Linux, GrowthGate::Off].map(window);
    // RFC 7661 knows nothing of the first round trip.
    assert_eq!(by, [10_000.0, 11_000.0, 10_000.0, 30_000.0]);
}

#[test]
fn a_receive_window_lets_cwnd_grow_to_twice_of_it() {
    // RFC 7661 section 4.3 and `tcp_is_cwnd_limited`: half of cwnd is in use. RFC 2861 and Linux 2.4: all of it.
    let most = |grow_only_when_limited, growth| {
        let config = Config { grow_only_when_limited, growth, receive_window: 20_000, ..config("rack") };
        let net = Net::alike(config).transfer(400_000);
        net.data_by(CLIENT).iter().map(|sent| (sent.cwnd / 1000.0) as u32).max()
    };
    let bytes = Growth::Bytes { limit: 1 };
    assert_eq!(most(GrowthGate::Full, bytes), Some(21));
    assert_eq!(most(GrowthGate::Linux, Growth::Delivered), Some(40));
    assert_eq!(most(GrowthGate::Rfc7661, bytes), Some(39));
    assert!(most(GrowthGate::Off, bytes) > Some(100));
}

#[test]
fn answers_that_fill_cwnd_once_open_it_for_the_next() {
    // Sixteen segments each time: the window that the first answer left is all that the second needs.
    let bursts = |grow_only_when_limited| {
        let config = Config { grow_only_when_limited, initial_window: 3, ..reno() };
        let mut net = Net::alike(config);
        net.open();
        net.run_to(100);
        let mut at_once = Vec::new();
        for turn in 0..4 {
            let before = net.data_by(CLIENT).len();
            net.write(CLIENT, 16_000);
            at_once.push(net.data_by(CLIENT).len() - before);
            net.run_to(900 * (turn + 1) + 100);
        }
        at_once
    };
    for gate in [GrowthGate::Rfc7661, GrowthGate::Linux, GrowthGate::Off] {
        let at_once = bursts(gate);
        assert!(at_once[1] >= 12 && at_once[2..] == [16, 16], "{gate:?} {at_once:?}");
    }
}

#[test]
fn a_segment_that_is_not_full_counts_as_one_in_flight() {
    // `tcp_is_cwnd_limited` counts packets: 21 in flight let cwnd grow to 42.
    let mut net = Net::alike(Config {
        grow_only_when_limited: GrowthGate::Linux,
        growth: Growth::Delivered,
        nagle: Nagle::Off,
        initial_window: 10,
        ..config("rack")
    });
    net.open();
    for turn in 0..20 {
        net.write(CLIENT, 20_300);
        net.run_to(400 * (turn + 1));
    }
    assert_eq!(net.ends[CLIENT].sender().window().cwnd, 42_000.0);
}

#[test]
fn a_burst_that_waits_is_held_back_by_cwnd() {
    // With bursts of 8 the window is never full to the last segment, and opens all the same.
    let at = |grow_only_when_limited, burst| {
        let config = Config { grow_only_when_limited, burst, receive_window: 60_000, ..config("rack") };
        Net::alike(config).transfer(600_000).now
    };
    for gate in [GrowthGate::Full, GrowthGate::Rfc7661, GrowthGate::Linux] {
        let (one, eight) = (at(gate, 1).as_secs(), at(gate, 8).as_secs());
        assert!(eight < 1.3 * one, "{gate:?} {one} {eight}");
    }
}

#[test]
fn a_pause_under_linux_halves_cwnd_for_each_rto_and_no_further_than_the_initial_window() {
    // `tcp_cwnd_restart`: and ssthresh is three quarters of what cwnd was, at least.
    let after = |restart_after_idle, idle| {
        let config =
            Config { restart_after_idle, initial_window: 3, initial_ssthresh: Some(20_000), ..reno() };
        let mut net = Net::alike(config);
        net.open();
        net.write(CLIENT, 60_000);
        net.run_to(3000);
        let before = (net.ends[CLIENT].sender().window().cwnd / 1000.0).floor();
        let last = net.data_by(CLIENT).last().map_or(0.0, Sent::ms);
        net.run_to(last as u64 + idle);
        net.write(CLIENT, 1000);
        let w = net.ends[CLIENT].sender().window();
        (before, (w.cwnd / 1000.0).floor(), w.ssthresh)
    };
    assert_eq!(after(IdleRestart::Linux, 1000), (22.0, 22.0, 20_000.0));
    assert_eq!(after(IdleRestart::Linux, 1001), (22.0, 11.0, 20_000.0));
    assert_eq!(after(IdleRestart::Linux, 2001), (22.0, 5.0, 20_000.0));
    assert_eq!(after(IdleRestart::Linux, 9001), (22.0, 3.0, 20_000.0));
    // RFC 7661 section 4.4: all for five minutes.
    assert_eq!(after(IdleRestart::Rfc7661, 300_000), (22.0, 22.0, 20_000.0));
    assert_eq!(after(IdleRestart::Rfc7661, 300_001), (22.0, 11.0, 20_000.0));
}

#[test]
fn what_was_reported_before_a_timeout_does_not_open_the_window_behind_it() {
    // Segment 21 of forty is lost four times, so that the timer runs out, and one ACK then passes over nineteen that were reported.
    let cwnds = |growth| {
        let mut lost = 0;
        let mut config = Config { growth, initial_window: 40, receive_window: 40_000, ..config("rack") };
        config.rto.min = bentpipe_units::Span::from_millis(200);
        let net = Net::alike(config).through(move |p| {
            let hit = p.from == CLIENT && p.segment.len > 0 && (p.data_number == 21 || p.again);
            lost += usize::from(hit);
            if hit && lost <= 4 { Fate::drop() } else { Fate::pass() }
        });
        let net = net.transfer(300_000);
        assert!(net.ends[CLIENT].sender().stats().timeouts > 0, "{}", net.trace());
        let again = net.data_by(CLIENT).iter().rposition(|sent| sent.passing.again);
        let after: Vec<f64> =
            net.data_by(CLIENT).iter().skip(again.unwrap_or(0)).map(|sent| sent.cwnd / 1000.0).collect();
        after
    };
    let delivered = cwnds(Growth::Delivered);
    assert!(delivered[..2] == [1.0, 2.0], "{delivered:?}");
    // RFC 3465 section 2.3: L is 1 after a timeout.
    let bytes = cwnds(Growth::Bytes { limit: 8 });
    assert!(bytes[..2] == [1.0, 2.0], "{bytes:?}");
}

#[test]
fn after_an_idle_time_of_one_rto_cwnd_is_the_restart_window() {
    // RFC 5681 section 4.1.
    let burst = |restart_after_idle, idle| {
        let mut net = Net::alike(Config { restart_after_idle, initial_window: 3, ..reno() });
        net.open();
        net.write(CLIENT, 40_000);
        net.run_to(2000);
        let cwnd = net.ends[CLIENT].sender().window().cwnd;
        assert!(cwnd > 16_000.0);
        let last = net.data_by(CLIENT).last().map_or(0.0, Sent::ms);
        net.run_to(last as u64 + idle);
        let before = net.data_by(CLIENT).len();
        net.write(CLIENT, 16_000);
        net.data_by(CLIENT).len() - before
    };
    assert_eq!(burst(IdleRestart::Rfc5681, 2000), 3);
    assert_eq!(burst(IdleRestart::Off, 2000), 16);
    // RTO is 1 s here: not longer than that is not idle.
    assert_eq!(burst(IdleRestart::Rfc5681, 1000), 16);
    assert_eq!(burst(IdleRestart::Rfc5681, 1001), 3);
}

#[test]
fn new_data_waits_for_a_burst_or_a_third_of_the_window() {
    // ACKs come a millisecond apart, and each makes room for a segment.
    let sizes = |burst: u32, window: u32| {
        let config =
            Config { burst, receive_window: window * 1000, initial_window: window, ..config("sack") };
        let mut count = 0;
        let mut net = Net::alike(config).through(move |p| {
            count += u64::from(p.from == SERVER);
            if p.from == SERVER { Fate::late(count) } else { Fate::pass() }
        });
        net.open();
        net.write(CLIENT, 60_000);
        net.run_to(1000);
        let mut bursts: Vec<(f64, u32)> = Vec::new();
        for sent in net.data_by(CLIENT) {
            match bursts.last_mut().filter(|(at, _)| *at == sent.ms()) {
                Some((_, count)) => *count += 1,
                None => bursts.push((sent.ms(), 1)),
            }
        }
        assert_eq!(net.read[SERVER], 60_000, "{}", net.trace());
        bursts.into_iter().map(|(_, count)| count).collect::<Vec<_>>()
    };
    assert!(sizes(1, 24)[1..].iter().all(|&count| count == 1));
    // 24 at first; then four at a time; the last 36 are nine such.
    assert_eq!(sizes(4, 24), [24, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
    // A third of 12 is four, fewer than eight.
    assert_eq!(sizes(8, 12)[1..11], [4; 10]);
}

#[test]
fn the_last_of_the_data_waits_for_no_burst() {
    let last = |burst: u32| {
        let config = Config { burst, receive_window: 24_000, initial_window: 24, ..config("sack") };
        let mut count = 0;
        let mut net = Net::alike(config).through(move |p| {
            count += u64::from(p.from == SERVER);
            if p.from == SERVER { Fate::late(count) } else { Fate::pass() }
        });
        net.open();
        net.write(CLIENT, 26_000);
        net.run_to(1000);
        net.data_by(CLIENT).last().map(Sent::ms)
    };
    // The second ACK makes room for all that is left: two segments.
    assert_eq!(last(8), last(1));
}
