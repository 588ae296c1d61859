//! The driver with the wall clock: one loop around poll(2).

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bentpipe_drive::pcap::Capture;
use bentpipe_files::CaptureFile;
use bentpipe_path::Stream;
use bentpipe_path::gateway::FlowKey;
use bentpipe_tcp::Seq;
use bentpipe_tcp::wire::Addresses;
use bentpipe_units::{Span, Time};

use crate::clock::Clock;
use crate::end::OwnEnd;
use crate::ends::{Kernel, Own};
use crate::host::{Condition, Host};
use crate::linux::LinuxEnd;
use crate::options::Shared;
use crate::path::Path;
use crate::program::Task;
use crate::{ClosesFirst, Direction, LiveError, LiveOptions, Row, ScenarioFlow, Settings, sys};

const TTL: u8 = 64;

/// How often the driver looks at what no descriptor tells: the caller's wish to stop, the kernel's sockets.
const LOOK: Span = Span::from_millis(20);
/// Without a byte for so long, the run has failed; twice the longest retransmission timeout and more.
const PATIENCE: Span = Span::from_millis(200_000);
/// How long a program may take to end after its connection broke.
const LAST_WORDS: Span = Span::from_millis(2000);

/// One run.
pub(crate) struct Driver<'a> {
    settings: &'a Settings,
    /// The end that is ours, or a second kernel's in its place.
    own: Box<dyn Host>,
    kernel: LinuxEnd,
    clock: Clock,
    path: Path,
    capture: Option<Capture>,
    shared: Arc<Shared>,
    realtime: bool,
    last_move: ((u64, u64), Time),
    broke: Option<Time>,
}

impl<'a> Driver<'a> {
    /// Makes what the run needs, in this thread: a namespace with a program for each kernel's end, the path, the capture.
    pub(crate) fn set_up(
        settings: &'a Settings,
        flow: Option<ScenarioFlow<'_>>,
        options: &LiveOptions,
        shared: Arc<Shared>,
    ) -> Result<Driver<'a>, LiveError> {
        let sends = settings.direction == Direction::Send;
        let setup = settings.path_setup(flow.as_ref())?;
        let (own, kernel) = (settings.own(flow.as_ref())?, settings.kernel(flow.as_ref()));
        let mut capture = match &options.pcap {
            Some(path) => {
                let file = CaptureFile::create(path);
                let capture = file.and_then(|file| Capture::start(Box::new(file)));
                Some(capture.map_err(|error| LiveError::Failed(error.to_string()))?)
            }
            None => None,
        };
        if let Some(capture) = &mut capture {
            let host = if sends && matches!(own, Own::Ours(_)) { "bentpipe" } else { "linux" };
            capture.add_interface(host).map_err(|error| LiveError::Failed(error.to_string()))?;
        }
        let (own, kernel) = hosts(settings, setup.key, own, kernel, &options.program, &shared)?;
        let realtime = sys::run_first().is_ok();
        sys::wake_on_time().map_err(|error| LiveError::while_doing("setting the timer slack", &error))?;
        Ok(Driver {
            settings,
            own,
            kernel,
            clock: Clock::start(),
            path: Path::new(setup, settings),
            capture,
            shared,
            realtime,
            last_move: ((0, 0), Time::ZERO),
            broke: None,
        })
    }

    /// Runs until both ends have closed the connection and every program has reported.
    pub(crate) fn run(mut self) -> Result<Row, LiveError> {
        let mut look = Time::ZERO;
        loop {
            let now = self.clock.now();
            while let Some(packet) = self.kernel.poll(now)? {
                self.record(Direction::Receive, now, &packet)?;
                self.path.offer(now, Direction::Receive, packet);
            }
            while let Some(packet) = self.path.deliver(now, Direction::Receive) {
                self.record(Direction::Send, now, &packet)?;
                self.own.on_packet(now, &packet)?;
                self.transmit(now)?;
            }
            self.own.on_time(now);
            self.transmit(now)?;
            while let Some(packet) = self.path.deliver(now, Direction::Send) {
                self.record(Direction::Receive, now, &packet)?;
                self.kernel.on_packet(now, &packet)?;
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
        let due = look.min(self.own.next_time()).min(self.path.next_time());
        let mut fds = Vec::with_capacity(4);
        self.own.watch(&mut fds);
        self.kernel.watch(&mut fds);
        self.clock.wait(&mut fds, due)
    }

    fn transmit(&mut self, now: Time) -> Result<(), LiveError> {
        while let Some(packet) = self.own.poll(now)? {
            self.record(Direction::Send, now, &packet)?;
            self.path.offer(now, Direction::Send, packet);
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

    /// Looks after both ends; whether everything is over.
    fn look(&mut self, now: Time) -> Result<bool, LiveError> {
        if self.shared.stop.load(Ordering::Relaxed) {
            return Err(LiveError::Stopped);
        }
        let moved = (self.own.received(), self.kernel.received());
        if moved != self.last_move.0 {
            self.last_move = (moved, now);
        }
        self.shared.moved.store(self.arrived(), Ordering::Relaxed);
        let kernel = self.kernel.condition()?;
        if let Condition::Broke(reason) = &kernel {
            return Err(self.failed(reason));
        }
        let own = self.own.condition()?;
        if let Condition::Broke(reason) = &own {
            let broke = *self.broke.get_or_insert(now);
            if self.kernel.has_reported() || now > broke + LAST_WORDS {
                return Err(self.failed(reason));
            }
        }
        if now > self.last_move.1 + PATIENCE {
            return Err(self.failed(&format!("nothing moved for {:.0} s", PATIENCE.as_secs())));
        }
        Ok(own == Condition::Over && kernel == Condition::Over)
    }

    /// Bytes of data that their receiver has.
    fn arrived(&self) -> u64 {
        let received = match self.settings.direction {
            Direction::Send => self.kernel.received(),
            Direction::Receive => self.own.received(),
        };
        received.min(self.settings.bytes.get())
    }

    fn failed(&self, reason: &str) -> LiveError {
        let (arrived, total) = (self.arrived(), self.settings.bytes.get());
        LiveError::Failed(format!("{reason}; {arrived} of {total} bytes were received"))
    }

    fn finish(mut self) -> Result<Row, LiveError> {
        if let Some(capture) = self.capture.take() {
            capture.finish().map_err(|error| LiveError::Failed(error.to_string()))?;
        }
        let settings = self.settings;
        let own = self.own.measured(self.clock)?;
        let kernel = self.kernel.measured(self.clock)?;
        let Some((kernel_info, kernel_counters)) = kernel.testimony else {
            return Err(LiveError::Failed("the kernel did not say what it saw".to_owned()));
        };
        let (own_kernel_info, own_kernel_counters) = own.testimony.unzip();
        let (bytes, answer) = (settings.bytes.get(), settings.answer.get());
        let (to_kernel, to_own, finished) = match settings.direction {
            Direction::Send => (bytes, answer, kernel.last_byte),
            Direction::Receive => (answer, bytes, own.last_byte),
        };
        let forward = self.path.stats(settings.direction);
        let backward = self.path.stats(settings.direction.opposite());
        let duration_s = finished.as_secs();
        let (links, gateways) = self.path.network_rows();
        Ok(Row {
            delay_s: self.path.delay_s(),
            bytes,
            sha256_equal: (own.received_bytes, kernel.received_bytes) == (to_own, to_kernel)
                && own.received_sha256 == kernel.sent_sha256
                && kernel.received_sha256 == own.sent_sha256,
            checksum_errors: own.wrong_checksums_sent
                + own.wrong_checksums_received
                + kernel.wrong_checksums_sent,
            retransmitted_segments: own.retransmitted_segments,
            resets: own.resets,
            timeouts: own.timeouts,
            window_probes: own.window_probes,
            data_segments: own.data_segments,
            duration_s,
            goodput_bps: if duration_s > 0.0 { bytes as f64 * 8.0 / duration_s } else { 0.0 },
            rtt_mean_s: own.rtt_mean_s,
            cwnd_segments: own.cwnd_segments,
            ssthresh_segments: own.ssthresh_segments,
            state: own.state,
            realtime: self.realtime,
            forward,
            backward,
            links,
            gateways,
            handovers: self.path.handovers(),
            kernel_retransmitted_segments: kernel.retransmitted_segments,
            kernel_checksum_errors: kernel.wrong_checksums_received,
            kernel_timeouts: kernel.timeouts,
            kernel_resets: kernel.resets,
            kernel_info,
            kernel_counters,
            own_kernel_info,
            own_kernel_counters,
        })
    }
}

/// Both ends, with the one that listens ready before the other begins. `key` is of the packets with the data.
fn hosts(
    settings: &Settings,
    key: FlowKey,
    own: Own,
    kernel: Kernel,
    program: &[String],
    shared: &Shared,
) -> Result<(Box<dyn Host>, LinuxEnd), LiveError> {
    let sends = settings.direction == Direction::Send;
    let ours = if sends { key } else { key.reversed() };
    let start = |kernel: Kernel, task: Task| {
        let task = Task { buffer: kernel.buffer, control: kernel.control, ..task };
        LinuxEnd::start(&kernel.network, program, &task, shared)
    };
    let start_kernel = || start(kernel, task(settings, !sends, ours.reversed()));
    match own {
        Own::Ours(config) => {
            let iss =
                settings.sequence.unwrap_or_else(|| Stream::derive(settings.seed, "sequence").next_u32());
            let addresses = Addresses {
                source: Ipv4Addr::from(ours.source),
                destination: Ipv4Addr::from(ours.destination),
                source_port: ours.source_port,
                destination_port: ours.destination_port,
                ttl: TTL,
                ident: 0,
            };
            let end = OwnEnd::new(settings, *config, addresses, Seq(iss));
            Ok((Box::new(end), start_kernel()?))
        }
        Own::Linux(second) => {
            let task = Task { sequence: settings.sequence, ..task(settings, sends, ours) };
            let start_own = || start(second, task);
            let (own, kernel) = if sends {
                let kernel = start_kernel()?;
                (start_own()?, kernel)
            } else {
                (start_own()?, start_kernel()?)
            };
            Ok((Box::new(own), kernel))
        }
    }
}

/// What a socket program is to do; `key` is of the packets that it sends.
fn task(settings: &Settings, sends: bool, key: FlowKey) -> Task {
    let bytes = if sends { settings.bytes } else { settings.answer };
    let task = Task {
        sends,
        own: (Ipv4Addr::from(key.source).to_string(), key.source_port),
        other: (Ipv4Addr::from(key.destination).to_string(), key.destination_port),
        bytes: bytes.get(),
        receiver_closes_first: settings.closes_first == ClosesFirst::Receiver,
        bytes_per_s: None,
        pause_after: None,
        pause_s: 0.0,
        buffer: None,
        control: None,
        sequence: settings.kernel_sequence,
        seed: settings.seed,
    };
    if sends { task } else { task.reading(&settings.reading) }
}
