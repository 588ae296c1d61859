//! The socket program at the kernel's end: an ordinary process in the namespace of this thread.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};

use crate::options::Shared;
use crate::{LiveError, Reading};

/// How often a wait looks whether the run is to end.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What the program is told: one JSON object, its last argument.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Task {
    /// Whether it opens the connection and sends the data, or listens and receives it.
    pub(crate) sends: bool,
    /// Own address and port, and those of the other end.
    pub(crate) own: (String, u16),
    pub(crate) other: (String, u16),
    /// Bytes of data to send, or of the answer.
    pub(crate) bytes: u64,
    /// Whether the receiver closes its half as soon as the connection is open.
    pub(crate) receiver_closes_first: bool,
    /// How it reads the data.
    pub(crate) bytes_per_s: Option<u64>,
    pub(crate) pause_after: Option<u64>,
    pub(crate) pause_s: f64,
    /// Receive buffer of the socket, in bytes.
    pub(crate) buffer: Option<u64>,
    /// Congestion control of the socket.
    pub(crate) control: Option<String>,
    /// First sequence number.
    pub(crate) sequence: Option<u32>,
    /// For the payload.
    pub(crate) seed: u64,
}

impl Task {
    pub(crate) fn reading(mut self, reading: &Reading) -> Task {
        self.bytes_per_s = reading.bytes_per_s;
        self.pause_after = reading.pause_after.map(|bytes| bytes.get());
        self.pause_s = reading.pause.as_secs();
        self
    }
}

/// What the program says when it is through.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Report {
    /// SHA-256 of what it sent, and of what it received.
    pub(crate) sent_sha256: String,
    pub(crate) received_bytes: u64,
    pub(crate) received_sha256: String,
    /// CLOCK_MONOTONIC when the last byte was read, in nanoseconds.
    pub(crate) last_byte_ns: u64,
    /// TCP_INFO before it closed.
    pub(crate) info: SocketInfo,
}

bentpipe_units::numbers! {
    /// What TCP_INFO tells of the kernel's socket.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
    pub struct SocketInfo {
        /// Segments sent again.
        pub retransmitted_segments: u64 = "segment", "resent segments";
        /// Smoothed round-trip time in seconds.
        pub rtt_s: f64 = "s", "RTT";
        /// Segments with payload that it sent, retransmissions included.
        pub data_segments: u64 = "segment", "data segments";
        /// Congestion window in segments.
        pub cwnd_segments: u64 = "segment", "cwnd";
        /// Slow start threshold in segments; none before the first loss.
        pub ssthresh_segments: Option<u64> = "segment", "ssthresh";
        /// Payload of a segment that it sends, in bytes.
        pub mss_bytes: u64 = "B", "MSS";
        /// Whether timestamps, SACK and window scaling are in use.
        pub timestamps: bool;
        /// See `timestamps`.
        pub sack: bool;
        /// See `timestamps`.
        pub scaling: bool;
    }
}

/// The running program. It ends when this is dropped, and by itself when its standard input closes with our process.
pub(crate) struct Program {
    child: Child,
    exits: OwnedFd,
    output: ChildStdout,
}

impl Program {
    /// Starts `command` with the task as its last argument, and waits until it is ready or the run is to end.
    pub(crate) fn start(command: &[String], task: &Task, shared: &Shared) -> Result<Program, LiveError> {
        let missing = || LiveError::Setting("no program for the kernel's end".to_owned());
        let (program, arguments) = command.split_first().ok_or_else(missing)?;
        let task = serde_json::to_string(task).map_err(|error| LiveError::Failed(error.to_string()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .arg(task)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for us; what we start we end.
            .process_group(0)
            .spawn()
            .map_err(|error| LiveError::while_doing(&format!("starting {program}"), &error))?;
        let opened = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let exits =
            opened.ok_or(rustix::io::Errno::SRCH).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
        let (exits, output) = match (exits, child.stdout.take()) {
            (Ok(exits), Some(output)) => (exits, output),
            (exits, _) => {
                end(&mut child);
                let error = exits.err().unwrap_or(rustix::io::Errno::BADF);
                return Err(LiveError::while_doing("watching the socket program", &error.into()));
            }
        };
        let mut program = Program { child, exits, output };
        if program.first_line(shared)?.trim() == "ready" {
            return Ok(program);
        }
        Err(match program.outcome()? {
            Ok(_) => LiveError::Failed("the socket program ended before it was ready".to_owned()),
            Err(reason) => LiveError::Failed(reason),
        })
    }

    /// The first line that it prints, or what it printed until it ended.
    fn first_line(&mut self, shared: &Shared) -> Result<String, LiveError> {
        let failed = |error| LiveError::while_doing("waiting for the socket program", &error);
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            if shared.stop.load(Ordering::Relaxed) {
                return Err(LiveError::Stopped);
            }
            let mut fds = [PollFd::new(&self.output, PollFlags::IN)];
            match poll(&mut fds, Some(&LOOK)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(failed(error.into())),
            }
            let mut byte = [0];
            match self.output.read(&mut byte).map_err(failed)? {
                0 => break,
                _ => line.push(byte[0]),
            }
        }
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// Becomes readable when the program ends.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.exits.as_fd()
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> Result<bool, LiveError> {
        let ended = self.child.try_wait();
        ended
            .map(|status| status.is_some())
            .map_err(|error| LiveError::while_doing("watching the program", &error))
    }

    /// Waits for the end: the report, or why there is none.
    pub(crate) fn outcome(&mut self) -> Result<Result<Report, String>, LiveError> {
        let failed = |error| LiveError::while_doing("reading from the socket program", &error);
        let (mut said, mut complaint) = (String::new(), String::new());
        self.output.read_to_string(&mut said).map_err(failed)?;
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut complaint).map_err(failed)?;
        }
        let status = self.child.wait().map_err(failed)?;
        Ok(if status.success() {
            serde_json::from_str(&said).map_err(|error| format!("the socket program's report: {error}"))
        } else {
            Err(format!("the socket program at the kernel's end {}", how(status, &complaint)))
        })
    }
}

fn how(status: ExitStatus, complaint: &str) -> String {
    match (status.signal(), complaint.trim().lines().last()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(line)) => format!("failed: {line}"),
        (None, None) => format!("ended with status {}", status.code().unwrap_or_default()),
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself; either way it is waited for.
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Program {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}
