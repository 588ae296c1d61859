//! Closing a connection, and what does not belong to one.

use bentpipe_tcp::{Config, ConnectionError, Flags, Segment, Seq, State, Timestamps};
use bentpipe_units::Span;

use crate::harness::{CLIENT, Fate, Net, Passing, Reader, SERVER, config};

fn reno() -> Config {
    config("reno")
}

/// Hands `segment` to the server and returns what it answers.
fn answers(net: &mut Net, segment: &Segment) -> Vec<Segment> {
    let before = net.sent.len();
    net.arrive(SERVER, segment);
    net.sent[before..].iter().map(|sent| sent.passing.segment).collect()
}

#[test]
fn one_end_after_the_other() {
    let mut net = Net::established(reno());
    net.close(CLIENT);
    assert_eq!(net.states(), [State::FinWait1, State::Established]);
    net.run();
    assert_eq!(net.states(), [State::FinWait2, State::CloseWait]);
    // Half closed: the server may go on for as long as it likes.
    net.write(SERVER, 25_000);
    net.run();
    assert_eq!(net.read, [25_000, 0]);
    assert_eq!(net.states(), [State::FinWait2, State::CloseWait]);
    let start = net.now;
    net.close(SERVER);
    assert_eq!(net.states(), [State::FinWait2, State::LastAck]);
    net.run_to((start.as_secs() * 1000.0) as u64 + 100);
    assert_eq!(net.states(), [State::TimeWait, State::Closed]);
    net.run();
    assert_eq!(net.states(), [State::Closed; 2]);
    // The FIN arrived after 50 ms, TIME-WAIT is 1 s here.
    assert_eq!(net.now.since(start), Span::from_millis(1050));
    assert_eq!(net.errors(), [None, None]);
}

/// RFC 9293 section 3.10.5: ABORT, with data on its way in either direction.
#[test]
fn an_end_that_breaks_off_resets_the_other() {
    for lost in [false, true] {
        let mut net = Net::established(reno());
        net.write(CLIENT, 5000);
        net.write(SERVER, 5000);
        net.run_to((net.now.as_secs() * 1000.0) as u64 + 20);
        net.ends[SERVER].abort();
        assert_eq!(net.states(), [State::Established, State::Closed]);
        match lost {
            // Whatever the client sends to what is no connection any more is answered by another.
            true => assert!(net.ends[SERVER].poll_transmit(net.now).is_some()),
            false => net.serve(SERVER),
        }
        net.run();
        assert_eq!(net.states(), [State::Closed; 2]);
        assert_eq!(net.errors(), [Some(ConnectionError::Reset), None]);
        assert_eq!(net.ends[SERVER].next_timeout(), bentpipe_units::Time::NEVER);
    }
    let mut alone = bentpipe_tcp::Endpoint::new(reno(), Seq(1));
    alone.connect();
    alone.abort();
    assert_eq!((alone.state(), alone.poll_transmit(bentpipe_units::Time::ZERO)), (State::Closed, None));
}

#[test]
fn both_ends_at_once() {
    let mut net = Net::established(reno());
    net.close(CLIENT);
    net.close(SERVER);
    let start = net.now;
    net.run_to((start.as_secs() * 1000.0) as u64 + 50);
    assert_eq!(net.states(), [State::Closing; 2]);
    net.run_to((start.as_secs() * 1000.0) as u64 + 100);
    assert_eq!(net.states(), [State::TimeWait; 2]);
    net.run();
    assert_eq!(net.states(), [State::Closed; 2]);
}

#[test]
fn fin_and_ack_of_fin_in_one_segment() {
    let mut net = Net::established(reno());
    net.closes_after_peer = [true; 2];
    net.close(CLIENT);
    let sent = net.sent.len();
    let start = net.now;
    net.run_to((start.as_secs() * 1000.0) as u64 + 100);
    assert_eq!(net.states(), [State::TimeWait, State::LastAck]);
    assert!(net.sent[sent].passing.segment.flags.has(Flags::FIN), "{}", net.trace());
    assert_eq!(net.sent.len(), sent + 2, "FIN-ACK and the ACK of it\n{}", net.trace());
}

#[test]
fn fin_rides_on_the_last_data_and_comes_again_when_lost() {
    let fin = |p: &Passing| p.segment.flags.has(Flags::FIN) && p.from == CLIENT && !p.again;
    let net = Net::alike(reno()).through(move |p| if fin(p) { Fate::drop() } else { Fate::pass() });
    let net = net.transfer(2500);
    let fins: Vec<_> =
        net.sent_by(CLIENT).filter(|sent| sent.passing.segment.flags.has(Flags::FIN)).collect();
    assert_eq!(fins.len(), 2);
    assert!(fins.iter().all(|sent| sent.passing.segment.len == 500));
    // RFC 6298 (5.3): the ACK of the two segments before it, 100 ms later, restarted the timer.
    assert_eq!(fins[1].at.since(fins[0].at), Span::from_millis(1100));
}

#[test]
fn a_lost_last_ack_is_repeated_and_the_wait_starts_anew() {
    // The client's ACK of the server's FIN is its third segment: SYN, FIN, ACK.
    let drop = |p: &Passing| p.from == CLIENT && p.number == 3;
    let mut config = reno();
    config.time_wait = Span::from_millis(5000);
    let net = Net::alike(config).through(move |p| if drop(p) { Fate::drop() } else { Fate::pass() });
    let net = net.transfer(0);
    let acks = net.acks_by(CLIENT);
    let (lost, repeated) = (acks[acks.len() - 2], acks[acks.len() - 1]);
    assert_eq!(repeated.at.since(lost.at), Span::from_millis(1000), "{}", net.trace());
    assert_eq!(net.now.since(repeated.at), Span::from_millis(5000), "{}", net.trace());
}

#[test]
fn a_reset_in_time_wait_is_no_error() {
    let mut net = Net::established(reno());
    net.closes_after_peer = [true; 2];
    net.close(CLIENT);
    net.run_to((net.now.as_secs() * 1000.0) as u64 + 200);
    assert_eq!(net.states(), [State::TimeWait, State::Closed]);
    let reset = Segment { seq: net.ends[CLIENT].receiver().nxt(), flags: Flags::RST, ..Segment::default() };
    net.arrive(CLIENT, &reset);
    assert_eq!((net.states()[CLIENT], net.errors()), (State::Closed, [None, None]));
}

#[test]
fn closing_with_discard_drops_what_was_never_sent() {
    let mut net = Net::alike(reno());
    net.open();
    net.write(CLIENT, u64::MAX);
    net.run_to(10_000);
    let in_flight = net.ends[CLIENT].sender().flight();
    net.ends[CLIENT].close(true);
    net.serve(CLIENT);
    let sent = net.ends[CLIENT].sender().stats().data_bytes;
    net.run();
    assert!(in_flight > 0);
    assert_eq!(net.read[SERVER], sent, "what was sent is delivered, and nothing more");
    assert_eq!((net.states(), net.errors()), ([State::Closed; 2], [None, None]));
}

#[test]
fn only_the_expected_sequence_number_resets() {
    // RFC 5961 section 3.2.
    let mut net = Net::established(reno());
    let reset = Segment { flags: Flags::RST, ..net.next_from_client() };
    for wrong in [reset.seq + 65_535, reset.seq + 100_000, reset.seq - 1] {
        assert_eq!(answers(&mut net, &Segment { seq: wrong, ..reset }), [], "outside the window: silence");
        assert_eq!(net.states()[SERVER], State::Established);
    }
    let challenge = answers(&mut net, &Segment { seq: reset.seq + 1, ..reset });
    assert_eq!(challenge.len(), 1);
    assert_eq!((challenge[0].flags, challenge[0].ack), (Flags::ACK, reset.seq));
    assert_eq!(net.states()[SERVER], State::Established);
    assert_eq!(answers(&mut net, &reset), []);
    assert_eq!((net.states()[SERVER], net.errors()[SERVER]), (State::Closed, Some(ConnectionError::Reset)));
}

#[test]
fn a_syn_in_a_connection_is_challenged() {
    // RFC 5961 section 4.2, wherever it lies.
    let mut net = Net::established(reno());
    let syn = Segment { flags: Flags::SYN, ..net.next_from_client() };
    for seq in [syn.seq, syn.seq + 10, syn.seq - 1, syn.seq + 200_000] {
        let challenge = answers(&mut net, &Segment { seq, ..syn });
        assert_eq!(
            challenge.iter().map(|segment| (segment.flags, segment.ack)).collect::<Vec<_>>(),
            [(Flags::ACK, syn.seq)]
        );
        assert_eq!(net.states()[SERVER], State::Established);
    }
}

#[test]
fn an_ack_of_what_was_never_sent_is_answered_and_ignored() {
    let mut net = Net::established(reno());
    let ahead = net.next_from_client();
    net.ends[SERVER].on_segment(net.now, &Segment { ack: ahead.ack + 1, len: 10, ..ahead });
    let answer = net.ends[SERVER].poll_transmit(net.now).map(|transmit| transmit.segment);
    assert_eq!(answer.map(|segment| (segment.flags, segment.ack)), Some((Flags::ACK, ahead.seq)));
    assert_eq!(net.ends[SERVER].receiver().delivered(), 0);
}

#[test]
fn an_older_timestamp_is_rejected() {
    // RFC 7323 section 5.3: PAWS answers with an ACK and takes nothing.
    let mut net = Net::established(Config { timestamps: true, ..reno() });
    let stamped = |net: &Net, value| {
        let mut segment = Segment { len: 100, ..net.next_from_client() };
        segment.options.timestamps = Some(Timestamps { value, echo: 1 });
        segment
    };
    let good = stamped(&net, 5000);
    assert_eq!(answers(&mut net, &good)[0].options.timestamps.map(|stamps| stamps.echo), Some(5000));
    let old = stamped(&net, 4999);
    assert_eq!(answers(&mut net, &old).len(), 1);
    assert_eq!(net.ends[SERVER].receiver().delivered(), 100);
    // (R3) follows (R2): what lies outside the window does not become TS.Recent.
    let outside = Segment { seq: good.seq - 500, ..stamped(&net, 9000) };
    assert_eq!(answers(&mut net, &outside)[0].options.timestamps.map(|stamps| stamps.echo), Some(5000));
    // Past a hole it does not either: the echo must be that of the last in-order segment (section 4.3).
    let ahead = Segment { seq: good.seq + 1000, ..stamped(&net, 9000) };
    assert_eq!(answers(&mut net, &ahead)[0].options.timestamps.map(|stamps| stamps.echo), Some(5000));
    let next = stamped(&net, 5001);
    assert_eq!(answers(&mut net, &next)[0].options.timestamps.map(|stamps| stamps.echo), Some(5001));
    assert_eq!(net.ends[SERVER].receiver().delivered(), 200);
    // A reset needs no timestamp (section 3.2).
    let reset = Segment { len: 0, flags: Flags::RST, ..stamped(&net, 1) };
    assert_eq!(answers(&mut net, &reset), []);
    assert_eq!(net.states()[SERVER], State::Closed);
}

#[test]
fn what_lies_beyond_the_window_is_dropped_and_counted() {
    let mut net = Net::established(Config { receive_window: 3000, ..reno() });
    net.readers[SERVER] = Reader::Never;
    let first = net.next_from_client();
    // Half in, half out; then wholly out.
    let answer = answers(&mut net, &Segment { seq: first.seq + 2500, len: 1000, ..first });
    assert_eq!(answer[0].ack, first.seq);
    let answer = answers(&mut net, &Segment { seq: first.seq + 3000, len: 1000, ..first });
    assert_eq!(answer[0].ack, first.seq);
    assert_eq!(net.ends[SERVER].receiver().stats().beyond_window_bytes, 1500);
    let answer = answers(&mut net, &Segment { len: 1000, ..first });
    assert_eq!(answer[0].ack, first.seq + 1000);
    let answer = answers(&mut net, &Segment { seq: first.seq + 1000, len: 1500, ..first });
    assert_eq!((answer[0].ack, answer[0].window), (first.seq + 3000, 0));
    assert_eq!(net.ends[SERVER].receiver().delivered(), 3000);
    // A duplicate counts as one whether it overlaps or lies below.
    let answer = answers(&mut net, &Segment { len: 1000, ..first });
    assert_eq!(answer[0].ack, first.seq + 3000);
    assert_eq!(net.ends[SERVER].receiver().stats().duplicate_bytes, 1000);
}

#[test]
fn a_segment_across_two_holes_joins_what_was_held() {
    let mut net = Net::established(config("sack"));
    let first = net.next_from_client();
    for (start, len) in [(100, 100), (300, 100), (600, 100)] {
        net.arrive(SERVER, &Segment { seq: first.seq + start, len, ..first });
    }
    let answer = answers(&mut net, &Segment { len: 350, ..first });
    assert_eq!(answer[0].ack, first.seq + 400);
    let blocks = answer[0].options.sack;
    assert_eq!(blocks.as_slice().iter().map(|block| block.start - first.seq).collect::<Vec<_>>(), [600]);
    assert_eq!(net.ends[SERVER].receiver().delivered(), 400);
    assert_eq!(first.seq, Seq(1001));
}

#[test]
fn an_older_segment_does_not_change_the_window() {
    // RFC 9293 section 3.10.7.4: SND.WL1 and SND.WL2.
    let mut net = Net::established(reno());
    let first = net.next_from_client();
    net.arrive(SERVER, &Segment { seq: first.seq + 1000, len: 1000, window: 9000, ..first });
    assert_eq!(net.ends[SERVER].sender().peer_window(), 9000);
    net.arrive(SERVER, &Segment { len: 1000, window: 4000, ..first });
    assert_eq!(net.ends[SERVER].sender().peer_window(), 9000);
    net.arrive(SERVER, &Segment { seq: first.seq + 2000, window: 4000, ..first });
    assert_eq!(net.ends[SERVER].sender().peer_window(), 4000);
}

#[test]
fn an_end_with_a_full_window_out_can_still_acknowledge() {
    let mut net = Net::established(reno());
    net.write(SERVER, 1000);
    let edge = net.ends[SERVER].receiver().nxt() + net.ends[SERVER].receiver().window();
    let ack = net.ends[SERVER].sender().max();
    net.arrive(SERVER, &Segment { seq: edge, ack, ..net.next_from_client() });
    assert_eq!(net.ends[SERVER].sender().flight(), 0);
    net.write(SERVER, 1000);
    net.arrive(SERVER, &Segment { seq: edge + 1, ack: ack + 1000, ..net.next_from_client() });
    assert_eq!(net.ends[SERVER].sender().flight(), 1000);
}

#[test]
fn news_of_a_hole_goes_out_before_data() {
    // One segment brings data past a hole and an ACK that lets data out: were the data to carry the ACK, the client would
    // count no duplicate.
    let mut net = Net::established(Config { initial_window: 2, ..config("sack") });
    net.write(SERVER, 10_000);
    let first = net.next_from_client();
    let ahead = Segment { seq: first.seq + 1000, ack: first.ack + 1000, len: 1000, ..first };
    let answers = answers(&mut net, &ahead);
    assert_eq!((answers[0].len, answers[0].ack), (0, first.seq));
    assert_eq!(answers[0].options.sack.as_slice().len(), 1);
    assert_eq!(answers[1..].iter().map(|segment| segment.len).collect::<Vec<_>>(), [1000, 1000]);
}
