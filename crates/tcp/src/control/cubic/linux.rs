//! CUBIC as Linux 6 has it (`net/ipv4/tcp_cubic.c`): in whole segments, by a clock that ticks.

use bentpipe_units::{Span, Time};

use super::super::{Ack, Control, Loss, Mark, Response, Resume, Timeout, Window, grow};
use super::CubicOptions;
use crate::slow_start::SlowStart;

/// A jiffy, where `HZ` is 250.
const TICK: u64 = 4_000_000;
const TICKS_A_SECOND: u64 = 250;
/// Ticks for which the growth of a window that stays as it is is not looked at again (`HZ / 32`).
const PATIENCE: u64 = TICKS_A_SECOND / 32;

/// The control of CUBIC as Linux has it (`struct bictcp`).
#[derive(Clone, Copy, Debug)]
pub(super) struct LinuxCubic {
    options: CubicOptions,
    seen: Seen,
}

/// What a timeout forgets (`bictcp_reset`). Windows are in segments, times in ticks unless they say otherwise.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Segments to be acknowledged for one more in cwnd.
    count: u32,
    /// `last_max_cwnd`.
    most: u32,
    /// cwnd when `count` was set, and when that was.
    cwnd: u32,
    set_at: u64,
    /// The least RTT.
    delay_min: Option<Span>,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: u64,
    /// When the cubic function is flat, in 1024ths of a second after the beginning, and how high it is there.
    k: u64,
    origin: u32,
    /// Segments acknowledged that Reno's window has not grown by, and that window (`tcp_cwnd`).
    acked: u32,
    reno: u32,
}

/// A share in 1024ths.
fn in_1024ths(share: f64) -> u64 {
    (share * 1024.0).round() as u64
}

fn tick(now: Time) -> u64 {
    now.as_nanos() / TICK
}

impl LinuxCubic {
    pub(super) fn new(options: CubicOptions) -> LinuxCubic {
        LinuxCubic { options, seen: Seen::default() }
    }

    fn begin(&self, now: u64, cwnd: u32, acked: u32) -> Epoch {
        let below = self.seen.most.saturating_sub(cwnd);
        let c = self.options.c;
        let k = if below > 0 && c > 0.0 { (libm::cbrt(f64::from(below) / c) * 1024.0) as u64 } else { 0 };
        Epoch { began: now, k, origin: cwnd.max(self.seen.most), acked, reno: cwnd }
    }

    /// Where the curve is the least RTT after `now`, in segments.
    fn target(&self, now: u64, epoch: &Epoch) -> u32 {
        let ahead = self.seen.delay_min.unwrap_or_default().as_nanos().div_ceil(TICK);
        let t = ((now.saturating_sub(epoch.began) + ahead) << 10) / TICKS_A_SECOND;
        let offset = u128::from(t.abs_diff(epoch.k));
        let delta = (u128::from(in_1024ths(self.options.c)) * offset * offset * offset) >> 40;
        let delta = u32::try_from(delta).unwrap_or(u32::MAX);
        match t < epoch.k {
            true => epoch.origin.saturating_sub(delta),
            false => epoch.origin.saturating_add(delta),
        }
    }

    /// `bictcp_update`: `acked` segments more are acknowledged.
    fn update(&mut self, now: Time, cwnd: u32, acked: u32) {
        let now = tick(now);
        if let Some(epoch) = &mut self.seen.epoch {
            epoch.acked += acked;
        }
        let set_lately = now - self.seen.set_at <= PATIENCE;
        if self.seen.cwnd == cwnd && self.seen.count > 0 && set_lately {
            return;
        }
        let mut epoch = self.seen.epoch.unwrap_or_else(|| self.begin(now, cwnd, acked));
        if self.seen.epoch.is_none() || now != self.seen.set_at {
            (self.seen.cwnd, self.seen.set_at) = (cwnd, now);
            let target = self.target(now, &epoch);
            self.seen.count = match target > cwnd {
                true => cwnd / (target - cwnd),
                false => 100 * cwnd,
            };
            if self.seen.most == 0 {
                self.seen.count = self.seen.count.min(20);
            }
        }
        if self.options.reno_friendly {
            // An α of 3 (1 - β) / (1 + β), in eighths of cwnd for each segment more.
            let beta = in_1024ths(self.options.beta);
            let eighths = 8 * (1024 + beta) / 3 / (1024 - beta).max(1);
            let each = ((u64::from(cwnd) * eighths) >> 3).max(1);
            // "while (ca->ack_cnt > delta)".
            let steps = u64::from(epoch.acked).saturating_sub(1) / each;
            epoch.acked -= (steps * each) as u32;
            epoch.reno += steps as u32;
            if epoch.reno > cwnd {
                self.seen.count = self.seen.count.min(cwnd / (epoch.reno - cwnd));
            }
        }
        self.seen.epoch = Some(epoch);
        self.seen.count = self.seen.count.max(2);
    }

    /// `cubictcp_recalc_ssthresh`, with a share of `left`.
    fn reduce(&mut self, w: &mut Window, left: f64) {
        let cwnd = u64::from(w.segments());
        let beta = in_1024ths(self.options.beta);
        let again_below = self.options.fast_convergence && cwnd < u64::from(self.seen.most);
        self.seen.most = if again_below { (cwnd * (1024 + beta) / 2048) as u32 } else { cwnd as u32 };
        self.seen.epoch = None;
        w.ssthresh = ((cwnd * in_1024ths(left)) >> 10).max(2) as f64 * w.smss;
    }
}

impl Control for LinuxCubic {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        grow(self, w, ack, slow_start);
    }

    /// Just after a reduction the queue that was there still tells (`cubictcp_acked`).
    fn on_rtt_sample(&mut self, now: Time, sample: Span) {
        let young =
            self.seen.epoch.is_some_and(|epoch| tick(now).saturating_sub(epoch.began) < TICKS_A_SECOND);
        if !young {
            self.seen.delay_min = Some(self.seen.delay_min.map_or(sample, |least| least.min(sample)));
        }
    }

    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        let acked = w.segments_of(ack.counted());
        self.update(ack.now, w.segments(), acked);
        w.count(acked, self.seen.count);
    }

    fn on_loss(&mut self, w: &mut Window, _: &Loss) -> Response {
        self.reduce(w, self.options.beta);
        w.cwnd = w.ssthresh;
        Response::Reduced
    }

    fn on_congestion_mark(&mut self, w: &mut Window, _: &Mark) {
        let CubicOptions { beta, beta_mark, .. } = self.options;
        self.reduce(w, if w.in_slow_start() { beta } else { beta_mark });
        w.cwnd = w.cwnd.min(w.ssthresh);
    }

    /// A pause is left out of the elapsed time (`CA_EVENT_TX_START`).
    fn on_resume(&mut self, _: &mut Window, resume: &Resume) {
        if let Some(epoch) = &mut self.seen.epoch {
            let now = tick(resume.now);
            let sent = resume.now.as_nanos().saturating_sub(resume.idle.as_nanos()) / TICK;
            epoch.began = (epoch.began + (now - sent)).min(now);
        }
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        if !timeout.repeated {
            self.reduce(w, self.options.beta);
        }
        self.seen = Seen::default();
        w.cwnd = w.smss;
    }
}

#[cfg(test)]
mod tests;
