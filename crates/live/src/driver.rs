//! The driver with the wall clock: one loop around poll(2).

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bentpipe_path::Stream;
use bentpipe_sim::pcap::Capture;
use bentpipe_tcp::Seq;
use bentpipe_tcp::wire::{self, Addresses, DecodeError, Packet};
use bentpipe_units::{Span, Time};
use rustix::event::{PollFd, PollFlags};

use crate::clock::Clock;
use crate::end::End;
use crate::interop::Shared;
use crate::lane::Lane;
use crate::namespace::Namespace;
use crate::program::{Program, Report, Task};
use crate::{ClosesFirst, Direction, LiveError, Options, Row, Settings, kernel, payload, sys};

/// Address of the end that opens the connection and sends the data, as the simulator numbers its first host.
const OPENER: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 0, 0, 1), 49_152);
/// The other end.
const LISTENER: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 0, 0, 2), 5001);
const TTL: u8 = 64;

/// How often the driver looks at what no descriptor tells: the caller's wish to stop, the kernel's sockets.
const LOOK: Span = Span::from_millis(20);
/// Without a byte for so long, the run has failed; twice the longest retransmission timeout and more.
const PATIENCE: Span = Span::from_millis(200_000);
/// How long a program may take to end after its connection broke.
const LAST_WORDS: Span = Span::from_millis(2000);

/// A packet from the kernel on its way to our end.
type Incoming = (Packet, Vec<u8>);

/// One run.
pub(crate) struct Driver<'a> {
    settings: &'a Settings,
    namespace: Namespace,
    program: Program,
    report: Option<Report>,
    clock: Clock,
    end: End,
    /// From our end to the kernel.
    out: Lane<Vec<u8>>,
    /// From the kernel to our end.
    back: Lane<Incoming>,
    capture: Option<Capture>,
    shared: Arc<Shared>,
    checksum_errors: u64,
    realtime: bool,
    buffer: Vec<u8>,
    last_move: ((u64, Seq), Time),
    broke: Option<Time>,
}

impl<'a> Driver<'a> {
    /// Makes the namespace of this thread and starts the program in it.
    pub(crate) fn set_up(
        settings: &'a Settings,
        options: &Options,
        shared: Arc<Shared>,
    ) -> Result<Driver<'a>, LiveError> {
        let sends = settings.direction == Direction::Send;
        let (ours, theirs) = if sends { (OPENER, LISTENER) } else { (LISTENER, OPENER) };
        let namespace = Namespace::enter(&theirs.0.to_string(), settings)?;
        let mut capture = match &options.pcap {
            Some(path) => Some(Capture::create(path).map_err(|error| LiveError::Failed(error.to_string()))?),
            None => None,
        };
        if let Some(capture) = &mut capture {
            let host = if sends { "bentpipe" } else { "linux" };
            capture.add_interface(host).map_err(|error| LiveError::Failed(error.to_string()))?;
        }
        let program = Program::start(&options.program, &task(settings, theirs, ours))?;
        let realtime = sys::run_first().is_ok();
        sys::wake_on_time().map_err(|error| LiveError::while_doing("setting the timer slack", &error))?;

        let iss = settings.sequence.unwrap_or_else(|| Stream::derive(settings.seed, "sequence").next_u32());
        let addresses = Addresses {
            source: ours.0,
            destination: theirs.0,
            source_port: ours.1,
            destination_port: theirs.1,
            ttl: TTL,
            ident: 0,
        };
        let (out, back) = match settings.direction {
            Direction::Send => (&settings.forward, &settings.backward),
            Direction::Receive => (&settings.backward, &settings.forward),
        };
        let (out_name, back_name) = if sends { ("forward", "backward") } else { ("backward", "forward") };
        Ok(Driver {
            settings,
            namespace,
            program,
            report: None,
            clock: Clock::start(),
            end: End::new(settings, addresses, Seq(iss))?,
            out: Lane::new(out, settings.seed, out_name),
            back: Lane::new(back, settings.seed, back_name),
            capture,
            shared,
            checksum_errors: 0,
            realtime,
            buffer: vec![0; 1 << 16],
            last_move: ((0, Seq(0)), Time::ZERO),
            broke: None,
        })
    }

    /// Runs until both ends have closed the connection and the program has reported.
    pub(crate) fn run(mut self) -> Result<Row, LiveError> {
        let mut look = Time::ZERO;
        loop {
            let now = self.clock.now();
            self.take_from_kernel(now)?;
            while let Some((packet, bytes)) = self.back.deliver(now) {
                self.record(Direction::Send, now, &bytes)?;
                self.end.on_packet(now, &packet, &bytes[packet.payload.clone()]);
                self.transmit(now)?;
            }
            self.end.on_time(now);
            self.transmit(now)?;
            while let Some(bytes) = self.out.deliver(now) {
                self.record(Direction::Receive, now, &bytes)?;
                self.namespace.write(&bytes)?;
            }
            if now >= look {
                look = now + LOOK;
                if self.look(now)? {
                    return self.finish();
                }
            }
            self.sleep(look)?;
        }
    }

    /// Sleeps until there is something to do, or `look` has come.
    fn sleep(&mut self, look: Time) -> Result<(), LiveError> {
        let due = look.min(self.end.next_time()).min(self.out.next_time()).min(self.back.next_time());
        let tun = PollFd::from_borrowed_fd(self.namespace.fd(), PollFlags::IN);
        let program = PollFd::from_borrowed_fd(self.program.fd(), PollFlags::IN);
        let mut fds = [tun, program];
        // The descriptor of a program that has ended is always readable.
        let watched = if self.report.is_some() { 1 } else { 2 };
        self.clock.wait(&mut fds[..watched], due)
    }

    fn take_from_kernel(&mut self, now: Time) -> Result<(), LiveError> {
        while let Some(length) = self.namespace.read(&mut self.buffer)? {
            let bytes = &self.buffer[..length];
            match wire::decode(bytes) {
                Ok(packet) => {
                    let bytes = bytes.to_vec();
                    self.record(Direction::Receive, now, &bytes)?;
                    self.back.offer(now, (packet, bytes), length as u32);
                }
                Err(DecodeError::IpChecksum | DecodeError::TcpChecksum) => self.checksum_errors += 1,
                // Not for us: the kernel's own talk.
                Err(DecodeError::Protocol(_) | DecodeError::Version(_)) => {}
                Err(error) => return Err(LiveError::Failed(format!("a packet from the kernel: {error}"))),
            }
        }
        Ok(())
    }

    fn transmit(&mut self, now: Time) -> Result<(), LiveError> {
        while let Some(packet) = self.end.poll(now)? {
            self.record(Direction::Send, now, &packet)?;
            let length = packet.len() as u32;
            self.out.offer(now, packet, length);
        }
        Ok(())
    }

    /// Captures a packet where the data's sender is: at our end, or with `Direction::Receive` at the kernel's.
    fn record(&mut self, at: Direction, now: Time, packet: &[u8]) -> Result<(), LiveError> {
        match &mut self.capture {
            Some(capture) if at == self.settings.direction => capture
                .record_packet(0, now.as_nanos(), packet)
                .map_err(|error| LiveError::Failed(error.to_string())),
            _ => Ok(()),
        }
    }

    /// Looks after the program and the kernel; whether everything is over.
    fn look(&mut self, now: Time) -> Result<bool, LiveError> {
        if self.shared.stop.load(Ordering::Relaxed) {
            return Err(LiveError::Stopped);
        }
        let endpoint = self.end.endpoint();
        let moved = (endpoint.receiver().delivered(), endpoint.sender().una());
        if moved != self.last_move.0 {
            self.last_move = (moved, now);
        }
        let arrived = self.arrived();
        self.shared.moved.store(arrived, Ordering::Relaxed);
        if self.report.is_none() && self.program.has_ended()? {
            match self.program.outcome()? {
                Ok(report) => self.report = Some(report),
                Err(reason) => return Err(self.failed(&reason)),
            }
        }
        if let Some(error) = self.end.error() {
            let broke = *self.broke.get_or_insert(now);
            if self.report.is_some() || now > broke + LAST_WORDS {
                return Err(self.failed(&error.to_string()));
            }
        }
        if now > self.last_move.1 + PATIENCE {
            let state = self.end.endpoint().state();
            return Err(self.failed(&format!(
                "nothing moved for {:.0} s, our end is in state {state:?}",
                PATIENCE.as_secs()
            )));
        }
        let quiet = || kernel::is_quiet().map_err(|error| LiveError::while_doing("reading /proc", &error));
        Ok(self.report.is_some() && self.end.error().is_none() && self.end.is_over() && quiet()?)
    }

    /// Bytes of data that arrived, as far as our end knows.
    fn arrived(&mut self) -> u64 {
        match self.settings.direction {
            Direction::Send => self.end.acknowledged().min(self.settings.bytes.get()),
            Direction::Receive => self.end.endpoint().receiver().delivered(),
        }
    }

    fn failed(&mut self, reason: &str) -> LiveError {
        let verb = match self.settings.direction {
            Direction::Send => "acknowledged",
            Direction::Receive => "received",
        };
        let (arrived, total) = (self.arrived(), self.settings.bytes.get());
        LiveError::Failed(format!("{reason}; {arrived} of {total} bytes were {verb}"))
    }

    fn finish(mut self) -> Result<Row, LiveError> {
        if let Some(capture) = self.capture.take() {
            capture.finish().map_err(|error| LiveError::Failed(error.to_string()))?;
        }
        let Some(report) = self.report else {
            return Err(LiveError::Failed("the socket program said nothing".to_owned()));
        };
        let settings = self.settings;
        let (to_kernel, from_kernel) = match settings.direction {
            Direction::Send => (settings.bytes.get(), settings.answer.get()),
            Direction::Receive => (settings.answer.get(), settings.bytes.get()),
        };
        let counters = kernel::counters().map_err(|error| LiveError::while_doing("reading /proc", &error))?;
        let counter = |name: &str| counters.get(name).copied().unwrap_or(0);
        let finished = match settings.direction {
            Direction::Send => self.clock.at(report.last_byte_ns),
            Direction::Receive => self.end.last_delivery(),
        };
        let (forward, backward) = match settings.direction {
            Direction::Send => (self.out.stats(), self.back.stats()),
            Direction::Receive => (self.back.stats(), self.out.stats()),
        };
        let endpoint = self.end.endpoint();
        let sent = *endpoint.sender().stats();
        let delivered = endpoint.receiver().delivered();
        let rtt_mean_s = endpoint.sender().rtt().mean_secs();
        let window = *endpoint.sender().window();
        let state = format!("{:?}", endpoint.state());
        let resets = self.end.resets();
        let hash = self.end.into_hash();
        let duration_s = finished.as_secs();
        Ok(Row {
            delay_s: settings.forward.delay.as_secs(),
            bytes: settings.bytes.get(),
            sha256_equal: delivered == from_kernel
                && hash == report.sent_sha256
                && report.received_bytes == to_kernel
                && report.received_sha256 == payload::hash_of(settings.seed, to_kernel),
            checksum_errors: self.checksum_errors,
            retransmitted_segments: sent.retransmitted_segments,
            resets,
            timeouts: sent.timeouts,
            window_probes: sent.window_probes,
            data_segments: sent.data_segments,
            duration_s,
            goodput_bps: if duration_s > 0.0 { settings.bytes.get() as f64 * 8.0 / duration_s } else { 0.0 },
            rtt_mean_s,
            cwnd_segments: window.cwnd / window.smss,
            ssthresh_segments: window.ssthresh.is_finite().then(|| window.ssthresh / window.smss),
            state,
            realtime: self.realtime,
            forward,
            backward,
            kernel_retransmitted_segments: counter("TcpRetransSegs"),
            kernel_checksum_errors: counter("TcpInCsumErrors"),
            kernel_timeouts: counter("TcpExtTCPTimeouts"),
            kernel_resets: counter("TcpEstabResets"),
            kernel_info: report.info,
            kernel_counters: counters,
        })
    }
}

/// What the socket program is to do.
fn task(settings: &Settings, own: (Ipv4Addr, u16), other: (Ipv4Addr, u16)) -> Task {
    let sends = settings.direction == Direction::Receive;
    let named = |(address, port): (Ipv4Addr, u16)| (address.to_string(), port);
    let task = Task {
        sends,
        own: named(own),
        other: named(other),
        bytes: if sends { settings.bytes.get() } else { settings.answer.get() },
        receiver_closes_first: settings.closes_first == ClosesFirst::Receiver,
        bytes_per_s: None,
        pause_after: None,
        pause_s: 0.0,
        buffer: settings.kernel_buffer.map(|bytes| bytes.get()),
        sequence: settings.kernel_sequence,
        seed: settings.seed,
    };
    if sends { task } else { task.reading(&settings.reading) }
}
