//! The congestion header of XCP between two ends, without routers.

use bentpipe_tcp::control::XcpOptions;
use bentpipe_tcp::{Config, CongestionHeader, Flags, Segment};

use crate::harness::{CLIENT, Net, SERVER, config, control};

fn xcp() -> Config {
    Config { control: control("xcp"), ..config("sack") }
}

/// What an end sent, in order.
fn sent(net: &Net, end: usize) -> impl Iterator<Item = Segment> {
    net.sent.iter().filter(move |sent| sent.passing.from == end).map(|sent| sent.passing.segment)
}

#[test]
fn headers_go_where_the_opener_asks_and_the_other_end_answers() {
    let plain = || config("sack");
    for (client, server, agreed) in
        [(xcp(), xcp(), true), (xcp(), plain(), true), (plain(), xcp(), false), (plain(), plain(), false)]
    {
        let net = Net::new([client, server], [1000, 5_000_000], 50).transfer(20_000);
        for segment in sent(&net, CLIENT).chain(sent(&net, SERVER)) {
            assert_eq!(segment.congestion().is_some(), agreed, "{segment:?}");
            assert_eq!(
                segment.packet_len(),
                40 + segment.options.wire_len() + segment.len + 20 * u32::from(agreed)
            );
        }
        assert_eq!(net.ends[CLIENT].segment_size(), if agreed { 980 } else { 1000 });
    }
}

#[test]
fn an_ack_hands_back_the_sum_of_what_came_since_the_last_and_asks_for_nothing() {
    for segments in [1, 2, 5] {
        let mut ends = xcp();
        ends.delayed_ack.segments = segments;
        let net = Net::alike(ends).transfer(30_000);
        let asked: f32 = sent(&net, CLIENT).map(|segment| segment.congestion.delta).sum();
        let back: f32 = sent(&net, SERVER).map(|segment| segment.congestion.reverse).sum();
        assert!(asked > 0.0 && (back - asked).abs() < 1e-3 * asked, "{back} of {asked}");
        for ack in sent(&net, SERVER) {
            let CongestionHeader { rtt, interval, delta, routers, .. } = ack.congestion;
            assert_eq!((rtt, interval, delta, routers), (0.0, 0.0, 0.0, 0));
        }
    }
}

#[test]
fn data_tells_the_round_trip_time_of_the_handshake_and_x() {
    let net = Net::alike(xcp()).transfer(30_000);
    let first = sent(&net, CLIENT).find(|segment| segment.len > 0).unwrap();
    let window = f64::from(xcp().initial_window.min(100)) * 980.0;
    let header = first.congestion;
    assert_eq!(header.rtt, 0.1);
    assert!((f64::from(header.interval) - 0.1 * 980.0 / window).abs() < 1e-6, "{header:?}");
}

#[test]
fn a_header_of_another_length_is_answered_with_as_long_a_one() {
    let options = XcpOptions { header: 32, ..XcpOptions::default() };
    let client = Config { control: options.into(), ..config("sack") };
    let net = Net::new([client, config("sack")], [1000, 5_000_000], 50).transfer(20_000);
    assert!(sent(&net, SERVER).all(|segment| segment.congestion().is_some_and(|header| header.bytes == 32)));
    assert_eq!(net.ends.map(|end| end.segment_size()), [968, 968]);
}

#[test]
fn the_flag_of_the_header_is_no_bit_of_the_wire() {
    assert_eq!(Flags::CONGESTION.0 & 0xff, 0);
}
