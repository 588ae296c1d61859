//! A sender whose peer is written by hand, as in a packet script.

use bentpipe_tcp::{Config, Growth, Incoming, Outgoing, SackBlock, Sender, Seq};
use bentpipe_units::{Span, Time};

use crate::harness::{config, control};

pub(crate) const FIRST: Seq = Seq(1);

/// A sender whose peer is written by hand, in segments of 1000 bytes counted from 1.
pub(crate) struct Script {
    pub(crate) sender: Sender,
    pub(crate) now: Time,
    /// RTT by the timestamps of the ACKs to come, in ms.
    pub(crate) echoes: Option<u64>,
}

/// A segment that went out: its number, and whether it went again.
pub(crate) type Out = (u32, bool);

impl Script {
    /// Ten segments may go out at first; the handshake took `rtt_ms`.
    pub(crate) fn new(recovery: &str, controlled: &str, rtt_ms: u64) -> Script {
        let growth = Growth::Bytes { limit: u32::MAX };
        let config = Config { control: control(controlled), initial_window: 10, growth, ..config(recovery) };
        Script::of(&config, rtt_ms)
    }

    pub(crate) fn of(config: &Config, rtt_ms: u64) -> Script {
        let mut sender = Sender::new(config, FIRST);
        sender.set_peer_window(320 << 10);
        sender.sample_handshake(Time::ZERO, Span::from_millis(rtt_ms));
        Script { sender, now: Time::ZERO, echoes: None }
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now += Span::from_millis(ms);
    }

    pub(crate) fn poll(&mut self) -> Vec<Out> {
        let out = std::iter::from_fn(|| self.sender.poll(self.now));
        out.map(|out: Outgoing| ((out.seq - FIRST) / 1000 + 1, out.again)).collect()
    }

    pub(crate) fn write(&mut self, segments: u64) -> Vec<Out> {
        self.sender.write(segments * 1000);
        self.poll()
    }

    /// An ACK of all up to segment `acked`, with blocks from one segment to another, both included.
    pub(crate) fn ack(&mut self, acked: u32, blocks: &[(u32, u32)]) -> Vec<Out> {
        let end = |segment: u32| FIRST + segment * 1000;
        let block = |&(from, to): &(u32, u32)| SackBlock { start: end(from - 1), end: end(to) };
        let sack: Vec<SackBlock> = blocks.iter().map(block).collect();
        let timestamp_rtt = self.echoes.map(Span::from_millis);
        self.sender.on_ack(self.now, &Incoming { sack: &sack, timestamp_rtt, ..Incoming::of(end(acked)) });
        self.poll()
    }

    /// What goes out by timers within so many milliseconds, with the time of each.
    pub(crate) fn quiet(&mut self, ms: u64) -> Vec<(f64, Out)> {
        let until = self.now + Span::from_millis(ms);
        let mut sent = Vec::new();
        while self.sender.next_timeout() <= until {
            self.now = self.sender.next_timeout();
            assert_eq!(self.sender.on_timeout(self.now), Ok(()));
            let at = self.now.as_secs() * 1e3;
            sent.extend(self.poll().into_iter().map(|out| (at, out)));
        }
        self.now = until;
        sent
    }

    /// cwnd and ssthresh in segments.
    pub(crate) fn windows(&self) -> (f64, f64) {
        let window = self.sender.window();
        (window.cwnd / 1000.0, window.ssthresh / 1000.0)
    }
}

pub(crate) fn new(segments: std::ops::RangeInclusive<u32>) -> Vec<Out> {
    segments.map(|segment| (segment, false)).collect()
}

pub(crate) fn again(segments: std::ops::RangeInclusive<u32>) -> Vec<Out> {
    segments.map(|segment| (segment, true)).collect()
}
