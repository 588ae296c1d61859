//! Hosts whose TCP is an operating system's: what the simulator asks of one, and what it hears.

use bentpipe_tcp::{Config, Nagle, Segment};
use bentpipe_units::Time;

/// An end of a connection between two hosts of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The connection's number among all of the run.
    pub connection: u32,
    /// Whether the flow's data goes there: 0 where it comes from, 1 where it goes to.
    pub host: u8,
}

/// What a program at an end is asked for, or what arrives there.
#[derive(Clone, Copy, Debug)]
pub enum Ask<'a> {
    /// To open a socket: to connect to the other end, or to listen.
    Open(&'a Socket),
    /// To write so many bytes; `u64::MAX` have no end.
    Write(u64),
    /// To write no more. What was written is still sent, unless it is discarded as far as the kernel does not hold it.
    Close {
        /// Whether it is.
        discard: bool,
    },
    /// To tell of the connection.
    Tell,
    /// A packet that has come to the host; bytes of its payload are zero.
    Packet(&'a Segment),
}

/// How a socket is made.
#[derive(Clone, Debug)]
pub struct Socket {
    /// Whether it opens the connection.
    pub connects: bool,
    /// Whether each read is told of.
    pub attended: bool,
    /// The congestion control.
    pub control: String,
    /// Payload of a segment without options, in bytes.
    pub mss: u32,
    /// The receive window, in bytes, where it is fixed.
    pub receive_window: Option<u32>,
    /// Whether less than a segment goes at once.
    pub no_delay: bool,
}

impl Socket {
    /// A socket as `config` has it.
    pub(crate) fn of(config: &Config, control: &str, connects: bool, attended: bool) -> Socket {
        Socket {
            connects,
            attended,
            control: control.to_owned(),
            mss: config.mss,
            receive_window: config.receive_buffer.is_none().then_some(config.receive_window),
            no_delay: config.nagle == Nagle::Off,
        }
    }
}

/// What is heard of an end.
#[derive(Clone, Debug)]
pub enum Heard {
    /// Its host has sent a packet.
    Sent(Segment),
    /// Its program has read so many bytes.
    Read(u64),
    /// Its program has read all that there was.
    Ended,
    /// Its connection has broken.
    Broke(String),
    /// What the kernel tells of the connection.
    Told(SocketFacts),
}

/// What a kernel tells of a connection; none where it is too old to say, and NaN where there is nothing yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SocketFacts {
    /// Expiries of the retransmission timer.
    pub timeouts: Option<u64>,
    /// The congestion window, in bytes.
    pub cwnd: f64,
    /// The slow-start threshold, in bytes.
    pub ssthresh: f64,
    /// The smoothed round-trip time, in seconds.
    pub srtt_s: f64,
    /// The retransmission timeout, in seconds.
    pub rto_s: f64,
    /// The pacing rate, in bits a second.
    pub pacing_bps: f64,
    /// The delivery rate, in bits a second.
    pub delivery_bps: f64,
}

/// How the two hosts of a kernel are made: it is another one for flows that want them otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSetup {
    /// The beginning of its release, such as `6.12`; none for the one that is there.
    pub release: Option<String>,
    /// Seeds all that is random in it.
    pub seed: u64,
    /// The settings under `net.ipv4` of the host that data comes from, and of the one that it goes to.
    pub settings: [Vec<(String, String)>; 2],
}

impl KernelSetup {
    pub(crate) fn new(release: Option<String>, seed: u64, ends: [&Config; 2]) -> KernelSetup {
        KernelSetup { release, seed, settings: ends.map(settings) }
    }
}

/// What a kernel has one setting for at all connections of a host.
fn settings(config: &Config) -> Vec<(String, String)> {
    let switch = |on: bool| u8::from(on).to_string();
    let mut settings = vec![
        ("tcp_no_metrics_save", switch(true)),
        ("tcp_timestamps", switch(config.timestamps)),
        ("tcp_sack", switch(config.sack)),
        ("tcp_window_scaling", switch(config.window_scaling)),
        ("tcp_ecn", if config.ecn { "1" } else { "2" }.to_owned()),
        // 64 MiB does not limit.
        ("tcp_wmem", format!("4096 16384 {}", config.send_buffer.unwrap_or(64 << 20))),
    ];
    if let Some(buffer) = config.receive_buffer {
        settings.push(("tcp_rmem", format!("4096 {} {}", buffer.initial, buffer.max)));
    }
    settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Hears of an end at a time, and says when the kernel has to wait for what else happens.
pub type Hear<'a> = dyn FnMut(Time, Place, Heard) -> Time + 'a;

/// A kernel that runs as a program of the run: its two hosts have the simulator's clock, and the simulator's network between them.
pub trait Kernel {
    /// Its release, as `uname -r` says it.
    fn release(&self) -> &str;

    /// Its congestion controls.
    fn controls(&self) -> &[String];

    /// When it wants to run next, if nothing else happens.
    fn next_time(&self) -> Time;

    /// Gives an end something to do or a packet: to be followed by [`Kernel::run`].
    ///
    /// # Errors
    /// When it has stopped, or stands still: a line that says why.
    fn take(&mut self, now: Time, place: Place, what: Ask<'_>) -> Result<(), String>;

    /// Lets it run from `now` until it has nothing to do before the time `until`, or before what `hear` says.
    ///
    /// # Errors
    /// When it has stopped, or stands still: a line that says why.
    fn run(&mut self, now: Time, until: Time, hear: &mut Hear<'_>) -> Result<(), String>;
}

/// Starts a kernel, or says in a line why there is none.
pub type StartKernel = dyn FnMut(&KernelSetup) -> Result<Box<dyn Kernel>, String>;
