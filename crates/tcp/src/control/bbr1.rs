//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), as Linux has it in `net/ipv4/tcp_bbr.c`: `bbr1`.
//!
//! Names in code type are Linux's. Where both say something, Linux's constants count, which are 256ths.

mod cycle;
mod extra;
mod policed;
mod probe_rtt;
mod steady;
mod volume;

use bentpipe_units::{Span, Time};

use super::rounds::{Bounded, RoundMax};
use super::{
    Ack, Control, ControlFactory, Exit, Extras, Loss, Mark, PartialAck, Response, Resume, Timeout, Window,
    options,
};
use crate::sender::{RateSample, Record};
use crate::slow_start::SlowStart;
use extra::Extra;
use policed::Policed;
use steady::Bounds;

/// `bbr_high_gain`: 2/ln 2 in 256ths, rounded up, by which what is sent doubles each round trip.
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// `bbr_drain_gain`: its inverse, rounded down.
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// `bbr_cwnd_gain`, of `ProbeBW`: room for ACKs that come late or together.
const CWND_GAIN: f64 = 2.0;
/// `bbr_pacing_gain`: those of a cycle of `ProbeBW`, each for the time of the smallest RTT.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `bbr_bw_rtts` is 10 rounds, and the one that goes on.
const BANDWIDTH_ROUNDS: u64 = 11;
/// `bbr_cwnd_min_target`, in segments.
const LEAST: f64 = 4.0;
/// `bbr_pacing_margin_percent` is 1: the rate stays below the estimate.
const MARGIN: f64 = 0.99;
/// `BW_UNIT`: a rate is whole 2^-24ths of a segment a microsecond, these many segments a second; of few segments a second that is not little.
const UNIT: f64 = 1e6 / 16_777_216.0;
/// `bbr_full_bw_thresh`, `bbr_full_bw_cnt`: the pipe is full when so many rounds brought no such growth.
const GROWTH: f64 = 1.25;
const FULL_AFTER: u32 = 3;
/// `bbr_min_tso_rate` is 1.2 Mbit/s: below it a segment goes at a time. In bytes a second.
const SINGLES_BELOW: f64 = 150_000.0;
/// `GSO_MAX_SIZE` less the headers, and `0x7F` segments: the most that goes at once.
const LARGEST_BURST: f64 = 65_215.0;
const MOST_SEGMENTS: f64 = 127.0;
/// `TCP_INIT_CWND`, in segments.
const FIRST_WINDOW: f64 = 10.0;
options! {
    "bbr1", "BBR version 1, as Linux has it (draft-cardwell-iccrg-bbr-congestion-control-00)", also ["bbr", "bbr2", "bbrv1", "bbrv2"];
    /// Options of the control bbr1. The default is Linux's.
    pub struct Bbr1Options {
        /// Go by the long-term rate where losses look like those of a policer (Linux's `lt_bw`).
        pub long_term_rate: bool = true,
    }
}

impl ControlFactory for Bbr1Options {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Bbr1::new(*self))
    }

    fn recoveries(&self) -> &[&str] {
        &["rack"]
    }

    fn phases(&self) -> &'static [&'static str] {
        &["startup", "drain", "probe_bw", "probe_rtt"]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// What the recovery is doing; Linux's `icsk_ca_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    FastRecovery,
    /// After a timeout, until so many bytes more are acknowledged.
    Timeout(u64),
}

/// The control of BBR version 1. Rates are in bytes a second, volumes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bbr1 {
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    /// Of the handshake; none before the first ACK where the SYN was sent again.
    first_rtt: Option<Span>,
    /// Whether `pacing_rate` was set by a round trip.
    has_paced: bool,
    bandwidth: RoundMax<{ BANDWIDTH_ROUNDS as usize }>,
    /// The largest rate of this round that is in it, before it was rounded down.
    exact: f64,
    rounds: u64,
    round_start: bool,
    /// The round is over when a segment is acknowledged that was sent after so much was delivered.
    round_ends: u64,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    /// The smallest of the connection, which no rate's interval is below.
    least_rtt: Span,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    cycle: usize,
    cycle_began: Time,
    filled: bool,
    full_bandwidth: f64,
    full_rounds: u32,
    repair: Repair,
    /// What the recovery was doing at the last ACK.
    repair_before: Repair,
    conserving: bool,
    /// Whether the timer has expired since the last ACK.
    timed_out: bool,
    prior_cwnd: f64,
    resuming: bool,
    extra: Extra,
    policed: Policed,
    /// What goes at once, in segments, and the pacing rate that it is for.
    burst: f64,
    burst_rate: f64,
    /// Whether nothing but the cycle of `ProbeBW` went on when the last ACK was through, and nothing was told since; then, what holds
    /// until something changes.
    steady: bool,
    bounds: Option<Bounds>,
}

impl Bbr1 {
    /// A control that has seen nothing.
    pub fn new(options: Bbr1Options) -> Bbr1 {
        Bbr1 {
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            first_rtt: None,
            has_paced: false,
            bandwidth: RoundMax::default(),
            exact: 0.0,
            rounds: 0,
            round_start: false,
            round_ends: 0,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            least_rtt: Span::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            cycle: 0,
            cycle_began: Time::ZERO,
            filled: false,
            full_bandwidth: 0.0,
            full_rounds: 0,
            repair: Repair::None,
            repair_before: Repair::None,
            conserving: false,
            timed_out: false,
            prior_cwnd: 0.0,
            resuming: false,
            extra: Extra::default(),
            policed: Policed::new(options.long_term_rate),
            burst: 0.0,
            burst_rate: f64::NAN,
            steady: false,
            bounds: None,
        }
    }

    /// The estimate of the bottleneck's rate.
    fn rate(&self) -> f64 {
        self.policed.rate().unwrap_or(self.bandwidth.get())
    }

    /// Segments that Linux makes one packet of for its own layers: a millisecond's worth, by a shift of 10.
    #[inline]
    fn find_burst(&mut self, w: &Window) {
        if w.pacing_rate != self.burst_rate {
            self.find_new_burst(w);
        }
    }

    fn find_new_burst(&mut self, w: &Window) {
        let least = if w.pacing_rate < SINGLES_BELOW { 1.0 } else { 2.0 };
        let bytes = (w.pacing_rate / 1024.0).min(LARGEST_BURST);
        self.burst = (bytes / w.smss).floor().max(least).min(MOST_SEGMENTS);
        self.burst_rate = w.pacing_rate;
    }

    fn save_cwnd(&mut self, w: &Window) {
        let intact = self.repair_before == Repair::None && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if intact { w.cwnd } else { self.prior_cwnd.max(w.cwnd) };
    }

    /// `bbr_set_pacing_rate`: the rate falls only once the pipe was full.
    fn set_pacing_rate(&mut self, w: &mut Window, gain: f64) {
        if !self.has_paced
            && let Some(rtt) = self.first_rtt
        {
            self.has_paced = true;
            w.pacing_rate = HIGH_GAIN * MARGIN * in_units(w.cwnd / rtt.as_secs().max(1e-6), w);
        }
        let rate = self.rate() * gain * MARGIN;
        // Before there is an RTT, Linux paces by one of a millisecond, which is as good as not at all.
        if rate > 0.0 && (self.filled || rate > w.pacing_rate) {
            w.pacing_rate = rate;
        }
    }

    /// A round is over when what was sent in it is acknowledged; the samples of the last ten make the estimate.
    fn update_bandwidth(&mut self, w: &Window, ack: &Ack<'_>, sample: &RateSample) {
        if sample.prior_delivered >= self.round_ends {
            self.round_ends = ack.delivered();
            self.rounds += 1;
            self.exact = 0.0;
            self.round_start = true;
            self.conserving = false;
        }
        if self.policed.on_sample(ack, sample, self.round_start, self.mode == Mode::ProbeBw) {
            self.enter_probe_bw(ack.now);
        }
        self.add_rate(w, sample.rate(), sample.app_limited);
    }

    /// A sample that the application limits counts only where it shows more than is known.
    #[inline(always)]
    fn add_rate(&mut self, w: &Window, exact: f64, app_limited: bool) {
        if exact <= self.exact {
            return;
        }
        let rate = in_units(exact, w);
        if !app_limited || rate >= self.bandwidth.get() {
            self.exact = exact;
            self.bandwidth.add(self.rounds, BANDWIDTH_ROUNDS, rate);
        }
    }

    /// `bbr_check_full_bw_reached`: the pipe is full when three rounds brought less than a quarter more.
    fn check_filled(&mut self, sample: &RateSample) {
        if self.filled || !self.round_start || sample.app_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full_bandwidth * GROWTH {
            self.full_bandwidth = bandwidth;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= FULL_AFTER;
    }

    /// `bbr_check_drain`, by what is in flight now. Linux takes off what will be delivered until the next burst may go
    /// (`bbr_packets_in_net_at_edt`): a burst over the pacing gain at most, six segments where a burst is two.
    fn check_drained(&mut self, w: &mut Window, ack: &Ack<'_>) {
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
            w.ssthresh = self.inflight(w, 1.0);
        }
        if self.mode == Mode::Drain && f64::from(ack.in_flight()) <= self.inflight(w, 1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    /// `bbr_update_gains`.
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policed.rate().is_some() => (1.0, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: in the first round of a recovery as much goes out as is delivered. Whether it goes on.
    fn modulate(&mut self, w: &mut Window, ack: &Ack<'_>) -> bool {
        if self.repair == Repair::None
            && self.repair_before == Repair::None
            && !self.conserving
            && ack.newly_lost() == 0
        {
            return false;
        }
        // Linux counts segments, however short.
        let whole = |bytes: u32| (f64::from(bytes) / w.smss).ceil() * w.smss;
        let conserved = (whole(ack.in_flight()) + whole(ack.newly_delivered())).max(w.smss);
        let mut cwnd = (w.cwnd - f64::from(ack.newly_lost())).max(w.smss);
        let before = std::mem::replace(&mut self.repair_before, self.repair);
        if self.repair == Repair::FastRecovery && before != Repair::FastRecovery {
            self.conserving = true;
            self.round_ends = ack.delivered();
            cwnd = conserved;
        } else if before != Repair::None && self.repair == Repair::None {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        w.cwnd = if self.conserving { cwnd.max(conserved) } else { cwnd };
        self.conserving
    }

    /// `bbr_set_cwnd`.
    fn set_cwnd(&mut self, w: &mut Window, ack: &Ack<'_>) {
        let acked = f64::from(ack.newly_delivered());
        if acked > 0.0 && !self.modulate(w, ack) {
            let target = self.target(w);
            if self.filled {
                w.cwnd = (w.cwnd + acked).at_most(target);
            } else if w.cwnd < target || (ack.delivered() as f64) < FIRST_WINDOW * w.smss {
                w.cwnd += acked;
            }
            w.cwnd = w.cwnd.at_least(LEAST * w.smss);
        }
        if self.mode == Mode::ProbeRtt {
            w.cwnd = w.cwnd.min(LEAST * w.smss);
        }
    }

    #[inline(never)]
    fn on_any_ack(&mut self, w: &mut Window, ack: &Ack<'_>) {
        if let Repair::Timeout(left) = self.repair {
            // All that was outstanding (`high_seq`), which the first ACK tells.
            let left = left.min(u64::from(ack.prior_flight)).saturating_sub(u64::from(ack.acked));
            self.repair = if left > 0 { Repair::Timeout(left) } else { Repair::None };
        }
        let probes = self.mode == Mode::ProbeBw;
        if std::mem::take(&mut self.timed_out) && self.policed.on_timeout(ack, probes) {
            self.enter_probe_bw(ack.now);
        }
        if let Some(rtt) = ack.rtt_or_timestamp() {
            self.first_rtt.get_or_insert(rtt);
            self.least_rtt = if self.least_rtt == Span::ZERO { rtt } else { self.least_rtt.min(rtt) };
        }
        self.round_start = false;
        self.find_burst(w);
        // `tcp_rate_gen`: an interval below the smallest RTT comes of a segment that was sent again without need.
        let sample = ack.rate();
        let sample = match &sample {
            Some(sample) if sample.interval > Span::ZERO && sample.interval >= self.least_rtt => Some(sample),
            _ => None,
        };
        if let Some(sample) = sample {
            self.update_bandwidth(w, ack, sample);
            let (rate, acked) = (self.rate(), f64::from(ack.newly_delivered()));
            self.extra.on_ack(ack.now, acked, rate, w.cwnd, self.round_start);
        }
        self.update_cycle(w, ack);
        if let Some(sample) = sample {
            self.check_filled(sample);
        }
        self.check_drained(w, ack);
        self.update_min_rtt(w, ack, sample);
        self.update_gains();
        self.policed.note(ack.now, ack.record);
        self.set_pacing_rate(w, self.pacing_gain);
        self.find_burst(w);
        w.send_quantum = self.burst * w.smss;
        w.held_back = self.mode == Mode::ProbeRtt;
        self.set_cwnd(w, ack);
    }
}

/// A rate as Linux counts it, rounded down to whole units.
#[inline]
fn in_units(rate: f64, w: &Window) -> f64 {
    let unit = UNIT * w.smss;
    (rate / unit) as i64 as f64 * unit
}

impl Control for Bbr1 {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, _: &mut dyn SlowStart) {
        self.on_any_ack(w, ack);
        self.steady = self.is_steady();
        self.bounds = None;
    }

    fn on_plain_ack(&mut self, w: &mut Window, now: Time, record: &Record, flight: u32) -> bool {
        self.steady && self.on_steady_ack(w, now, record, flight)
    }

    /// Linux does not pace the first ten segments: here those that go out before the first ACK.
    fn on_handshake(&mut self, _: &mut Window, now: Time, rtt: Span) {
        self.steady = false;
        self.first_rtt = Some(rtt);
        self.min_rtt = Some(rtt);
        self.least_rtt = rtt;
        self.min_rtt_at = now;
        self.extra.begin(now);
    }

    fn on_loss(&mut self, w: &mut Window, _: &Loss) -> Response {
        self.steady = false;
        self.save_cwnd(w);
        self.repair = Repair::FastRecovery;
        Response::Reduced
    }

    fn on_recovery_exit(&mut self, _: &mut Window, _: &Exit) {
        self.repair = Repair::None;
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        self.steady = false;
        if !timeout.repeated {
            self.save_cwnd(w);
        }
        self.repair = Repair::Timeout(u64::MAX);
        self.repair_before = self.repair;
        self.full_bandwidth = 0.0;
        self.timed_out = true;
        w.cwnd = w.smss;
    }

    /// Linux has no answer of its own to a mark.
    fn on_congestion_mark(&mut self, _: &mut Window, _: &Mark) {}

    fn restore(&mut self, _: &mut Window) {
        self.steady = false;
        self.repair = Repair::None;
        self.full_bandwidth = 0.0;
        self.full_rounds = 0;
        self.policed.reset();
    }

    /// `bbr_cwnd_event`: after a pause of the application's, `ProbeBW` goes on at the rate's estimate; the window stays.
    fn on_resume(&mut self, w: &mut Window, resume: &Resume) {
        let Resume { now, by_application, .. } = *resume;
        if !by_application {
            return;
        }
        self.steady = false;
        self.resuming = true;
        self.extra.begin(now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(w, 1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(w, now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// What was sent lately is still in flight after a timeout, and a segment more may go; the steps of a recovery are BBR's to decide.
    fn on_step(&mut self, w: &mut Window, cwnd: f64) {
        if matches!(self.repair, Repair::Timeout(_)) {
            w.cwnd = cwnd;
        }
    }

    // What a recovery would do to cwnd is BBR's to decide.
    fn save(&mut self, _: &mut Window) {}
    fn inflate(&mut self, _: &mut Window, _: u32) {}
    fn deflate(&mut self, _: &mut Window, _: u32) {}
    fn start_over(&mut self, _: &mut Window) {}
    fn restart_after_idle(&mut self, _: &mut Window, _: f64) {}
    fn on_partial_ack(&mut self, _: &mut Window, _: &PartialAck) {}

    fn phase(&self) -> Option<&'static str> {
        Some(match self.mode {
            Mode::Startup => "startup",
            Mode::Drain => "drain",
            Mode::ProbeBw => "probe_bw",
            Mode::ProbeRtt => "probe_rtt",
        })
    }

    fn extras(&mut self) -> Extras<'_> {
        Extras { paces: true, reads_rates: true, ..Extras::default() }
    }
}

#[cfg(test)]
mod tests;
