//! What is recorded when someone asked: time series and captures. A run that nobody watches has no observer.

use std::io;
use std::net::Ipv4Addr;

use bentpipe_path::Link;
use bentpipe_tcp::wire::Addresses;
use bentpipe_tcp::{Endpoint, Flags, Segment, Seq};
use bentpipe_units::Time;

use crate::addresses::{TTL, keys, lines};
use crate::packets::Packet;
use crate::pcap::Capture;
use crate::recorder::{ACKED, DAMAGED, DROPPED, RESENT, Recorder, SACK_END, SACK_START, SENT};
use crate::result::{CaptureRecord, Recording};
use crate::scenario::Scenario;
use crate::series::SeriesOptions;

pub(crate) struct Observer {
    series: Option<Recorder>,
    capture: Option<CaptureState>,
    /// Per end, those of UDP flows behind all others: how its sequence numbers continue past 32 bits.
    unwrapped: Vec<Unwrapped>,
}

struct CaptureState {
    capture: Capture,
    /// Interface of the host at the even end of each connection, then of each UDP flow.
    interfaces: Vec<u32>,
    addresses: Vec<Addresses>,
    /// Ends of connections; what a later one sends is a datagram.
    ends: usize,
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
}

impl Observer {
    pub(crate) fn new(
        scenario: &Scenario,
        series: Option<SeriesOptions>,
        capture: Option<Capture>,
    ) -> io::Result<Observer> {
        let capture = match capture {
            Some(capture) => Some(CaptureState::new(scenario, capture)?),
            None => None,
        };
        let flows = lines(scenario).count();
        let series = series.map(|options| Recorder::new(options, flows, 2 * scenario.links.len()));
        Ok(Observer { series, capture, unwrapped: vec![Unwrapped::default(); 2 * flows] })
    }

    /// The recorder of time series, while it records.
    fn recorder(&mut self) -> Option<&mut Recorder> {
        self.series.as_mut().filter(|recorder| !recorder.is_over())
    }

    #[inline(never)]
    pub(crate) fn sent(&mut self, now: Time, end: usize, segment: &Segment, again: bool) {
        if segment.flags.has(Flags::SYN) {
            self.unwrapped[end].get(segment.seq + 1);
        }
        let sequence = self.unwrapped[end].get(segment.seq);
        if end.is_multiple_of(2)
            && segment.len > 0
            && let Some(recorder) = self.recorder()
        {
            recorder.point(now, end / 2, if again { RESENT } else { SENT }, sequence);
        }
        self.capture(now, end, end, segment);
    }

    #[inline(never)]
    pub(crate) fn arrived(&mut self, now: Time, end: usize, segment: &Segment) {
        if end.is_multiple_of(2)
            && segment.flags.has(Flags::ACK)
            && let Some(recorder) = self.series.as_mut().filter(|recorder| !recorder.is_over())
        {
            let unwrapped = &mut self.unwrapped[end];
            recorder.point(now, end / 2, ACKED, unwrapped.get(segment.ack));
            for block in segment.options.sack.as_slice() {
                recorder.point(now, end / 2, SACK_START, unwrapped.get(block.start));
                recorder.point(now, end / 2, SACK_END, unwrapped.get(block.end));
            }
        }
        self.capture(now, end, end ^ 1, segment);
    }

    /// A full queue dropped a packet at `at`, which may be still to come, or a link damaged it.
    #[inline(never)]
    pub(crate) fn lost(&mut self, now: Time, at: Time, packet: &Packet, by_queue: bool) {
        let from = packet.to as usize ^ 1;
        let sequence = self.unwrapped[from].get(packet.segment.seq);
        if from.is_multiple_of(2)
            && packet.segment.len > 0
            && let Some(recorder) = self.recorder()
        {
            recorder.lost(now, at, from / 2, if by_queue { DROPPED } else { DAMAGED }, sequence);
        }
    }

    /// Link number `number` has taken a packet, at a time that may be still to come.
    #[inline(never)]
    pub(crate) fn taken(&mut self, now: Time, at: Time, number: u32, link: &Link) {
        if let (Some(recorder), Some(begins)) = (self.recorder(), link.last_begins()) {
            recorder.taken(now, at, begins, number as usize);
        }
    }

    #[inline(never)]
    pub(crate) fn state(&mut self, now: Time, end: usize, tcp: &Endpoint) {
        if !end.is_multiple_of(2) {
            return;
        }
        let Some(recorder) = self.recorder().filter(|recorder| recorder.wants_state(end / 2)) else { return };
        let sender = tcp.sender();
        let (cwnd, ssthresh) = (sender.window().cwnd, sender.window().ssthresh);
        let flight = f64::from(sender.flight());
        let rtt = sender.rtt().latest().map_or(f64::NAN, |rtt| rtt.as_secs());
        let rto = sender.rtt().rto().as_secs();
        recorder.state(now, end / 2, [cwnd, ssthresh, flight, rtt, rto]);
    }

    /// Records a segment at the host of end `at`, sent by end `from`, if that is the host that the data comes from: a reader
    /// of the capture would take the same segment seen at the other host too for a retransmission.
    fn capture(&mut self, now: Time, at: usize, from: usize, segment: &Segment) {
        let Some(state) = self.capture.as_mut().filter(|_| at.is_multiple_of(2)) else { return };
        let interface = state.interfaces[at / 2];
        let addresses = &state.addresses[from];
        if state.error.is_some() || state.ended.is_some() {
            return;
        }
        let recorded = if from < state.ends {
            state.capture.record(interface, now.as_nanos(), addresses, segment, None)
        } else {
            state.capture.record_datagram(interface, now.as_nanos(), addresses, segment.len)
        };
        state.error = recorded.err();
        state.ended = state.capture.ended().map(|_| now);
    }

    /// Completes what was recorded of a run that ended at `end`.
    pub(crate) fn finish(self, end: Time) -> io::Result<Recording> {
        let series = self.series.map(|recorder| recorder.finish(end));
        let capture = match self.capture {
            Some(state) => Some(state.finish()?),
            None => None,
        };
        Ok(Recording { series, capture })
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
        let ends = 2 * scenario.connections();
        Ok(CaptureState { capture, interfaces, addresses, ends, error: None, ended: None })
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
