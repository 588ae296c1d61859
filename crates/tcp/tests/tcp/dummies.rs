//! Dummy segments: when they go out, how they are answered, and what they leave alone.

use bentpipe_tcp::{Config, Ecn, Flags, GrowthGate, Segment};

use crate::harness::{CLIENT, Net, SERVER, config, control};

fn peach() -> Config {
    Config { control: control("peach"), receive_window: 20_000, ..config("sack") }
}

#[test]
fn dummies_fill_the_first_round_trip_and_open_the_window() {
    let net = Net::alike(peach()).transfer(100_000);
    let low = |end: usize| {
        let sent = net.sent.iter().filter(|sent| sent.passing.from == end);
        sent.filter(|sent| sent.passing.segment.ecn == Ecn::Low).collect::<Vec<_>>()
    };
    let (dummies, acks) = (low(CLIENT), low(SERVER));
    assert_eq!((dummies.len(), acks.len()), (19, 19), "{}", net.trace());
    for dummy in &dummies {
        assert!(dummy.passing.segment.len == 1000 && dummy.passing.again, "{}", net.trace());
    }
    assert!(acks.iter().all(|ack| ack.passing.segment.len == 0 && ack.passing.segment.flags == Flags::ACK));
    let stats = net.ends[CLIENT].sender().stats();
    assert_eq!(
        (stats.duplicate_acks, stats.retransmitted_segments, stats.timeouts, stats.data_bytes),
        (0, 0, 0, 100_000)
    );
    assert!(net.ends[CLIENT].sender().window().cwnd >= 20_000.0);
}

#[test]
fn a_loss_is_answered_by_dummies_that_give_the_window_back() {
    let run = |name: &str| {
        let gate = GrowthGate::Full;
        let config = config("sack");
        let config =
            Config { control: control(name), receive_window: 40_000, grow_only_when_limited: gate, ..config };
        Net::alike(config).dropping(&[90]).transfer(400_000)
    };
    let (peach, standard) = (run("peach"), run("standard"));
    let cwnd = |net: &Net| net.ends[CLIENT].sender().window().cwnd;
    // One and the rescue of RFC 6675.
    assert!(peach.ends[CLIENT].sender().stats().retransmitted_segments <= 2, "{}", peach.trace());
    assert!(cwnd(&peach) > 38_000.0 && cwnd(&standard) < 30_000.0, "{} {}", cwnd(&peach), cwnd(&standard));
    assert!(peach.now < standard.now, "{:?} {:?}", peach.now, standard.now);
}

#[test]
fn a_dummy_copies_only_data_that_there_is() {
    // A byte that went again is one byte.
    let config = Config { control: control("peach"), receive_window: 20_000, ..config("tahoe") };
    let mut net = Net::alike(config).dropping(&[1]);
    net.open();
    net.write(CLIENT, 1);
    net.run_to(5000);
    let dummies = net.sent_by(CLIENT).filter(|sent| sent.passing.segment.ecn == Ecn::Low);
    let dummies: Vec<_> = dummies.map(|sent| sent.passing.segment).collect();
    assert!(!dummies.is_empty());
    for dummy in dummies {
        assert_eq!((net.relative(CLIENT, dummy.seq), dummy.len), (0, 1), "{}", net.trace());
    }
}

#[test]
fn a_dummy_that_is_no_copy_of_anything_near_is_not_answered() {
    let mut net = Net::established(peach());
    let near = Segment { ecn: Ecn::Low, flags: Flags::ACK, len: 1000, ..net.next_from_client() };
    let answers = |net: &mut Net, segment: Segment| {
        let before = net.acks_by(SERVER).len();
        net.arrive(SERVER, &segment);
        net.serve(SERVER);
        net.acks_by(SERVER).len() - before
    };
    assert_eq!(answers(&mut net, near), 1);
    let own = near.seq;
    for (seq, expected) in
        [(own + 19_000, 1), (own + 19_001, 0), (own + 100_000, 0), (own - 19_000, 1), (own - 30_000, 0)]
    {
        let segment = Segment { seq, ..near };
        assert_eq!(answers(&mut net, segment), expected, "{}", seq - own);
    }
    let with_fin = Segment { flags: Flags::ACK | Flags::FIN, ..near };
    assert_eq!(answers(&mut net, with_fin), 0);
    assert_eq!(net.read, [0, 0], "it brings nothing");
}
