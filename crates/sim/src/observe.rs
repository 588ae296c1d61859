//! What is recorded when someone asked: time series and captures. A run that nobody watches has no observer.

use std::io;
use std::net::Ipv4Addr;

use bentpipe_net::{LinkId, Lost, TTL};
use bentpipe_path::Link;
use bentpipe_tcp::wire::Addresses;
use bentpipe_tcp::{Endpoint, Flags, Seq};
use bentpipe_units::Time;

use crate::ids::{ConnectionId, EndId, Side};
use crate::kernel::SocketFacts;
use crate::limits::Limits;
use crate::packet::{Content, Packet};
use crate::recorder::{ACKED, BUFFER, DAMAGED, DROPPED, RESENT, Recorder, SACK_END, SACK_START, SENT};
use crate::result::{CaptureRecord, Recording};
use crate::series::{SeriesOptions, phases};
use bentpipe_drive::addresses::{keys, lines};
use bentpipe_drive::pcap::Capture;
use bentpipe_scenario::Scenario;

pub(crate) struct Observer {
    series: Option<Recorder>,
    /// The names of phases, for their numbers.
    phases: Vec<&'static str>,
    capture: Option<CaptureState>,
    limits: Option<Limits>,
    /// Per end, those of UDP flows behind all others: how its sequence numbers continue past 32 bits.
    unwrapped: Vec<Unwrapped>,
    /// Directions of links that are watched; those that come up during a run are not.
    links: usize,
}

struct CaptureState {
    capture: Capture,
    /// Interface of the host that the data of each connection comes from, then of each UDP flow.
    interfaces: Vec<u32>,
    addresses: Vec<Addresses>,
    /// The first error that writing met.
    error: Option<io::Error>,
    /// When the capture was full.
    ended: Option<Time>,
}

/// Bytes since an end's first byte of data.
#[derive(Clone, Copy, Default)]
struct Unwrapped {
    last: Option<(Seq, u64)>,
}

impl Unwrapped {
    fn get(&mut self, seq: Seq) -> u64 {
        let (last, bytes) = self.last.unwrap_or((seq, 0));
        let bytes = bytes.saturating_add_signed(i64::from(seq.diff(last)));
        if self.last.is_none() || seq > last {
            self.last = Some((seq, bytes));
        }
        bytes
    }

    /// Where a packet's data starts, and how many bytes there are.
    fn place(&mut self, content: &Content) -> (u64, u32) {
        match content {
            Content::Segment(segment) | Content::Foreign(segment) => (self.get(segment.seq), segment.len),
            Content::Datagram(datagram) => (datagram.offset, datagram.len),
        }
    }
}

impl Observer {
    pub(crate) fn new(
        scenario: &Scenario,
        series: Option<SeriesOptions>,
        capture: Option<Capture>,
        limits: bool,
    ) -> io::Result<Observer> {
        let capture = match capture {
            Some(capture) => Some(CaptureState::new(scenario, capture)?),
            None => None,
        };
        let flows = lines(scenario).count();
        let phases = if series.is_some() { phases(scenario) } else { Vec::new() };
        let series = series.map(|options| Recorder::new(options, flows, 2 * scenario.links.len()));
        let limits = limits.then(|| Limits::new(scenario));
        let (unwrapped, links) = (vec![Unwrapped::default(); 2 * flows], 2 * scenario.links.len());
        Ok(Observer { series, phases, capture, limits, unwrapped, links })
    }

    /// The recorder of time series, while it records.
    fn recorder(&mut self) -> Option<&mut Recorder> {
        self.series.as_mut().filter(|recorder| !recorder.is_over())
    }

    #[inline(never)]
    pub(crate) fn sent(&mut self, now: Time, packet: &Packet) {
        let Packet { content, to, again, .. } = packet;
        let from = to.peer();
        let unwrapped = &mut self.unwrapped[from.index()];
        if let Some(segment) = content.segment()
            && segment.flags.has(Flags::SYN)
        {
            unwrapped.get(segment.seq + 1);
        }
        let (sequence, len) = unwrapped.place(content);
        if from.side() == Side::Data
            && len > 0
            && let Some(recorder) = self.recorder()
        {
            recorder.point(now, from.connection(), if *again { RESENT } else { SENT }, sequence);
        }
        self.capture(now, from, from, content);
    }

    #[inline(never)]
    pub(crate) fn arrived(&mut self, now: Time, packet: &Packet) {
        let to = packet.to;
        // Of a stream over UDP, captures show what its host sends.
        let Some(segment) = packet.content.segment() else { return };
        if to.side() == Side::Data
            && segment.flags.has(Flags::ACK)
            && let Some(recorder) = self.series.as_mut().filter(|recorder| !recorder.is_over())
        {
            let unwrapped = &mut self.unwrapped[to.index()];
            recorder.point(now, to.connection(), ACKED, unwrapped.get(segment.ack));
            for block in segment.options.sack.as_slice() {
                recorder.point(now, to.connection(), SACK_START, unwrapped.get(block.start));
                recorder.point(now, to.connection(), SACK_END, unwrapped.get(block.end));
            }
        }
        self.capture(now, to, to.peer(), &packet.content);
    }

    /// A packet is lost at `at`, which may be still to come.
    #[inline(never)]
    pub(crate) fn lost(&mut self, now: Time, at: Time, packet: &Packet, why: Lost) {
        let from = packet.to.peer();
        let (sequence, len) = self.unwrapped[from.index()].place(&packet.content);
        let kind = match why {
            Lost::Dropped(_) => DROPPED,
            Lost::Damaged(_) | Lost::Left(_) => DAMAGED,
        };
        if from.side() == Side::Data
            && len > 0
            && let Some(recorder) = self.recorder()
        {
            recorder.lost(now, at, from.connection(), kind, sequence);
        }
    }

    /// A link has taken a packet, at a time that may be still to come.
    #[inline(never)]
    pub(crate) fn taken(&mut self, now: Time, at: Time, link: LinkId, state: &mut Link) {
        if link.index() >= self.links {
            return;
        }
        if let (Some(limits), Some(begins), Some(ends)) =
            (&mut self.limits, state.last_begins(), state.last_ends())
        {
            limits.taken(now, begins, ends, link);
        }
        match (self.recorder(), state.last_begins()) {
            (Some(recorder), Some(begins)) => recorder.taken(now, at, begins, link),
            _ => self.served(now, link, state),
        }
    }

    /// A link that goes step by step has taken a packet or gone on.
    #[inline(never)]
    pub(crate) fn served(&mut self, now: Time, link: LinkId, state: &mut Link) {
        if link.index() >= self.links {
            return;
        }
        if let (Some(limits), Some((busy, ends))) = (&mut self.limits, state.sending(now)) {
            limits.served(now, busy, ends, link);
        }
        if !state.is_closed()
            && let Some(recorder) = self.recorder()
        {
            recorder.waiting(now, link, state.queue_packets(now));
        }
    }

    #[inline(never)]
    pub(crate) fn state(&mut self, now: Time, end: EndId, tcp: &Endpoint) {
        if end.side() != Side::Data {
            return;
        }
        let flow = end.connection();
        if let Some(limits) = &mut self.limits {
            limits.acted(now, flow, tcp);
        }
        if !self.wants_state(end) {
            return;
        }
        let phases = &self.phases;
        let Some(recorder) = &mut self.series else { return };
        let sender = tcp.sender();
        let (cwnd, ssthresh) = (sender.window().cwnd, sender.window().ssthresh);
        let flight = f64::from(sender.flight());
        let rtt = sender.rtt().latest().map_or(f64::NAN, |rtt| rtt.as_secs());
        let rto = sender.rtt().rto().as_secs();
        let pacing = 8.0 * sender.window().pacing_rate;
        let delivery = sender.delivery_rate().map_or(f64::NAN, |rate| 8.0 * rate);
        let phase = sender.phase().map_or(f64::NAN, |name| {
            let number = phases.iter().position(|known| *known == name);
            debug_assert!(number.is_some(), "the phase {name} is none of those that its scheme names");
            number.map_or(f64::NAN, |number| number as f64)
        });
        recorder.state(now, flow, [cwnd, ssthresh, flight, rtt, rto, pacing, delivery, phase]);
    }

    /// Whether the state of this end is recorded.
    pub(crate) fn wants_state(&self, end: EndId) -> bool {
        let recorder = self.series.as_ref().filter(|recorder| !recorder.is_over());
        end.side() == Side::Data && recorder.is_some_and(|recorder| recorder.wants_state(end.connection()))
    }

    /// A kernel has told of an end, with so many bytes that are not acknowledged.
    pub(crate) fn kernel_state(&mut self, now: Time, end: EndId, facts: &SocketFacts, flight: u32) {
        if self.wants_state(end)
            && let Some(recorder) = &mut self.series
        {
            let SocketFacts { cwnd, ssthresh, srtt_s, rto_s, pacing_bps, delivery_bps, .. } = *facts;
            let state =
                [cwnd, ssthresh, f64::from(flight), srtt_s, rto_s, pacing_bps, delivery_bps, f64::NAN];
            recorder.state(now, end.connection(), state);
        }
    }

    pub(crate) fn buffered(&mut self, now: Time, relay: ConnectionId, bytes: u64) {
        if let Some(recorder) = self.recorder() {
            recorder.point(now, relay, BUFFER, bytes);
        }
    }

    /// Records a packet at the host of end `at`, sent by end `from`, if that is the host that the data comes from: a reader
    /// of the capture would take the same segment seen at the other host too for a retransmission.
    fn capture(&mut self, now: Time, at: EndId, from: EndId, content: &Content) {
        let Some(state) = self.capture.as_mut().filter(|_| at.side() == Side::Data) else { return };
        let interface = state.interfaces[at.connection().index()];
        let addresses = &state.addresses[from.index()];
        if state.error.is_some() || state.ended.is_some() {
            return;
        }
        let recorded = match content {
            Content::Segment(segment) | Content::Foreign(segment) => {
                state.capture.record(interface, now.as_nanos(), addresses, segment, None)
            }
            Content::Datagram(datagram) => {
                state.capture.record_datagram(interface, now.as_nanos(), addresses, datagram.len)
            }
        };
        state.error = recorded.err();
        state.ended = state.capture.ended().map(|_| now);
    }

    /// Leaves out what limited the flows until now.
    pub(crate) fn measure_limits_from(&mut self, now: Time) {
        if let Some(limits) = &mut self.limits {
            limits.measure_from(now);
        }
    }

    /// Completes what was recorded of a run that ended at `end`.
    pub(crate) fn finish(self, end: Time) -> io::Result<Recording> {
        let series = self.series.map(|recorder| recorder.finish(end));
        let capture = match self.capture {
            Some(state) => Some(state.finish()?),
            None => None,
        };
        let limits = self.limits.map(|limits| limits.finish(end));
        Ok(Recording { series, capture, limits })
    }
}

impl CaptureState {
    fn new(scenario: &Scenario, mut capture: Capture) -> io::Result<CaptureState> {
        let mut interface_of = vec![None; scenario.nodes.len()];
        let mut interfaces = Vec::new();
        for flow in lines(scenario) {
            interfaces.push(match interface_of[flow.from] {
                Some(interface) => interface,
                None => *interface_of[flow.from].insert(capture.add_interface(&scenario.nodes[flow.from])?),
            });
        }
        let addresses = keys(scenario).map(|key| Addresses {
            source: Ipv4Addr::from(key.source),
            destination: Ipv4Addr::from(key.destination),
            source_port: key.source_port,
            destination_port: key.destination_port,
            ttl: TTL,
            ident: 0,
        });
        let addresses = addresses.collect();
        Ok(CaptureState { capture, interfaces, addresses, error: None, ended: None })
    }

    fn finish(self) -> io::Result<CaptureRecord> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let record = CaptureRecord {
            packets: self.capture.packets(),
            bytes: self.capture.bytes(),
            ended_s: self.ended.map(Time::as_secs),
            reason: self.capture.ended(),
        };
        self.capture.finish()?;
        Ok(record)
    }
}
