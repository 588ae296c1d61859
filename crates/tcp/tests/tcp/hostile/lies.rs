//! A peer that lies: about what it has, what it saw, and what it wants.

use bentpipe_tcp::recovery::{Reduction, Reductions};
use bentpipe_tcp::{Flags, MOST_SMALL_RUNS, SackBlock, Segment, Seq, State, Timestamps};
use bentpipe_units::Time;

use super::*;

#[test]
fn a_fin_that_data_went_past_is_forgotten() {
    // Else the next one with its sequence number, 4 GB later, would end the connection in the midst of its data.
    let mut net = open(sack());
    let first = next(&net);
    answers(&mut net, SERVER, &Segment { seq: first.seq + 500, flags: Flags::ACK | Flags::FIN, ..first });
    let mut sent = 0_u64;
    while sent <= (1 << 32) + 500 {
        let len = if sent < 1 << 32 { 1 << 14 } else { 250 };
        let data = Segment { len, ..next(&net) };
        answers(&mut net, SERVER, &data);
        net.ends[SERVER].read(u32::MAX);
        sent += u64::from(len);
        assert_eq!((delivered(&net.ends[SERVER]), net.ends[SERVER].state()), (sent, State::Established));
    }
}

#[test]
fn what_a_peer_sent_behind_its_fin_is_not_held() {
    let mut net = open(sack());
    let first = next(&net);
    answers(&mut net, SERVER, &Segment { seq: first.seq + 500, len: 100, ..first });
    answers(&mut net, SERVER, &Segment { len: 10, flags: Flags::ACK | Flags::FIN, ..first });
    assert_eq!((net.ends[SERVER].state(), delivered(&net.ends[SERVER])), (State::CloseWait, 10));
    assert!(!net.ends[SERVER].receiver().has_hole());
}

#[test]
fn an_echo_of_a_timestamp_that_was_never_sent_is_no_sample() {
    let mut net = open(Config { timestamps: true, ..sack() });
    net.write(SERVER, 1000);
    let rtt = *net.ends[SERVER].sender().rtt();
    let clock = 1 + (net.now.as_nanos() / 1_000_000) as u32;
    for (bytes, echo) in
        [(1, clock + 1), (2, clock + 40_000), (3, 0), (4, clock.wrapping_sub(300)), (5, 1 << 31)]
    {
        let mut ack = Segment { ack: next(&net).ack + bytes, ..next(&net) };
        ack.options.timestamps = Some(Timestamps { value: clock, echo });
        answers(&mut net, SERVER, &ack);
        assert_eq!(net.ends[SERVER].sender().una(), ack.ack);
        assert_eq!(net.ends[SERVER].sender().rtt().samples(), rtt.samples(), "{echo} at {clock}");
    }
    let mut ack = Segment { ack: next(&net).ack + 6, ..next(&net) };
    ack.options.timestamps = Some(Timestamps { value: clock, echo: clock - 20 });
    answers(&mut net, SERVER, &ack);
    assert_eq!(net.ends[SERVER].sender().rtt().latest(), Some(bentpipe_units::Span::from_millis(20)));
}

#[test]
fn every_other_byte_is_held_up_to_a_bound() {
    let mut net = open(Config { receive_window: 1 << 20, ..sack() });
    let first = next(&net);
    for pair in 1..100_000 {
        answers(&mut net, SERVER, &Segment { seq: first.seq + 2 * pair, len: 1, ..first });
    }
    let receiver = net.ends[SERVER].receiver();
    assert!(receiver.has_hole());
    let most = MOST_SMALL_RUNS + (1 << 20) / 1000;
    assert!(receiver.held_runs() <= most, "{} runs", receiver.held_runs());
    // The data itself still arrives.
    while delivered(&net.ends[SERVER]) < 300_000 {
        let data = Segment { len: 1000, ..next(&net) };
        answers(&mut net, SERVER, &data);
        assert!(net.ends[SERVER].receiver().nxt() > data.seq);
        net.ends[SERVER].read(u32::MAX);
    }
}

#[test]
fn a_report_of_every_other_byte_fills_the_scoreboard_up_to_a_bound() {
    let config = Config { receive_window: 1 << 20, initial_window: 200, ..sack() };
    let mut net = open(config);
    net.ends[SERVER].write(200_000);
    assert_eq!(everything(&mut net, SERVER).len(), 200);
    let mut reply = next(&net);
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
