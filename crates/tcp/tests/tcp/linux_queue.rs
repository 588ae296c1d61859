//! When an end of profile `linux` sends what the window has room for, and what of its buffer an ACK tells.

use bentpipe_tcp::{Config, Flags, Kernel, Profile, ReceiveBuffer, Segment};
use bentpipe_units::Span;

use crate::harness::{CLIENT, Net, SERVER, config, control, recovery};
use crate::script::Script;

fn linux(controlled: &str) -> Config {
    Profile::Linux.config(recovery("rack"), control(controlled))
}

/// Segments of 1000 bytes.
fn script(rtt_ms: u64, config: Config) -> Script {
    let control = config.control.factory().make();
    let mut script = Script::of(&Config { mss: 1000, timestamps: false, ..config }, rtt_ms);
    script.sender.set_control(control);
    script
}

#[test]
fn what_has_little_room_waits_for_the_next_ack_and_counts_as_a_full_window() {
    // tcp_tso_should_defer: 1.2 windows of 40 segments in a round trip of 10 ms are four in a millisecond.
    // The send buffer is full, so that the application does nothing meanwhile.
    let send_buffer = Some(46_080);
    let config =
        Config { initial_window: 40, initial_ssthresh: Some(40_000), send_buffer, ..linux("standard") };
    let mut sender = script(10, config.clone());
    assert_eq!(sender.write(400).len(), 40);
    sender.wait(10);
    let mut flights = Vec::new();
    for acked in 1..=45 {
        flights.push(sender.ack(acked, &[]).len());
        sender.now += Span::from_nanos(200_000);
    }
    // Nothing was sent for long before the first of them.
    assert_eq!(flights[..9], [1, 0, 0, 0, 4, 0, 0, 0, 4]);
    assert_eq!(sender.windows().0, 41.0);
    // What comes later than a millisecond does not wait.
    let mut sender = script(10, config);
    sender.write(400);
    sender.wait(10);
    let flights: Vec<usize> = (1..=4)
        .map(|acked| {
            sender.wait(2);
            sender.ack(acked, &[]).len()
        })
        .collect();
    assert_eq!(flights, [1; 4]);
}

#[test]
fn the_first_ten_segments_are_not_paced() {
    // tcp_update_skb_after_send: data_segs_out >= 10. The packet with the tenth, which is of two, takes its time.
    let mut sender = script(100, linux("bbr1"));
    assert_eq!(sender.write(5).len(), 5);
    sender.wait(100);
    sender.ack(5, &[]);
    assert_eq!(sender.write(20).len(), 6);
}

#[test]
fn a_rate_of_bbr_is_whole_units() {
    // BW_UNIT: ten segments in 1.0085 s are 166.36 of them.
    let mut sender = script(1008, linux("bbr1"));
    sender.write(40);
    sender.wait(1008);
    sender.ack(1, &[]);
    let segments_a_second = sender.sender.window().pacing_rate / 1000.0 / 0.99 / (739.0 / 256.0);
    assert!((segments_a_second * 16.777_216 - 166.0).abs() < 1e-6, "{segments_a_second}");
}

#[test]
fn an_ack_goes_before_the_application_answers() {
    // __tcp_ack_snd_check, from the softirq.
    let first = |config: Config| {
        let mut net = Net::established(config);
        let request = Segment { len: 300, flags: Flags::ACK | Flags::PSH, ..net.next_from_client() };
        net.ends[SERVER].on_segment(net.now, &request);
        net.ends[SERVER].read(u32::MAX);
        net.ends[SERVER].write(500);
        net.ends[SERVER].poll_transmit(net.now).map(|sent| sent.segment.len)
    };
    assert_eq!((first(linux("standard")), first(config("sack"))), (Some(0), Some(500)));
}

/// The windows that the server's ACKs tell when twenty segments come, in bytes.
fn windows(config: Config, dropped: &[usize]) -> Vec<(i64, u32)> {
    let scale = config.receive_buffer.map_or(0, |_| 7);
    let mut net = Net::alike(Config { initial_window: 20, ..config }).dropping(dropped);
    net.open();
    net.write(CLIENT, 20 * 1448);
    net.run_to(450);
    let acks = net.acks_by(SERVER);
    acks.iter()
        .map(|ack| ack.passing.segment)
        .map(|ack| (net.relative(CLIENT, ack.ack), u32::from(ack.window) << scale))
        .collect()
}

#[test]
fn the_ack_of_what_fills_a_hole_counts_what_waits_to_be_read() {
    // tcp_init_buffer_space reserves a segment of half of 128 KiB; each that comes lets the window open by two.
    let tuned = || Config { receive_buffer: Some(ReceiveBuffer::of(Kernel::Linux612)), ..linux("standard") };
    let mut net = Net::alike(tuned());
    net.open();
    net.run();
    let syns = [CLIENT, SERVER].map(|end| net.sent_by(end).next().map(|sent| sent.passing.segment.window));
    assert_eq!(syns, [Some(44 * 1460), Some(45 * 1448)]);
    assert_eq!(windows(tuned(), &[])[0], (1448, (65_536 - 1448 + 2 * 1448_u32).next_multiple_of(128)));
    // __tcp_select_window: twenty segments of 2304 bytes wait, of which 18 have no `struct sk_buff` (skb_try_coalesce), and 160/256 of the rest
    // is window.
    let rest: u32 = 131_072 - 20 * 2304 + 18 * 256;
    let filled = windows(tuned(), &[1]).into_iter().find(|(ack, _)| *ack == 20 * 1448);
    assert_eq!(filled, Some((20 * 1448, (rest * 160 / 256).next_multiple_of(128))));
}

#[test]
fn a_window_without_a_scale_is_told_in_whole_segments() {
    // __tcp_select_window.
    let fixed = Config { receive_buffer: None, receive_window: 16_384, ..linux("standard") };
    assert_eq!(windows(fixed, &[])[1].1, 11 * 1448);
}

#[test]
fn the_last_of_a_paced_packet_has_push_and_a_lone_segment_has_none() {
    // bbr_min_tso_segs: two segments make a packet from 1.2 Mbit/s on; __tcp_transmit_skb.
    let pushed = |rtt_ms: u64| {
        let mut sender = script(rtt_ms, linux("bbr1"));
        sender.sender.write(100_000);
        let flags: Vec<bool> = std::iter::from_fn(|| sender.sender.poll(sender.now))
            .map(|out| out.flags.has(Flags::PSH))
            .collect();
        flags
    };
    assert_eq!(pushed(100), [false, true].repeat(5));
    assert_eq!(pushed(1000), [false; 10]);
}
