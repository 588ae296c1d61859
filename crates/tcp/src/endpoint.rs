//! One end of a connection: the state machine of RFC 9293 around a [`Sender`] and a [`Receiver`].

use bentpipe_units::{Span, Time};

use crate::receiver::window_scale_for;
use crate::sender::{Incoming, Outgoing};
use crate::{
    Config, ConnectionError, Flags, Options, Receiver, RecoveryKind, Segment, Sender, Seq, Timestamps,
};

/// The states of RFC 9293 section 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// A segment for the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// Whether its first byte was sent before.
    pub again: bool,
}

/// One end of a connection.
pub struct Endpoint {
    state: State,
    config: Config,
    sender: Sender,
    receiver: Receiver,
    iss: Seq,
    offered_mss: u16,
    /// SYN or SYN-ACK: when it is due again, when it was sent first, how often.
    syn: Syn,
    /// Whether the peer opened the connection.
    passive: bool,
    peer_scale: u8,
    scaling: bool,
    sack: bool,
    timestamps: bool,
    ts_recent: u32,
    last_ack_sent: Seq,
    /// SND.WL1 and SND.WL2.
    window_from: (Seq, Seq),
    reset: Option<Segment>,
    time_wait_until: Time,
    error: Option<ConnectionError>,
}

#[derive(Clone, Copy, Debug)]
struct Syn {
    due: bool,
    timer: Time,
    sent: Option<Time>,
    /// Expiries of the timer.
    retries: u32,
    /// Whether it had to be sent again, by the timer or because the peer asked again.
    lost: bool,
}

impl Default for Syn {
    fn default() -> Syn {
        Syn { due: false, timer: Time::NEVER, sent: None, retries: 0, lost: false }
    }
}

impl Endpoint {
    /// A closed end whose SYN will have sequence number `iss`.
    pub fn new(config: Config, iss: Seq) -> Endpoint {
        Endpoint {
            state: State::Closed,
            sender: Sender::new(&config, iss + 1),
            receiver: Receiver::new(&config),
            offered_mss: config.mss.min(65_535) as u16,
            config,
            iss,
            syn: Syn::default(),
            passive: false,
            peer_scale: 0,
            scaling: false,
            sack: false,
            timestamps: false,
            ts_recent: 0,
            last_ack_sent: Seq::default(),
            window_from: (Seq::default(), Seq::default()),
            reset: None,
            time_wait_until: Time::NEVER,
            error: None,
        }
    }

    /// Active open.
    pub fn connect(&mut self) {
        self.state = State::SynSent;
        self.syn.due = true;
    }

    /// Passive open.
    pub fn listen(&mut self) {
        self.state = State::Listen;
        self.passive = true;
    }

    /// The peer took its SYN back before the connection was open (RFC 9293 section 3.10.7.4, second check).
    fn listen_again(&mut self) {
        self.state = State::Listen;
        self.syn = Syn::default();
        self.config.mss = u32::from(self.offered_mss);
        self.receiver = Receiver::new(&self.config);
    }

    /// The application hands over `bytes` more; `u64::MAX` means that it never stops.
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// The application has no more data. What it handed over is still sent, unless `discard`.
    pub fn close(&mut self, discard: bool) {
        match self.state {
            State::Closed | State::Listen => self.state = State::Closed,
            _ => self.sender.close(discard),
        }
    }

    /// The application reads up to `most` bytes; returns how many there were.
    #[inline]
    pub fn read(&mut self, most: u32) -> u32 {
        self.receiver.read(most)
    }

    /// A segment arrived.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        match self.state {
            State::Closed => self.answer_with_reset(segment),
            State::Listen => self.on_segment_listening(segment),
            State::SynSent => self.on_segment_syn_sent(now, segment),
            _ => self.on_segment_synchronised(now, segment),
        }
    }

    /// RFC 9293 section 3.10.7.1: what arrives where there is no connection.
    fn answer_with_reset(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        self.reset = Some(if segment.flags.has(Flags::ACK) {
            Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
        } else {
            Segment { ack: segment.end(), flags: Flags::RST | Flags::ACK, ..Segment::default() }
        });
    }

    fn on_segment_listening(&mut self, segment: &Segment) {
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

    fn on_segment_syn_sent(&mut self, now: Time, segment: &Segment) {
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
        if acknowledges {
            self.establish(now, segment);
            self.receiver.ack_soon();
        } else {
            self.state = State::SynReceived;
            self.syn.due = true;
        }
    }

    /// Notes the peer's sequence number and what both ends offered.
    fn take_syn(&mut self, segment: &Segment) {
        let options = &segment.options;
        self.receiver.start(segment.seq + 1);
        self.last_ack_sent = segment.seq + 1;
        let scaled = self.config.window_scaling && options.window_scale.is_some();
        self.scaling = scaled;
        self.peer_scale = if scaled { options.window_scale.unwrap_or(0).min(14) } else { 0 };
        self.sack = self.config.sack && options.sack_permitted;
        self.timestamps = self.config.timestamps && options.timestamps.is_some();
        if let (true, Some(timestamps)) = (self.timestamps, options.timestamps) {
            self.ts_recent = timestamps.value;
        }
        // RFC 9293 section 3.7.1: "If an MSS Option is not received at connection setup, TCP implementations MUST
        // assume a default send MSS of 536"; RFC 6691: the sender takes its options off.
        let peer_mss = options.mss.map_or(536, u32::from).max(64);
        self.config.mss = self.config.mss.min(peer_mss) - if self.timestamps { 12 } else { 0 };
        self.receiver
            .negotiated(scaled.then(|| window_scale_for(self.config.receive_window)), self.config.mss);
        self.sender.set_peer_window(u32::from(segment.window));
        self.window_from = (segment.seq, segment.ack);
    }

    fn establish(&mut self, now: Time, segment: &Segment) {
        self.state = State::Established;
        self.syn.timer = Time::NEVER;
        self.syn.due = false;
        // RFC 5681 section 3.1: "If the SYN or SYN/ACK is lost, the initial window used by a sender after a correctly
        // transmitted SYN MUST be one segment".
        let initial_window = if self.syn.lost { 1 } else { self.config.initial_window };
        let recovery = match self.config.recovery {
            // RFC 6675 needs what the peer does not offer; RFC 6582 is for "the absence of SACK".
            RecoveryKind::Sack if !self.sack => RecoveryKind::NewReno,
            recovery => recovery,
        };
        self.sender.open(&Config { recovery, ..self.config.clone() }, initial_window);
        match self.syn.sent {
            Some(sent) if !self.syn.lost => self.sender.sample_handshake(now.since(sent)),
            _ => self.sender.after_lost_syn(),
        }
        if !segment.flags.has(Flags::SYN) {
            self.sender.set_peer_window(u32::from(segment.window) << self.peer_scale);
        }
    }

    fn on_segment_synchronised(&mut self, now: Time, segment: &Segment) {
        // Header prediction (Jacobson 1990): in order, inside the window, nothing but ACK set.
        let expected = self.state == State::Established
            && segment.flags == Flags::ACK
            && segment.seq == self.receiver.nxt()
            && segment.len <= self.receiver.window()
            && !self.timestamps;
        if !expected && !self.check(now, segment) {
            return;
        }
        if segment.ack > self.sender.max() {
            self.receiver.ack_soon();
            return;
        }
        if !(expected && self.acknowledges_nothing(segment)) {
            self.take_ack(now, segment);
        }
        self.take_data(now, segment);
        self.follow_fins(now);
    }

    /// The ACK field and the window say what is known, and nothing is outstanding: the common data segment.
    #[inline]
    fn acknowledges_nothing(&self, segment: &Segment) -> bool {
        segment.len > 0
            && self.sender.flight() == 0
            && segment.ack == self.sender.una()
            && u32::from(segment.window) << self.peer_scale == self.sender.peer_window()
    }

    /// RFC 9293 section 3.10.7.4 up to the fifth check; whether there is an ACK field to look at.
    fn check(&mut self, now: Time, segment: &Segment) -> bool {
        let syn_alone = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if self.state == State::SynReceived && syn_alone && segment.seq + 1 == self.receiver.nxt() {
            // The peer sent its SYN again: it has not seen our answer.
            self.syn.due = true;
            self.syn.lost = true;
            return false;
        }
        let in_order = self.timestamps_in_order(segment);
        if !in_order || !self.acceptable(segment) {
            if !segment.flags.has(Flags::RST) {
                self.receiver.ack_soon();
                if in_order && segment.len > 0 {
                    // All of it is held already, or lies beyond the window: the receiver counts it.
                    self.receiver.on_data(now, segment.seq, segment.len, false);
                }
                if self.state == State::TimeWait && segment.flags.has(Flags::FIN) {
                    // The peer has not seen our ACK: "Acknowledge it, and restart the 2 MSL timeout."
                    self.time_wait_until = now + self.config.time_wait;
                }
            }
            return false;
        }
        self.note_timestamp(segment);
        if segment.flags.has(Flags::RST) {
            // RFC 5961 section 3.2: only the exact next sequence number resets; a near miss is challenged.
            if segment.seq != self.receiver.nxt() {
                self.receiver.ack_soon();
            } else if self.state == State::SynReceived && self.passive {
                self.listen_again();
            } else if self.state == State::TimeWait {
                // Both directions are through: RFC 9293 section 3.10.7.4 gives no signal here.
                self.state = State::Closed;
            } else {
                self.end(ConnectionError::Reset);
            }
            return false;
        }
        if segment.flags.has(Flags::SYN) {
            self.receiver.ack_soon();
            return false;
        }
        if !segment.flags.has(Flags::ACK) {
            return false;
        }
        if self.state == State::SynReceived {
            if segment.ack != self.iss + 1 {
                self.answer_with_reset(segment);
                return false;
            }
            self.establish(now, segment);
            self.window_from = (segment.seq, segment.ack);
        }
        true
    }

    /// RFC 9293 section 3.10.7.4, first check.
    fn acceptable(&self, segment: &Segment) -> bool {
        let (nxt, window) = (self.receiver.nxt(), self.receiver.window());
        let inside = |seq: Seq| seq >= nxt && seq < nxt + window;
        match (segment.sequence_len(), window) {
            (0, 0) => segment.seq == nxt,
            // A peer with a full window out has no number left below the edge for a plain ACK. Section 3.10.7.4 would drop
            // it, and with it the news of a hole; Linux takes it, and so does this end.
            (0, _) => inside(segment.seq) || (segment.seq == nxt + window && !segment.flags.has(Flags::RST)),
            // "If the RCV.WND is zero, no segments will be acceptable, but special allowance should be made to accept
            // valid ACKs": the receiver drops the payload.
            (_, 0) => segment.seq == nxt,
            _ => inside(segment.seq) || inside(segment.end() - 1),
        }
    }

    /// RFC 7323 section 5.3 (R1): PAWS.
    fn timestamps_in_order(&self, segment: &Segment) -> bool {
        let (true, Some(timestamps)) = (self.timestamps, segment.options.timestamps) else { return true };
        Seq(timestamps.value) >= Seq(self.ts_recent) || segment.flags.has(Flags::RST)
    }

    /// RFC 7323 section 5.3 (R3): TS.Recent, by segments that passed (R1) and (R2).
    fn note_timestamp(&mut self, segment: &Segment) {
        if let (true, Some(timestamps)) = (self.timestamps, segment.options.timestamps)
            && segment.seq <= self.last_ack_sent
            && Seq(timestamps.value) >= Seq(self.ts_recent)
        {
            self.ts_recent = timestamps.value;
        }
    }

    fn take_ack(&mut self, now: Time, segment: &Segment) {
        if segment.ack < self.sender.una() {
            return;
        }
        let (wl1, wl2) = self.window_from;
        // RFC 9293 section 3.10.7.4, with one case more: when a resent segment brings the newest ACK, the old window counted
        // from it would reach beyond the receiver's edge.
        let newest_ack = segment.ack > self.sender.una();
        let newer = newest_ack || wl1 < segment.seq || (wl1 == segment.seq && wl2 <= segment.ack);
        if newer {
            self.window_from = (segment.seq.max(wl1), segment.ack);
        }
        let timestamp_rtt = match (self.timestamps, segment.options.timestamps) {
            (true, Some(t)) if t.echo != 0 => {
                Some(Span::from_millis(u64::from(timestamp_clock(now).wrapping_sub(t.echo))))
            }
            _ => None,
        };
        let incoming = Incoming {
            ack: segment.ack,
            window: newer.then(|| u32::from(segment.window) << self.peer_scale),
            sack: if self.sack { segment.options.sack.as_slice() } else { &[] },
            carries_data: segment.sequence_len() > 0,
            timestamp_rtt,
        };
        self.sender.on_ack(now, &incoming);
    }

    fn take_data(&mut self, now: Time, segment: &Segment) {
        let receiving = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if receiving && segment.sequence_len() > 0 {
            self.receiver.on_data(now, segment.seq, segment.len, segment.flags.has(Flags::FIN));
        } else if segment.sequence_len() > 0 {
            self.receiver.ack_soon();
        }
    }

    fn follow_fins(&mut self, now: Time) {
        let theirs = self.receiver.finished();
        if self.state == State::Established && !theirs {
            return;
        }
        let ours = self.sender.fin_acknowledged();
        self.state = match (self.state, ours, theirs) {
            (State::Established, _, true) => State::CloseWait,
            (State::FinWait1, true, true) | (State::FinWait2, _, true) | (State::Closing, true, _) => {
                State::TimeWait
            }
            (State::FinWait1, false, true) => State::Closing,
            (State::FinWait1, true, false) => State::FinWait2,
            (State::LastAck, true, _) => State::Closed,
            (state, _, _) => state,
        };
        if self.state == State::TimeWait && self.time_wait_until == Time::NEVER {
            self.time_wait_until = now + self.config.time_wait;
        }
    }

    fn end(&mut self, error: ConnectionError) {
        self.error = Some(error);
        self.state = State::Closed;
        self.syn.timer = Time::NEVER;
        self.syn.due = false;
    }

    /// When `on_timeout` wants to be called; `Time::NEVER` when nothing is due.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        if self.state == State::Closed {
            return Time::NEVER;
        }
        self.sender
            .next_timeout()
            .min(self.receiver.next_timeout())
            .min(self.syn.timer)
            .min(self.time_wait_until)
    }

    /// The time that `next_timeout` named has come.
    pub fn on_timeout(&mut self, now: Time) {
        if now >= self.time_wait_until {
            self.state = State::Closed;
            self.time_wait_until = Time::NEVER;
        }
        if now >= self.syn.timer {
            self.syn.timer = Time::NEVER;
            self.syn.retries += 1;
            self.syn.lost = true;
            if self.syn.retries > self.config.max_retransmissions {
                return self.end(ConnectionError::TimedOut);
            }
            self.syn.due = true;
        }
        self.receiver.on_timeout(now);
        if let Err(error) = self.sender.on_timeout(now) {
            self.end(error);
        }
    }

    /// The next segment for the wire, or none until something changes. Call it until it returns none.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let mut segment = Segment::default();
        self.poll_segment(now, &mut segment).map(|again| Transmit { segment, again })
    }

    /// [`Endpoint::poll_transmit`] into a segment of the caller's: returns whether its first byte was sent before.
    pub fn poll_segment(&mut self, now: Time, segment: &mut Segment) -> Option<bool> {
        if let Some(reset) = &self.reset {
            *segment = *reset;
            self.reset = None;
            return Some(false);
        }
        match self.state {
            State::Closed | State::Listen => None,
            State::SynSent => self.poll_syn(now, segment),
            State::SynReceived => self.poll_syn(now, segment).or_else(|| {
                // What is not acceptable is answered here too, as is the peer's SYN-ACK when both opened at once.
                self.receiver.owes_ack().then(|| self.pure_ack(now, segment))?;
                Some(false)
            }),
            _ => {
                // RFC 5681 section 4.2: out of order data is answered by a duplicate ACK, which data cannot carry.
                if self.receiver.owes_ack() && self.receiver.has_hole() {
                    self.pure_ack(now, segment);
                    return Some(false);
                }
                if let Some(data) = self.sender.poll(now) {
                    self.data_segment(now, data, segment);
                    return Some(data.again);
                }
                if !self.receiver.owes_ack() {
                    return None;
                }
                self.pure_ack(now, segment);
                Some(false)
            }
        }
    }

    fn poll_syn(&mut self, now: Time, segment: &mut Segment) -> Option<bool> {
        if !std::mem::take(&mut self.syn.due) {
            return None;
        }
        let answer = self.state == State::SynReceived;
        let again = self.syn.sent.is_some();
        self.syn.sent.get_or_insert(now);
        self.syn.timer =
            now + (self.config.rto.initial * (1 << self.syn.retries.min(20))).min(self.config.rto.max);
        let scaling = if answer { self.scaling } else { self.config.window_scaling };
        let options = Options {
            mss: Some(self.offered_mss),
            window_scale: scaling.then(|| window_scale_for(self.config.receive_window)),
            sack_permitted: if answer { self.sack } else { self.config.sack },
            timestamps: self
                .timestamp_option(now, if answer { self.timestamps } else { self.config.timestamps }),
            ..Options::default()
        };
        *segment = Segment {
            seq: self.iss,
            ack: if answer { self.receiver.nxt() } else { Seq::default() },
            window: self.receiver.syn_window(),
            flags: if answer { Flags::SYN | Flags::ACK } else { Flags::SYN },
            options,
            len: 0,
        };
        Some(again)
    }

    fn data_segment(&mut self, now: Time, data: Outgoing, segment: &mut Segment) {
        if data.fin {
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                state => state,
            };
        }
        self.header(now, segment);
        segment.seq = data.seq;
        segment.len = data.len;
        if data.fin {
            segment.flags |= Flags::FIN;
        }
    }

    fn pure_ack(&mut self, now: Time, segment: &mut Segment) {
        self.header(now, segment);
        // After going back, SND.NXT may lie below what the peer has; SND.MAX is in its window, or a probe's byte beyond.
        segment.seq = self.sender.max().min(self.sender.una() + self.sender.peer_window());
        if self.sack && self.receiver.has_hole() {
            segment.options.sack = self.receiver.sack_blocks(if self.timestamps { 3 } else { 4 });
        }
    }

    #[inline]
    fn header(&mut self, now: Time, segment: &mut Segment) {
        let window = self.receiver.acknowledge();
        self.last_ack_sent = self.receiver.nxt();
        segment.set_ack(self.receiver.nxt(), window);
        if self.timestamps {
            segment.options.timestamps = self.timestamp_option(now, true);
        }
    }

    fn timestamp_option(&self, now: Time, on: bool) -> Option<Timestamps> {
        on.then(|| Timestamps { value: timestamp_clock(now), echo: self.ts_recent })
    }

    /// The state of the connection.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Why the connection ended early, if it did.
    pub fn error(&self) -> Option<ConnectionError> {
        self.error
    }

    /// The sending half.
    #[inline]
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The receiving half.
    #[inline]
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }
}

/// The clock of the timestamp option: a tick a millisecond, never zero.
fn timestamp_clock(now: Time) -> u32 {
    (now.as_nanos() / 1_000_000 % u64::from(u32::MAX)) as u32 + 1
}
