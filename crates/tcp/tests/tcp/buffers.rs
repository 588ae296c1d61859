//! Receive buffers that grow with what the application reads, as Linux's do.

use bentpipe_tcp::{Config, Kernel, Profile, ReceiveBuffer};

use crate::harness::{CLIENT, Net, Reader, SERVER, config, control, recovery};

/// Linux's defaults, with standard control so that slow start goes on.
fn linux() -> Config {
    Profile::Linux.config(recovery("sack"), control("standard"))
}

fn over(config: Config, delay_ms: u64) -> Net {
    Net::new([config.clone(), config], [1000, 5_000_000], delay_ms)
}

/// The windows that the server gave with its ACKs, in bytes; the shift is that of a buffer of 32 MiB.
fn windows(net: &Net) -> Vec<u32> {
    net.acks_by(SERVER).iter().map(|sent| u32::from(sent.passing.segment.window) << 10).collect()
}

#[test]
fn the_window_opens_as_linux_opens_it() {
    let net = over(linux(), 150).transfer(2_000_000);
    let syn = net.sent_by(SERVER).next().unwrap().passing.segment;
    // 45 segments of 1448 bytes: half of 128 KiB.
    assert_eq!((syn.window, syn.options.window_scale), (65_160, Some(10)));
    // One of them is reserved (tcp_init_buffer_space). Two segments more with each that comes, rounded up to 1024, as far as the buffer has room beside the segment itself, which
    // takes 2304 bytes until it is read: (131072 - 2304) x 160/256 = 80480.
    let windows = windows(&net);
    assert_eq!(windows[..7], [67_584, 70_656, 73_728, 75_776, 78_848, 80_896, 80_896], "{}", net.trace());
    // The second round trip brought 19 to 20 segments, nearly twice what the first did: what grows is up to 2 x 28960 and twice as much again.
    let stands = windows
        .windows(8)
        .map(|some| (some[0], some[7]))
        .find(|(first, last)| first == last && *first > 81_920);
    assert!(stands.is_some_and(|(window, _)| (150_000..=174_080).contains(&window)), "{windows:?}");
}

#[test]
fn the_window_is_twice_what_is_read_in_a_round_trip() {
    // A segment more in each round trip, from 10 on: the other term, which is for what has grown, stays at four segments.
    let net = over(Config { initial_ssthresh: Some(10 * 1448), ..linux() }, 50).transfer(3_000_000);
    let cwnd = net.data_by(CLIENT).last().map_or(0.0, |sent| sent.cwnd);
    let window = windows(&net).last().map_or(0.0, |&window| f64::from(window));
    assert!(cwnd > 55.0 * 1448.0, "{cwnd}");
    assert!((1.9..2.2).contains(&(window / cwnd)), "{window} for {cwnd}");
}

#[test]
fn slow_start_is_not_held_back() {
    for timestamps in [true, false] {
        let tuned = Config { timestamps, ..linux() };
        let wide = Config { receive_buffer: None, receive_window: 1 << 27, ..tuned.clone() };
        let took = |config| over(config, 150).transfer(5_000_000).now;
        assert_eq!(took(tuned), took(wide), "timestamps {timestamps}");
    }
}

#[test]
fn the_window_stays_within_the_largest_buffer() {
    let buffer = ReceiveBuffer { initial: 16_384, max: 65_536, ..ReceiveBuffer::LINUX };
    let net = over(Config { receive_buffer: Some(buffer), ..linux() }, 100).transfer(1_000_000);
    let window = |sent: &crate::harness::Sent| u32::from(sent.passing.segment.window) << 1;
    let largest = net.acks_by(SERVER).iter().map(window).max();
    assert_eq!((buffer.window_of(65_536), largest), (40_960, Some(39_520)), "{}", net.trace());
    // And within the window that it is told to keep to.
    let net = over(Config { receive_buffer: Some(buffer), receive_window: 20_000, ..linux() }, 100);
    let net = net.transfer(1_000_000);
    assert_eq!(net.acks_by(SERVER).iter().map(window).max(), Some(20_000), "{}", net.trace());
}

#[test]
fn the_buffer_of_an_older_kernel_grows_in_its_own_way() {
    // Linux 6.12, tcp_rcv_space_adjust: 16 segments more than twice what is read; what waits past a hole makes no room.
    let grown = |kernel: Kernel| {
        let config = Config {
            receive_buffer: Some(ReceiveBuffer { max: 32 << 20, ..ReceiveBuffer::of(kernel) }),
            initial_ssthresh: Some(10 * 1448),
            initial_window: 40,
            ..linux()
        };
        let net = over(config, 50).transfer(900_000);
        windows(&net).last().copied().unwrap_or_default()
    };
    assert_eq!(
        [Kernel::Linux612, Kernel::Linux618].map(|kernel| ReceiveBuffer::of(kernel).max >> 20),
        [6, 32]
    );
    let [old, new] = [Kernel::Linux612, Kernel::Linux618].map(grown);
    assert!(old >= new + 16 * 1448, "{old} {new}");
}

#[test]
fn a_slow_reader_keeps_its_buffer() {
    let mut net = over(linux(), 20);
    net.readers[SERVER] = Reader::Slow { bytes: 2000, every_ms: 20 };
    let net = net.transfer(400_000);
    assert!(windows(&net).into_iter().all(|window| window <= 81_920), "{}", net.trace());
}

#[test]
fn what_waits_past_a_hole_takes_room_and_moves_no_edge_back() {
    let config = Config { initial_window: 30, ..linux() };
    let net = over(config, 150).dropping(&[1]).transfer(500_000);
    // 29 segments wait: the buffer has grown for them, and what it offers from the hole on is no less than before.
    let edges: Vec<i64> = net
        .acks_by(SERVER)
        .iter()
        .map(|sent| {
            net.relative(CLIENT, sent.passing.segment.ack) + (i64::from(sent.passing.segment.window) << 10)
        })
        .collect();
    assert!(edges.is_sorted(), "{edges:?}");
    assert_eq!(net.ends[SERVER].receiver().stats().beyond_window_bytes, 0);
}

#[test]
fn without_a_buffer_that_grows_the_window_is_all_there_from_the_start() {
    let config = Config { receive_window: 50_000, ..config("sack") };
    let net = over(config, 20).transfer(200_000);
    assert!(net.acks_by(SERVER).iter().all(|sent| sent.passing.segment.window == 50_000));
}

#[test]
fn a_larger_buffer_opens_with_what_a_syn_has_room_for() {
    let buffer = ReceiveBuffer { initial: 838_860, max: 838_860, ..ReceiveBuffer::LINUX };
    let net = over(Config { receive_buffer: Some(buffer), ..linux() }, 150).transfer(2_000_000);
    let offered: Vec<u32> = (net.acks_by(SERVER).iter())
        .map(|sent| {
            net.relative(CLIENT, sent.passing.segment.ack) as u32
                + (u32::from(sent.passing.segment.window) << 4)
        })
        .collect();
    // The first ACK is of one segment: 65,535 bytes, and two segments more.
    assert!((1448 + 65_535..=1448 + 65_535 + 2 * 1448 + 16).contains(&offered[0]), "{offered:?}");
}

#[test]
fn where_a_segment_takes_less_of_the_buffer_more_of_it_is_window() {
    let window = |segment| ReceiveBuffer { segment, ..ReceiveBuffer::LINUX }.window_of(131_072);
    // Of most devices, and of a virtual kernel's.
    assert_eq!((window(2304), window(2176)), (81_920, 87_040));
}
