//! BBR, version 3 (draft-ietf-ccwg-bbr of August 2026): `bbr3`.
//!
//! Names in code type are the draft's; its sections are named by their titles, because drafts are numbered anew.

mod bounds;
mod parameters;
mod probe_bw;
mod probe_rtt;
mod startup;
mod steady;

use bentpipe_units::{Span, Time};

use super::rounds::{Bounded, RoundMax, draw, number, seconds};
use super::{
    Ack, Control, ControlFactory, Exit, Extras, Loss, Mark, PartialAck, Response, Resume, Timeout, Window,
    options,
};
use crate::sender::Record;
use crate::slow_start::SlowStart;
use bounds::Undo;
use probe_bw::AckPhase;

/// `StartupPacingGain`, 4 ln 2.
const STARTUP_PACING_GAIN: f64 = 2.77;
/// `DrainPacingGain`, `ProbeDownPacingGain`, and that of `ProbeBW_UP`.
const DRAIN_PACING_GAIN: f64 = 0.5;
const DOWN_PACING_GAIN: f64 = 0.9;
const UP_PACING_GAIN: f64 = 1.25;
/// `DefaultCwndGain`, that of `ProbeBW_UP`, `ProbeRTTCwndGain`.
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// `PacingMarginPercent` is 1.
const MARGIN: f64 = 0.99;
/// `MinPipeCwnd`, in segments.
const LEAST: f64 = 4.0;
/// "Exiting Acceleration Based on Bandwidth Plateau": so many rounds without a quarter more.
const GROWTH: f64 = 1.25;
const FULL_AFTER: u32 = 3;
/// Rounds after which Drain gives up.
const DRAIN_ROUNDS: u64 = 3;
/// `ExtraAckedFilterLen`, in rounds.
const EXTRA_ROUNDS: u64 = 10;
/// `MaxBwFilterLen`, in cycles.
const BANDWIDTH_CYCLES: u64 = 2;
/// "Send Quantum": the most that goes at once, in bytes, and for how long that is at the pacing rate, in s.
const LARGEST_QUANTUM: f64 = 65_536.0;
const QUANTUM_TIME: f64 = 1e-3;

options! {
    "bbr3", "BBR version 3 (draft-ietf-ccwg-bbr)", also ["bbr", "bbr2", "bbrv2", "bbrv3"];
    /// The choice of [`Bbr3`], which has no options.
    pub struct Bbr3Options;
}

impl ControlFactory for Bbr3Options {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Bbr3::new())
    }

    fn recoveries(&self) -> &[&str] {
        &["rack"]
    }

    fn phases(&self) -> &'static [&'static str] {
        &[
            "startup",
            "drain",
            "probe_bw_down",
            "probe_bw_cruise",
            "probe_bw_refill",
            "probe_bw_up",
            "probe_rtt",
        ]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Which recovery is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    FastRecovery,
    /// After a timeout, until so many bytes more are acknowledged.
    Timeout(u64),
}

/// What stands for as long as the state, rates, RTT and what else bounds the volume in flight do.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    /// The largest that cwnd may be.
    cwnd: f64,
    reno_rounds: f64,
}

/// What an ACK shows, `RS`. Volumes are in bytes, rates in bytes a second.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// 0 where it is not reliable.
    rate: f64,
    delivered: f64,
    prior_delivered: u64,
    app_limited: bool,
    /// When the newest segment had been sent that is acknowledged.
    tx_in_flight: f64,
    /// Since it was sent.
    lost: f64,
    rtt: Option<Span>,
    newly_acked: f64,
    /// After the ACK, `C.inflight`.
    in_flight: f64,
}

/// The control of BBR version 3. Rates are in bytes a second, volumes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bbr3 {
    state: State,
    repair: Repair,
    initial_cwnd: f64,
    /// The pacing rate that the send quantum is for.
    quantum_rate: f64,
    has_paced: bool,
    /// `C.delivered`.
    delivered: u64,
    rounds: u64,
    round_start: bool,
    round_ends: u64,
    /// Whether cwnd was used up, in this round and in the one before.
    cwnd_limited: [bool; 2],
    max_bw: RoundMax<{ BANDWIDTH_CYCLES as usize }>,
    cycles: u64,
    /// The lesser of that and the short-term bound.
    bw: f64,
    /// The smallest of the connection, which no rate's interval is below.
    least_rtt: Option<Span>,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_rtt_min: Option<Span>,
    probe_rtt_min_at: Time,
    probe_rtt_expired: bool,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    prior_cwnd: f64,
    resuming: bool,
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_rounds: u32,
    drain_began: u64,
    // The short-term and the long-term model.
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    bw_latest: f64,
    inflight_latest: f64,
    loss_in_round: bool,
    loss_round_start: bool,
    loss_round_ends: u64,
    /// Ranges lost in this round, and the round in which the recovery began.
    lost_ranges: u32,
    recovery_began: u64,
    undo: Undo,
    // Probing.
    ack_phase: AckPhase,
    probe_sample: bool,
    probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    probe_wait: Span,
    cycle_began: Time,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    // "BBR.extra_acked".
    extra: RoundMax<{ EXTRA_ROUNDS as usize }>,
    extra_began: Time,
    extra_delivered: f64,
    /// Until when an ACK may go the short way: nothing but a phase of `ProbeBW` goes on. Then, what holds until something changes.
    steady_until: Time,
    limits: Limits,
}

impl Default for Bbr3 {
    fn default() -> Bbr3 {
        Bbr3::new()
    }
}

impl Bbr3 {
    /// A control that has seen nothing: `OnInit`.
    pub fn new() -> Bbr3 {
        Bbr3 {
            state: State::Startup,
            repair: Repair::None,
            initial_cwnd: 0.0,
            quantum_rate: f64::NAN,
            has_paced: false,
            delivered: 0,
            rounds: 0,
            round_start: false,
            round_ends: 0,
            cwnd_limited: [false; 2],
            max_bw: RoundMax::default(),
            cycles: 0,
            bw: 0.0,
            least_rtt: None,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt_min: None,
            probe_rtt_min_at: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            prior_cwnd: 0.0,
            resuming: false,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_rounds: 0,
            drain_began: 0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_in_round: false,
            loss_round_start: false,
            loss_round_ends: 0,
            lost_ranges: 0,
            recovery_began: 0,
            undo: Undo::default(),
            ack_phase: AckPhase::Init,
            probe_sample: false,
            probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            probe_wait: Span::ZERO,
            cycle_began: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            extra: RoundMax::default(),
            extra_began: Time::ZERO,
            extra_delivered: 0.0,
            steady_until: Time::ZERO,
            limits: Limits::default(),
        }
    }

    /// "Summary of Control Behavior in the State Machine".
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (STARTUP_PACING_GAIN, CWND_GAIN),
            State::Drain => (DRAIN_PACING_GAIN, CWND_GAIN),
            State::Down => (DOWN_PACING_GAIN, CWND_GAIN),
            State::Cruise | State::Refill => (1.0, CWND_GAIN),
            State::Up => (UP_PACING_GAIN, UP_CWND_GAIN),
            State::ProbeRtt => (1.0, PROBE_RTT_CWND_GAIN),
        }
    }

    /// `IsInAProbeBWState`.
    fn probes_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// `StartRound`.
    fn start_round(&mut self) {
        self.round_ends = self.delivered;
    }

    /// `GenerateRateSample`.
    fn sample(&mut self, ack: &Ack<'_>) -> Option<Sample> {
        let rtt = ack.rtt();
        if let Some(rtt) = rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let rate = ack.rate()?;
        let reliable =
            rate.interval > Span::ZERO && self.least_rtt.is_none_or(|least| rate.interval >= least);
        Some(Sample {
            rate: if reliable { rate.rate() } else { 0.0 },
            delivered: number(rate.bytes),
            prior_delivered: rate.prior_delivered,
            app_limited: rate.app_limited,
            tx_in_flight: f64::from(rate.in_flight),
            lost: number(rate.lost),
            rtt,
            newly_acked: f64::from(ack.newly_delivered()),
            in_flight: f64::from(ack.in_flight()),
        })
    }

    /// `UpdateModelAndState`.
    fn update(&mut self, w: &mut Window, now: Time, rs: &Sample) {
        self.update_latest(rs);
        self.update_congestion(w, rs);
        self.update_extra(w, now, rs);
        self.check_full(rs);
        self.check_startup_done(w, rs);
        self.check_drain_done(w, now, rs);
        self.update_cycle(w, now, rs, self.round_start, self.reno_rounds(w));
        self.update_min_rtt(now, rs);
        self.check_probe_rtt(w, now, rs);
        self.advance_latest(rs);
        self.bound_bw();
    }

    /// `UpdateRound` and `UpdateMaxBw`.
    fn update_max_bw(&mut self, rs: &Sample) {
        self.round_start = rs.prior_delivered >= self.round_ends;
        if self.round_start {
            self.start_round();
            self.rounds += 1;
            self.rounds_since_probe_up += 1;
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
        if rs.rate > 0.0 && (rs.rate >= self.max_bw.get() || !rs.app_limited) {
            self.max_bw.add(self.cycles, BANDWIDTH_CYCLES, rs.rate);
        }
    }

    /// `C.is_cwnd_limited`: "True if the connection has fully utilized C.cwnd at any point in the last packet-timed round trip."
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited[0] || self.cwnd_limited[1]
    }

    /// `UpdateACKAggregation`.
    #[inline(always)]
    fn update_extra(&mut self, w: &Window, now: Time, rs: &Sample) {
        let mut expected = self.bw * seconds(now.since(self.extra_began));
        if self.extra_delivered <= expected {
            self.extra_delivered = 0.0;
            self.extra_began = now;
            expected = 0.0;
        }
        self.extra_delivered += rs.newly_acked;
        let extra = (self.extra_delivered - expected).at_most(w.cwnd);
        let keep = if self.full_bw_reached { EXTRA_ROUNDS } else { 1 };
        self.extra.add(self.rounds, keep, extra);
    }

    #[inline(never)]
    fn on_any_ack(&mut self, w: &mut Window, ack: &Ack<'_>) {
        self.steady_until = Time::ZERO;
        self.delivered = ack.delivered();
        if self.initial_cwnd == 0.0 {
            self.initial_cwnd = w.cwnd;
        }
        if let Repair::Timeout(left) = self.repair {
            // All that was outstanding (`high_seq`), which the first ACK tells.
            let left = left.min(u64::from(ack.prior_flight)).saturating_sub(u64::from(ack.acked));
            self.repair = Repair::Timeout(left);
            if left == 0 {
                self.repair = Repair::None;
                self.restore_cwnd(w);
            }
        }
        for lost in ack.losses() {
            self.on_lost(w, ack.now, lost);
        }
        let Some(rs) = self.sample(ack) else { return };
        let before = rs.in_flight + rs.newly_acked + f64::from(ack.newly_lost());
        self.cwnd_limited[0] |= before + w.smss > w.cwnd;
        self.update(w, ack.now, &rs);
        if let (false, Some(rtt)) = (self.has_paced, rs.rtt) {
            self.init_pacing(w, rtt);
        }
        self.set_pacing_rate(w, self.gains().0);
        self.set_quantum(w);
        w.held_back = self.state == State::ProbeRtt;
        self.set_cwnd(w, &rs);
        self.find_steadiness(w);
    }
}

impl Control for Bbr3 {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, _: &mut dyn SlowStart) {
        self.on_any_ack(w, ack);
    }

    fn on_plain_ack(&mut self, w: &mut Window, now: Time, record: &Record, flight: u32) -> bool {
        now < self.steady_until && self.on_steady_ack(w, now, record, flight)
    }

    fn on_handshake(&mut self, w: &mut Window, now: Time, rtt: Span) {
        self.steady_until = Time::ZERO;
        self.initial_cwnd = w.cwnd;
        self.min_rtt = Some(rtt);
        self.least_rtt = Some(rtt);
        self.min_rtt_at = now;
        self.probe_rtt_min_at = now;
        self.extra_began = now;
        self.init_pacing(w, rtt);
    }

    /// `OnEnterFastRecovery`.
    fn on_loss(&mut self, w: &mut Window, _: &Loss) -> Response {
        self.steady_until = Time::ZERO;
        self.save_upon_loss(w);
        self.repair = Repair::FastRecovery;
        self.recovery_began = self.rounds;
        self.lost_ranges += 1;
        Response::Reduced
    }

    fn on_further_loss(&mut self, _: &mut Window, _: &Loss) -> Response {
        self.lost_ranges += 1;
        Response::Keep
    }

    fn on_recovery_exit(&mut self, w: &mut Window, _: &Exit) {
        self.repair = Repair::None;
        self.restore_cwnd(w);
    }

    /// `OnEnterRTO`: one segment may go, beside what the recovery leaves in flight ([`Control::on_step`]).
    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        self.steady_until = Time::ZERO;
        match timeout.repeated {
            true => self.save_cwnd(w),
            false => self.save_upon_loss(w),
        }
        self.repair = Repair::Timeout(u64::MAX);
        w.cwnd = w.smss;
    }

    /// "ECN": the draft has no answer of its own to a mark; it has to count as congestion, and does as a loss above the threshold.
    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.steady_until = Time::ZERO;
        self.on_mark(w, mark);
    }

    fn restore(&mut self, w: &mut Window) {
        self.steady_until = Time::ZERO;
        self.on_spurious(w);
    }

    /// `HandleRestartFromIdle`.
    fn on_resume(&mut self, w: &mut Window, resume: &Resume) {
        let Resume { now, by_application, .. } = *resume;
        if !by_application {
            return;
        }
        self.steady_until = Time::ZERO;
        self.resuming = true;
        self.extra_began = now;
        if self.probes_bw() {
            self.set_pacing_rate(w, 1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(w, now);
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
        Some(match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::Down => "probe_bw_down",
            State::Cruise => "probe_bw_cruise",
            State::Refill => "probe_bw_refill",
            State::Up => "probe_bw_up",
            State::ProbeRtt => "probe_rtt",
        })
    }

    fn extras(&mut self) -> Extras<'_> {
        Extras { paces: true, reads_rates: true, ..Extras::default() }
    }
}

#[cfg(test)]
mod tests;
