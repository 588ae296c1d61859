//! How a connection opens: what is offered, what both ends agree on, and what is refused.

use bentpipe_units::{Span, Time};

use super::*;

impl Endpoint {
    /// RFC 9293 section 3.10.7.1: what arrives where there is no connection.
    pub(super) fn answer_with_reset(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        self.send_reset(if segment.flags.has(Flags::ACK) {
            Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
        } else {
            Segment { ack: segment.end(), flags: Flags::RST | Flags::ACK, ..Segment::default() }
        });
    }

    pub(super) fn on_segment_listening(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.answer_with_reset(segment);
        } else if segment.flags.has(Flags::SYN) {
            self.take_syn(segment);
            self.state = State::SynReceived;
            self.syn.due = true;
        }
    }

    pub(super) fn on_segment_syn_sent(&mut self, now: Time, segment: &Segment) {
        let acknowledges = segment.flags.has(Flags::ACK);
        if acknowledges && segment.ack != self.iss + 1 {
            self.answer_with_reset(segment);
            return;
        }
        if segment.flags.has(Flags::RST) {
            if acknowledges {
                self.end(ConnectionError::Refused);
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(segment);
        // tcp_rcv_synsent_state_process: without Fast Open what comes with a SYN is dropped.
        if self.config.host == Host::Rfc {
            self.syn.text = (segment.len, segment.flags.has(Flags::FIN));
        }
        if acknowledges {
            self.establish(now, segment);
            self.take_text_of_syn(now);
            match self.config.host {
                Host::Rfc => self.receiver.ack_soon(),
                // tcp_rcv_synsent_state_process: before the application hears of the connection.
                Host::Linux => self.receiver.ack_alone(),
            }
        } else {
            self.state = State::SynReceived;
            self.syn.due = true;
        }
    }

    /// Notes the peer's sequence number and what both ends offered.
    pub(super) fn take_syn(&mut self, segment: &Segment) {
        let options = &segment.options;
        self.receiver.start(segment.seq + 1);
        self.last_ack_sent = segment.seq + 1;
        let scaled = self.config.window_scaling && options.window_scale.is_some();
        self.scaling = scaled;
        self.peer_scale = if scaled { options.window_scale.unwrap_or(0).min(14) } else { 0 };
        self.sack = self.config.sack && options.sack_permitted;
        self.timestamps = self.config.timestamps && options.timestamps.is_some();
        self.echo = false;
        self.ecn = self.config.ecn && ecn::is_setup(segment.flags);
        if let (true, Some(timestamps)) = (self.timestamps, options.timestamps) {
            self.ts_recent = timestamps.value;
        }
        // RFC 9293 section 3.7.1: "If an MSS Option is not received at connection setup, TCP implementations MUST
        // assume a default send MSS of 536"; RFC 6691: the sender takes its options off.
        let peer_mss = options.mss.map_or(536, u32::from).max(64);
        self.agree_on_congestion_headers(segment);
        let beside = self.congestion.as_ref().map_or(0, |congestion| u32::from(congestion.bytes));
        self.smss = self.config.mss.min(peer_mss) - if self.timestamps { 12 } else { 0 } - beside;
        self.receiver.negotiated(scaled.then(|| self.config.window_scale()), self.smss);
        if !self.sack {
            self.receiver.reports_no_sack();
        }
        self.sender.set_peer_window(u32::from(segment.window));
        self.window_from = (segment.seq, segment.ack);
    }

    /// The connection is open, and what came with the peer's SYN is taken.
    ///
    /// RFC 9293 section 3.10.7.3: "If there are other controls or text in the segment, queue them for processing after the ESTABLISHED
    /// state has been reached". A listener takes none: the peer sends it again, and a forged SYN delivers nothing.
    #[inline]
    pub(super) fn take_text_of_syn(&mut self, now: Time) {
        let (len, fin) = std::mem::take(&mut self.syn.text);
        if len > 0 || fin {
            self.receiver.on_data(now, self.receiver.nxt(), len, fin);
            self.follow_fins(now);
        }
    }

    pub(super) fn establish(&mut self, now: Time, segment: &Segment) {
        self.state = State::Established;
        self.syn.timer = Time::NEVER;
        self.syn.due = false;
        let initial_window = if self.loses_initial_window(segment) { 1 } else { self.config.initial_window };
        let agreed = Agreed { smss: self.smss, sack: self.sack, initial_window };
        self.sender.open(&self.config, agreed);
        match self.handshake_rtt(now, segment) {
            Some(rtt) => self.sender.sample_handshake(now, rtt),
            None => self.sender.after_lost_syn(),
        }
        self.expect_dummies();
        self.receiver.begin(now);
        self.receiver.expect_pauses(self.sender.rtt().rto());
        if !segment.flags.has(Flags::SYN) {
            self.sender.set_peer_window(u32::from(segment.window) << self.peer_scale);
        }
    }

    /// Whether the connection begins with one segment, because its SYN was sent again; `segment` opens it.
    ///
    /// RFC 5681 section 3.1: "if the SYN or SYN/ACK is lost, the initial window used by a sender after a correctly
    /// transmitted SYN MUST be one segment". Linux lets one pass, "in light of RFC6298 more aggressive 1sec initRTO"
    /// (`tcp_init_transfer`), and those that a timestamp shows to have been needless (`tcp_try_undo_spurious_syn`).
    fn loses_initial_window(&self, segment: &Segment) -> bool {
        match self.config.host {
            Host::Rfc => self.syn.again > 0,
            Host::Linux => self.syn.again > 1 && self.syn.retries > 0 && !self.answers_first_syn(segment),
        }
    }

    /// Whether what opens the connection echoes the timestamp of the SYN, or SYN-ACK, that was sent first.
    fn answers_first_syn(&self, segment: &Segment) -> bool {
        let echo = segment.options.timestamps.filter(|_| self.timestamps).map(|stamps| stamps.echo);
        echo.is_some() && echo == self.syn.sent.map(timestamp_clock)
    }

    /// The round trip of the handshake; none where it is not known which SYN was answered (Karn). Linux goes by the timestamp
    /// then (`tcp_ack_update_rtt`).
    fn handshake_rtt(&self, now: Time, segment: &Segment) -> Option<Span> {
        if self.syn.again == 0 {
            return self.syn.sent.map(|sent| now.since(sent));
        }
        let stamps =
            segment.options.timestamps.filter(|_| self.timestamps && self.config.host == Host::Linux)?;
        super::input::echoed_rtt(self.syn.sent, now, stamps.echo)
    }

    /// How often the timer has a SYN sent again before it gives up: in Linux `tcp_syn_retries` 6 beside those without back-off, and
    /// `tcp_synack_retries` 5.
    pub(super) fn most_syn_retries(&self) -> u32 {
        let most = match (self.config.host, self.state) {
            (Host::Rfc, _) => u32::MAX,
            (Host::Linux, State::SynSent) => 6 + self.config.syn_linear_timeouts,
            (Host::Linux, _) => 5,
        };
        most.min(self.config.max_retransmissions)
    }

    /// How long a SYN, or the `answer` to one, waits until it is sent again.
    fn syn_wait(&self, answer: bool) -> Span {
        let linear = if answer { 0 } else { self.config.syn_linear_timeouts };
        let doublings = self.syn.retries.saturating_sub(linear).min(20);
        (self.config.rto.initial * (1 << doublings)).min(self.config.rto.max)
    }

    pub(super) fn poll_syn(&mut self, now: Time, segment: &mut Segment) -> Option<bool> {
        if !std::mem::take(&mut self.syn.due) {
            return None;
        }
        let answer = self.state == State::SynReceived;
        let again = self.syn.sent.is_some();
        self.syn.sent.get_or_insert(now);
        let wait = self.syn_wait(answer);
        self.syn.timer = match self.config.host {
            Host::Rfc => now + wait,
            Host::Linux => self.sender.rtt().expiry(now, wait),
        };
        let scaling = if answer { self.scaling } else { self.config.window_scaling };
        let timestamps = if answer { self.timestamps } else { self.config.timestamps };
        let options = Options {
            mss: Some(self.config.mss.min(65_535) as u16),
            window_scale: scaling.then(|| self.config.window_scale()),
            sack_permitted: if answer { self.sack } else { self.config.sack },
            timestamps: timestamps.then(|| self.timestamp_option(now)),
            ..Options::default()
        };
        *segment = Segment {
            seq: self.iss,
            ack: if answer { self.receiver.nxt() } else { Seq::default() },
            window: if answer { self.receiver.answering_window() } else { self.receiver.syn_window() },
            flags: self.syn_flags(answer, again),
            options,
            ..Segment::default()
        };
        self.offer_congestion_header(answer, segment);
        Some(again)
    }
}
