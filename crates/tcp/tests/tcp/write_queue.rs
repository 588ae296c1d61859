//! How a Linux host cuts what is written into buffers and packets.

use bentpipe_tcp::{Config, Flags, Incoming, Limit, Outgoing, Profile, SackBlock, Sender};
use bentpipe_units::{Span, Time};

use crate::harness::{CLIENT, Net, control, recovery};
use crate::script::{FIRST, Script};

/// Segments of 1000 bytes to a peer with a window of so many bytes.
fn script(window: u32, config: &Config) -> Script {
    let mut sender = Sender::new(&Config { mss: 1000, timestamps: false, ..config.clone() }, FIRST);
    sender.set_peer_window(window);
    sender.sample_handshake(Time::ZERO, Span::from_millis(100));
    Script { sender, now: Time::ZERO, echoes: None }
}

fn linux() -> Config {
    Profile::Linux.config(recovery("rack"), control("standard"))
}

/// What goes at first.
fn flight(script: &mut Script, bytes: u64) -> Vec<Outgoing> {
    script.sender.write(bytes);
    std::iter::from_fn(|| script.sender.poll(script.now)).collect()
}

#[test]
fn psh_is_set_behind_a_buffer_once_more_than_half_of_the_largest_window_was_written() {
    // tcp_sendmsg_locked, forced_push. A buffer has 5 segments; two go at once (tcp_push_one), the write goes on with two more, and so sets PSH
    // behind the seventh, which goes alone.
    let pushed = |script: &mut Script| -> Vec<bool> {
        flight(script, 100_000).iter().map(|sent| sent.flags.has(Flags::PSH)).collect()
    };
    let mut script = script(11_000, &linux());
    let expected = [false, true, false, true, false, true, true, false, true, false];
    assert_eq!(pushed(&mut script), expected);
    // Sent again it has PSH; the sixth, the last of a packet, has not.
    script.wait(100);
    let sack = [SackBlock { start: FIRST + 7000, end: FIRST + 10_000 }];
    script.sender.on_ack(script.now, &Incoming { sack: &sack, ..Incoming::of(FIRST + 5000) });
    let again = std::iter::from_fn(|| script.sender.poll(script.now)).filter(|sent| sent.again);
    let again: Vec<_> = again.map(|sent| (sent.seq - FIRST, sent.flags.has(Flags::PSH))).collect();
    assert_eq!(again, [(5000, false), (6000, true)]);
}

#[test]
fn up_to_the_edge_of_the_window_less_than_a_segment_goes() {
    // tcp_mss_split_point; Nagle's rule holds it back where such a one is outstanding.
    let mut script = script(9500, &Config { initial_window: 20, ..linux() });
    let lens: Vec<u32> = flight(&mut script, 100_000).iter().map(|sent| sent.len).collect();
    assert_eq!(lens, [&[1000; 9][..], &[500]].concat());
    script.wait(100);
    assert_eq!(script.ack(1, &[]).len(), 1);
}

#[test]
fn the_application_goes_on_once_a_third_of_the_send_buffer_is_free() {
    // A buffer of 20 segments, the one that it is filled up with, and nothing in another: sk_stream_wait_memory, sk_stream_is_writeable.
    let begun = || {
        let mut script = script(40_000, &Config { initial_window: 30, send_buffer: Some(20_000), ..linux() });
        assert_eq!(script.write(400).len(), 22);
        assert_eq!(script.sender.limit(), Limit::Application);
        script.wait(100);
        script
    };
    let mut script = begun();
    assert_eq!(script.ack(10, &[]), []);
    assert!(script.ack(16, &[]).contains(&(23, false)));
    // tcp_shift_skb_data: neighbours that are reported become one packet, with one head.
    assert!(begun().ack(10, &[(12, 22)]).contains(&(23, false)));
}

#[test]
fn fin_goes_alone_where_all_that_was_written_went_before() {
    // tcp_send_fin: shutdown() comes behind send(), which sends what the window lets go.
    let fins = |segments: u64| {
        let mut script = script(40_000, &linux());
        script.sender.write(segments * 1000);
        script.sender.close(false);
        let sent = std::iter::from_fn(|| script.sender.poll(script.now));
        let fins = sent.filter(|sent| sent.flags.has(Flags::FIN)).map(|sent| sent.len);
        fins.collect::<Vec<u32>>()
    };
    assert_eq!(fins(3), [0]);
    assert!(fins(11).is_empty());
}

#[test]
fn the_next_write_is_copied_while_pacing_holds_the_first_back() {
    // The last segment of a write that has not gone yet is filled up (tcp_sendmsg_locked).
    let mut net = Net::alike(Profile::Linux.config(recovery("rack"), control("bbr1")));
    net.open();
    net.run_to(1000);
    [40_000, 40_000].iter().for_each(|bytes| net.ends[CLIENT].write(*bytes));
    net.write(CLIENT, 0);
    net.run();
    let mut lens: Vec<u32> = net.data_by(CLIENT).iter().map(|sent| sent.passing.segment.len).collect();
    lens.pop();
    assert_eq!(lens, vec![1448; lens.len()]);
}
