//! Linux's measurement of the bandwidth (`net/ipv4/tcp_westwood.c`): in whole bytes a tick of 4 ms, by SND.UNA and duplicates.

use bentpipe_units::{Span, Time};

use crate::control::{Ack, Window};

/// A tick (HZ 250), `TCP_WESTWOOD_RTT_MIN` and `TCP_WESTWOOD_INIT_RTT` in ticks.
const TICK: Span = Span::from_millis(4);
const LEAST_INTERVAL: u64 = 12;
const FIRST_RTT: u64 = 5000;

/// What the module keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    /// When the sample began that is being taken, in ticks, and the bytes of it; none before the first ACK.
    began: Option<(u64, u64)>,
    /// Bytes that duplicates stood for, until an ACK of more than a segment has them.
    accounted: u64,
    /// What one filter and two have made of the samples, in bytes a tick.
    filtered: (u64, u64),
    /// In ticks; whether RTTmin begins anew with the next ACK.
    rtt: u64,
    rtt_min: u64,
    begins: bool,
}

impl Estimate {
    pub(super) fn new() -> Estimate {
        Estimate {
            began: None,
            accounted: 0,
            filtered: (0, 0),
            rtt: FIRST_RTT,
            rtt_min: FIRST_RTT,
            begins: true,
        }
    }

    pub(super) fn measure(&mut self, w: &Window, ack: &Ack<'_>) {
        let tick = TICK.as_nanos();
        if let Some(rtt) = ack.rtt_or_timestamp() {
            self.rtt = rtt.as_nanos().div_ceil(tick);
        }
        let now = ack.now.since(Time::ZERO).as_nanos() / tick;
        let first = self.began.is_none();
        let (mut began, mut bytes) = self.began.unwrap_or((0, 0));
        let passed = now - began;
        if passed > self.rtt.max(LEAST_INTERVAL) {
            let sample = bytes / passed;
            let kept = |old: u64, new: u64| (7 * old + new) / 8;
            self.filtered = match self.filtered {
                (0, 0) => (sample, sample),
                (once, twice) => {
                    let once = kept(once, sample);
                    (once, kept(twice, once))
                }
            };
            (began, bytes) = (now, 0);
        }
        // What the first ACK acknowledges is no part of a sample.
        let acked = if first { 0 } else { ack.acked };
        self.began = Some((began, bytes + self.count(u64::from(acked), w.smss as u64)));
        self.rtt_min = if std::mem::take(&mut self.begins) { self.rtt } else { self.rtt_min.min(self.rtt) };
    }

    /// `westwood_acked_count`: a duplicate stands for a segment, which a later ACK does not count again.
    fn count(&mut self, acked: u64, smss: u64) -> u64 {
        if acked == 0 {
            self.accounted += smss;
            return smss;
        }
        if acked <= smss {
            return acked;
        }
        if self.accounted >= acked {
            self.accounted -= acked;
            return smss;
        }
        acked - std::mem::take(&mut self.accounted)
    }

    /// `tcp_westwood_bw_rttmin`: two segments where nothing is known yet.
    pub(super) fn pipe(&self, w: &Window) -> f64 {
        let bytes = self.filtered.1 * self.rtt_min;
        ((bytes as f64 / w.smss).floor() * w.smss).max(2.0 * w.smss)
    }

    /// RTTmin begins anew (`CA_EVENT_LOSS`).
    pub(super) fn forget_rtt(&mut self) {
        self.begins = true;
    }
}
