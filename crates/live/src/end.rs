//! Our end of the connection, with an application that moves real bytes.

use bentpipe_tcp::wire::{self, Addresses, Packet, Payload};
use bentpipe_tcp::{ConnectionError, Endpoint, Flags, Segment, Seq, State};
use bentpipe_units::Time;

use crate::payload::{self, Place, Reassembly};
use crate::reader::Reader;
use crate::{ClosesFirst, Direction, LiveError, Reading, Settings};

/// Our end.
pub(crate) struct End {
    endpoint: Endpoint,
    addresses: Addresses,
    seed: u64,
    direction: Direction,
    closes_first: ClosesFirst,
    /// Bytes to send back when the peer has closed its half.
    answer: u64,
    closed: bool,
    outgoing: Place,
    acknowledged: Place,
    reassembly: Reassembly,
    reader: Reader,
    last_delivery: Time,
    resets: u64,
    payload: Vec<u8>,
}

impl End {
    /// An end that opens the connection, when the data goes from it, or waits for the kernel to do so.
    pub(crate) fn new(settings: &Settings, addresses: Addresses, iss: Seq) -> Result<End, LiveError> {
        let config = settings.config()?;
        let window = config.receive_window;
        let mut endpoint = Endpoint::new(config, iss);
        let (reading, answer) = match settings.direction {
            Direction::Send => {
                endpoint.write(settings.bytes.get());
                endpoint.connect();
                endpoint.close(false);
                (Reading::default(), 0)
            }
            Direction::Receive => {
                endpoint.listen();
                (settings.reading, settings.answer.get())
            }
        };
        Ok(End {
            endpoint,
            addresses,
            seed: settings.seed,
            direction: settings.direction,
            closes_first: settings.closes_first,
            answer,
            closed: settings.direction == Direction::Send,
            outgoing: Place::new(iss + 1),
            acknowledged: Place::new(iss + 1),
            reassembly: Reassembly::new(window),
            reader: Reader::new(reading),
            last_delivery: Time::ZERO,
            resets: 0,
            payload: Vec::new(),
        })
    }

    /// A packet arrived, with its payload.
    pub(crate) fn on_packet(&mut self, now: Time, packet: &Packet, payload: &[u8]) {
        let segment = &packet.segment;
        self.note_reset(segment);
        let before = *self.endpoint.receiver().stats();
        let (nxt, window) = (self.endpoint.receiver().nxt(), self.endpoint.receiver().window());
        self.endpoint.on_segment(now, segment);
        let receiver = self.endpoint.receiver();
        // Only bytes of a segment that the endpoint took; it tells by its counter, and by `delivered` how far they reach.
        if receiver.stats().data_segments > before.data_segments {
            let ahead = i64::from(segment.seq.diff(nxt));
            let inside = (i64::from(window) - ahead).clamp(0, payload.len() as i64) as usize;
            self.reassembly.keep(ahead, &payload[..inside]);
            if self.reassembly.deliver_to(receiver.delivered()) {
                self.last_delivery = now;
            }
        }
        self.follow(now);
    }

    /// What is due by `now`.
    pub(crate) fn on_time(&mut self, now: Time) {
        if self.endpoint.next_timeout() <= now {
            self.endpoint.on_timeout(now);
        }
        self.follow(now);
    }

    /// The application reads, answers and closes.
    fn follow(&mut self, now: Time) {
        let most = self.reader.take(now, self.endpoint.receiver().unread());
        if most > 0 {
            self.endpoint.read(most);
        }
        if self.closed || self.direction == Direction::Send {
            return;
        }
        let open = !matches!(self.endpoint.state(), State::Closed | State::Listen | State::SynReceived);
        let first = self.closes_first == ClosesFirst::Receiver;
        let through = self.endpoint.receiver().finished() && self.endpoint.receiver().unread() == 0;
        if open && (first || through) {
            self.endpoint.write(self.answer);
            self.endpoint.close(false);
            self.closed = true;
        }
    }

    /// Encodes the next packet to send; none until something changes.
    pub(crate) fn poll(&mut self, now: Time) -> Result<Option<Vec<u8>>, LiveError> {
        let mut segment = Segment::default();
        if self.endpoint.poll_segment(now, &mut segment).is_none() {
            return Ok(None);
        }
        self.note_reset(&segment);
        self.payload.resize(segment.len as usize, 0);
        if segment.len > 0 {
            payload::fill(self.seed, self.outgoing.of(segment.seq), &mut self.payload);
        }
        let mut packet = Vec::new();
        wire::encode(&segment, &self.addresses, Payload::Bytes(&self.payload), &mut packet)
            .map_err(|error| LiveError::Failed(format!("a segment does not fit in a packet: {error}")))?;
        self.addresses.ident = self.addresses.ident.wrapping_add(1);
        Ok(Some(packet))
    }

    fn note_reset(&mut self, segment: &Segment) {
        self.resets += u64::from(segment.flags.has(Flags::RST) && !self.is_over());
    }

    /// Resets that arrived or were sent while the connection was open.
    pub(crate) fn resets(&self) -> u64 {
        self.resets
    }

    /// When [`End::on_time`] wants to be called.
    pub(crate) fn next_time(&self) -> Time {
        self.endpoint.next_timeout().min(self.reader.next_time())
    }

    /// Whether both directions are through.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.endpoint.state(), State::Closed | State::TimeWait)
    }

    /// Why the connection ended early, if it did.
    pub(crate) fn error(&self) -> Option<ConnectionError> {
        self.endpoint.error()
    }

    /// The state machine.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Bytes that the peer acknowledged, its ACK of our FIN counted as one.
    pub(crate) fn acknowledged(&mut self) -> u64 {
        self.acknowledged.of(self.endpoint.sender().una())
    }

    /// When the last byte arrived.
    pub(crate) fn last_delivery(&self) -> Time {
        self.last_delivery
    }

    /// The hash of what was delivered.
    pub(crate) fn into_hash(self) -> String {
        self.reassembly.into_hash()
    }
}
