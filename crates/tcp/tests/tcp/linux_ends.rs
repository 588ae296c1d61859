//! What an end of profile `linux` does where the RFCs leave room; each test names the function of the kernel that it holds to.

use bentpipe_tcp::{Config, DelayedAck, Flags, Nagle, Profile, Seq, State};
use bentpipe_units::Span;

use crate::harness::{CLIENT, Fate, Net, Reader, SERVER, config, control, recovery};
use crate::script::Script;

fn linux() -> Config {
    Profile::Linux.config(recovery("rack"), control("standard"))
}

/// A buffer of a fixed size.
fn fixed(window: u32) -> Config {
    Config { receive_buffer: None, receive_window: window, ..linux() }
}

fn over(config: Config, delay_ms: u64) -> Net {
    Net::new([config.clone(), config], [1000, 5_000_000], delay_ms)
}

/// When the client sent SYNs, in milliseconds.
fn syns(net: &Net) -> Vec<f64> {
    net.sent_by(CLIENT)
        .filter(|sent| sent.passing.segment.flags.has(Flags::SYN))
        .map(|sent| sent.ms())
        .collect()
}

/// Segments of the client's first flight.
fn first_flight(net: &Net) -> usize {
    let data = net.data_by(CLIENT);
    data.iter().filter(|sent| sent.at == data[0].at).count()
}

/// The server's ACKs of data: time in milliseconds and byte.
fn acks(net: &Net) -> Vec<(f64, i64)> {
    net.acks_by(SERVER)
        .iter()
        .map(|sent| (sent.ms(), net.relative(CLIENT, sent.passing.segment.ack)))
        .collect()
}

#[test]
fn the_first_four_syns_come_again_after_a_second_each() {
    // tcp_syn_linear_timeouts 4, tcp_syn_retries 6: 6 + 4 in all, each as the timer wheel has it.
    let mut net = over(linux(), 50).through(|_| Fate::drop());
    net.open();
    net.run();
    assert_eq!(
        syns(&net),
        [0.0, 1024.0, 2048.0, 3072.0, 4096.0, 5120.0, 7136.0, 11_264.0, 19_456.0, 35_584.0, 69_632.0]
    );
    // The answer to one backs off from the first, five times (tcp_synack_retries).
    let mut net = over(linux(), 50)
        .through(|p| if p.from == SERVER || p.number > 1 { Fate::drop() } else { Fate::pass() });
    net.open();
    net.run();
    let answers: Vec<f64> = net.sent_by(SERVER).map(|sent| sent.ms()).collect();
    assert_eq!(answers, [50.0, 1056.0, 3072.0, 7168.0, 15_360.0, 31_488.0]);
}

#[test]
fn one_lost_syn_leaves_the_initial_window_and_two_do_not() {
    // tcp_init_transfer: total_retrans > 1.
    for (lost, segments) in [(0, 10), (1, 10), (2, 1), (3, 1)] {
        let mut net = over(linux(), 50)
            .through(move |p| if p.from == CLIENT && p.number <= lost { Fate::drop() } else { Fate::pass() });
        net.open();
        net.run_to(4000);
        // tcp_ack_update_rtt: by the timestamp.
        let rtt = net.ends[CLIENT].sender().rtt();
        assert_eq!((rtt.samples(), rtt.latest()), (1, Some(Span::from_millis(100))), "{lost} lost");
        net.write(CLIENT, 60_000);
        net.run();
        assert_eq!(first_flight(&net), segments, "{lost} lost\n{}", net.trace());
    }
}

#[test]
fn syns_that_a_timestamp_shows_to_have_been_needless_cost_nothing() {
    // tcp_try_undo_spurious_syn. A round trip of 1.1 and of 2.3 s, and a lost SYN-ACK.
    for delay in [550, 1150] {
        let net = over(linux(), delay).transfer(60_000);
        let round_trip = Span::from_millis(2 * delay);
        assert!(syns(&net).len() > 1, "{}", net.trace());
        assert_eq!((first_flight(&net), net.ends[CLIENT].sender().rtt().min()), (10, Some(round_trip)));
        let without = over(Config { timestamps: false, ..linux() }, delay).transfer(60_000);
        assert_eq!(first_flight(&without), if delay > 1000 { 1 } else { 10 }, "{}", without.trace());
        // What RFC 5681 section 3.1 asks for.
        let rfc = Config { initial_window: 10, timestamps: true, ..config("sack") };
        assert_eq!(first_flight(&over(rfc, delay).transfer(60_000)), 1);
    }
}

#[test]
fn the_ack_of_the_handshake_goes_alone() {
    // tcp_rcv_synsent_state_process; RFC 9293 section 3.10.7.3 lets data carry it.
    let second = |config: Config| {
        let net = over(config, 50).transfer(5000);
        net.sent_by(CLIENT).nth(1).unwrap().passing.segment
    };
    let alone = second(linux());
    assert_eq!((alone.len, alone.flags), (0, Flags::ACK));
    assert!(second(config("sack")).len > 0);
}

#[test]
fn a_fixed_window_is_all_there_at_once_and_sixteen_acks_are_quick() {
    // tcp_select_initial_window, TCP_MAX_QUICKACKS.
    // What is no whole segment opens with the second that comes, when 15 are left (tcp_grow_window).
    for window in [5800 * 1448, 8 << 20] {
        let mut net = over(Config { initial_window: 60, ..fixed(window) }, 50);
        net.open();
        net.write(CLIENT, 44 * 1448);
        net.run_to(900);
        assert_eq!(acks(&net).len(), 16 + 28 / 2, "{}", net.trace());
    }
    // And the rest keeps to what is asked for.
    let eight = DelayedAck { segments: 8, ..linux().delayed_ack };
    let mut net = over(Config { initial_window: 60, delayed_ack: eight, ..fixed(370_000 * 1448) }, 50);
    net.open();
    net.write(CLIENT, 40 * 1448);
    net.run_to(900);
    assert_eq!(acks(&net).len(), 16 + 24 / 8, "{}", net.trace());
}

#[test]
fn what_comes_past_a_hole_starts_no_quick_acks_and_what_is_old_does() {
    // tcp_data_queue_ofo, tcp_data_queue.
    let acks_of_the_rest = |network: fn(&crate::harness::Passing) -> Fate| {
        let mut net = over(Config { initial_window: 40, ..fixed(1 << 20) }, 50).through(network);
        net.open();
        net.write(CLIENT, 40 * 1448);
        net.run_to(260);
        let before = acks(&net).len();
        net.write(CLIENT, 16 * 1448);
        net.run_to(1800);
        acks(&net).len() - before
    };
    let plain = acks_of_the_rest(|_| Fate::pass());
    let hole = acks_of_the_rest(|p| if p.data_number == 38 { Fate::late(1) } else { Fate::pass() });
    let old = acks_of_the_rest(|p| if p.data_number == 40 { Fate::twice(20) } else { Fate::pass() });
    assert_eq!((plain, hole, old), (8, 8, 16));
}

#[test]
fn segments_past_a_hole_share_acks() {
    // __tcp_ack_snd_check: three at once, then one a millisecond, or one for 45 segments.
    let spaced = |micros: u64, sack_compression: bool| {
        let config = Config { initial_window: 200, sack_compression, ..fixed(1 << 20) };
        let mut net = over(config, 50).through(move |p| match p.data_number {
            51 => Fate::drop(),
            n if n > 1 && n <= 201 && !p.again => {
                Fate::copies(vec![Span::from_nanos(1000 * micros * n as u64)])
            }
            _ => Fate::pass(),
        });
        net.open();
        // A SYN has room for a window of 65,535 bytes, the first ACK for more.
        net.write(CLIENT, 1448);
        net.run_to(400);
        net.write(CLIENT, 200 * 1448);
        net.run_to(548);
        acks(&net).iter().filter(|ack| ack.1 == 50 * 1448).count()
    };
    // 150 segments come past the hole in 30, 75 and 0.15 ms.
    assert_eq!(spaced(200, false), 150);
    let (dense, sparse, burst) = (spaced(200, true), spaced(500, true), spaced(1, true));
    assert!((28..=35).contains(&dense), "{dense}");
    assert!((46..=54).contains(&sparse), "{sparse}");
    assert!((6..=8).contains(&burst), "{burst}");
}

#[test]
fn blocks_beyond_the_second_do_not_share_an_ack() {
    // tcp_sack_new_ofo_skb: every second segment is lost within a millisecond, and none that came is sent again.
    let again = |lost: fn(usize) -> bool| {
        let config = Config { initial_window: 200, ..fixed(1 << 20) };
        let mut net = over(config, 50).through(move |p| match p.data_number {
            n if (50..150).contains(&n) && lost(n) && !p.again => Fate::drop(),
            _ => Fate::pass(),
        });
        net.open();
        net.write(CLIENT, 1448);
        net.run_to(400);
        net.write(CLIENT, 200 * 1448);
        net.run_to(5000);
        net.ends[CLIENT].sender().stats().retransmitted_segments
    };
    assert_eq!(again(|n| n % 2 == 0), 50);
    assert_eq!(again(|n| n % 3 == 0), 33);
}

#[test]
fn an_ack_is_delayed_by_a_round_trip_at_most() {
    // tcp_send_delayed_ack: max(SRTT, 40 ms). Single segments less than an RTO apart, so that the delay would double to 200 ms.
    let wait = |(delay, gap): (u64, u64)| {
        let mut net = over(linux(), delay);
        net.readers[SERVER] = Reader::Never;
        net.open();
        for ms in (1..30).map(|n| n * gap) {
            net.run_to(ms);
            net.write(CLIENT, 1448);
        }
        net.run_to(13_000);
        let sent = net.data_by(CLIENT).last().unwrap().ms();
        acks(&net).last().unwrap().0 - sent - delay as f64
    };
    assert_eq!([(10, 190), (53, 250), (150, 400)].map(wait), [40.0, 106.0, 200.0]);
}

#[test]
fn a_segment_with_push_is_acknowledged_when_it_is_read() {
    // tcp_measure_rcv_mss, __tcp_cleanup_rbuf.
    let waits = |reader: Reader, bytes: u64| {
        let mut net = over(fixed(4 * 1448), 50);
        net.readers[SERVER] = reader;
        net.open();
        net.write(CLIENT, 6 * 1448);
        // Less than the pause after which ACKs are quick again.
        net.run_to(400);
        net.write(CLIENT, bytes);
        net.run_to(1400);
        acks(&net).last().unwrap().0 - 450.0
    };
    // The last segment of what is written has PSH.
    assert_eq!(waits(Reader::AtOnce, 1448), 0.0);
    assert_eq!(waits(Reader::AtOnce, 500), 0.0);
}

#[test]
fn an_answer_carries_the_ack_of_what_it_answers() {
    // tcp_event_data_sent: once it has answered in time, an end waits for its application.
    let mut net = over(linux(), 50);
    net.open();
    net.run_to(200);
    for n in 0..4 {
        net.write(CLIENT, 300);
        net.run_to(250 + n * 200 + 20);
        net.write(SERVER, 500);
        net.run_to(400 + n * 200);
    }
    let alone: Vec<f64> = acks(&net).iter().map(|ack| ack.0).collect();
    assert_eq!(alone, [250.0], "{}", net.trace());
}

#[test]
fn the_ack_of_a_fin_waits_for_the_fin_of_this_end() {
    // tcp_fin, tcp_send_delayed_ack: as long as an ACK waits, which is not at all before any data came; __tcp_ack_snd_check: not where
    // more than a full segment is to be acknowledged.
    let answered = |data: &[u64], closes: bool, config: Config| {
        let mut net = over(config, 50);
        net.closes_after_peer = [false, closes];
        net.open();
        for bytes in data {
            net.run_to(300);
            net.write(CLIENT, *bytes);
        }
        if data.len() < 2 {
            net.run_to(700);
        }
        net.close(CLIENT);
        net.run_to(1500);
        let fin = net.sent_by(CLIENT).find(|sent| sent.passing.segment.flags.has(Flags::FIN)).unwrap().ms();
        let waits = |ms: f64| ms - fin - 50.0;
        net.sent_by(SERVER).map(|sent| waits(sent.ms())).find(|ms| *ms >= 0.0).unwrap()
    };
    assert_eq!((answered(&[500], true, linux()), answered(&[500], false, linux())), (0.0, 40.0));
    assert_eq!((answered(&[], true, linux()), answered(&[], false, linux())), (0.0, 0.0));
    assert_eq!(answered(&[1448, 1448], false, linux()), 0.0);
    assert_eq!(answered(&[500], false, config("sack")), 0.0);
}

#[test]
fn the_probe_of_a_lone_segment_expires_as_the_timer_wheel_has_it() {
    // tcp_schedule_loss_probe: two round trips and 200 ms, but the RTO of 260 ms at most, from 140 ms on. That is 65 ticks, of which
    // the wheel makes a multiple of 8.
    let mut script = Script::of(&Config { mss: 1000, ..linux() }, 60);
    script.wait(80);
    script.write(8);
    script.wait(60);
    for acked in 1..8 {
        script.ack(acked, &[]);
    }
    assert_eq!(script.quiet(1000)[0], (416.0, (8, true)));
}

#[test]
fn a_segment_without_timestamps_is_taken() {
    for (config, taken) in [(linux(), 100), (Config { timestamps: true, ..config("sack") }, 0)] {
        let mut net = Net::established(config);
        let stripped = bentpipe_tcp::Segment { len: 100, ..net.next_from_client() };
        net.arrive(SERVER, &stripped);
        assert_eq!(net.read[SERVER], taken);
    }
}

#[test]
fn a_syn_sent_again_offers_no_ecn() {
    // tcp_ecn_clear_syn; RFC 3168 section 6.1.1.1 leaves it open.
    for (config, again) in [(linux(), false), (config("sack"), true)] {
        let mut net = over(Config { ecn: true, ..config }, 50)
            .through(|p| if p.from == CLIENT && p.number == 1 { Fate::drop() } else { Fate::pass() });
        net.open();
        net.run_to(1500);
        let offers: Vec<bool> =
            net.sent_by(CLIENT).take(2).map(|sent| sent.passing.segment.flags.has(Flags::ECE)).collect();
        assert_eq!(offers, [true, again]);
    }
}

#[test]
fn a_read_that_doubles_the_window_is_told() {
    // __tcp_cleanup_rbuf. A window of 20 segments that 15 fill: 5 are left, and 10 are read.
    let told = |config: Config| {
        let mut net = Net::new([config.clone(), config], [1000, 5_000_000], 50);
        net.readers[SERVER] = Reader::Never;
        net.open();
        net.write(CLIENT, 15_000);
        net.run_to(1000);
        let before = acks(&net).len();
        net.ends[SERVER].read(10_000);
        net.serve(SERVER);
        net.run_to(1001);
        acks(&net).len() - before
    };
    let base =
        Config { mss: 1000, timestamps: false, receive_window: 20_000, initial_window: 20, ..config("sack") };
    assert_eq!(told(base.clone()), 0);
    assert_eq!(told(Config { host: bentpipe_tcp::Host::Linux, delayed_ack: linux().delayed_ack, ..base }), 1);
}

#[test]
fn a_reset_has_timestamps_where_they_are_agreed_on() {
    // RFC 7323 section 3.2, whatever the profile.
    for timestamps in [true, false] {
        let mut net = Net::established(Config { timestamps, ..config("sack") });
        net.ends[SERVER].abort();
        net.serve(SERVER);
        net.run();
        let reset = net.sent_by(SERVER).last().unwrap().passing.segment;
        assert!(reset.flags.has(Flags::RST));
        assert_eq!(
            reset.options.timestamps.is_some_and(|stamps| stamps.value > 1 && stamps.echo > 0),
            timestamps
        );
        assert_eq!(net.states()[CLIENT], State::Closed);
    }
}

#[test]
fn the_last_segment_of_what_is_written_has_push() {
    // RFC 9293 section 3.9.1.2, whatever the profile; in Linux the last of two that go together has it too.
    let both = [(linux(), vec![2896, 4500, 7396, 9000]), (config("sack"), vec![4500, 9000])];
    for (config, expected) in both {
        let mut net = over(config, 50);
        net.open();
        for ms in [200, 1000] {
            net.run_to(ms);
            net.write(CLIENT, 4500);
        }
        net.run_to(2000);
        let pushed: Vec<Seq> = (net.data_by(CLIENT).iter())
            .filter(|sent| sent.passing.segment.flags.has(Flags::PSH))
            .map(|sent| sent.passing.segment.end())
            .collect();
        assert_eq!(pushed.iter().map(|end| net.relative(CLIENT, *end)).collect::<Vec<_>>(), expected);
        // It does not cost the usual way of a segment: the receiver takes it as any other.
        assert_eq!(net.read[SERVER], 9000);
    }
}

#[test]
fn what_lies_below_and_what_is_held_is_reported_from_below() {
    // RFC 2883 section 4: the first duplicate sequence. Segments 1 and 3 are here, and 1 to 4 comes.
    let mut net = Net::established(Config { duplicate_sack: true, ..config("sack") });
    let next = net.next_from_client();
    let piece = |from: u32, to: u32| bentpipe_tcp::Segment { seq: next.seq + from, len: to - from, ..next };
    net.arrive(SERVER, &piece(0, 100));
    net.arrive(SERVER, &piece(200, 300));
    net.arrive(SERVER, &piece(50, 400));
    let report = net.sent_by(SERVER).last().unwrap().passing.segment.options.sack;
    let first = report.as_slice()[0];
    assert_eq!((first.start, first.end), (next.seq + 50, next.seq + 100), "{}", net.trace());
}

/// 1000 bytes every 40 ms for 2 s, segments of 1448; how many packets they take.
fn packets(nagle: Nagle) -> usize {
    let mut net = over(Config { nagle, ..linux() }, 250);
    net.open();
    for n in 0..50 {
        net.run_to(1000 + n * 40);
        net.write(CLIENT, 1000);
    }
    net.run_to(6000);
    assert_eq!(net.read[SERVER], 50_000);
    net.data_by(CLIENT).len()
}

#[test]
fn small_segments_wait_while_one_is_outstanding() {
    // RFC 896: one goes, then full ones, and a small one a round trip; tcp_minshall_check lets one go beside full ones.
    assert_eq!(packets(Nagle::Off), 50);
    let (classic, minshall) = (packets(Nagle::Classic), packets(Nagle::Minshall));
    assert!(classic <= minshall && minshall <= 40, "{classic} {minshall}");
    // A full segment and a part, at once.
    for (nagle, expected) in [(Nagle::Minshall, 1000.0), (Nagle::Off, 1000.0)] {
        let delayed_ack = DelayedAck::OFF;
        let mut net = over(Config { nagle, delayed_ack, ..linux() }, 250);
        net.open();
        net.run_to(1000);
        net.write(CLIENT, 2000);
        net.run_to(3000);
        assert_eq!(net.data_by(CLIENT).last().map(|sent| sent.ms()), Some(expected), "{nagle:?}");
    }
    // The last that there will be does not wait.
    let net = over(Config { nagle: Nagle::Classic, ..linux() }, 250).transfer(2000);
    assert_eq!(net.data_by(CLIENT).last().map(|sent| sent.ms()), Some(500.0));
}

#[test]
fn without_nagles_rule_a_write_ends_in_a_segment_of_its_own() {
    // tcp_sendmsg_locked pushes what a write leaves (tcp_push), and the next joins it only where it could not go.
    let lens = |writes: &[u64], nagle: Nagle| -> Vec<u32> {
        let mut net = over(Config { nagle, ..linux() }, 250);
        net.open();
        net.run_to(1000);
        writes.iter().for_each(|bytes| net.ends[CLIENT].write(*bytes));
        net.write(CLIENT, 0);
        net.run();
        net.data_by(CLIENT).iter().map(|sent| sent.passing.segment.len).collect()
    };
    assert_eq!(lens(&[2000, 100, 1500], Nagle::Off), [1448, 552, 100, 1448, 52]);
    // The part of the first write goes beside a full segment, that of the second waits, and the third fills it up.
    assert_eq!(lens(&[2000, 100, 1500], Nagle::Minshall), [1448, 552, 1448, 152]);
    let beyond_cwnd = lens(&[10 * 1448 + 100, 1400], Nagle::Off);
    assert_eq!(beyond_cwnd[9..], [1448, 1448, 52]);
}

#[test]
fn one_challenge_goes_out_in_half_a_second() {
    // tcp_invalid_ratelimit, for SYNs and for what has no sequence numbers; data that came before is answered each time.
    let mut net = over(fixed(40_000), 50);
    net.open();
    net.run_to(500);
    net.write(CLIENT, 100);
    net.run_to(1000);
    let next = net.next_from_client();
    let before = bentpipe_tcp::Segment { seq: next.seq - 1, len: 0, flags: Flags::ACK, ..next };
    let syn = bentpipe_tcp::Segment { flags: Flags::SYN, ..before };
    let data = bentpipe_tcp::Segment { len: 1, ..before };
    for (ms, segment, answers) in [
        (1000, syn, 1),
        (1400, before, 0),
        (1450, syn, 0),
        (1450, data, 1),
        (1504, before, 1),
        (2000, syn, 0),
    ] {
        net.run_to(ms);
        let sent = net.sent_by(SERVER).count();
        net.arrive(SERVER, &segment);
        assert_eq!(net.sent_by(SERVER).count() - sent, answers, "{ms}");
    }
}

#[test]
fn while_the_window_opens_what_comes_past_a_hole_is_answered_at_once() {
    // tcp_grow_window, tcp_in_quickack_mode; SACK compression would have one ACK for several from the fourth on.
    let answers = |tuned: bool| {
        let start = if tuned { linux() } else { fixed(8 << 20) };
        let config = Config {
            initial_window: 30,
            delayed_ack: DelayedAck { quick: 0, ..linux().delayed_ack },
            ..start
        };
        let mut net = over(config, 50).dropping(&[1]);
        net.open();
        net.write(CLIENT, 20 * 1448);
        net.run_to(240);
        acks(&net).iter().filter(|(_, ack)| *ack == 0).count()
    };
    assert!(answers(true) > answers(false), "{} and {}", answers(true), answers(false));
}
