//! "ProbeBW": the cycle of DOWN, CRUISE, REFILL and UP.

use bentpipe_units::{Span, Time};

use super::super::Window;
use super::super::rounds::{Bounded, number};
use super::bounds::too_high;
use super::{Bbr3, LEAST, Sample, State, draw};

/// `Headroom`.
const HEADROOM: f64 = 0.15;
/// The most rounds between two probes, for the sake of Reno.
const RENO_ROUNDS: f64 = 63.0;
/// A probe is due after 2 to 3 s.
const LEAST_WAIT: Span = Span::from_millis(2000);
const WAITS: u64 = 1_000_000_000;

/// What the ACKs of now tell of probing, `BBR.ack_phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

impl Bbr3 {
    /// `StartProbeBW_DOWN`.
    #[inline(never)]
    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion();
        self.probe_up_acked_per_inc = f64::INFINITY;
        // `PickProbeWait`.
        self.rounds_since_probe_up = draw(now, 2);
        self.probe_wait = LEAST_WAIT + Span::from_nanos(draw(now, WAITS));
        self.cycle_began = now;
        self.ack_phase = AckPhase::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    #[inline(never)]
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term();
        self.probe_up_rounds = 0;
        self.probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    #[inline(never)]
    fn start_up(&mut self, w: &Window, rs: &Sample) {
        self.ack_phase = AckPhase::Starting;
        self.start_round();
        self.reset_full(rs.rate);
        self.state = State::Up;
        self.raise_slope(w);
    }

    /// `UpdateProbeBWCyclePhase`, where a round starts or not; `reno` is [`Bbr3::reno_rounds`].
    #[inline(always)]
    pub(super) fn update_cycle(&mut self, w: &Window, now: Time, rs: &Sample, round_start: bool, reno: f64) {
        if !self.full_bw_reached || self.adapt_long_term(w, rs, round_start) {
            return;
        }
        if self.state == State::Up && self.is_time_to_go_down(w, rs) {
            self.prev_probe_too_high = false;
            return self.start_down(now);
        }
        match self.state {
            State::Down if self.is_time_to_probe(w, now, reno) => self.start_refill(),
            State::Down if self.is_time_to_cruise(w, rs) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(w, now, reno) => self.start_refill(),
            State::Refill if round_start => {
                self.probe_sample = true;
                self.start_up(w, rs);
            }
            _ => {}
        }
    }

    /// The most rounds from probe to probe, for all that cwnd does: of `IsRenoCoexistenceProbeTime`.
    #[inline(always)]
    pub(super) fn reno_rounds(&self, w: &Window) -> f64 {
        (self.bdp(1.0) / w.smss).at_most(RENO_ROUNDS)
    }

    /// `IsTimeToProbeBW`, with `IsRenoCoexistenceProbeTime`: the window of Reno, of `TargetInflight`, is in segments.
    #[inline(always)]
    pub(super) fn is_time_to_probe(&self, w: &Window, now: Time, reno: f64) -> bool {
        let rounds = (w.cwnd / w.smss).at_most(reno);
        now > self.cycle_began + self.probe_wait || number(self.rounds_since_probe_up) >= rounds
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, w: &Window, rs: &Sample) -> bool {
        let bdp = self.min_rtt.map_or(self.initial_cwnd, |rtt| self.max_bw.get() * rtt.as_secs());
        rs.in_flight <= self.inflight_with_headroom(w) && rs.in_flight <= self.with_budget(w, bdp)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, w: &Window, rs: &Sample) -> bool {
        if self.prev_probe_too_high && rs.in_flight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && w.cwnd >= self.inflight_longterm {
            self.reset_full(rs.rate);
            return false;
        }
        self.full_bw_now
    }

    /// `InflightWithHeadroom`.
    #[inline]
    pub(super) fn inflight_with_headroom(&self, w: &Window) -> f64 {
        let headroom = (HEADROOM * self.inflight_longterm).at_least(w.smss);
        match self.inflight_longterm.is_infinite() {
            true => f64::INFINITY,
            false => (self.inflight_longterm - headroom).at_least(LEAST * w.smss),
        }
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_slope(&mut self, w: &Window) {
        let growth = f64::from(1_u32 << self.probe_up_rounds);
        self.probe_up_rounds = (self.probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (w.cwnd / growth).max(w.smss);
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_upward(&mut self, w: &Window, rs: &Sample, round_start: bool) {
        if !self.is_cwnd_limited() || w.cwnd < self.inflight_longterm {
            return;
        }
        self.probe_up_acked += rs.newly_acked;
        if self.probe_up_acked >= self.probe_up_acked_per_inc {
            let steps = (self.probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.probe_up_acked -= steps * self.probe_up_acked_per_inc;
            self.inflight_longterm += steps * w.smss;
        }
        if round_start {
            self.raise_slope(w);
        }
    }

    /// `AdaptLongTermModel`; whether it has decided on a state.
    #[inline(always)]
    fn adapt_long_term(&mut self, w: &Window, rs: &Sample, round_start: bool) -> bool {
        if round_start && self.ack_phase == AckPhase::Starting {
            self.ack_phase = AckPhase::Feedback;
        }
        if round_start && self.ack_phase == AckPhase::Stopping {
            self.probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.probes_bw() && !rs.app_limited {
                // `AdvanceMaxBwFilter`.
                self.cycles += 1;
            }
            if self.probes_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if self.inflight_longterm == f64::INFINITY || too_high(rs.lost, rs.tx_in_flight) {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.at_least(rs.tx_in_flight);
        if self.state == State::Up {
            self.probe_upward(w, rs, round_start);
        }
        false
    }
}
