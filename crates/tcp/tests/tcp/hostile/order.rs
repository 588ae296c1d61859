//! RFC 9293 section 3.10.7: what is looked at first, in which state.

use bentpipe_tcp::{ConnectionError, Flags, Segment, Seq, State};

use super::*;

#[test]
fn what_lacks_a_timestamp_is_dropped_once_both_have_them() {
    // RFC 7323 section 3.2: "If a non-<RST> segment is received without a TSopt, a TCP SHOULD silently drop the segment. A TCP
    // MUST NOT abort a TCP connection because any segment lacks an expected TSopt."
    let mut net = Net::established(Config { timestamps: true, ..sack() });
    let data = Segment { len: 100, ..net.next_from_client() };
    assert_eq!(answers(&mut net, SERVER, &data), []);
    assert_eq!((delivered(&net.ends[SERVER]), net.ends[SERVER].state()), (0, State::Established));
    answers(&mut net, SERVER, &Segment { flags: Flags::RST, len: 0, ..data });
    assert_eq!(net.ends[SERVER].error(), Some(ConnectionError::Reset));
}

#[test]
fn only_the_fin_itself_starts_time_wait_anew() {
    // RFC 9293 section 3.10.7.4, eighth check, TIME-WAIT: "Remain in the TIME-WAIT state. Restart the 2 MSL time-wait timeout."
    // for "a retransmission of the remote FIN", and nothing else keeps the connection.
    let mut net = Net::established(sack());
    net.close(SERVER);
    net.close(CLIENT);
    net.run_to(400);
    assert_eq!(net.states(), [State::TimeWait; 2]);
    let fin = Segment {
        seq: net.next_from_client().seq - 1,
        flags: Flags::ACK | Flags::FIN,
        ..net.next_from_client()
    };
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
    let mut net = Net::established(Config { max_retransmissions: 0, ..sack() });
    net.ends[SERVER].write(1000);
    assert_eq!(everything(&mut net, SERVER).len(), 1);
    let reset = Segment { flags: Flags::RST, ..net.next_from_client() };
    answers(&mut net, SERVER, &reset);
    // A driver may wake it for a timer that it had set before.
    net.ends[SERVER].on_timeout(net.now + bentpipe_units::Span::from_millis(60_000));
    assert_eq!(net.ends[SERVER].error(), Some(ConnectionError::Reset));
}

#[test]
fn data_on_a_syn_is_not_taken_before_the_peer_is_known() {
    // RFC 9293 section 3.10.7.2: "any other incoming control or data" that comes with a SYN may wait; here the peer sends it
    // again, so that a forged SYN delivers nothing.
    let mut net = Net::alike(sack());
    net.ends[SERVER].listen();
    let flags = Flags::SYN | Flags::FIN | Flags::URG;
    let syn = Segment { seq: Seq(500), window: 9000, flags, len: 100, ..Segment::default() };
    let answer = answers(&mut net, SERVER, &syn);
    assert_eq!((answer[0].flags, answer[0].ack), (Flags::SYN | Flags::ACK, Seq(501)));
    // In SYN-RECEIVED the ACK is looked at before the data: "If the segment acknowledgment is not acceptable, form a reset".
    let data = Segment { seq: Seq(501), flags: Flags::ACK, ..syn };
    for ack in [answer[0].seq, answer[0].seq + 2, Seq(0)] {
        let reset = answers(&mut net, SERVER, &Segment { ack, ..data });
        assert_eq!(reset.iter().map(|r| (r.flags, r.seq)).collect::<Vec<_>>(), [(Flags::RST, ack)]);
        assert_eq!((net.ends[SERVER].state(), delivered(&net.ends[SERVER])), (State::SynReceived, 0));
    }
    answers(&mut net, SERVER, &Segment { ack: answer[0].seq + 1, ..data });
    assert_eq!((net.ends[SERVER].state(), delivered(&net.ends[SERVER])), (State::Established, 100));
}

#[test]
fn a_peer_that_crashed_finds_the_old_connection_and_ends_it() {
    // RFC 9293 section 3.5.1, figure 9: the half-open connection answers the new SYN with an ACK, that is reset, and the SYN
    // that comes again finds the way free.
    let mut net = Net::established(sack());
    let mut reborn = Endpoint::new(sack(), net.next_from_client().seq + 100_000);
    reborn.connect();
    let syn = reborn.poll_transmit(net.now).map(|sent| sent.segment).unwrap_or_default();
    let challenge = answers(&mut net, SERVER, &syn);
    assert_eq!((challenge.len(), challenge[0].flags), (1, Flags::ACK));
    reborn.on_segment(net.now, &challenge[0]);
    let reset = reborn.poll_transmit(net.now).map(|sent| sent.segment).unwrap_or_default();
    assert_eq!((reset.flags, reset.seq), (Flags::RST, challenge[0].ack));
    assert_eq!(answers(&mut net, SERVER, &reset), []);
    assert_eq!(net.ends[SERVER].error(), Some(ConnectionError::Reset));
    assert_eq!((reborn.state(), reborn.error()), (State::SynSent, None));
}

#[test]
fn the_checks_come_in_the_order_of_the_rfc_in_every_state_after_the_handshake() {
    // RFC 9293 section 3.10.7.4: sequence number, RST, SYN, ACK, URG, text, FIN.
    for (state, ours, theirs) in [
        (State::Established, false, false),
        (State::FinWait2, true, false),
        (State::CloseWait, false, true),
        (State::TimeWait, true, true),
    ] {
        let reach = || {
            let mut net = Net::established(sack());
            if ours {
                net.close(SERVER);
                net.run_to(300);
            }
            if theirs {
                net.close(CLIENT);
                net.run_to(600);
            }
            assert_eq!(net.ends[SERVER].state(), state);
            net
        };
        let mut net = reach();
        let nxt = net.ends[SERVER].receiver().nxt();
        let all = Flags(0xff);
        let base = Segment { seq: nxt, flags: all, len: 10, ..net.next_from_client() };
        // Outside the window a reset is nothing, and all else is answered.
        assert_eq!(answers(&mut net, SERVER, &Segment { seq: nxt + 70_000, ..base }), [], "{state:?}");
        let flags = Flags(all.0 & !Flags::RST.0);
        let outside = answers(&mut net, SERVER, &Segment { seq: nxt + 70_000, flags, ..base });
        assert_eq!(outside.len(), 1, "{state:?}");
        // SYN before ACK, text and FIN; then no ACK flag: silence.
        let syn = answers(&mut net, SERVER, &Segment { flags, ack: base.ack + 900, ..base });
        assert_eq!((syn.len(), net.ends[SERVER].state()), (1, state));
        let mute = Segment { flags: Flags::FIN | Flags::PSH | Flags::URG, ..base };
        assert_eq!((answers(&mut net, SERVER, &mute), net.ends[SERVER].state()), (vec![], state));
        assert_eq!((delivered(&net.ends[SERVER]), net.ends[SERVER].receiver().nxt()), (0, nxt));
        // RST before everything, at the right number.
        answers(&mut net, SERVER, &Segment { ack: base.ack + 900, ..base });
        assert_eq!(net.ends[SERVER].state(), State::Closed);
    }
}

#[test]
fn urgent_data_is_data_and_an_empty_urgent_segment_is_nothing() {
    let mut net = Net::established(sack());
    let urgent = Segment { flags: Flags::ACK | Flags::URG | Flags::PSH, ..net.next_from_client() };
    assert_eq!(answers(&mut net, SERVER, &urgent), []);
    assert_eq!(answers(&mut net, SERVER, &Segment { len: 700, ..urgent }).len(), 1);
    assert_eq!((delivered(&net.ends[SERVER]), net.ends[SERVER].state()), (700, State::Established));
}
