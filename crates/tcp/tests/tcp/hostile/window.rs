//! Sequence numbers: what lies below, above and across the window.

use bentpipe_tcp::{Flags, Segment, State};

use super::*;

#[test]
fn what_lies_half_the_sequence_space_away_is_not_held() {
    // RFC 9293 section 3.4: "RCV.NXT =< SEG.SEQ < RCV.NXT+RCV.WND", or the same of the segment's last byte.
    let mut net = Net::established(sack());
    for away in [1 << 31, (1 << 31) - 10, (1 << 31) - 60, (1 << 31) + 65_535] {
        let far = Segment { seq: net.next_from_client().seq + away, len: 100, ..net.next_from_client() };
        let answer = answers(&mut net, SERVER, &far);
        assert_eq!(answer.len(), 1);
        assert!(answer[0].options.sack.is_empty(), "{away}: {:?}", answer[0]);
        assert!(!net.ends[SERVER].receiver().has_hole());
    }
}

#[test]
fn a_segment_from_below_the_window_to_above_it_passes_every_check_before_it_delivers() {
    let mut net = Net::established(Config { receive_window: 3000, ..sack() });
    let across = Segment { seq: net.next_from_client().seq - 10, len: 4000, ..net.next_from_client() };
    // RFC 9293 section 3.10.7.4, fifth check: "if the ACK bit is off, drop the segment and return".
    answers(&mut net, SERVER, &Segment { flags: Flags::PSH, ..across });
    assert_eq!(delivered(&net.ends[SERVER]), 0);
    answers(&mut net, SERVER, &Segment { flags: Flags::ACK | Flags::SYN, ..across });
    assert_eq!(delivered(&net.ends[SERVER]), 0);
    answers(&mut net, SERVER, &Segment { flags: Flags::ACK | Flags::RST, ..across });
    assert_eq!((delivered(&net.ends[SERVER]), net.ends[SERVER].state()), (0, State::Established));
    // Its first check: "trimming off any portions that lie outside the window (including SYN and FIN)".
    answers(&mut net, SERVER, &across);
    assert_eq!(delivered(&net.ends[SERVER]), 3000);
}

#[test]
fn nothing_is_delivered_behind_a_fin() {
    // RFC 9293 section 3.10.7.4, seventh check: "This should not occur since a FIN has been received from the remote side.
    // Ignore the segment text."
    let mut net = Net::established(Config { receive_window: 3000, ..sack() });
    let fin = Segment { flags: Flags::ACK | Flags::FIN, ..net.next_from_client() };
    answers(&mut net, SERVER, &fin);
    assert_eq!(net.ends[SERVER].state(), State::CloseWait);
    for (seq, len) in [(fin.seq + 1, 100), (fin.seq - 10, 4000), (fin.seq, 2), (fin.seq + 500, 100)] {
        let behind = Segment { seq, len, ..net.next_from_client() };
        answers(&mut net, SERVER, &behind);
        assert_eq!(delivered(&net.ends[SERVER]), 0, "{} bytes at {:?}", len, seq);
        assert_eq!(net.ends[SERVER].receiver().nxt(), fin.seq + 1);
        assert!(!net.ends[SERVER].receiver().has_hole());
    }
}
