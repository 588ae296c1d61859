//! The congestion window, and what RFC 5681 and RFC 3465 have an ACK add to it.

use crate::{Growth, Spacing};

/// The congestion window, in bytes. Fractions of a byte are kept so that slow growth is not rounded away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window, including what fast recovery has inflated it by.
    pub cwnd: f64,
    /// Slow start threshold; infinite until the first loss unless it was set.
    pub ssthresh: f64,
    /// Sender maximum segment size.
    pub smss: f64,
    /// How an ACK opens cwnd.
    pub growth: Growth,
    /// How segments are spread over a round trip, where neither the control nor the slow start does it.
    pub spacing: Spacing,
    /// How fast data may go out, in bytes a second; infinite for as fast as the window allows.
    pub pacing_rate: f64,
    /// Bytes that pacing lets go at once; a segment goes where it is less.
    pub send_quantum: f64,
    /// Whether the control lets less out than the network would carry, so that the rates of this time count as the application's.
    pub held_back: bool,
    /// Segments acknowledged that have opened nothing yet, of growth in whole segments (`snd_cwnd_cnt`).
    pub counted: u32,
    /// cwnd and ssthresh before the last reduction; none when nothing can be taken back.
    pub saved: Option<(f64, f64)>,
}

impl Window {
    /// A window of so many bytes, without pacing.
    pub fn new(cwnd: f64, ssthresh: f64, smss: f64, growth: Growth) -> Window {
        let (pacing_rate, send_quantum) = (f64::INFINITY, 0.0);
        Window {
            cwnd,
            ssthresh,
            smss,
            growth,
            spacing: Spacing::Off,
            pacing_rate,
            send_quantum,
            held_back: false,
            counted: 0,
            saved: None,
        }
    }

    /// Keeps cwnd and ssthresh for [`Window::restore`]; Linux three quarters of cwnd at least for ssthresh (`tcp_current_ssthresh`).
    pub fn save(&mut self) {
        let segments = self.segments();
        let least = match self.growth {
            Growth::Delivered => f64::from(segments / 2 + segments / 4) * self.smss,
            Growth::PerAck | Growth::Bytes { .. } => 0.0,
        };
        self.saved = Some((self.cwnd, self.ssthresh.max(least)));
    }

    /// Takes back what has lowered cwnd and ssthresh since [`Window::save`], once.
    ///
    /// RFC 4015 section 3.1 step 9: "ssthresh <- pipe_prev". Neither is lowered; cwnd, which the RFC rebuilds from the flight
    /// size, is what it was.
    pub fn restore(&mut self) {
        if let Some((cwnd, ssthresh)) = self.saved.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }
}

impl Window {
    /// Whether data is paced: at a rate of the control, or by `tcp.pacing`.
    pub fn is_paced(&self) -> bool {
        self.pacing_rate.is_finite() || self.spacing != Spacing::Off
    }

    /// Whether cwnd is below ssthresh.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// What an ACK of `acked` bytes adds in slow start.
    ///
    /// RFC 5681 section 3.1: "cwnd += min (N, SMSS)"; RFC 3465 section 2.2 raises the bound to L SMSS.
    #[inline]
    pub fn slow_start_growth(&self, acked: u32) -> f64 {
        match self.growth {
            Growth::PerAck => self.smss,
            Growth::Bytes { limit } => f64::from(acked).min(f64::from(limit) * self.smss),
            Growth::Delivered => f64::from(self.segments_of(acked)) * self.smss,
        }
    }

    /// What an ACK of `acked` bytes adds in congestion avoidance, on average where cwnd grows by whole segments.
    ///
    /// RFC 5681 equation 3: "cwnd += SMSS*SMSS/cwnd"; by bytes, "When the number of
    /// bytes acknowledged reaches cwnd, then cwnd can be incremented by up to SMSS bytes".
    #[inline]
    pub fn avoidance_growth(&self, acked: u32) -> f64 {
        let counted = match self.growth {
            Growth::PerAck => self.smss,
            Growth::Bytes { .. } | Growth::Delivered => f64::from(acked),
        };
        self.smss * counted / self.cwnd
    }

    /// Growth of an ACK of `acked` bytes in congestion avoidance.
    #[inline]
    pub fn avoid_congestion(&mut self, acked: u32) {
        match self.growth {
            Growth::Delivered => self.count(self.segments_of(acked), self.segments()),
            Growth::PerAck | Growth::Bytes { .. } => self.cwnd += self.avoidance_growth(acked),
        }
    }

    /// So many segments are acknowledged, of which `each` open cwnd by one (`tcp_cong_avoid_ai`).
    #[inline]
    pub fn count(&mut self, acked: u32, each: u32) {
        if self.counted >= each {
            self.counted = 0;
            self.cwnd += self.smss;
        }
        self.counted += acked;
        if self.counted >= each {
            self.cwnd += f64::from(self.counted / each) * self.smss;
            self.counted %= each;
        }
    }

    /// cwnd in whole segments, 1 at least.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.whole(self.cwnd).max(1)
    }

    /// Segments that an ACK of `acked` bytes counts for, the last of them short or not.
    #[inline]
    pub fn segments_of(&self, acked: u32) -> u32 {
        match self.growth {
            Growth::PerAck => 1,
            Growth::Bytes { .. } | Growth::Delivered => acked.div_ceil(self.smss as u32),
        }
    }

    /// After a reduction: Linux has cwnd and ssthresh in whole segments, rounded down, and counts anew.
    pub(crate) fn reduced(&mut self) {
        if self.growth == Growth::Delivered {
            self.counted = 0;
            self.cwnd = f64::from(self.segments()) * self.smss;
            if self.ssthresh.is_finite() {
                self.ssthresh = f64::from(self.whole(self.ssthresh)) * self.smss;
            }
        }
    }

    /// `bytes` in whole segments, rounded down, a last digit left out of account.
    #[inline]
    fn whole(&self, bytes: f64) -> u32 {
        (bytes / self.smss + 1e-6) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(segments: f64, growth: Growth) -> Window {
        Window::new(segments * 1000.0, 1000.0, 1000.0, growth)
    }

    #[test]
    fn linux_adds_a_whole_segment_once_a_window_is_acknowledged_and_counts_a_short_segment_as_one() {
        let mut w = window(5.0, Growth::Delivered);
        for (acked, cwnd) in [(2000, 5.0), (2000, 5.0), (10, 6.0), (1000, 6.0), (4000, 6.0), (1000, 7.0)] {
            w.avoid_congestion(acked);
            assert_eq!(w.cwnd, cwnd * 1000.0);
        }
        let mut w = window(5.0, Growth::Bytes { limit: 1 });
        w.avoid_congestion(1000);
        assert_eq!(w.cwnd, 5200.0);
    }

    #[test]
    fn linux_reduces_to_whole_segments_and_counts_anew() {
        let mut w = Window { cwnd: 7500.0, ssthresh: 7500.0, counted: 3, ..window(15.0, Growth::Delivered) };
        w.reduced();
        assert_eq!((w.cwnd, w.ssthresh, w.counted), (7000.0, 7000.0, 0));
        let mut w = Window { cwnd: 7500.0, ssthresh: 7500.0, ..window(15.0, Growth::PerAck) };
        w.reduced();
        assert_eq!((w.cwnd, w.ssthresh), (7500.0, 7500.0));
    }

    #[test]
    fn what_linux_gives_back_is_an_ssthresh_of_three_quarters_of_cwnd_at_least() {
        for (growth, left) in [(Growth::Delivered, 15_000.0), (Growth::Bytes { limit: 1 }, 10_000.0)] {
            let mut w = Window { ssthresh: 10_000.0, ..window(21.0, growth) };
            w.save();
            (w.cwnd, w.ssthresh) = (1000.0, 10_000.0);
            w.restore();
            assert_eq!((w.cwnd, w.ssthresh), (21_000.0, left));
        }
    }
}
