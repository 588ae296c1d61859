//! An endpoint in virtual time, and what it sent and nobody has looked at yet.

use std::collections::VecDeque;

use bentpipe_tcp::{Config, Endpoint, Segment, Seq, State};
use bentpipe_units::{Span, Time};

pub(crate) struct Host {
    pub(crate) tcp: Endpoint,
    pub(crate) sent: VecDeque<(i64, Segment)>,
    /// In microseconds, as in scripts.
    pub(crate) now: i64,
}

fn time(micros: i64) -> Time {
    Time::ZERO + Span::from_nanos(micros.max(0) as u64 * 1000)
}

impl Host {
    pub(crate) fn new(config: Config, now: i64) -> Host {
        Host { tcp: Endpoint::new(config, Seq(0)), sent: VecDeque::new(), now }
    }

    /// What is to go out now goes.
    pub(crate) fn poll(&mut self) {
        self.poll_at(time(self.now));
    }

    fn poll_at(&mut self, now: Time) {
        while let Some(out) = self.tcp.poll_transmit(now) {
            self.sent.push_back(((now.as_nanos() / 1000) as i64, out.segment));
        }
    }

    /// When a timer runs out.
    pub(crate) fn next(&self) -> Option<i64> {
        let next = self.tcp.next_timeout();
        (next != Time::NEVER).then(|| next.as_nanos().div_ceil(1000) as i64)
    }

    /// Time passes, and timers run out.
    pub(crate) fn run(&mut self, until: i64) {
        while self.next().is_some_and(|next| next <= until) {
            let due = self.tcp.next_timeout();
            self.tcp.on_timeout(due);
            self.poll_at(due);
            assert!(self.tcp.next_timeout() != due, "a timer that does not end");
        }
        self.now = self.now.max(until);
    }

    /// Time passes until something was sent, or to the `limit`.
    pub(crate) fn wait(&mut self, limit: i64) {
        while self.sent.is_empty()
            && let Some(next) = self.next().filter(|next| *next <= limit)
        {
            self.run(next);
        }
    }

    pub(crate) fn arrive(&mut self, segment: &Segment) {
        self.tcp.on_segment(time(self.now), segment);
        self.poll();
    }

    /// What `tcp_info` tells under this name, as far as it is known.
    pub(crate) fn info(&self, name: &str, timeouts: u64) -> Option<i64> {
        let sender = self.tcp.sender();
        let smss = self.tcp.segment_size().max(1);
        let segments = |bytes: f64| {
            if bytes.is_finite() { (bytes / f64::from(smss) + 1e-9) as i64 } else { 0x7fff_ffff }
        };
        let micros = |span: Span| (span.as_nanos() / 1000) as i64;
        let (mut unacked, mut sacked, mut lost, mut resent) = (0, 0, 0, 0);
        for (range, sent) in sender.record().entries(sender.una()) {
            let count = i64::from((range.end - range.start).div_ceil(smss).max(1));
            unacked += count;
            sacked += count * i64::from(sent.sacked());
            lost += count * i64::from(sent.lost());
            resent += count * i64::from(sent.resent() && !sent.sacked() && !sent.lost());
        }
        Some(match name {
            "tcpi_snd_cwnd" => segments(sender.window().cwnd),
            "tcpi_snd_ssthresh" => segments(sender.window().ssthresh),
            "tcpi_snd_mss" => smss.into(),
            "tcpi_unacked" => unacked,
            "tcpi_sacked" => sacked,
            // Linux counts what was resent among the lost until it is acknowledged.
            "tcpi_lost" => lost + if sender.in_recovery() { resent } else { 0 },
            "tcpi_retrans" => resent,
            "tcpi_total_retrans" => sender.stats().retransmitted_segments as i64,
            "tcpi_rto" => micros(sender.rtt().rto()),
            "tcpi_rtt" => sender.rtt().smoothed().map_or(0, micros),
            "tcpi_min_rtt" => sender.rtt().min().map_or(0, micros),
            "tcpi_state" => match self.tcp.state() {
                State::Established => 1,
                State::SynSent => 2,
                State::SynReceived => 3,
                State::FinWait1 => 4,
                State::FinWait2 => 5,
                State::TimeWait => 6,
                State::Closed => 7,
                State::CloseWait => 8,
                State::LastAck => 9,
                State::Listen => 10,
                State::Closing => 11,
            },
            "tcpi_ca_state" => match (sender.in_recovery(), sender.stats().timeouts > timeouts) {
                (true, true) => 4,
                (true, false) => 3,
                (false, _) => i64::from(sacked > 0),
            },
            _ => return constant(name),
        })
    }
}

fn constant(name: &str) -> Option<i64> {
    let phases = ["Open", "Disorder", "CWR", "Recovery", "Loss"];
    if let Some(phase) = name.strip_prefix("TCP_CA_") {
        return phases.iter().position(|known| *known == phase).map(|at| at as i64);
    }
    // Linux's names, or FreeBSD's.
    let state = name.strip_prefix("TCPI_").or_else(|| name.strip_prefix("TCP_"))?;
    Some(match state {
        "ESTABLISHED" => 1,
        "SYN_SENT" => 2,
        "SYN_RECV" | "SYN_RECEIVED" => 3,
        "FIN_WAIT1" | "FIN_WAIT_1" => 4,
        "FIN_WAIT2" | "FIN_WAIT_2" => 5,
        "TIME_WAIT" => 6,
        "CLOSE" | "CLOSED" => 7,
        "CLOSE_WAIT" => 8,
        "LAST_ACK" => 9,
        "LISTEN" => 10,
        "CLOSING" => 11,
        "INFINITE_SSTHRESH" => 0x7fff_ffff,
        _ => return None,
    })
}
