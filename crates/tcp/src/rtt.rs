//! The round-trip estimator and the retransmission timeout (RFC 6298).

mod distribution;
mod least;
mod ticks;

use bentpipe_units::{Span, Time};

pub(crate) use distribution::RoundTrips;
pub use distribution::RttDistribution;
use least::Least;
use ticks::Ticks;

use crate::{RtoConfig, RtoEstimator, Seq};

/// `TCP_TIMEOUT_MIN_US`.
const LEAST_TIMER: Span = Span::from_millis(2);

/// SRTT, RTTVAR and RTO.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    config: RtoConfig,
    smoothed: Option<Span>,
    variation: Span,
    /// Of Linux's estimator.
    deviation: Deviation,
    /// Of ns-2's.
    ticks: Ticks,
    /// Timers expire on a multiple of it.
    timer_tick: Span,
    rto: Span,
    /// What RTO Linux had found before its bounds.
    in_ticks: Span,
    /// Whether the tail is probed, and the time from an event to the first thing that the timer does.
    probes: bool,
    wait: Span,
    /// Doublings since the last sample, or since it was ended.
    backoff: u32,
    min: Least,
    latest: Option<Span>,
    samples: u64,
}

impl RttEstimator {
    /// No sample yet: the RTO is `config.initial`.
    pub fn new(config: RtoConfig) -> RttEstimator {
        let min_variance = config.min_variance.max(config.granularity);
        let timer_tick = if config.estimator == RtoEstimator::Ns2 { Span::ZERO } else { config.granularity };
        RttEstimator {
            config: RtoConfig { min_variance, ..config },
            smoothed: None,
            variation: Span::ZERO,
            deviation: Deviation::default(),
            ticks: Ticks::default(),
            timer_tick,
            rto: config.initial,
            in_ticks: Span::ZERO,
            probes: false,
            wait: config.initial,
            backoff: 0,
            min: Least::default(),
            latest: None,
            samples: 0,
        }
    }

    /// Takes a sample as Linux does, of the first segment of an ACK, and of its `newest`. Data up to `una` is acknowledged, and was sent
    /// up to `max`.
    #[inline(always)]
    pub fn sample_linux(&mut self, now: Time, rtt: Span, newest: Span, una: Seq, max: Seq) {
        self.note(now, rtt, newest);
        let smoothed = match self.smoothed {
            None => rtt,
            // "7/8 srtt + 1/8 new", whatever the number of samples.
            Some(smoothed) => {
                Span::from_nanos(smoothed.as_nanos() - smoothed.as_nanos() / 8 + rtt.as_nanos() / 8)
            }
        };
        let term = self.deviation.sample(rtt, self.smoothed, self.config.min_variance, una, max);
        // Linux counts the RTO in ticks (`__tcp_set_rto`), before it doubles: mostly as many as before.
        let (rto, tick) = (smoothed + term, self.config.granularity);
        if self.in_ticks < rto || self.in_ticks - rto >= tick {
            self.in_ticks = rto.round_up_to(tick);
        }
        self.set(smoothed, self.in_ticks, LEAST_TIMER);
        if self.probes {
            // The first segment left was sent since, and what is left of its RTO bounds the probe (`tcp_schedule_loss_probe`).
            self.wait = self.wait.min(self.rto - newest);
        }
    }

    #[inline(always)]
    fn note(&mut self, now: Time, rtt: Span, newest: Span) {
        self.latest = Some(rtt);
        self.min.add(now, newest);
        self.samples += 1;
    }

    /// Takes a sample; `expected` is the number of samples a window gives (RFC 7323 appendix G), 1 without timestamps.
    #[inline(never)]
    pub fn sample(&mut self, now: Time, rtt: Span, expected: u32) {
        self.note(now, rtt, rtt);
        if self.config.estimator == RtoEstimator::Ns2 {
            let (smoothed, rto) = self.ticks.sample(now, rtt, self.config.granularity);
            return self.set(smoothed, rto, Span::ZERO);
        }
        let weight = u64::from(expected.max(1));
        let smoothed = match self.smoothed {
            // RFC 6298 (2.2): "SRTT <- R", "RTTVAR <- R/2".
            None => {
                self.variation = rtt / 2;
                rtt
            }
            // (2.3): "RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|", alpha 1/8, beta 1/4, each over the
            // expected number of samples.
            Some(smoothed) => {
                let (alpha, beta) = (8 * weight, 4 * weight);
                self.variation = self.variation - self.variation / beta + smoothed.abs_diff(rtt) / beta;
                smoothed - smoothed / alpha + rtt / alpha
            }
        };
        self.set(smoothed, smoothed + (self.variation * 4).max(self.config.min_variance), Span::ZERO);
    }

    #[inline(always)]
    fn set(&mut self, smoothed: Span, rto: Span, least_timer: Span) {
        self.smoothed = Some(smoothed);
        self.rto = rto.max(self.config.min).min(self.config.max);
        // As `first_wait` has it.
        self.wait = if self.probes { self.rto.min(smoothed * 2 + least_timer) } else { self.rto };
        self.backoff = 0;
    }

    /// The same where the tail is probed before the timer expires, or is not.
    #[must_use]
    pub fn probing(mut self, probes: bool) -> RttEstimator {
        self.probes = probes;
        self.wait = self.first_wait();
        self
    }

    fn first_wait(&self) -> Span {
        if self.probes { self.rto.min(self.probe_timeout()) } else { self.rto }
    }

    /// How long nothing is heard before the tail is probed.
    ///
    /// RFC 8985 section 7.2: "PTO = 2 * SRTT", or "PTO = 1 sec" without one.
    pub fn probe_timeout(&self) -> Span {
        self.smoothed.map_or(Span::from_millis(1000), |smoothed| smoothed * 2 + self.least_timer())
    }

    /// What Linux adds to the time of RACK's timer and of a probe of the tail (`TCP_TIMEOUT_MIN_US`).
    pub(crate) fn least_timer(&self) -> Span {
        if self.is_linux() { LEAST_TIMER } else { Span::ZERO }
    }

    /// When a timer of the recovery's expires that is `due` then: RFC 8985 has it expire just then, Linux as any timer of its own
    /// (`tcp_rack_mark_lost`).
    pub(crate) fn recovery_timer(&self, now: Time, due: Time) -> Time {
        match self.is_linux() {
            true => by_wheel(self.config.granularity, now, due.since(now) + self.least_timer()),
            false => due,
        }
    }

    /// When a timer expires that is set `wait` before: on a tick, and in Linux as its wheel has it.
    #[inline(never)]
    pub(crate) fn expiry(&self, now: Time, wait: Span) -> Time {
        match self.is_linux() {
            true => by_wheel(self.config.granularity, now, wait),
            false => Time::ZERO + (now + wait).since(Time::ZERO).round_up_to(self.timer_tick),
        }
    }

    /// What the timer is armed with: the RTO, or the time to a probe of the tail where that is shorter.
    #[inline]
    pub fn wait(&self) -> Span {
        if self.backoff == 0 { self.wait } else { self.rto() }
    }

    /// How much later the RTO is over than [`RttEstimator::wait`]; none where the tail is not probed.
    pub fn behind_probe(&self) -> Option<Span> {
        (self.probes && self.backoff == 0).then(|| self.rto - self.wait)
    }

    /// The timer expired: (5.5) "RTO <- RTO * 2".
    pub fn back_off(&mut self) {
        self.backoff += 1;
        if self.config.estimator == RtoEstimator::Ns2 {
            self.backoff = self.backoff.min(6);
            if self.backoff > 3 {
                self.ticks.forget();
            }
        }
    }

    /// A closed window has opened again: its probes' doublings say nothing of the path, and the next timer starts from the
    /// plain RTO.
    pub fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// The SYN was retransmitted: (5.7) data starts with at least `rto` when there is no sample yet.
    pub fn after_lost_syn(&mut self, rto: Span) {
        self.backoff = 0;
        if self.smoothed.is_none() {
            self.rto = self.rto.max(rto);
            self.wait = self.first_wait();
        }
    }

    /// The timeout to arm the timer with, back-off included.
    #[inline]
    pub fn rto(&self) -> Span {
        if self.backoff == 0 {
            return self.rto;
        }
        (self.rto * (1 << self.backoff.min(20))).min(self.config.max)
    }

    /// Smoothed RTT.
    #[inline]
    pub fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// Smallest sample of the last five minutes.
    #[inline]
    pub fn min(&self) -> Option<Span> {
        self.min.get()
    }

    /// Whether samples and timers are Linux's: a sample of each ACK that reports what was sent once, by the time of sending.
    #[inline]
    pub(crate) fn is_linux(&self) -> bool {
        self.config.estimator == RtoEstimator::Linux
    }

    /// Whether the handshake gives a sample: ns-2 had none before May 2001 (`syn_`).
    pub(crate) fn times_handshake(&self) -> bool {
        self.config.estimator != RtoEstimator::Ns2
    }

    /// Newest sample.
    #[inline]
    pub fn latest(&self) -> Option<Span> {
        self.latest
    }

    /// How many samples there were.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The timer's clock granularity.
    #[inline]
    pub fn granularity(&self) -> Span {
        self.config.granularity
    }
}

/// The timer wheel (`calc_wheel_index`, `kernel/time/timer.c`): the next tick, and for 63 ticks and more the next multiple of 8,
/// for 504 and more of 64, and so on.
fn by_wheel(tick: Span, now: Time, wait: Span) -> Time {
    let tick = tick.as_nanos().max(1);
    let ticks = wait.as_nanos().div_ceil(tick);
    let (mut shift, mut bound) = (0, 63);
    while ticks >= bound && shift < 24 {
        (shift, bound) = (shift + 3, bound << 3);
    }
    let expires = (((now.as_nanos() / tick + ticks) >> shift) + 1) << shift;
    Time::from_nanos(expires * tick)
}

/// The deviation as Linux has it (`tcp_rtt_estimator`, `net/ipv4/tcp_input.c`), four times the mean one.
#[derive(Clone, Copy, Debug, Default)]
struct Deviation {
    /// Of the samples (`mdev_us`).
    now: Span,
    /// The largest of the window under way (`mdev_max_us`).
    largest: Span,
    /// The RTO's variance term (`rttvar_us`).
    term: Span,
    /// What is acknowledged when the window is over (`rtt_seq`).
    end: Seq,
}

impl Deviation {
    /// Takes a sample beside what SRTT was, and gives the RTO's variance term.
    #[inline(always)]
    fn sample(&mut self, rtt: Span, smoothed: Option<Span>, least: Span, una: Seq, max: Seq) -> Span {
        let Some(smoothed) = smoothed else {
            self.now = rtt * 2;
            self.term = self.now.max(least);
            self.largest = self.term;
            self.end = max;
            return self.term;
        };
        let (now, error) = (self.now.as_nanos(), rtt.abs_diff(smoothed).as_nanos());
        let quarter = now / 4;
        self.now = Span::from_nanos(if error < quarter {
            now - (quarter - error)
        } else if rtt < smoothed {
            // A round trip that got shorter is no reason to wait longer.
            now + (error - quarter) / 8
        } else {
            now + (error - quarter)
        });
        if self.now > self.largest {
            self.largest = self.now;
            self.term = self.term.max(self.largest);
        }
        if una > self.end {
            if self.largest < self.term {
                self.term = self.term - (self.term - self.largest) / 4;
            }
            self.end = max;
            self.largest = least;
        }
        self.term
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rtt: &mut RttEstimator, sample: Span, expected: u32, una: Seq, max: Seq) {
        match rtt.is_linux() {
            true => rtt.sample_linux(Time::ZERO, sample, sample, una, max),
            false => rtt.sample(Time::ZERO, sample, expected),
        }
    }

    fn config() -> RtoConfig {
        RtoConfig {
            initial: Span::from_millis(1000),
            min: Span::from_millis(200),
            max: Span::from_millis(60_000),
            granularity: Span::from_millis(1),
            min_variance: Span::ZERO,
            estimator: RtoEstimator::Rfc6298,
        }
    }

    #[test]
    fn first_and_second_sample_follow_rfc_6298_section_2() {
        let mut rtt = RttEstimator::new(config());
        assert_eq!(rtt.rto(), Span::from_millis(1000));
        sample(&mut rtt, Span::from_millis(500), 1, Seq(0), Seq(0));
        assert_eq!(rtt.rto(), Span::from_millis(1500)); // 500 + 4 * 250
        sample(&mut rtt, Span::from_millis(580), 1, Seq(0), Seq(0));
        // RTTVAR = 3/4 * 250 + 1/4 * 80 = 207.5; SRTT = 7/8 * 500 + 1/8 * 580 = 510
        assert_eq!(rtt.smoothed(), Some(Span::from_millis(510)));
        assert_eq!(rtt.rto(), Span::from_millis(1340));
    }

    #[test]
    fn backoff_doubles_to_the_maximum_until_it_is_ended() {
        let mut rtt = RttEstimator::new(config());
        sample(&mut rtt, Span::from_millis(500), 1, Seq(0), Seq(0));
        let seconds: Vec<f64> = (0..8)
            .map(|_| {
                rtt.back_off();
                rtt.rto().as_secs()
            })
            .collect();
        assert_eq!(seconds, [3.0, 6.0, 12.0, 24.0, 48.0, 60.0, 60.0, 60.0]);
        rtt.end_backoff();
        assert_eq!(rtt.rto(), Span::from_millis(1500));
    }

    #[test]
    fn four_deviations_are_at_least_the_granularity() {
        let mut rtt = RttEstimator::new(RtoConfig { granularity: Span::from_millis(500), ..config() });
        for _ in 0..100 {
            sample(&mut rtt, Span::from_millis(300), 1, Seq(0), Seq(0));
        }
        // RFC 6298 (2.3): SRTT + max (G, K * RTTVAR).
        assert_eq!(rtt.rto(), Span::from_millis(800));
    }

    #[test]
    fn four_deviations_are_at_least_the_bound_of_their_own() {
        let mut rtt = RttEstimator::new(RtoConfig { min_variance: Span::from_millis(200), ..config() });
        for _ in 0..100 {
            sample(&mut rtt, Span::from_millis(300), 1, Seq(0), Seq(0));
        }
        assert_eq!((rtt.rto(), rtt.granularity()), (Span::from_millis(500), Span::from_millis(1)));
    }

    #[test]
    fn the_timer_wheel_of_linux_rounds_up_more_the_longer_it_waits() {
        let linux =
            RtoConfig { estimator: RtoEstimator::Linux, granularity: Span::from_millis(4), ..config() };
        let expiry = |now: u64, wait: u64| {
            let (now, wait) = (Time::from_nanos(now * 1_000_000), Span::from_millis(wait));
            RttEstimator::new(linux).expiry(now, wait).as_nanos() / 1_000_000
        };
        assert_eq!((expiry(0, 100), expiry(3, 100), expiry(3, 99)), (104, 104, 104));
        assert_eq!((expiry(0, 248), expiry(0, 252), expiry(2, 300)), (252, 256, 320));
        assert_eq!((expiry(0, 2012), expiry(0, 2016), expiry(0, 3648)), (2016, 2048, 3840));
        assert_eq!(expiry(0, 16_128), 16_384);
        // The RTO is whole ticks before it doubles.
        let mut rtt = RttEstimator::new(RtoConfig { min_variance: Span::from_millis(200), ..linux });
        sample(&mut rtt, Span::from_millis(501), 1, Seq(0), Seq(0));
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_millis(2 * 1504));
    }

    #[test]
    fn bounds_hold() {
        let mut rtt = RttEstimator::new(config());
        for _ in 0..100 {
            sample(&mut rtt, Span::from_millis(10), 1, Seq(0), Seq(0));
        }
        assert_eq!(rtt.rto(), Span::from_millis(200));
        sample(&mut rtt, Span::from_millis(500_000), 1, Seq(0), Seq(0));
        assert_eq!(rtt.rto(), Span::from_millis(60_000));
    }

    #[test]
    fn linux_estimator_rises_at_once_and_falls_once_a_window() {
        let linux =
            RtoConfig { estimator: RtoEstimator::Linux, min_variance: Span::from_millis(200), ..config() };
        let mut rtt = RttEstimator::new(linux);
        let ms = Span::from_millis;
        sample(&mut rtt, ms(400), 1, Seq(1), Seq(1000));
        // mdev 800, rttvar 800.
        assert_eq!(rtt.rto(), ms(1200));
        // Equal samples of the same window: mdev falls, rttvar stays.
        for _ in 0..50 {
            sample(&mut rtt, ms(400), 8, Seq(1000), Seq(2000));
        }
        assert_eq!(rtt.rto(), ms(1200));
        // The next window: rttvar falls by a quarter of the way to what was the largest; the largest begins at 200 ms.
        sample(&mut rtt, ms(400), 8, Seq(1001), Seq(2000));
        assert_eq!(rtt.rto(), ms(1200));
        sample(&mut rtt, ms(400), 8, Seq(2001), Seq(3000));
        assert_eq!(rtt.rto(), ms(400) + ms(800) - (ms(800) - ms(200)) / 4);
        // SRTT takes an eighth of every sample, however many there are; a larger one raises rttvar only past what it was.
        sample(&mut rtt, ms(1200), 8, Seq(2002), Seq(3000));
        assert_eq!(rtt.smoothed(), Some(ms(500)));
        assert!(rtt.rto() > ms(500) + ms(790) && rtt.rto() < ms(500) + ms(810), "{:?}", rtt.rto());
    }

    #[test]
    fn linux_estimator_hardly_waits_longer_for_a_shorter_round_trip() {
        let linux = RtoConfig { estimator: RtoEstimator::Linux, ..config() };
        let after = |second: u64| {
            let mut rtt = RttEstimator::new(linux);
            sample(&mut rtt, Span::from_millis(100), 1, Seq(1), Seq(1000));
            // The deviation is at its least before.
            for window in 1..60 {
                sample(&mut rtt, Span::from_millis(100), 1, Seq(window * 1000 + 1), Seq((window + 1) * 1000));
            }
            sample(&mut rtt, Span::from_millis(second), 1, Seq(60_001), Seq(61_000));
            rtt.deviation.now
        };
        let (shorter, longer) = (after(20), after(180));
        assert!(shorter * 7 < longer, "{shorter:?} {longer:?}");
    }
}
