//! Our end of the connection, with an application that moves real bytes.

use bentpipe_tcp::wire::{self, Addresses, Payload};
use bentpipe_tcp::{Config, Endpoint, Flags, Segment, Seq, State};
use bentpipe_units::Time;

use crate::clock::Clock;
use crate::host::{Condition, Host, Measured};
use crate::payload::{self, Place, Reassembly};
use crate::reader::Reader;
use crate::{ClosesFirst, Direction, LiveError, Reading, Settings};

/// Our end.
pub(crate) struct OwnEnd {
    endpoint: Endpoint,
    addresses: Addresses,
    seed: u64,
    direction: Direction,
    closes_first: ClosesFirst,
    /// All that it sends: the data, or what it sends back when the peer has closed its half.
    total: u64,
    closed: bool,
    outgoing: Place,
    reassembly: Reassembly,
    reader: Reader,
    last_delivery: Time,
    resets: u64,
    payload: Vec<u8>,
}

impl OwnEnd {
    /// An end with `config` that opens the connection, when the data goes from it, or waits for the kernel to do so.
    pub(crate) fn new(settings: &Settings, config: Config, addresses: Addresses, iss: Seq) -> OwnEnd {
        // A window of a buffer that grows is rounded up to what the field can say.
        let window = config.receive_window + config.receive_buffer.map_or(0, |_| 1 << 14);
        let mut endpoint = Endpoint::new(config, iss);
        let (reading, total) = match settings.direction {
            Direction::Send => {
                endpoint.write(settings.bytes.get());
                endpoint.connect();
                endpoint.close(false);
                (Reading::default(), settings.bytes)
            }
            Direction::Receive => {
                endpoint.listen();
                (settings.reading, settings.answer)
            }
        };
        OwnEnd {
            endpoint,
            addresses,
            seed: settings.seed,
            direction: settings.direction,
            closes_first: settings.closes_first,
            total: total.get(),
            closed: settings.direction == Direction::Send,
            outgoing: Place::new(iss + 1),
            reassembly: Reassembly::new(window),
            reader: Reader::new(reading),
            last_delivery: Time::ZERO,
            resets: 0,
            payload: Vec::new(),
        }
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
            self.endpoint.write(self.total);
            self.endpoint.close(false);
            self.closed = true;
        }
    }

    fn note_reset(&mut self, segment: &Segment) {
        self.resets += u64::from(segment.flags.has(Flags::RST) && !self.is_over());
    }

    /// Whether both directions are through.
    fn is_over(&self) -> bool {
        matches!(self.endpoint.state(), State::Closed | State::TimeWait)
    }
}

impl Host for OwnEnd {
    fn poll(&mut self, now: Time) -> Result<Option<Vec<u8>>, LiveError> {
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

    fn on_packet(&mut self, now: Time, packet: &[u8]) -> Result<(), LiveError> {
        let decoded = wire::decode(packet)
            .map_err(|error| LiveError::Failed(format!("a packet that came over the path: {error}")))?;
        let (segment, payload) = (&decoded.segment, &packet[decoded.payload.clone()]);
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
        Ok(())
    }

    fn on_time(&mut self, now: Time) {
        if self.endpoint.next_timeout() <= now {
            self.endpoint.on_timeout(now);
        }
        self.follow(now);
    }

    fn next_time(&self) -> Time {
        self.endpoint.next_timeout().min(self.reader.next_time())
    }

    fn condition(&mut self) -> Result<Condition, LiveError> {
        Ok(match self.endpoint.error() {
            Some(error) => Condition::Broke(error.to_string()),
            None if self.is_over() => Condition::Over,
            None => Condition::Open,
        })
    }

    fn received(&self) -> u64 {
        self.endpoint.receiver().delivered()
    }

    fn measured(&mut self, _clock: Clock) -> Result<Measured, LiveError> {
        let sender = self.endpoint.sender();
        let (sent, window) = (sender.stats(), sender.window());
        Ok(Measured {
            sent_sha256: payload::hash_of(self.seed, self.total),
            received_bytes: self.received(),
            received_sha256: self.reassembly.hash(),
            last_byte: self.last_delivery,
            // A packet of ours has the right one, and one that is wrong does not come as far as this.
            wrong_checksums_sent: 0,
            wrong_checksums_received: 0,
            data_segments: sent.data_segments,
            retransmitted_segments: sent.retransmitted_segments,
            resets: self.resets,
            timeouts: sent.timeouts,
            window_probes: sent.window_probes,
            rtt_mean_s: sender.round_trips().mean_secs(),
            cwnd_segments: window.cwnd / window.smss,
            ssthresh_segments: window.ssthresh.is_finite().then(|| window.ssthresh / window.smss),
            state: format!("{:?}", self.endpoint.state()),
            testimony: None,
        })
    }
}
