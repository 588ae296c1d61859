//! ACK spoofing, rule by rule.

use bentpipe_units::Bytes;

use super::*;
use crate::gateway::GatewaySpec;

/// Half the buffer is four segments.
fn spec() -> GatewaySpec {
    let min_timeout = Span::from_millis(100);
    GatewaySpec::Spoof(SpoofOptions { buffer: Bytes::new(8000), min_timeout, ..SpoofOptions::default() })
}

#[test]
fn data_is_acknowledged_at_once_and_the_receivers_acknowledgment_goes_no_further() {
    let mut driver = Driver::open(&spec());
    assert_eq!(driver.data(110, &data(0, 1000)), [Data(0, 1000), Ack(1000, 4000)]);
    assert_eq!(driver.data(111, &data(1000, 1000)), [Data(1000, 1000), Ack(2000, 4000)]);
    assert_eq!(driver.ack(160, &ack(1000)), []);
    assert_eq!(driver.ack(161, &ack(2000)), []);
    let stats = driver.agent.stats();
    assert_eq!((stats.acks_made, stats.acks_swallowed, stats.acknowledged_ahead_max_bytes), (2, 2, 2000));
    assert_eq!(stats.acknowledged_ahead_bytes, 0);
    assert_eq!(driver.until(100_000), []);
}

/// Beyond half the buffer acknowledgments are held, until the receiver's make room.
#[test]
fn acknowledgments_are_held_while_half_the_buffer_is_ahead() {
    let mut driver = Driver::open(&spec());
    for number in 0..4 {
        let upto = 1000 * (number + 1);
        assert_eq!(driver.data(110, &data(upto - 1000, 1000)), [Data(upto - 1000, 1000), Ack(upto, 4000)]);
    }
    assert_eq!(driver.data(111, &data(4000, 1000)), [Data(4000, 1000)]);
    assert_eq!(driver.data(112, &data(5000, 1000)), [Data(5000, 1000)]);
    assert_eq!(driver.ack(160, &ack(1000)), [Ack(5000, 4000)]);
    assert_eq!(driver.ack(161, &ack(3000)), [Ack(6000, 4000)]);
    assert_eq!(driver.agent.stats().acknowledged_ahead_max_bytes, 4000);
}

#[test]
fn what_has_no_room_is_dropped() {
    let mut driver = Driver::open(&spec());
    for number in 0..8 {
        driver.data(110, &data(1000 * number, 1000));
    }
    assert_eq!(driver.data(111, &data(8000, 1000)), []);
    let stats = driver.agent.stats();
    assert_eq!((stats.cached_max_bytes, stats.data_swallowed), (8000, 1));
}

/// What is lost is sent again by the first duplicate; then a partial acknowledgment brings what is lost besides.
#[test]
fn losses_are_repaired_locally() {
    let mut driver = Driver::open(&spec());
    for number in 0..6 {
        driver.data(110, &data(1000 * number, 1000));
    }
    assert_eq!(driver.ack(160, &ack(1000)), [Ack(5000, 4000)]);
    // The second and the fourth are lost.
    assert_eq!(driver.ack(161, &ack(1000)), [Data(1000, 1000)]);
    assert_eq!(driver.ack(162, &ack(1000)), []);
    assert_eq!(driver.ack(210, &ack(3000)), [Data(3000, 1000), Ack(6000, 4000)]);
    // Two went behind that one, and may bring a duplicate each.
    assert_eq!(driver.ack(211, &ack(3000)), []);
    assert_eq!(driver.ack(212, &ack(3000)), []);
    assert_eq!(driver.ack(260, &ack(6000)), []);
    assert_eq!((driver.agent.stats().local_retransmissions, driver.until(100_000)), (2, vec![]));
}

#[test]
fn what_the_sender_sends_again_goes_no_further() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    assert_eq!(driver.data(120, &data(0, 1000)), [Ack(1000, 4000)]);
    driver.ack(160, &ack(1000));
    assert_eq!(driver.data(170, &data(0, 1000)), [Ack(1000, 4000)]);
}

/// A hole on the sender's side: duplicates of what came in order, nothing beyond it goes on before it is filled.
#[test]
fn a_hole_on_the_senders_side_is_the_senders() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    assert_eq!(driver.data(111, &data(2000, 1000)), [Ack(1000, 4000)]);
    assert_eq!(driver.data(112, &data(3000, 1000)), [Ack(1000, 4000)]);
    let filled = driver.data(130, &data(1000, 1000));
    assert_eq!(filled, [Data(1000, 1000), Ack(4000, 4000), Data(2000, 1000), Data(3000, 1000)]);
}

#[test]
fn selective_acknowledgments_name_what_lies_behind_the_hole() {
    let mut driver = Driver::new(&spec());
    let mut syn = segment(FLOW, ISS, 0);
    (syn.header.syn, syn.header.ack, syn.sack_permitted, syn.stamp) = (true, false, true, Some(1));
    driver.data(0, &syn);
    let mut answer = Seen { ack: ISS.wrapping_add(1), ..segment(FLOW.reversed(), PEER, 0) };
    (answer.header.syn, answer.sack_permitted, answer.stamp) = (true, true, Some(77));
    driver.ack(100, &answer);
    let stamped = |from| Seen { stamp: Some(5), ..data(from, 1000) };
    driver.data(110, &stamped(0));
    driver.data(111, &stamped(2000));
    driver.agent.forward(at(112), &stamped(4000), &LINK);
    let Some(Emission::Answer(_, made)) = driver.agent.poll(at(112), &LINK) else { panic!("no answer") };
    let seq = |from: u32| ISS.wrapping_add(1).wrapping_add(from);
    assert_eq!(made.sack, [(seq(4000), seq(5000)), (seq(2000), seq(3000)), (0, 0)]);
    assert_eq!((made.ack, made.stamps), (seq(1000), Some((77, 5))));
    // The packet that fills the hole is younger than those behind it, which go with its timestamp.
    driver.agent.forward(at(113), &Seen { stamp: Some(9), ..data(1000, 1000) }, &LINK);
    assert!(matches!(driver.agent.poll(at(113), &LINK), Some(Emission::Answer(..))));
    assert!(matches!(driver.agent.poll(at(113), &LINK), Some(Emission::Copy(_, Some(9)))));
}

/// The receiver has room for two segments; the third waits, and is sent to ask when no word comes.
#[test]
fn the_receivers_window_holds_back_what_goes_on() {
    let mut driver = Driver::new(&spec());
    let mut syn = segment(FLOW, ISS, 0);
    (syn.header.syn, syn.header.ack) = (true, false);
    driver.data(0, &syn);
    let mut answer = Seen { ack: ISS.wrapping_add(1), ..segment(FLOW.reversed(), PEER, 0) };
    (answer.header.syn, answer.header.window) = (true, 2000);
    driver.ack(100, &answer);
    assert_eq!(driver.data(110, &data(0, 1000)), [Data(0, 1000), Ack(1000, 2000)]);
    assert_eq!(driver.data(110, &data(1000, 1000)), [Data(1000, 1000), Ack(2000, 2000)]);
    assert_eq!(driver.data(110, &data(2000, 1000)), [Ack(3000, 2000)]);
    let mut closed = ack(2000);
    closed.header.window = 0;
    // The sender hears that the window is closed; what waits is sent when the timer expires: 50 ms and 4 times 25.
    assert_eq!(driver.ack(160, &closed), [Ack(3000, 0)]);
    assert_eq!(driver.until(309), []);
    assert_eq!(driver.until(310), [Data(2000, 1000)]);
    let mut open = ack(2000);
    open.header.window = 2000;
    assert_eq!(driver.ack(330, &open), [Ack(3000, 2000)]);
}

/// The link's queue has room for one packet, and takes a millisecond for 1000 bytes.
#[test]
fn the_links_queue_is_never_overrun() {
    let mut driver = Driver::open(&spec());
    driver.link = LinkView { queued_bytes: 500, buffer_bytes: 1500, ..LINK };
    assert_eq!(driver.data(110, &data(0, 1000)), [Ack(1000, 4000)]);
    assert_eq!(driver.data(110, &data(1000, 1000)), [Ack(2000, 4000)]);
    assert_eq!(driver.until(115), []);
    driver.link.queued_bytes = 0;
    assert_eq!(driver.until(117), [Data(0, 1000), Data(1000, 1000)]);
}

#[test]
fn without_both_syns_nothing_is_acknowledged() {
    let mut driver = Driver::new(&spec());
    let mut syn = segment(FLOW, ISS, 0);
    (syn.header.syn, syn.header.ack) = (true, false);
    driver.data(0, &syn);
    assert_eq!(driver.data(600, &data(0, 1000)), [Data(0, 1000)]);
    assert_eq!(driver.until(100_000), []);
    assert_eq!(driver.agent.stats().cached_max_bytes, 0);
}

/// The FIN is the receiver's to acknowledge.
#[test]
fn a_fin_is_not_acknowledged_ahead() {
    let mut driver = Driver::open(&spec());
    let mut last = data(0, 1000);
    last.header.fin = true;
    assert_eq!(driver.data(110, &last), [Data(0, 1000), Ack(1000, 4000)]);
    assert_eq!(driver.ack(160, &ack(1001)), [Ack(1001, 4000)]);
}

/// What lies behind a hole on the sender's side is not the agent's to send, however long that takes.
#[test]
fn the_timer_leaves_what_lies_behind_a_hole() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    driver.data(111, &data(2000, 1000));
    assert_eq!(driver.ack(160, &ack(1000)), []);
    assert_eq!(driver.until(100_000), []);
    let filled = driver.data(100_000, &data(1000, 1000));
    assert_eq!(filled, [Data(1000, 1000), Ack(3000, 4000), Data(2000, 1000)]);
}

/// Who never answers loses what was acknowledged in its name; that is counted.
#[test]
fn a_flow_that_is_given_up_is_counted() {
    let mut driver =
        Driver::open(&GatewaySpec::Spoof(SpoofOptions { retries: 2, ..SpoofOptions::default() }));
    driver.data(110, &data(0, 1000));
    driver.data(110, &data(1000, 1000));
    assert_eq!(driver.until(100_000), [Data(0, 1000), Data(0, 1000)]);
    assert_eq!(driver.agent.stats().acknowledged_ahead_bytes, 2000);
    // From then on it is no more than a router.
    assert_eq!(driver.data(100_001, &data(2000, 1000)), [Data(2000, 1000)]);
}
