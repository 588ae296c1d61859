//! RFC 9293 section 3.10.7: what is looked at first, in which state.

use bentpipe_tcp::{ConnectionError, Flags, Segment, Seq, State, Timestamps};

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
