//! One end of a connection: the state machine of RFC 9293 around a [`Sender`] and a [`Receiver`].

mod challenges;
mod congestion;
mod ecn;
mod extra_segments;
mod input;
mod opening;
mod output;

use std::sync::Arc;

use bentpipe_units::{Span, Time};
use challenges::Challenges;
use congestion::Congestion;
use extra_segments::ExtraSegments;

use crate::recovery::Reduction;
use crate::sender::{Agreed, Incoming, Outgoing};
use crate::slow_start::SlowStart;
use crate::{Config, ConnectionError, Ecn, Flags, Host, Options, Receiver, Segment, Sender, Seq, Timestamps};

/// The states of RFC 9293 section 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received and answered.
    SynReceived,
    /// Open both ways.
    Established,
    /// FIN sent, not acknowledged.
    FinWait1,
    /// FIN acknowledged; the peer may still send.
    FinWait2,
    /// FIN received; this end may still send.
    CloseWait,
    /// FINs crossed; ours is not acknowledged.
    Closing,
    /// FIN sent after the peer's, not acknowledged.
    LastAck,
    /// Both directions through; old segments die out.
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

/// What [`Endpoint::poll_segment`] tells of the segment that it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes of the IPv4 packet that carries it.
    pub bytes: u32,
    /// Whether its first byte was sent before.
    pub again: bool,
    /// Whether nothing more goes out until something changes, so that there is no need to ask.
    pub last: bool,
}

/// One end of a connection.
pub struct Endpoint {
    state: State,
    config: Arc<Config>,
    sender: Sender,
    receiver: Receiver,
    iss: Seq,
    /// Payload bytes of a full segment, as the handshake left it.
    smss: u32,
    /// SYN or SYN-ACK: when it is due again, when it was sent first, how often.
    syn: Syn,
    /// Whether the peer opened the connection.
    passive: bool,
    peer_scale: u8,
    scaling: bool,
    sack: bool,
    timestamps: bool,
    ecn: bool,
    /// Whether segments carry more than TCP's: an ECN field, a congestion header.
    extended: bool,
    /// Where both ends put congestion headers before their segments.
    congestion: Option<Box<Congestion>>,
    /// Whether a mark is to be echoed.
    echo: bool,
    ts_recent: u32,
    last_ack_sent: Seq,
    /// SND.WL1 and SND.WL2.
    window_from: (Seq, Seq),
    /// Whether it matters to the receiver that data answers what came.
    answers: bool,
    /// What goes out beside data and ACKs, for connections that have any of it.
    extra_segments: Option<Box<ExtraSegments>>,
    time_wait_until: Time,
    /// None while none was owed.
    challenges: Option<Box<Challenges>>,
    /// Whether its host is down, and answers nobody.
    silent: bool,
    error: Option<ConnectionError>,
}

#[derive(Clone, Copy, Debug)]
struct Syn {
    due: bool,
    timer: Time,
    sent: Option<Time>,
    /// Expiries of the timer.
    retries: u32,
    /// How often it had to be sent again, by the timer or because the peer asked again.
    again: u32,
    /// Bytes of text that came with the peer's SYN, and whether FIN did.
    text: (u32, bool),
}

impl Default for Syn {
    fn default() -> Syn {
        Syn { due: false, timer: Time::NEVER, sent: None, retries: 0, again: 0, text: (0, false) }
    }
}

impl Endpoint {
    /// A closed end, of a configuration that many may share, whose SYN will have sequence number `iss`.
    pub fn new(config: impl Into<Arc<Config>>, iss: Seq) -> Endpoint {
        let config = config.into();
        Endpoint {
            state: State::Closed,
            sender: Sender::new(&config, iss + 1),
            receiver: Receiver::new(&config),
            smss: config.mss,
            config,
            iss,
            syn: Syn::default(),
            passive: false,
            peer_scale: 0,
            scaling: false,
            sack: false,
            timestamps: false,
            ecn: false,
            extended: false,
            congestion: None,
            echo: false,
            ts_recent: 0,
            last_ack_sent: Seq::default(),
            window_from: (Seq::default(), Seq::default()),
            answers: false,
            extra_segments: None,
            time_wait_until: Time::NEVER,
            challenges: None,
            silent: false,
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
        self.receiver = Receiver::new(&self.config);
        self.sender.forget_peer_window();
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

    /// The application breaks the connection off, whatever was not delivered: the peer hears a reset, if it may know of the
    /// connection and is not through with it (RFC 9293 section 3.10.5).
    pub fn abort(&mut self) {
        let known = matches!(
            self.state,
            State::SynReceived | State::Established | State::FinWait1 | State::FinWait2 | State::CloseWait
        );
        if known {
            let (seq, ack) = (self.sender.max(), self.receiver.nxt());
            // RFC 7323 section 3.2: "SHOULD be sent in an <RST> segment" too.
            let timestamps = self.timestamps.then_some(Timestamps { value: 0, echo: self.ts_recent });
            let options = Options { timestamps, ..Options::default() };
            let flags = Flags::RST | Flags::ACK;
            self.send_reset(Segment { seq, ack, flags, options, ..Segment::default() });
        }
        self.state = State::Closed;
        self.syn = Syn::default();
    }

    /// The host goes down and forgets the connection, of which the peer hears nothing: neither now nor as an answer to what
    /// it sends, until [`Endpoint::come_back`].
    pub fn go_down(&mut self) {
        self.state = State::Closed;
        self.syn = Syn::default();
        self.extra_segments = None;
        self.silent = true;
    }

    /// The host is there again, and answers a segment of the connection that it has forgotten with a reset.
    pub fn come_back(&mut self) {
        self.silent = false;
    }

    /// The application reads up to `most` bytes; returns how many there were.
    #[inline]
    pub fn read(&mut self, most: u32) -> u32 {
        self.receiver.read(most)
    }

    /// A segment arrived.
    // Every packet comes by here; left to itself, the compiler inlines it or not by what else changes.
    #[inline(always)]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if !self.expects(segment) {
            return self.on_other_segment(now, segment);
        }
        match self.timestamps {
            true => self.accept_stamped(now, segment),
            false => self.accept_expected::<false>(now, segment),
        }
    }

    #[inline(never)]
    fn on_other_segment(&mut self, now: Time, segment: &Segment) {
        if self.expects_pushed(segment) {
            return self.accept_stamped_apart(now, segment);
        }
        if self.expects_extended(segment) {
            return self.accept_expected_extended(now, segment);
        }
        match self.state {
            State::Closed if self.silent => {}
            State::Closed => self.answer_with_reset(segment),
            State::Listen => self.on_segment_listening(segment),
            State::SynSent => self.on_segment_syn_sent(now, segment),
            _ => self.on_segment_synchronised(now, segment),
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
        let data = self.sender.next_timeout().min(self.receiver.next_timeout());
        match self.state {
            State::Established => data,
            State::Closed => Time::NEVER,
            _ => data.min(self.syn.timer).min(self.time_wait_until),
        }
    }

    /// No later than [`Endpoint::next_timeout`], and mostly known at once: each ACK moves a timer whose tick nobody has to know.
    #[inline]
    pub fn quiet_until(&self) -> Time {
        match self.state {
            State::Established => self.sender.quiet_until().min(self.receiver.next_timeout()),
            _ => self.next_timeout(),
        }
    }

    /// The time that `next_timeout` named has come.
    #[inline]
    pub fn on_timeout(&mut self, now: Time) {
        let quiet = self.state == State::Established && now < self.receiver.next_timeout();
        if !(quiet && self.sender.only_paces(now)) {
            self.on_any_timeout(now);
        }
    }

    fn on_any_timeout(&mut self, now: Time) {
        if self.state == State::Closed {
            return;
        }
        if now >= self.time_wait_until {
            self.state = State::Closed;
            self.time_wait_until = Time::NEVER;
        }
        if now >= self.syn.timer {
            self.syn.timer = Time::NEVER;
            self.syn.retries += 1;
            self.syn.again += 1;
            if self.syn.retries > self.most_syn_retries() {
                return self.end(ConnectionError::TimedOut);
            }
            self.syn.due = true;
        }
        self.receiver.on_timeout(now);
        if let Err(error) = self.sender.on_timeout(now) {
            self.end(error);
        }
    }

    /// The state of the connection.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Payload bytes of a full segment.
    #[inline]
    pub fn segment_size(&self) -> u32 {
        self.smss
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

    /// Replaces the slow start, before any data is sent.
    pub fn set_slow_start(&mut self, slow_start: Box<dyn SlowStart>) {
        self.sender.set_slow_start(slow_start);
    }

    /// The sending half's reductions of the window since this was called last.
    pub fn take_reductions(&mut self) -> Vec<Reduction> {
        self.sender.take_reductions()
    }

    /// The receiving half.
    #[inline]
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }
}

/// The clock of the timestamp option: a tick a millisecond, never zero.
fn timestamp_clock(now: Time) -> u32 {
    let millis = now.as_nanos() / 1_000_000;
    // Without a division in the first 49 days.
    u32::try_from(millis).unwrap_or_else(|_| (millis % u64::from(u32::MAX)) as u32) % u32::MAX + 1
}
