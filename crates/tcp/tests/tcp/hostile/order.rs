//! RFC 9293 section 3.10.7: what is looked at first, in which state.

use bentpipe_tcp::{ConnectionError, Flags, Segment, Seq, State};

use super::*;

#[test]
fn what_lacks_a_timestamp_is_dropped_once_both_have_them() {
    // RFC 7323 section 3.2: "If a non-<RST> segment is received without a TSopt, a TCP SHOULD silently drop the segment. A TCP
    // MUST NOT abort a TCP connection because any segment lacks an expected TSopt."
    let mut net = open(Config { timestamps: true, ..sack() });
    let data = Segment { len: 100, ..next(&net) };
    assert_eq!(answers(&mut net, SERVER, &data), []);
    assert_eq!((delivered(&net.ends[SERVER]), net.ends[SERVER].state()), (0, State::Established));
    answers(&mut net, SERVER, &Segment { flags: Flags::RST, len: 0, ..data });
    assert_eq!(net.ends[SERVER].error(), Some(ConnectionError::Reset));
}

#[test]
fn only_the_fin_itself_starts_time_wait_anew() {
    // RFC 9293 section 3.10.7.4, eighth check, TIME-WAIT: "Remain in the TIME-WAIT state. Restart the 2 MSL time-wait timeout."
    // for "a retransmission of the remote FIN", and nothing else keeps the connection.
    let mut net = open(sack());
    net.close(SERVER);
    net.close(CLIENT);
    net.run_to(400);
    assert_eq!(net.states(), [State::TimeWait; 2]);
    let fin = Segment { seq: next(&net).seq - 1, flags: Flags::ACK | Flags::FIN, ..next(&net) };
    let end = net.ends[SERVER].next_timeout();
    for wrong in [fin.seq - 1, fin.seq + 5, fin.seq + 100_000, fin.seq + (1 << 31)] {
        answers(&mut net, SERVER, &Segment { seq: wrong, ..fin });
        assert_eq!(net.ends[SERVER].next_timeout(), end, "{wrong:?}");
    }
    assert_eq!(answers(&mut net, SERVER, &fin).len(), 1);
    assert!(net.ends[SERVER].next_timeout() > end);
}

/// A server that has a SYN with sequence number 500 and has answered it.
fn half_open() -> (Net, Segment) {
    let mut net = Net::alike(sack());
    net.ends[SERVER].listen();
    let syn = Segment { seq: Seq(500), window: 9000, flags: Flags::SYN, ..Segment::default() };
    let answer = answers(&mut net, SERVER, &syn);
    assert_eq!((answer.len(), answer[0].ack, net.ends[SERVER].state()), (1, Seq(501), State::SynReceived));
    let ack = Segment { seq: Seq(501), ack: answer[0].seq + 1, flags: Flags::ACK, ..syn };
    (net, ack)
}

#[test]
fn another_syn_in_the_window_takes_a_half_open_connection_back() {
    // RFC 9293 section 3.10.7.4, fourth check, SYN-RECEIVED: "If the connection was initiated with a passive OPEN, then return
    // this connection to the LISTEN state and return."
    let (mut net, ack) = half_open();
    let other = Segment { seq: ack.seq + 7, flags: Flags::SYN, ack: Seq(0), ..ack };
    assert_eq!(answers(&mut net, SERVER, &other), []);
    assert_eq!(net.ends[SERVER].state(), State::Listen);
    let answer = answers(&mut net, SERVER, &other);
    assert_eq!((answer[0].flags, answer[0].ack), (Flags::SYN | Flags::ACK, other.seq + 1));
}

#[test]
fn the_window_of_a_syn_that_was_taken_back_is_forgotten() {
    // What a peer once offered is half of what decides when a small window is worth sending into (RFC 9293 section
    // 3.8.6.2.1), and how old an ACK may be (RFC 5961 section 5.2): it must be this peer's.
    let (mut net, ack) = half_open();
    answers(&mut net, SERVER, &Segment { flags: Flags::RST, ..ack });
    assert_eq!(net.ends[SERVER].state(), State::Listen);
    let syn = Segment { seq: Seq(90), window: 400, flags: Flags::SYN, ..Segment::default() };
    let answer = answers(&mut net, SERVER, &syn);
    answers(&mut net, SERVER, &Segment { seq: Seq(91), ack: answer[0].seq + 1, flags: Flags::ACK, ..syn });
    net.ends[SERVER].write(5000);
    assert_eq!(everything(&mut net, SERVER).iter().map(|sent| sent.len).collect::<Vec<_>>(), [400]);
}

#[test]
fn a_connection_that_was_reset_does_not_time_out_as_well() {
    let mut net = open(Config { max_retransmissions: 0, ..sack() });
    net.ends[SERVER].write(1000);
    assert_eq!(everything(&mut net, SERVER).len(), 1);
    let reset = Segment { flags: Flags::RST, ..next(&net) };
    answers(&mut net, SERVER, &reset);
    // A driver may wake it for a timer that it had set before.
    net.ends[SERVER].on_timeout(net.now + bentpipe_units::Span::from_millis(60_000));
    assert_eq!(net.ends[SERVER].error(), Some(ConnectionError::Reset));
}
