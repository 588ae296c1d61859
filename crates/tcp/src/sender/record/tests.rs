//! The record against one entry an octet.

use proptest::prelude::*;

use super::*;

/// What is known of an octet.
#[derive(Clone, Copy, Debug, Default)]
struct Octet {
    at: u64,
    resent: bool,
    sacked: bool,
    lost: bool,
    delivered: bool,
}

#[derive(Default)]
struct Model {
    una: u32,
    octets: Vec<Octet>,
    delivered: u64,
    lost: u64,
}

#[derive(Clone, Debug)]
enum Step {
    Send(u32),
    /// From a place in what is outstanding, so many octets, again.
    Resend(u32, u32),
    Lose(u32, u32),
    LoseOldest,
    LoseAll,
    TakeBack,
    /// Blocks of one ACK.
    Sack(Vec<(u32, u32)>),
    Ack(u32),
    Forget,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = || (0_u32..40, 1_u32..12);
    let step = prop_oneof![
        6 => (1_u32..9).prop_map(Step::Send),
        3 => range().prop_map(|(from, len)| Step::Resend(from, len)),
        2 => range().prop_map(|(from, len)| Step::Lose(from, len)),
        1 => Just(Step::LoseOldest),
        1 => Just(Step::LoseAll),
        1 => Just(Step::TakeBack),
        4 => prop::collection::vec(range(), 1..4).prop_map(Step::Sack),
        4 => (1_u32..20).prop_map(Step::Ack),
        1 => Just(Step::Forget),
    ];
    prop::collection::vec(step, 1..80)
}

impl Model {
    /// Whoever finds them lost, octets that are in flight are found lost once.
    fn lose(&mut self, places: std::ops::Range<usize>) {
        for octet in &mut self.octets[places] {
            self.lost += u64::from(!octet.lost && !octet.delivered);
            octet.lost = true;
        }
    }
}

struct Both {
    base: Seq,
    record: Record,
    model: Model,
    now: u64,
}

impl Both {
    fn new(base: u32) -> Both {
        let mut record = Record::default();
        record.stamp_entries(Seq(base));
        Both { base: Seq(base), record, model: Model::default(), now: 0 }
    }

    fn una(&self) -> Seq {
        self.base + self.model.una
    }

    /// A range of what is outstanding, of its octets' places from SND.UNA on.
    fn range(&self, from: u32, len: u32) -> Option<(Range, std::ops::Range<usize>)> {
        let outstanding = self.model.octets.len() as u32 - self.model.una;
        let (from, to) = (from.min(outstanding), (from + len).min(outstanding));
        let una = self.model.una;
        let places = (una + from) as usize..(una + to) as usize;
        (from < to).then(|| (Range { start: self.una() + from, end: self.una() + to }, places))
    }

    fn apply(&mut self, step: &Step) {
        self.now += 1;
        let now = Time::from_nanos(self.now);
        match *step {
            Step::Send(len) => {
                let octet = Octet { at: self.now, ..Octet::default() };
                self.model.octets.extend((0..len).map(|_| octet));
                self.record.push(now, self.base + self.model.octets.len() as u32);
                self.record.time_newest();
            }
            Step::Resend(from, len) => {
                let Some((range, places)) = self.range(from, len) else { return };
                self.record.resend(now, range, self.una());
                for octet in &mut self.model.octets[places] {
                    *octet = Octet { at: self.now, resent: true, lost: false, ..*octet };
                }
            }
            Step::Lose(from, len) => {
                let Some((range, places)) = self.range(from, len) else { return };
                self.record.lose(range, self.una());
                self.model.lose(places);
            }
            Step::LoseOldest => {
                self.record.lose_oldest(self.una());
                let oldest = self.record.entries(self.una()).next().map(|(range, _)| range.end - self.una());
                let una = self.model.una as usize;
                self.model.lose(una..una + oldest.unwrap_or(0) as usize);
            }
            Step::LoseAll => {
                self.record.lose_all(self.una());
                for place in self.model.una as usize..self.model.octets.len() {
                    if !self.model.octets[place].delivered {
                        self.model.lose(place..place + 1);
                    }
                }
            }
            Step::TakeBack => {
                self.record.undo_losses(self.una(), false);
                self.model.octets[self.model.una as usize..].iter_mut().for_each(|octet| octet.lost = false);
            }
            Step::Sack(ref blocks) => {
                self.record.begin_report();
                let (mut newest, mut news) = (None, 0);
                for (from, len) in blocks {
                    let Some((range, places)) = self.range(*from, *len) else { continue };
                    let mut fresh = 0;
                    self.record.sack(now, range, self.una(), |part| fresh += part.end - part.start);
                    let octets = &mut self.model.octets[places];
                    assert_eq!(fresh as usize, octets.iter().filter(|octet| !octet.sacked).count());
                    let reported = octets.iter().filter(|octet| !octet.delivered);
                    newest = newest.max(reported.clone().map(|octet| octet.at).max());
                    news += reported.count();
                    for octet in octets.iter_mut().filter(|octet| !octet.sacked) {
                        *octet = Octet { sacked: true, delivered: true, lost: false, ..*octet };
                    }
                }
                assert_eq!((self.record.newly_delivered() as usize, self.record.newly_lost()), (news, 0));
                assert_eq!(self.record.newest().map(|sent| sent.at.as_nanos()), newest);
                self.model.delivered += news as u64;
            }
            Step::Ack(len) => {
                let Some((range, places)) = self.range(0, len) else { return };
                let octets = &self.model.octets[places];
                let news = octets.iter().filter(|octet| !octet.delivered).count();
                self.model.una += range.end - range.start;
                self.record.board_mut().advance(range.end, |_| {});
                match self.now % 2 {
                    0 => self.record.acknowledge_alone(now, range.end, range.end - range.start),
                    _ => {
                        self.record.begin_report();
                        self.record.acknowledge(now, range.end, range.end - range.start);
                    }
                }
                assert_eq!(self.record.newly_delivered() as usize, news);
                self.model.delivered += news as u64;
            }
            Step::Forget => {
                self.record.forget_sacked();
                self.model.octets.iter_mut().for_each(|octet| octet.sacked = false);
            }
        }
    }

    fn compare(&self) {
        let mut end = self.una();
        for (range, sent) in self.record.entries(self.una()) {
            assert_eq!(range.start, end, "entries leave no gap");
            end = range.end;
            for place in (range.start - self.base)..(range.end - self.base) {
                let octet = self.model.octets[place as usize];
                let marks = (sent.resent(), sent.sacked(), sent.lost(), sent.at.as_nanos());
                assert_eq!(marks, (octet.resent, octet.sacked, octet.lost, octet.at), "octet {place}");
            }
        }
        assert_eq!(end, self.base + self.model.octets.len() as u32);
        assert_eq!(self.record.delivered(), self.model.delivered);
        let outstanding = &self.model.octets[self.model.una as usize..];
        let in_flight = outstanding.iter().filter(|octet| !octet.delivered && !octet.lost).count();
        assert_eq!(self.record.in_flight(outstanding.len() as u32) as usize, in_flight);
        assert_eq!(self.record.lost(), self.model.lost);
        let touched = outstanding.iter().any(|octet| octet.resent || octet.delivered || octet.lost);
        assert_eq!(self.record.is_untouched(), !touched);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_entry_says_of_its_octets_what_happened_to_each(
        steps in steps(),
        base in prop_oneof![any::<u32>(), (0_u32..200).prop_map(|n| u32::MAX - n)],
    ) {
        let mut both = Both::new(base);
        for step in &steps {
            both.apply(step);
            both.compare();
        }
    }
}

fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

#[test]
fn the_delivery_rate_is_that_of_the_bottleneck() {
    // Ten segments of 1000 bytes leave together. Their ACKs come a millisecond apart after 100 ms; each pays for the next.
    let mut record = Record::default();
    record.stamp_entries(Seq(0));
    (1..=10).for_each(|number| record.push(ms(0), Seq(number * 1000)));
    let mut rates = Vec::new();
    for number in 0..30 {
        let now = ms(100 + 100 * (number / 10) + number % 10);
        let acked = number as u32 + 1;
        record.acknowledge_alone(now, Seq(acked * 1000), 1000);
        rates.extend(record.rate(now).map(|sample| sample.rate()));
        record.push(now, Seq((acked + 10) * 1000));
    }
    // The first report says only how long one took. From the second round trip on, ten segments take 100 ms; the burst of
    // the start was not sent as fast as its ACKs came.
    assert_eq!(rates.len(), 30);
    assert!(rates[10..20].iter().all(|rate| (91_000.0..=100_000.0).contains(rate)), "{rates:?}");
    assert!(rates[20..].iter().all(|rate| *rate == 100_000.0), "{rates:?}");
}

#[test]
fn a_rate_is_marked_when_the_application_had_no_more() {
    let mut record = Record::default();
    record.stamp_entries(Seq(0));
    record.push(ms(0), Seq(1000));
    record.limit_by_application(1000);
    record.push(ms(1), Seq(2000));
    record.acknowledge_alone(ms(100), Seq(1000), 1000);
    assert_eq!(record.rate(ms(100)).map(|sample| sample.app_limited), Some(false));
    record.acknowledge_alone(ms(101), Seq(2000), 1000);
    assert_eq!(record.rate(ms(101)).map(|sample| sample.app_limited), Some(true));
    record.push(ms(102), Seq(3000));
    record.acknowledge_alone(ms(202), Seq(3000), 1000);
    assert_eq!(record.rate(ms(202)).map(|sample| sample.app_limited), Some(false));
}

#[test]
fn what_was_sent_twice_is_not_timed_nor_what_waits_behind_it() {
    let mut record = Record::default();
    for number in 1..=3 {
        record.push(ms(0), Seq(number * 1000));
    }
    record.time_newest();
    let first = Range { start: Seq(0), end: Seq(1000) };
    record.resend(ms(50), first, Seq(0));
    record.acknowledge_alone(ms(100), Seq(3000), 3000);
    assert_eq!(record.take_timed(), None);
    record.push(ms(100), Seq(4000));
    record.time_newest();
    record.push(ms(110), Seq(5000));
    record.time_newest();
    record.acknowledge_alone(ms(200), Seq(4000), 1000);
    assert_eq!(record.take_timed(), Some(ms(100)));
    assert_eq!(record.take_timed(), None, "once");
}

#[test]
fn the_timed_segment_stays_the_same_when_one_before_it_is_cut() {
    let mut record = Record::default();
    record.push(ms(0), Seq(3000));
    record.push(ms(10), Seq(4000));
    record.time_newest();
    record.sack(ms(60), Range { start: Seq(1000), end: Seq(2000) }, Seq(0), |_| {});
    record.acknowledge(ms(110), Seq(4000), 4000);
    assert_eq!(record.take_timed(), Some(ms(10)));
}

#[test]
fn a_rate_and_a_loss_tell_what_was_in_flight_and_what_was_lost_meanwhile() {
    let mut record = Record::default();
    record.stamp_entries(Seq(0));
    (1..=6).for_each(|number| record.push(ms(0), Seq(number * 1000)));
    let holes = |from: u32, to: u32| Range { start: Seq(from * 1000), end: Seq(to * 1000) };
    record.begin_report();
    record.sack(ms(100), holes(3, 4), Seq(0), |_| ());
    record.lose(holes(0, 2), Seq(0));
    let losses: Vec<_> = record.losses().iter().map(|lost| (lost.bytes, lost.in_flight, lost.lost)).collect();
    assert_eq!(losses, [(1000, 1000, 1000), (1000, 2000, 2000)]);
    let sample = record.rate(ms(100)).map(|sample| (sample.in_flight, sample.lost));
    assert_eq!(sample, Some((4000, 2000)), "the fourth segment went out with three before it");
    record.forget_losses();
    assert!(record.losses().is_empty());
    // Three are in flight still; the first goes again as the fourth of them.
    record.resend(ms(110), holes(0, 1), Seq(0));
    record.begin_report();
    record.acknowledge(ms(210), Seq(1000), 1000);
    let sample = record.rate(ms(210)).map(|sample| (sample.in_flight, sample.lost, sample.prior_delivered));
    assert_eq!(sample, Some((4000, 0, 1000)), "the losses came before it was sent again");
    // What is acknowledged no longer counts as in flight when more is sent: three do, and this one.
    record.push(ms(210), Seq(7000));
    record.begin_report();
    record.sack(ms(310), holes(6, 7), Seq(1000), |_| ());
    assert_eq!(record.rate(ms(310)).map(|sample| sample.in_flight), Some(4000));
}
