use super::*;

const MTU: u64 = 1500;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn packet(id: u32, came: Time, ecn_capable: bool) -> Waiting {
    let label = super::super::Label { ecn_capable, ..Default::default() };
    Waiting { id, bytes: 1000, label, came, marked: false }
}

/// A standing queue: `waited` is what each packet has waited when it leaves, one a millisecond. Returns the milliseconds in
/// which a packet was dropped, and those in which one was marked.
fn standing(codel: &mut Codel, from: u64, to: u64, waited: u64, capable: bool) -> (Vec<u64>, Vec<u64>) {
    let (mut dropped, mut marked) = (Vec::new(), Vec::new());
    let mut line = Line::default();
    for now in from..to {
        while line.len() < 40 {
            line.push(packet(0, Time::ZERO, capable));
        }
        // As if all had come so long ago.
        line.packets.iter_mut().for_each(|packet| packet.came = ms(now - waited));
        let mut drops = Drops::default();
        let sent = codel.dequeue(ms(now), &mut line, MTU, &mut drops);
        marked.extend(sent.filter(|sent| sent.marked).map(|_| now));
        dropped.extend(drops.packets.iter().map(|_| now));
    }
    (dropped, marked)
}

/// INTERVAL / sqrt(count): 100, 70.7, 57.7, 50, 44.7, 40.8 ms after one another, each rounded up to the next packet.
#[test]
fn drops_come_closer_by_the_control_law() {
    let mut codel = Codel::new(usual_target(), usual_interval(), false);
    let (dropped, _) = standing(&mut codel, 100, 700, 20, true);
    // Above the target from 100 ms on, and for an interval at 200 ms.
    let mut at = 200.0_f64;
    let mut expected = vec![200];
    for count in 1..8 {
        at += 100.0 / libm::sqrt(f64::from(count));
        expected.push(at.ceil() as u64);
    }
    assert_eq!(dropped[..8], expected);
    assert_eq!(expected, [200, 300, 371, 429, 479, 524, 564, 602]);
}

#[test]
fn below_the_target_or_with_one_packet_left_nothing_is_dropped() {
    let mut codel = Codel::new(usual_target(), usual_interval(), false);
    assert_eq!(standing(&mut codel, 100, 1000, 4, false), (vec![], vec![]));
    // What is left is no more than the largest packet.
    for now in 1000..2000 {
        let mut line = Line::default();
        let mut drops = Drops::default();
        (0..2).for_each(|id| line.push(packet(id, ms(now - 50), false)));
        assert_eq!(codel.dequeue(ms(now), &mut line, MTU, &mut drops).map(|packet| packet.id), Some(0));
        assert!(drops.packets.is_empty());
    }
}

#[test]
fn one_packet_in_time_ends_the_dropping() {
    let mut codel = Codel::new(usual_target(), usual_interval(), false);
    assert!(standing(&mut codel, 100, 450, 20, false).0.len() > 3 && codel.dropping);
    assert!(standing(&mut codel, 450, 451, 1, false).0.is_empty());
    assert!(!codel.dropping);
    // It takes a whole interval until the next drop, which begins at the rate that was reached.
    let (dropped, _) = standing(&mut codel, 451, 700, 20, false);
    assert_eq!(dropped[0], 551);
    let reached = codel.last_count;
    assert!(reached > 1 && dropped[1] < 551 + 100, "{reached}: {dropped:?}");
}

#[test]
fn after_a_long_calm_the_dropping_begins_anew() {
    let mut codel = Codel::new(usual_target(), usual_interval(), false);
    standing(&mut codel, 100, 700, 20, false);
    standing(&mut codel, 700, 3000, 1, false);
    let (dropped, _) = standing(&mut codel, 3000, 3300, 20, false);
    assert_eq!(dropped, [3100, 3200, 3271]);
}

#[test]
fn capable_packets_are_marked_at_the_times_of_the_drops() {
    let run = |ecn, capable| {
        standing(&mut Codel::new(usual_target(), usual_interval(), ecn), 100, 650, 20, capable)
    };
    let (dropped, none) = run(false, true);
    assert!(dropped.len() > 7 && none.is_empty());
    assert_eq!(run(true, true), (vec![], dropped.clone()));
    assert_eq!(run(true, false), (dropped, vec![]));
}

/// A drop state from 100 ms on with so many drops, and calm after it; returns when the next drop was due.
fn state(codel: &mut Codel, drops: usize) -> u64 {
    let mut now = 100;
    let mut found = 0;
    while found < drops {
        found += standing(codel, now, now + 1, 20, false).0.len();
        now += 1;
    }
    standing(codel, now, now + 1, 1, false);
    codel.drop_next.as_nanos() / 1_000_000
}

/// Section 5.5: "(now - drop_next_ < 16.0 * INTERVAL)", from the time at which the next drop was due.
#[test]
fn a_drop_state_within_16_intervals_goes_on_where_the_last_one_was() {
    for (intervals, begins) in [(9, 7), (15, 7), (17, 1)] {
        let mut codel = Codel::new(usual_target(), usual_interval(), false);
        let due = state(&mut codel, 8);
        assert_eq!((codel.count, codel.last_count), (8, 1));
        // The first drop comes an interval after packets have begun to wait.
        let first = due + 100 * intervals;
        let (dropped, _) = standing(&mut codel, first - 100, first + 1, 20, false);
        assert_eq!((dropped, codel.count), (vec![first], begins), "{intervals}");
    }
}

/// Section 5.5: "if ((delta > 1) && ..." with delta the drops but the first.
#[test]
fn of_three_drops_two_are_taken_over_and_of_two_none() {
    for (drops, begins) in [(2, 1), (3, 2)] {
        let mut codel = Codel::new(usual_target(), usual_interval(), false);
        let first = state(&mut codel, drops) + 300;
        standing(&mut codel, first - 100, first + 1, 20, false);
        assert_eq!(codel.count, begins);
    }
}

/// Section 4.4: "maxpacket ... SHOULD use interface MTU".
#[test]
fn what_is_left_is_held_against_the_mtu_whatever_the_packets_are() {
    let drops = |mtu: u64, packets: u32, bytes: u32| {
        let options = CodelOptions {
            limit: Packets(1000),
            target: usual_target(),
            interval: usual_interval(),
            mtu: Bytes::new(mtu),
            ecn: false,
        };
        let (rate, mut drops) = (Rate::from_bps(8_000_000), Drops::default());
        let Discipline::OnLeaving(mut queue) = options.discipline(rate, Stream::derive(1, "codel")) else {
            unreachable!()
        };
        let server = ServerView { rate, idle_since: None };
        for now in 0..1000 {
            while queue.packets() < packets {
                let packet = Waiting { bytes, ..packet(0, Time::ZERO, false) };
                queue.enqueue(ms(now), packet, &server, &mut drops);
            }
            queue.dequeue(ms(now + 10), &mut drops);
        }
        drops.early
    };
    // ACKs alone: 37 are 1480 B, 38 are 1520 B, and one leaves.
    assert_eq!(drops(1500, 38, 40), 0);
    assert!(drops(40, 38, 40) > 0 && drops(1500, 39, 40) > 0);
    assert_eq!((drops(1514, 2, 1510), drops(1500, 2, 9000)), (0, 0));
    assert!(drops(1500, 3, 9000) > 0);
}
