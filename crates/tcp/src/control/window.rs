//! The congestion window, and what RFC 5681 and RFC 3465 have an ACK add to it.

use crate::Growth;

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
    /// How fast data may go out, in bytes a second; infinite for as fast as the window allows.
    pub pacing_rate: f64,
    /// Bytes that pacing lets go at once; a segment goes where it is less.
    pub send_quantum: f64,
    /// Whether the control lets less out than the network would carry, so that the rates of this time count as the application's.
    pub held_back: bool,
    /// cwnd and ssthresh before the last reduction; none when nothing can be taken back.
    pub saved: Option<(f64, f64)>,
}

impl Window {
    /// A window of so many bytes, without pacing.
    pub fn new(cwnd: f64, ssthresh: f64, smss: f64, growth: Growth) -> Window {
        let (pacing_rate, send_quantum) = (f64::INFINITY, 0.0);
        Window { cwnd, ssthresh, smss, growth, pacing_rate, send_quantum, held_back: false, saved: None }
    }

    /// Keeps cwnd and ssthresh for [`Window::restore`].
    pub fn save(&mut self) {
        self.saved = Some((self.cwnd, self.ssthresh));
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
            Growth::Delivered => f64::from(acked),
        }
    }

    /// What an ACK of `acked` bytes adds in congestion avoidance.
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
}
