//! A peer that lies: about what it has, what it saw, and what it wants.

use bentpipe_tcp::recovery::{Reduction, Reductions};
use bentpipe_tcp::{Flags, MOST_SMALL_RUNS, SackBlock, Segment, Seq, State, Timestamps};
use bentpipe_units::Time;

use super::*;

#[test]
fn a_fin_that_data_went_past_is_forgotten() {
    // Else the next one with its sequence number, 4 GB later, would end the connection in the midst of its data.
    let mut net = Net::established(sack());
    let first = net.next_from_client();
    answers(&mut net, SERVER, &Segment { seq: first.seq + 500, flags: Flags::ACK | Flags::FIN, ..first });
    let mut sent = 0_u64;
    while sent <= (1 << 32) + 500 {
        let len = if sent < 1 << 32 { 1 << 14 } else { 250 };
        let data = Segment { len, ..net.next_from_client() };
        answers(&mut net, SERVER, &data);
        net.ends[SERVER].read(u32::MAX);
        sent += u64::from(len);
        assert_eq!((delivered(&net.ends[SERVER]), net.ends[SERVER].state()), (sent, State::Established));
    }
}

#[test]
fn what_a_peer_sent_behind_its_fin_is_not_held() {
    let mut net = Net::established(sack());
    let first = net.next_from_client();
    answers(&mut net, SERVER, &Segment { seq: first.seq + 500, len: 100, ..first });
    answers(&mut net, SERVER, &Segment { len: 10, flags: Flags::ACK | Flags::FIN, ..first });
    assert_eq!((net.ends[SERVER].state(), delivered(&net.ends[SERVER])), (State::CloseWait, 10));
    assert!(!net.ends[SERVER].receiver().has_hole());
}

#[test]
fn an_echo_of_a_timestamp_that_was_never_sent_is_no_sample() {
    let mut net = Net::established(Config { timestamps: true, ..sack() });
    net.write(SERVER, 1000);
    let rtt = *net.ends[SERVER].sender().rtt();
    let clock = 1 + (net.now.as_nanos() / 1_000_000) as u32;
    for (bytes, echo) in
        [(1, clock + 1), (2, clock + 40_000), (3, 0), (4, clock.wrapping_sub(300)), (5, 1 << 31)]
    {
        let mut ack = Segment { ack: net.next_from_client().ack + bytes, ..net.next_from_client() };
        ack.options.timestamps = Some(Timestamps { value: clock, echo });
        answers(&mut net, SERVER, &ack);
        assert_eq!(net.ends[SERVER].sender().una(), ack.ack);
        assert_eq!(net.ends[SERVER].sender().rtt().samples(), rtt.samples(), "{echo} at {clock}");
    }
    let mut ack = Segment { ack: net.next_from_client().ack + 6, ..net.next_from_client() };
    ack.options.timestamps = Some(Timestamps { value: clock, echo: clock - 20 });
    answers(&mut net, SERVER, &ack);
    assert_eq!(net.ends[SERVER].sender().rtt().latest(), Some(bentpipe_units::Span::from_millis(20)));
}

#[test]
fn every_other_byte_is_held_up_to_a_bound() {
    let mut net = Net::established(Config { receive_window: 1 << 20, ..sack() });
    let first = net.next_from_client();
    for pair in 1..100_000 {
        answers(&mut net, SERVER, &Segment { seq: first.seq + 2 * pair, len: 1, ..first });
    }
    let receiver = net.ends[SERVER].receiver();
    assert!(receiver.has_hole());
    let most = MOST_SMALL_RUNS + (1 << 20) / 1000;
    assert!(receiver.held_runs() <= most, "{} runs", receiver.held_runs());
    // The data itself still arrives.
    while delivered(&net.ends[SERVER]) < 300_000 {
        let data = Segment { len: 1000, ..net.next_from_client() };
        answers(&mut net, SERVER, &data);
        assert!(net.ends[SERVER].receiver().nxt() > data.seq);
        net.ends[SERVER].read(u32::MAX);
    }
}

#[test]
fn a_report_of_every_other_byte_fills_the_scoreboard_up_to_a_bound() {
    let config = Config { receive_window: 1 << 20, initial_window: 200, ..sack() };
    let mut net = Net::established(config);
    net.ends[SERVER].write(200_000);
    assert_eq!(everything(&mut net, SERVER).len(), 200);
    let mut reply = net.next_from_client();
    let una = reply.ack;
    reply.window = u16::MAX;
    for pair in (1..99_000).step_by(4) {
        reply.options.sack.clear();
        for block in pair..pair + 4 {
            let start = una + 2 * block;
            reply.options.sack.push(SackBlock { start, end: start + 1 });
        }
        answers(&mut net, SERVER, &reply);
    }
    let sender = net.ends[SERVER].sender();
    assert!(sender.scoreboard_runs() >= 1024);
    let most = MOST_SMALL_RUNS + (sender.flight() / 1000) as usize;
    assert!(sender.scoreboard_runs() <= most, "{} runs", sender.scoreboard_runs());
}

#[test]
fn reductions_that_nobody_takes_do_not_pile_up() {
    let mut reductions = Reductions::default();
    let reduction = |nanos| Reduction {
        time: Time::from_nanos(nanos),
        una: Seq(0),
        below: Seq(1),
        max: Seq(1),
        marked: false,
    };
    for nanos in 0..100_000 {
        reductions.push(reduction(nanos));
    }
    let left = reductions.take();
    assert!(left.len() <= Reductions::MOST_UNTAKEN, "{}", left.len());
    assert_eq!(left.last(), Some(&reduction(99_999)));
}

/// A server that has sent its first window of 10 segments, and an ACK that acknowledges none of it.
fn sending() -> (Net, Segment) {
    let mut net = Net::established(Config { initial_window: 10, ..sack() });
    net.ends[SERVER].write(1_000_000);
    assert_eq!(everything(&mut net, SERVER).len(), 10);
    let reply = net.next_from_client();
    (net, reply)
}

#[test]
fn blocks_outside_what_was_sent_are_no_report() {
    let (mut net, mut reply) = sending();
    let (una, max) = (reply.ack, reply.ack + 10_000);
    for (start, end) in [
        (una - 500, una),
        (una - 500, una + 500),
        (max - 10, max + 10),
        (max, max + 1000),
        (una + 700, una + 700),
        (una + 900, una + 700),
        (una + (1 << 31), una + 5000),
        (una + ((1 << 31) - 1), una + ((1 << 31) + 3000)),
    ] {
        reply.options.sack.clear();
        reply.options.sack.push(SackBlock { start, end });
        assert_eq!(answers(&mut net, SERVER, &reply), []);
        assert_eq!(net.ends[SERVER].sender().scoreboard_runs(), 0, "{start:?} to {end:?}");
    }
}

#[test]
fn a_peer_that_reports_everything_and_acknowledges_nothing_gets_it_again() {
    // RFC 2018 section 5: "The data sender MUST retransmit the segment at the left edge of the window after a retransmit
    // timeout, whether or not the SACKed bit is on for that segment."
    let (mut net, mut reply) = sending();
    let una = reply.ack;
    for _ in 0..10 {
        reply.options.sack.clear();
        reply.options.sack.push(SackBlock { start: una, end: net.ends[SERVER].sender().max() });
        answers(&mut net, SERVER, &reply);
    }
    net.now = net.ends[SERVER].next_timeout();
    let now = net.now;
    net.ends[SERVER].on_timeout(now);
    let again = everything(&mut net, SERVER);
    assert_eq!((again[0].seq, again[0].len), (una, 1000));
}

#[test]
fn a_peer_that_acknowledges_nothing_costs_a_bounded_number_of_segments() {
    let (mut net, _) = sending();
    let mut segments = 0;
    while net.ends[SERVER].state() != State::Closed {
        net.now = net.ends[SERVER].next_timeout();
        let now = net.now;
        net.ends[SERVER].on_timeout(now);
        segments += everything(&mut net, SERVER).len();
    }
    assert_eq!((segments, net.ends[SERVER].error()), (15, Some(bentpipe_tcp::ConnectionError::TimedOut)));
}

#[test]
fn split_and_optimistic_acks_open_the_window_by_no_more_than_was_sent() {
    // RFC 5681 section 3.1: growth by bytes "provides robustness against misbehaving receivers that may attempt to induce a
    // sender to artificially inflate cwnd using a mechanism known as 'ACK Division'".
    let (mut net, mut reply) = sending();
    let cwnd = net.ends[SERVER].sender().window().cwnd;
    for _ in 0..1000 {
        reply.ack += 1;
        answers(&mut net, SERVER, &reply);
    }
    let grown = net.ends[SERVER].sender().window().cwnd - cwnd;
    assert!(grown <= 1000.0, "{grown} bytes for 1000 bytes acknowledged");
    // What was never sent is not acknowledged by whoever says so.
    let sender = net.ends[SERVER].sender();
    let (una, max, cwnd) = (sender.una(), sender.max(), sender.window().cwnd);
    answers(&mut net, SERVER, &Segment { ack: max + 1, ..reply });
    let sender = net.ends[SERVER].sender();
    assert_eq!((sender.una(), sender.window().cwnd), (una, cwnd));
}

#[test]
fn a_window_that_shrinks_stops_new_data_and_not_the_repair_of_old() {
    // RFC 9293 section 3.8.6: "the sender SHOULD NOT send new data [...], but SHOULD retransmit normally the old
    // unacknowledged data between SND.UNA and SND.UNA+SND.WND".
    for window in [0, 1, 500, 2500] {
        let (mut net, reply) = sending();
        let max = net.ends[SERVER].sender().max();
        assert_eq!(answers(&mut net, SERVER, &Segment { window, ..reply }), []);
        net.now = net.ends[SERVER].next_timeout();
        let now = net.now;
        net.ends[SERVER].on_timeout(now);
        let again = everything(&mut net, SERVER);
        assert_eq!((again[0].seq, net.ends[SERVER].sender().max()), (reply.ack, max), "{window}");
        let open = Segment { ack: max, window: 30_000, ..reply };
        assert!(answers(&mut net, SERVER, &open).iter().all(|sent| sent.seq >= max));
        assert!(net.ends[SERVER].sender().max() > max);
    }
}
