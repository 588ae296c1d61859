//! What losses do to the model: "Updating the Model Upon Packet Loss", "Updating the Model Upon Detecting a Spurious Loss
//! Recovery", "Exiting Startup Based on Packet Loss".

use bentpipe_units::Time;

use super::super::rounds::Bounded;
use super::super::{Mark, Window};
use super::{Bbr3, Repair, Sample, State};
use crate::LostSegment;

/// `LossThresh`.
const LOSS_THRESHOLD: f64 = 0.02;
/// `Beta`.
const BETA: f64 = 0.7;
/// `BBRStartupFullLossCnt`.
const STARTUP_RANGES: u32 = 6;

/// What is restored where a recovery was needless; by default nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    pub(super) state: Option<State>,
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
}

/// `IsInflightTooHigh`, with selective acknowledgments.
pub(super) fn too_high(lost: f64, tx_in_flight: f64) -> bool {
    lost > tx_in_flight * LOSS_THRESHOLD
}

impl Bbr3 {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest(&mut self, rs: &Sample) {
        self.bw_latest = self.bw_latest.at_least(rs.rate);
        self.inflight_latest = self.inflight_latest.at_least(rs.delivered);
        self.loss_round_start = rs.prior_delivered >= self.loss_round_ends;
        if self.loss_round_start {
            self.loss_round_ends = self.delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest(&mut self, rs: &Sample) {
        if self.loss_round_start {
            self.bw_latest = rs.rate;
            self.inflight_latest = rs.delivered;
            self.lost_ranges = 0;
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// `BoundBWForModel`.
    pub(super) fn bound_bw(&mut self) {
        self.bw = self.max_bw.get().at_most(self.bw_shortterm);
    }

    /// `UpdateCongestionSignals`, with `AdaptLowerBoundsFromCongestion` once a round.
    pub(super) fn update_congestion(&mut self, w: &Window, rs: &Sample) {
        self.update_max_bw(rs);
        if !self.loss_round_start {
            return;
        }
        let probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        if self.loss_in_round && !probing {
            if self.bw_shortterm.is_infinite() {
                self.bw_shortterm = self.max_bw.get();
            }
            if self.inflight_shortterm.is_infinite() {
                self.inflight_shortterm = w.cwnd;
            }
            self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(BETA * self.inflight_shortterm);
        }
        self.loss_in_round = false;
    }

    /// `CheckStartupHighLoss`.
    pub(super) fn check_startup_high_loss(&mut self, _: &Window, rs: &Sample) {
        let recovering = self.repair == Repair::FastRecovery && self.rounds > self.recovery_began;
        if self.state == State::Startup
            && self.loss_round_start
            && recovering
            && self.lost_ranges >= STARTUP_RANGES
            && too_high(rs.lost, rs.tx_in_flight)
        {
            self.leave_startup();
        }
    }

    fn leave_startup(&mut self) {
        self.undo.state = Some(State::Startup);
        self.full_bw_now = true;
        self.full_bw_reached = true;
        self.inflight_longterm = self.bdp(1.0).max(self.inflight_latest);
    }

    /// `NoteLoss`.
    ///
    /// The draft's pseudocode saves the state here too, which after a probe that went too high would be what that probe has already cut;
    /// its text has what was "saved at the start of loss recovery".
    fn note_loss(&mut self) {
        if !self.loss_in_round {
            self.loss_round_ends = self.delivered;
        }
        self.loss_in_round = true;
    }

    /// `HandleLostPacket`.
    pub(super) fn on_lost(&mut self, w: &Window, now: Time, lost: &LostSegment) {
        self.note_loss();
        if !self.probe_sample {
            return;
        }
        let (tx_in_flight, all) = (f64::from(lost.in_flight), lost.lost as f64);
        if !too_high(all, tx_in_flight) {
            return;
        }
        // `InflightAtLoss`: the volume at which the losses crossed the threshold.
        let size = f64::from(lost.bytes);
        let (in_flight, before) = (tx_in_flight - size, all - size);
        let prefix = (LOSS_THRESHOLD * in_flight - before) / (1.0 - LOSS_THRESHOLD);
        self.on_too_high(w, now, in_flight + prefix, lost.app_limited);
    }

    /// `HandleInflightTooHigh`.
    pub(super) fn on_too_high(&mut self, w: &Window, now: Time, tx_in_flight: f64, app_limited: bool) {
        self.prev_probe_too_high = true;
        self.probe_sample = false;
        if !app_limited {
            self.inflight_longterm = tx_in_flight.max(self.target_inflight(w) * BETA);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }

    /// A mark counts as a loss above the threshold, wherever that is looked for.
    pub(super) fn on_mark(&mut self, w: &Window, mark: &Mark) {
        self.note_loss();
        if self.state == State::Startup {
            self.leave_startup();
        } else if self.probe_sample {
            self.on_too_high(w, mark.now, f64::from(mark.flight), false);
        }
        // No recovery that turns out needless takes this back.
        self.undo = Undo::default();
    }

    /// `SaveStateUponLoss`.
    pub(super) fn save_upon_loss(&mut self, w: &Window) {
        self.save_cwnd(w);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn on_spurious(&mut self, w: &mut Window) {
        self.repair = Repair::None;
        self.restore_cwnd(w);
        self.loss_in_round = false;
        self.reset_full(0.0);
        let undo = std::mem::take(&mut self.undo);
        self.bw_shortterm = self.bw_shortterm.max(undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(),
            _ => {}
        }
    }
}
