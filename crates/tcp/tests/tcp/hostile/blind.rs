//! An attacker who sees nothing and guesses: RFC 5961.

use bentpipe_tcp::{Flags, Segment, State, Timestamps};

use super::*;

/// A server that has sent, and had acknowledged, more than the client's largest window.
fn server_far_ahead(config: Config) -> Net {
    let mut net = open(Config { receive_window: 8000, ..config });
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
    let good = Segment { len: 100, ..next(&net) };
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
    let good = next(&net);
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
    let mut blind = Segment { ack: next(&net).ack + 5, len: 10, ..next(&net) };
    blind.options.timestamps = Some(Timestamps { value: u32::MAX / 2, echo: 1 });
    answers(&mut net, SERVER, &blind);
    answers(&mut net, SERVER, &Segment { flags: Flags::RST, seq: blind.seq + 1, ..blind });
    net.write(CLIENT, 5000);
    net.run();
    assert_eq!(net.read[SERVER], 5000);
}
