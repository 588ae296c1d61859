//! A Linux kernel's end of the connection: its namespace, and an ordinary socket program there.

use bentpipe_tcp::Flags;
use bentpipe_tcp::wire::{self, DecodeError};
use bentpipe_units::Time;
use rustix::event::{PollFd, PollFlags};

use crate::LiveError;
use crate::clock::Clock;
use crate::host::{Condition, Host, Measured};
use crate::kernel::Tables;
use crate::namespace::{Namespace, StackSettings};
use crate::options::Shared;
use crate::payload::Place;
use crate::program::{Program, Report, Task};

/// A kernel's end.
pub(crate) struct LinuxEnd {
    namespace: Namespace,
    tables: Tables,
    program: Program,
    /// What the program said at its end, or why it said nothing.
    outcome: Option<Result<Report, String>>,
    /// How far its acknowledgments have come.
    acknowledges: Option<Place>,
    received: u64,
    /// Packets that it sent with a wrong checksum.
    wrong_checksums: u64,
    buffer: Vec<u8>,
}

impl LinuxEnd {
    /// Moves this thread into a new namespace and starts `program` there, which is ready when this returns.
    pub(crate) fn start(
        network: &StackSettings,
        program: &[String],
        task: &Task,
        shared: &Shared,
    ) -> Result<LinuxEnd, LiveError> {
        let namespace = Namespace::enter(&task.own.0, network)?;
        let tables = Tables::open().map_err(|error| LiveError::while_doing("opening /proc/net", &error))?;
        Ok(LinuxEnd {
            namespace,
            tables,
            program: Program::start(program, task, shared)?,
            outcome: None,
            acknowledges: None,
            received: 0,
            wrong_checksums: 0,
            buffer: vec![0; 1 << 16],
        })
    }

    /// Whether its program has said what it saw.
    pub(crate) fn has_reported(&self) -> bool {
        matches!(self.outcome, Some(Ok(_)))
    }
}

impl Host for LinuxEnd {
    fn poll(&mut self, _now: Time) -> Result<Option<Vec<u8>>, LiveError> {
        while let Some(length) = self.namespace.read(&mut self.buffer)? {
            let bytes = &self.buffer[..length];
            match wire::decode(bytes) {
                Ok(packet) => {
                    let segment = &packet.segment;
                    if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST) {
                        let place = self.acknowledges.get_or_insert(Place::new(segment.ack));
                        self.received = self.received.max(place.of(segment.ack));
                    }
                    return Ok(Some(bytes.to_vec()));
                }
                Err(DecodeError::IpChecksum | DecodeError::TcpChecksum) => self.wrong_checksums += 1,
                // Not for the other end: the kernel's own talk.
                Err(DecodeError::Protocol(_) | DecodeError::Version(_)) => {}
                Err(error) => return Err(LiveError::Failed(format!("a packet from the kernel: {error}"))),
            }
        }
        Ok(None)
    }

    fn on_packet(&mut self, _now: Time, packet: &[u8]) -> Result<(), LiveError> {
        self.namespace.write(packet)
    }

    fn watch<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.push(PollFd::from_borrowed_fd(self.namespace.fd(), PollFlags::IN));
        // The descriptor of a program that has ended is always readable.
        if self.outcome.is_none() {
            fds.push(PollFd::from_borrowed_fd(self.program.fd(), PollFlags::IN));
        }
    }

    fn condition(&mut self) -> Result<Condition, LiveError> {
        if self.outcome.is_none() && self.program.has_ended()? {
            self.outcome = Some(self.program.outcome()?);
        }
        let reading = |error| LiveError::while_doing("reading /proc/net", &error);
        Ok(match &self.outcome {
            Some(Err(reason)) => Condition::Broke(reason.clone()),
            Some(Ok(_)) if self.tables.is_quiet().map_err(reading)? => Condition::Over,
            _ => Condition::Open,
        })
    }

    fn received(&self) -> u64 {
        self.received
    }

    fn measured(&mut self, clock: Clock) -> Result<Measured, LiveError> {
        let Some(Ok(report)) = &self.outcome else {
            return Err(LiveError::Failed("the socket program said nothing".to_owned()));
        };
        let info = report.info;
        let counters = self.tables.counters();
        let counters = counters.map_err(|error| LiveError::while_doing("reading /proc/net", &error))?;
        let counter = |name: &str| counters.get(name).copied().unwrap_or(0);
        Ok(Measured {
            sent_sha256: report.sent_sha256.clone(),
            received_bytes: report.received_bytes,
            received_sha256: report.received_sha256.clone(),
            last_byte: clock.at(report.last_byte_ns),
            wrong_checksums_sent: self.wrong_checksums,
            wrong_checksums_received: counter("TcpInCsumErrors"),
            data_segments: info.data_segments,
            retransmitted_segments: counter("TcpRetransSegs"),
            resets: counter("TcpEstabResets"),
            timeouts: counter("TcpExtTCPTimeouts"),
            window_probes: counter("TcpExtTCPWinProbe"),
            rtt_mean_s: None,
            cwnd_segments: info.cwnd_segments as f64,
            ssthresh_segments: info.ssthresh_segments.map(|segments| segments as f64),
            state: "Closed".to_owned(),
            testimony: Some((info, counters)),
        })
    }
}
