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
use crate::scenario::{FlowSpec, Scenario};
use crate::series::{FlowSeries, LinkSeries, Series, Wait};

pub(crate) struct Observer {
    series: Option<Series>,
    /// Per direction of a link, how its packets waited.
    waits: Vec<Vec<Wait>>,
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
    error: Option<io::Error>,
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
    pub(crate) fn new(scenario: &Scenario, series: bool, capture: Option<Capture>) -> io::Result<Observer> {
        let capture = match capture {
            Some(capture) => Some(CaptureState::new(scenario, capture)?),
            None => None,
        };
        let series = series.then(|| Series {
            flows: scenario
                .flows
                .iter()
                .flat_map(connections)
                .chain(scenario.udp_flows().map(|(_, flow)| series_of(flow.name.clone())))
                .collect(),
            links: Vec::new(),
        });
        let lines = scenario.connections() + scenario.udp_flows().count();
        let waits = vec![Vec::new(); 2 * scenario.links.len()];
        Ok(Observer { series, waits, capture, unwrapped: vec![Unwrapped::default(); 2 * lines] })
    }

    #[inline(never)]
    pub(crate) fn sent(&mut self, now: Time, end: usize, segment: &Segment, again: bool) {
        if segment.flags.has(Flags::SYN) {
            self.unwrapped[end].get(segment.seq + 1);
        }
        let sequence = self.unwrapped[end].get(segment.seq);
        if let Some(series) = &mut self.series
            && end.is_multiple_of(2)
            && segment.len > 0
        {
            let sent = &mut series.flows[end / 2].sent;
            sent.time_s.push(now.as_secs());
            sent.sequence_bytes.push(sequence);
            sent.payload_bytes.push(u64::from(segment.len));
            sent.retransmission.push(u64::from(again));
        }
        self.capture(now, end, end, segment);
    }

    #[inline(never)]
    pub(crate) fn arrived(&mut self, now: Time, end: usize, segment: &Segment) {
        if let Some(series) = &mut self.series
            && end.is_multiple_of(2)
            && segment.flags.has(Flags::ACK)
        {
            let unwrapped = &mut self.unwrapped[end];
            let flow = &mut series.flows[end / 2];
            flow.acked.time_s.push(now.as_secs());
            flow.acked.sequence_bytes.push(unwrapped.get(segment.ack));
            for block in segment.options.sack.as_slice() {
                flow.sacked.time_s.push(now.as_secs());
                flow.sacked.start_bytes.push(unwrapped.get(block.start));
                flow.sacked.end_bytes.push(unwrapped.get(block.end));
            }
        }
        self.capture(now, end, end ^ 1, segment);
    }

    /// A full queue dropped a packet, or a link damaged it.
    #[inline(never)]
    pub(crate) fn lost(&mut self, now: Time, packet: &Packet, by_queue: bool) {
        let from = packet.to as usize ^ 1;
        let sequence = self.unwrapped[from].get(packet.segment.seq);
        if let Some(series) = &mut self.series
            && from.is_multiple_of(2)
            && packet.segment.len > 0
        {
            let lost = &mut series.flows[from / 2].lost;
            lost.time_s.push(now.as_secs());
            lost.sequence_bytes.push(sequence);
            lost.by_queue.push(u64::from(by_queue));
        }
    }

    /// Link number `number` has taken a packet.
    #[inline(never)]
    pub(crate) fn taken(&mut self, now: Time, number: u32, link: &Link) {
        if let (Some(_), Some(begins)) = (&self.series, link.last_begins()) {
            self.waits[number as usize].push(Wait { taken: now, begins });
        }
    }

    #[inline(never)]
    pub(crate) fn state(&mut self, now: Time, end: usize, tcp: &Endpoint) {
        let Some(series) = self.series.as_mut().filter(|_| end.is_multiple_of(2)) else { return };
        let columns = &mut series.flows[end / 2].state;
        let sender = tcp.sender();
        let (cwnd, ssthresh) = (sender.window().cwnd, sender.window().ssthresh);
        let flight = f64::from(sender.flight());
        let rtt = sender.rtt().latest().map_or(f64::NAN, |rtt| rtt.as_secs());
        let rto = sender.rtt().rto().as_secs();
        let unchanged =
            |column: &[f64], value: f64| column.last().is_some_and(|last| last.to_bits() == value.to_bits());
        if unchanged(&columns.cwnd_bytes, cwnd)
            && unchanged(&columns.ssthresh_bytes, ssthresh)
            && unchanged(&columns.flight_bytes, flight)
            && unchanged(&columns.rtt_s, rtt)
            && unchanged(&columns.rto_s, rto)
        {
            return;
        }
        columns.time_s.push(now.as_secs());
        columns.cwnd_bytes.push(cwnd);
        columns.ssthresh_bytes.push(ssthresh);
        columns.flight_bytes.push(flight);
        columns.rtt_s.push(rtt);
        columns.rto_s.push(rto);
    }

    /// Records a segment at the host of end `at`, sent by end `from`, if that is the host that the data comes from: a reader
    /// of the capture would take the same segment seen at the other host too for a retransmission.
    fn capture(&mut self, now: Time, at: usize, from: usize, segment: &Segment) {
        let Some(state) = self.capture.as_mut().filter(|_| at.is_multiple_of(2)) else { return };
        let interface = state.interfaces[at / 2];
        let addresses = &state.addresses[from];
        if state.error.is_some() {
            return;
        }
        let now = now.as_nanos();
        let recorded = if from < state.ends {
            state.capture.record(interface, now, addresses, segment, None)
        } else {
            state.capture.record_datagram(interface, now, addresses, segment.len)
        };
        state.error = recorded.err();
    }

    /// The series of a run that ended at `end`, complete.
    pub(crate) fn take_series(&mut self, end: Time) -> Option<Series> {
        let mut series = self.series.take()?;
        series.links = self.waits.iter().map(|waits| LinkSeries::of(waits, end)).collect();
        for flow in &mut series.flows {
            flow.lost.sort_by_time();
        }
        Some(series)
    }

    /// The first error that writing the capture met.
    pub(crate) fn capture_error(&mut self) -> Option<io::Error> {
        self.capture.as_mut()?.error.take()
    }

    /// Completes the capture.
    pub(crate) fn finish_capture(&mut self) -> io::Result<()> {
        match self.capture.take() {
            Some(state) => state.capture.finish(),
            None => Ok(()),
        }
    }
}

/// A series for each connection of a flow: under the flow's name, with the connection's number where there are several.
fn connections(flow: &FlowSpec) -> impl Iterator<Item = FlowSeries> {
    let several = flow.app.connections() > 1;
    (1..=flow.app.connections()).map(move |number| {
        series_of(if several { format!("{}/{number}", flow.name) } else { flow.name.clone() })
    })
}

fn series_of(name: String) -> FlowSeries {
    FlowSeries { name, ..FlowSeries::default() }
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
        Ok(CaptureState { capture, interfaces, addresses, ends, error: None })
    }
}
