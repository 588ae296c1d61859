//! An attacker who sees nothing and guesses: RFC 5961.

use bentpipe_tcp::{Flags, Segment, State, Timestamps};

use super::*;

/// A server that has sent, and had acknowledged, more than the client's largest window.
fn server_far_ahead(config: Config) -> Net {
    let mut net = Net::established(Config { receive_window: 8000, ..config });
    net.write(SERVER, 30_000);
    net.run();
    assert_eq!(net.read[CLIENT], 30_000);
    net
}

#[test]
fn blind_data_needs_an_ack_of_the_last_window() {
    // RFC 5961 section 5.2: "The ACK value is considered acceptable only if it is in the range of ((SND.UNA - MAX.SND.WND) <=
    // SEG.ACK <= SND.NXT). All incoming segments whose ACK value doesn't satisfy the above condition MUST be discarded and an
    // ACK sent back."
    let mut net = server_far_ahead(sack());
    let good = Segment { len: 100, ..net.next_from_client() };
    for ack in [good.ack + 1, good.ack + 70_000, good.ack - 8001, good.ack - 20_000, good.ack + (1 << 31)] {
        let answer = answers(&mut net, SERVER, &Segment { ack, ..good });
        assert_eq!(answer.iter().map(|a| (a.flags, a.ack)).collect::<Vec<_>>(), [(Flags::ACK, good.seq)]);
        assert_eq!(delivered(&net.ends[SERVER]), 0, "an ACK of {ack:?} where {:?} was sent", good.ack);
    }
    answers(&mut net, SERVER, &Segment { ack: good.ack - 8000, ..good });
    assert_eq!(delivered(&net.ends[SERVER]), 100);
}

#[test]
fn a_blind_fin_and_a_blind_mark_need_one_too() {
    let mut net = server_far_ahead(Config { ecn: true, ..sack() });
    let good = net.next_from_client();
    let fin = Segment { ack: good.ack - 8001, flags: Flags::ACK | Flags::FIN, ..good };
    answers(&mut net, SERVER, &fin);
    assert_eq!(net.ends[SERVER].state(), State::Established);
    let marked = Segment { ack: good.ack - 8001, len: 10, ecn: bentpipe_tcp::Ecn::Ce, ..good };
    let answer = answers(&mut net, SERVER, &marked);
    assert!(!answer[0].flags.has(Flags::ECE), "a mark on a segment that was dropped: {answer:?}");
}

#[test]
fn a_timestamp_counts_only_with_an_acceptable_ack() {
    // RFC 7323 section 5.3 has TS.Recent follow the sequence number alone: a guess in the window with a clock far ahead
    // would make every later segment of the peer an old one.
    let mut net = server_far_ahead(Config { timestamps: true, ..sack() });
    let mut blind = Segment { ack: net.next_from_client().ack + 5, len: 10, ..net.next_from_client() };
    blind.options.timestamps = Some(Timestamps { value: u32::MAX / 2, echo: 1 });
    answers(&mut net, SERVER, &blind);
    answers(&mut net, SERVER, &Segment { flags: Flags::RST, seq: blind.seq + 1, ..blind });
    net.write(CLIENT, 5000);
    net.run();
    assert_eq!(net.read[SERVER], 5000);
}

/// What every challenge looks like.
fn is_challenge(net: &Net, answer: &[Segment]) -> bool {
    let [one] = answer else { return false };
    (one.flags, one.ack, one.len) == (Flags::ACK, net.ends[SERVER].receiver().nxt(), 0)
}

#[test]
fn a_blind_reset_must_hit_the_next_sequence_number() {
    // RFC 5961 section 3.2: "If the RST bit is set and the sequence number is outside the current receive window, silently drop
    // the segment." "If the RST bit is set and the sequence number exactly matches the next expected sequence number (RCV.NXT),
    // then TCP MUST reset the connection." "If the RST bit is set and the sequence number does not exactly match the next
    // expected sequence value, yet is within the current receive window [...], TCP MUST send an acknowledgment (challenge ACK)".
    for flags in [Flags::RST, Flags::RST | Flags::ACK, Flags::RST | Flags::SYN, Flags::RST | Flags::FIN] {
        let mut net = Net::established(sack());
        let window = net.ends[SERVER].receiver().window();
        let exact = Segment { flags, ..net.next_from_client() };
        for away in [window, window + 1, 1 << 30, 1 << 31, u32::MAX - 1, 3 << 30] {
            let answer = answers(&mut net, SERVER, &Segment { seq: exact.seq + away, ..exact });
            assert_eq!((answer, net.ends[SERVER].state()), (vec![], State::Established), "{away} ahead");
        }
        for away in [1, 2, window / 2, window - 1] {
            let answer = answers(&mut net, SERVER, &Segment { seq: exact.seq + away, ..exact });
            assert!(is_challenge(&net, &answer), "{away} ahead: {answer:?}");
            assert_eq!(net.ends[SERVER].state(), State::Established);
        }
        assert_eq!(answers(&mut net, SERVER, &exact), []);
        assert_eq!(net.ends[SERVER].error(), Some(bentpipe_tcp::ConnectionError::Reset));
    }
}

#[test]
fn a_blind_syn_is_challenged_wherever_it_lies() {
    // RFC 5961 section 4.2: "If the SYN bit is set, irrespective of the sequence number, TCP MUST send an ACK (also referred to
    // as challenge ACK) to the remote peer". "After sending the acknowledgment, TCP MUST drop the unacceptable segment and stop
    // processing further."
    for flags in [Flags::SYN, Flags::SYN | Flags::ACK, Flags::SYN | Flags::FIN | Flags::PSH | Flags::URG] {
        let mut net = Net::established(sack());
        for away in [0, 1, 65_534, 65_535, 1 << 31, u32::MAX] {
            let syn =
                Segment { seq: net.next_from_client().seq + away, flags, len: 20, ..net.next_from_client() };
            let answer = answers(&mut net, SERVER, &syn);
            assert!(is_challenge(&net, &answer), "{away} ahead: {answer:?}");
            assert_eq!((net.ends[SERVER].state(), delivered(&net.ends[SERVER])), (State::Established, 0));
        }
    }
}

#[test]
fn challenges_are_throttled_and_resets_are_not() {
    // RFC 5961 section 7: "in any 5 second window, no more than 10 challenge ACKs should be sent".
    let attacks: [fn(&Segment) -> Segment; 4] = [
        |next| Segment { seq: next.seq + 1, flags: Flags::RST, ..*next },
        |next| Segment { flags: Flags::SYN, ..*next },
        |next| Segment { seq: next.seq - 9, flags: Flags::SYN | Flags::ACK, ..*next },
        |next| Segment { ack: next.ack + 1, len: 1, ..*next },
    ];
    for attack in attacks {
        let mut net = Net::established(sack());
        let next = net.next_from_client();
        let mut times = Vec::new();
        for ms in (0..20_000).step_by(100) {
            net.run_to(10_000 + ms);
            times.extend(answers(&mut net, SERVER, &attack(&next)).iter().map(|_| ms));
        }
        assert_eq!(times.len(), 40, "{times:?}");
        assert!(times.windows(11).all(|run| run[10] - run[0] >= 5000), "{times:?}");
        // Data is acknowledged all the same, and the right reset resets.
        answers(&mut net, SERVER, &attack(&next));
        assert_eq!(answers(&mut net, SERVER, &Segment { len: 1000, ..next }).len(), 1);
        answers(&mut net, SERVER, &Segment { seq: next.seq + 1000, flags: Flags::RST, ..next });
        assert_eq!(net.ends[SERVER].state(), State::Closed);
    }
}
