//! Opening a connection: what the ends agree on, and what happens when a SYN goes astray.

use bentpipe_tcp::{Config, ConnectionError, Endpoint, Flags, Options, Segment, Seq, State, Timestamps};
use bentpipe_units::Time;

use crate::harness::{CLIENT, Fate, Net, Passing, SERVER, config, recovery};

fn sack() -> Config {
    config("sack")
}

/// The n-th segment with SYN of an end, from 1.
fn syn(net: &Net, end: usize, n: usize) -> (f64, Segment) {
    let sent = net.sent_by(end).filter(|sent| sent.passing.segment.flags.has(Flags::SYN)).nth(n - 1);
    let sent = sent.unwrap_or_else(|| panic!("no SYN {n}\n{}", net.trace()));
    (sent.ms(), sent.passing.segment)
}

#[test]
fn ends_use_what_both_offer() {
    for bits in 0..16 {
        let on = |bit: u32| bits >> bit & 1 == 1;
        let mut client = Config { mss: 1460, timestamps: on(0), window_scaling: on(1), ..sack() };
        let mut server = Config { mss: 1200, timestamps: on(2), window_scaling: on(3), ..sack() };
        client.sack = on(3);
        server.sack = on(0);
        server.receive_window = 1_000_000;
        let net = Net::new([client, server], [7, 9], 10).transfer(50_000);

        let (_, asked) = syn(&net, CLIENT, 1);
        assert_eq!(asked.options.mss, Some(1460));
        assert_eq!(asked.options.timestamps.is_some(), on(0));
        assert_eq!(asked.options.window_scale.is_some(), on(1));
        assert_eq!(asked.options.sack_permitted, on(3));
        let (_, answer) = syn(&net, SERVER, 1);
        assert_eq!(answer.options.mss, Some(1200));
        assert_eq!(answer.options.timestamps.is_some(), on(0) && on(2));
        // 1,000,000 >> 4 is the first that fits 16 bits; the window of a SYN itself is never scaled.
        assert_eq!(answer.options.window_scale, (on(1) && on(3)).then_some(4));
        assert_eq!(answer.options.sack_permitted, on(3) && on(0));
        assert_eq!(answer.window, 65_535);

        let data = net.data_by(CLIENT)[0].passing.segment;
        let stamped = on(0) && on(2);
        assert_eq!(data.options.timestamps.is_some(), stamped);
        assert_eq!(data.len, if stamped { 1188 } else { 1200 });
        let ack = net.acks_by(SERVER)[0].passing.segment;
        assert_eq!(ack.options.timestamps.is_some(), stamped);
        let window = if on(1) && on(3) { 62_500 } else { 65_535 };
        assert_eq!(ack.window, window);
    }
}

#[test]
fn without_an_mss_option_segments_carry_536_bytes() {
    let mut client = Endpoint::new(Config { mss: 1460, ..sack() }, Seq(100));
    client.connect();
    client.write(10_000);
    assert!(client.poll_transmit(Time::ZERO).is_some());
    let flags = Flags::SYN | Flags::ACK;
    let answer = Segment { seq: Seq(500), ack: Seq(101), window: 9000, flags, ..Segment::default() };
    client.on_segment(Time::from_nanos(1), &answer);
    let data = client.poll_transmit(Time::from_nanos(1));
    assert_eq!(data.map(|transmit| transmit.segment.len), Some(536));
}

#[test]
fn a_lost_syn_comes_again_after_rto_and_leaves_one_segment_of_initial_window() {
    let mut config = sack();
    config.initial_window = 4;
    config.rto.initial = bentpipe_units::Span::from_millis(1500);
    let net = Net::alike(config)
        .through(|p| if p.number <= 2 && p.from == CLIENT { Fate::drop() } else { Fate::pass() });
    let net = net.transfer(20_000);
    assert_eq!([syn(&net, CLIENT, 2).0, syn(&net, CLIENT, 3).0], [1500.0, 4500.0]);
    // RFC 5681 section 3.1. The handshake's time is no RTT sample: it is not known which SYN was answered.
    let first = net.data_by(CLIENT);
    assert_eq!(first.iter().filter(|sent| sent.at == first[0].at).count(), 1, "{}", net.trace());
    assert_eq!(
        net.ends[CLIENT].sender().round_trips().mean_secs().map(|rtt| (rtt * 1e3).round()),
        Some(100.0)
    );
}

#[test]
fn after_a_lost_syn_the_first_data_waits_3_s() {
    // RFC 6298 (5.7). The SYN at 0 s is lost, the one at 1 s gets through, the first data segment at 1.1 s does not.
    let net = Net::alike(sack()).through(|p| {
        let lost = p.from == CLIENT && (p.number == 1 || p.data_number == 1);
        if lost { Fate::drop() } else { Fate::pass() }
    });
    let net = net.transfer(3000);
    let data = net.data_by(CLIENT);
    assert_eq!([data[0].ms(), data[1].ms()], [1100.0, 4100.0], "{}", net.trace());
}

#[test]
fn a_lost_syn_ack_comes_again_and_is_no_sample_for_the_server() {
    let mut config = sack();
    config.initial_window = 4;
    let mut net = Net::alike(config)
        .through(|p| if p.number == 1 && p.from == SERVER { Fate::drop() } else { Fate::pass() });
    net.open();
    net.write(SERVER, 10_000);
    net.write(CLIENT, 10_000);
    net.run();
    assert_eq!(net.read, [10_000, 10_000]);
    // The client's SYN of 1 s and the server's own timer ask for it at the same moment.
    assert_eq!(syn(&net, SERVER, 2).0, 1050.0);
    for end in [CLIENT, SERVER] {
        let data = net.data_by(end);
        assert_eq!(data.iter().filter(|sent| sent.at == data[0].at).count(), 1, "{}", net.trace());
        assert_eq!(
            net.ends[end].sender().round_trips().mean_secs().map(|rtt| (rtt * 1e3).round()),
            Some(100.0)
        );
    }
}

#[test]
fn a_first_ack_that_is_lost_is_made_up_for_by_data() {
    let ack = |p: &Passing| p.from == CLIENT && p.number == 2;
    let mut net = Net::alike(sack()).through(move |p| if ack(p) { Fate::drop() } else { Fate::pass() });
    net.open();
    net.run_to(120);
    assert_eq!(net.states(), [State::Established, State::SynReceived]);
    net.write(CLIENT, 3000);
    net.run_to(200);
    assert_eq!((net.states()[SERVER], net.read[SERVER]), (State::Established, 3000));
}

#[test]
fn both_ends_may_open_at_once() {
    for lost in 0..5 {
        let mut net = Net::alike(Config { timestamps: true, ..sack() });
        net.set_network(
            move |p| if p.from == CLIENT && p.number == lost { Fate::drop() } else { Fate::pass() },
        );
        net.ends[SERVER].connect();
        net.ends[CLIENT].connect();
        net.serve(SERVER);
        net.serve(CLIENT);
        net.write(CLIENT, 5000);
        net.write(SERVER, 7000);
        net.run();
        assert_eq!(net.states(), [State::Established; 2], "{}", net.trace());
        assert_eq!(net.read, [7000, 5000], "{}", net.trace());
    }
}

#[test]
fn a_closed_end_refuses() {
    let mut net = Net::alike(sack());
    net.ends[CLIENT].connect();
    net.serve(CLIENT);
    net.run();
    assert_eq!(net.errors(), [Some(ConnectionError::Refused), None]);
    assert_eq!(net.states(), [State::Closed; 2]);
    // RFC 9293 section 3.10.7.1: sequence number zero, and the SYN acknowledged.
    let reset = net.sent_by(SERVER).map(|sent| sent.passing.segment).next().unwrap_or_default();
    assert_eq!((reset.flags, reset.seq, reset.ack), (Flags::RST | Flags::ACK, Seq(0), Seq(1001)));
    assert_eq!(net.sent.len(), 2);
}

#[test]
fn nobody_at_home_ends_after_the_retransmission_limit() {
    let mut net = Net::alike(Config { max_retransmissions: 3, ..sack() }).through(|_| Fate::drop());
    net.open();
    net.run();
    assert_eq!(net.errors(), [Some(ConnectionError::TimedOut), None]);
    let times: Vec<f64> = net.sent.iter().map(|sent| sent.ms()).collect();
    assert_eq!(times, [0.0, 1000.0, 3000.0, 7000.0]);
    assert_eq!(net.now, Time::from_nanos(15_000_000_000));
}

#[test]
fn an_answer_to_another_syn_is_reset_and_changes_nothing() {
    let mut client = Endpoint::new(sack(), Seq(100));
    client.connect();
    assert!(client.poll_transmit(Time::ZERO).is_some());
    let flags = Flags::SYN | Flags::ACK;
    let old = Segment { seq: Seq(500), ack: Seq(99), window: 9000, flags, ..Segment::default() };
    client.on_segment(Time::ZERO, &old);
    let answer = client.poll_transmit(Time::ZERO).map(|transmit| transmit.segment);
    assert_eq!(answer.map(|segment| (segment.flags, segment.seq)), Some((Flags::RST, Seq(99))));
    // A reset that acknowledges nothing of ours is nobody's (RFC 9293 section 3.10.7.3).
    client.on_segment(Time::ZERO, &Segment { flags: Flags::RST, ..Segment::default() });
    assert_eq!((client.state(), client.error()), (State::SynSent, None));
}

#[test]
fn a_listener_survives_an_old_duplicate_syn() {
    // RFC 9293 section 3.5, figure 9.
    let mut net = Net::alike(sack());
    net.ends[SERVER].listen();
    let old = Options { mss: Some(200), ..Options::default() };
    let old = Segment { seq: Seq(77), window: 100, flags: Flags::SYN, options: old, ..Segment::default() };
    net.arrive(SERVER, &old);
    assert_eq!(net.ends[SERVER].state(), State::SynReceived);
    net.arrive(SERVER, &Segment { seq: Seq(78), flags: Flags::RST, ..Segment::default() });
    assert_eq!(net.ends[SERVER].state(), State::Listen);
    assert_eq!(net.ends[SERVER].next_timeout(), Time::NEVER);
    let mut net = Net::transfer(net, 10_000);
    assert_eq!(net.data_by(CLIENT)[0].passing.segment.len, 1000);
    net.arrive(SERVER, &Segment { flags: Flags::RST, ..Segment::default() });
    assert_eq!(net.errors(), [None, None]);
}

#[test]
fn a_listener_resets_what_acknowledges_and_ignores_resets() {
    let mut server = Endpoint::new(sack(), Seq(1));
    server.listen();
    server.on_segment(Time::ZERO, &Segment { flags: Flags::RST, ..Segment::default() });
    assert_eq!(server.poll_transmit(Time::ZERO), None);
    server.on_segment(Time::ZERO, &Segment { ack: Seq(44), flags: Flags::ACK, ..Segment::default() });
    let answer = server.poll_transmit(Time::ZERO).map(|transmit| transmit.segment);
    assert_eq!(answer.map(|segment| (segment.flags, segment.seq)), Some((Flags::RST, Seq(44))));
    assert_eq!(server.state(), State::Listen);
}

#[test]
fn without_sack_at_the_peer_recovery_is_newreno() {
    let client = Config { limited_transmit: false, initial_window: 10, ..sack() };
    let server = Config { sack: false, ..client.clone() };
    let net = Net::new([client.clone(), server], [0, 0], 50).dropping(&[2, 4, 6]).transfer(30_000);
    let newreno = Config { sack: false, recovery: recovery("newreno"), ..client };
    let expected = Net::new([newreno.clone(), newreno], [0, 0], 50).dropping(&[2, 4, 6]).transfer(30_000);
    assert_eq!(net.trace(), expected.trace());
    assert_eq!(net.ends[CLIENT].sender().stats().timeouts, 0);
}

#[test]
fn timestamps_are_echoed_from_the_segment_that_was_acknowledged_last() {
    let net = Net::alike(Config { timestamps: true, ..sack() }).transfer(3000);
    let stamps = |end| net.sent_by(end).filter_map(|sent| sent.passing.segment.options.timestamps);
    let client: Vec<Timestamps> = stamps(CLIENT).collect();
    assert_eq!(client[0], Timestamps { value: 1, echo: 0 });
    // RFC 7323 section 4.3: the SYN-ACK of 50 ms answers the SYN of 0 ms.
    let server: Vec<Timestamps> = stamps(SERVER).collect();
    assert_eq!(server[0], Timestamps { value: 51, echo: 1 });
    assert_eq!(client[1], Timestamps { value: 101, echo: 51 });
    assert_eq!(server[1], Timestamps { value: 151, echo: 101 });
}

#[test]
fn text_and_fin_that_come_with_a_syn_are_taken_once_the_connection_is_open() {
    // RFC 9293 section 3.10.7.3; Linux drops them (tcp_rcv_synsent_state_process).
    for (acknowledges, fin) in [(true, false), (true, true), (false, false), (false, true)] {
        for taken in [true, false] {
            let host = if taken { bentpipe_tcp::Host::Rfc } else { bentpipe_tcp::Host::Linux };
            let mut client = Endpoint::new(Config { host, ..sack() }, Seq(100));
            client.connect();
            assert!(client.poll_transmit(Time::ZERO).is_some());
            let mut flags = if acknowledges { Flags::SYN | Flags::ACK } else { Flags::SYN };
            flags = if fin { flags | Flags::FIN } else { flags };
            let ack = if acknowledges { Seq(101) } else { Seq(0) };
            let syn = Segment { seq: Seq(7), ack, len: 30, window: 9000, flags, ..Segment::default() };
            client.on_segment(Time::ZERO, &syn);
            assert_eq!(client.receiver().delivered(), if taken && acknowledges { 30 } else { 0 });
            let answer = client.poll_transmit(Time::ZERO).unwrap().segment;
            if !acknowledges {
                assert_eq!((answer.flags, answer.ack), (Flags::SYN | Flags::ACK, Seq(8)));
                let open = Segment { seq: Seq(8), ack: Seq(101), len: 0, flags: Flags::ACK, ..syn };
                client.on_segment(Time::ZERO, &open);
            } else if taken {
                assert_eq!(answer.ack, Seq(8) + 30 + u32::from(fin));
            }
            assert_eq!(client.receiver().delivered(), if taken { 30 } else { 0 });
            let closed = if taken && fin { State::CloseWait } else { State::Established };
            assert_eq!(client.state(), closed, "{acknowledges} {fin}");
        }
    }
}
