use super::*;

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
        let sent = codel.dequeue(ms(now), &mut line, &mut drops);
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
        assert_eq!(codel.dequeue(ms(now), &mut line, &mut drops).map(|packet| packet.id), Some(0));
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
