//! The settings of a TCP as scenarios write them, over those of a profile.

use bentpipe_units::bounded::{AboveZero, Size, Whole};
use bentpipe_units::{Fault, Span, conflict, ensure, fault};
use schemars::JsonSchema;
use serde::Deserialize;

use super::switch::{Setting, Switched};
use super::window::{InitialRule, InitialWindow, Segments, Ssthresh, Unlimited};
use super::{
    Config, DelayedAck, Growth, GrowthGate, Host, IdleRestart, Kernel, Nagle, Profile, ReceiveBuffer,
    RtoEstimator, Spacing,
};

/// The largest window that scaling can express is a little below this (RFC 7323 section 2.3).
const MAX_WINDOW: u64 = 1 << 30;

/// The largest window of a header without scaling.
const MAX_UNSCALED: u64 = 65_535;

/// Settings of a TCP; the profile has those that are not set. Each control, recovery and slow start has its options in a table of its name.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TcpFile")]
pub struct Settings {
    /// The bundle of defaults; default rfc.
    pub profile: Option<Profile>,
    /// Largest payload of a segment, options not counted, 88 B to 65495 B.
    // What a 16-bit total length leaves for the payload, and the least that real stacks accept.
    #[serde(with = "Size::<88, 65_495>")]
    mss: Option<u32>,
    /// The window of an empty receiver: bytes or segments, 1 segment to 1 GiB; more than 65535 B needs `window_scaling`. Alone it is fixed;
    /// beside `receive_buffer` it is the largest.
    receive_window: Option<Segments>,
    /// A receive buffer that grows with what the application reads, as Linux's does.
    receive_buffer: Option<Setting<BufferSettings>>,
    /// Offer window scaling (RFC 7323).
    window_scaling: Option<bool>,
    /// Offer timestamps (RFC 7323).
    timestamps: Option<bool>,
    /// Offer selective acknowledgments (RFC 2018); default with the recoveries sack, sack-1996, sack-linux-2.4 and rack.
    sack: Option<bool>,
    /// Report segments that came twice in the first SACK block (RFC 2883).
    duplicate_sack: Option<bool>,
    /// Profile linux: segments past a hole share ACKs; default true.
    sack_compression: Option<bool>,
    /// Offer explicit congestion notification (RFC 3168).
    ecn: Option<bool>,
    /// Initial window, all of which goes out at once: segments, or bytes rounded down to whole segments. "rfc5681": 4 segments with an `mss`
    /// up to 1095 B, 2 above 2190 B, else 3 (section 3.1). "rfc6928": 10 segments, at most max(14,600 B, two segments).
    initial_window: Option<InitialWindow>,
    /// Initial slow-start threshold: bytes, segments or "unlimited". It can stand for what a kernel caches for the destination (the route's
    /// `ssthresh` metric).
    initial_ssthresh: Option<Ssthresh>,
    /// What opens the window.
    growth: Option<GrowthName>,
    /// With growth "bytes": segments that one ACK may open the window by in slow start (L of RFC 3465); 1 after a timeout (section 2.3).
    #[serde(with = "Whole::<1, 1000>")]
    byte_counting_limit: Option<u32>,
    /// When the receiver acknowledges in-order data; false acknowledges every segment at once.
    delayed_ack: Option<Setting<DelayedAckSettings>>,
    /// The retransmission timer (RFC 6298).
    rto: RtoSettings,
    /// Duplicate ACKs that mean a loss.
    duplicate_threshold: Option<Whole<1, 1000>>,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    limited_transmit: Option<bool>,
    /// Tahoe and Reno: at most one fast retransmit a window of data (RFC 6582 section 3.2; ns-2's `bugFix_`).
    recover_guard: Option<bool>,
    /// What becomes of the window in a pause: true is the profile's rule, or RFC 5681's.
    restart_after_idle: Option<Setting<IdleRestart>>,
    /// Open the window only when so much of it is used: true is the profile's rule, or RFC 7661's.
    grow_only_when_limited: Option<Setting<GrowthGate>>,
    /// New data waits until so many segments, or a third of the window, or all the rest may go at once, as with TCP segmentation offload
    /// (`tcp_tso_should_defer`). Paced data also goes by its quantum.
    burst: Option<Whole<1, 64>>,
    /// How segments are spread over a round trip, under any control that does not pace by itself: true is "even", and "linux" with that profile.
    pacing: Option<Setting<Spacing>>,
    /// Send less than a segment at once (TCP_NODELAY); else it waits while anything is outstanding (Nagle, RFC 896), with the Linux profiles
    /// while a small segment is (Minshall). True for http, transactions, video and relay unless written.
    no_delay: Option<bool>,
    /// Memory for unacknowledged data, of which 82 % is payload: bytes, segments or "unlimited". The application goes on once a third is free.
    send_buffer: Option<Ssthresh>,
    /// Timeouts of a SYN before back-off begins.
    syn_linear_timeouts: Option<Whole<0, 255>>,
    /// Timeouts in a row that end the connection with an error.
    max_retransmissions: Option<Whole<0, 255>>,
    /// How long a closed end remembers the connection (TIME-WAIT).
    time_wait: Option<Span>,
    /// Growth below ssthresh, under any control; default standard, with `cubic` "hystart".
    pub slow_start: Option<String>,
}

/// The retransmission timer (RFC 6298).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RtoFile")]
struct RtoSettings {
    /// Before the first sample of the round-trip time.
    #[serde(with = "AboveZero")]
    initial: Option<Span>,
    /// Lower bound.
    min: Option<Span>,
    /// Upper bound, also of the backed-off timer.
    #[serde(with = "AboveZero")]
    max: Option<Span>,
    /// Clock tick: the timer expires on a multiple of it.
    granularity: Option<Span>,
    /// Lower bound of the variance term, beside the tick.
    min_variance: Option<Span>,
    /// How samples make up SRTT and the variance term.
    estimator: Option<RtoEstimator>,
}

/// What opens the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum GrowthName {
    /// Each ACK alike (RFC 2581).
    PerAck,
    /// The bytes that an ACK acknowledges (RFC 3465).
    Bytes,
    /// Segments that an ACK reports for the first time, in order or by SACK: without a limit up to ssthresh, then a whole segment for every
    /// cwnd of them. Reductions leave whole segments (Linux).
    Delivered,
}

/// When the receiver acknowledges in-order data (RFC 1122 4.2.3.2).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DelayedAckFile")]
struct DelayedAckSettings {
    /// An ACK at the latest for so many full-sized segments.
    #[serde(with = "Whole::<1, 1000>")]
    segments: Option<u32>,
    /// An ACK at the latest after this time.
    timeout: Option<Span>,
    /// The shortest such time: below `timeout` it follows the time between segments, and doubles when an ACK has waited to its end (Linux's
    /// `ato`); default `timeout`.
    shortest: Option<Span>,
    /// Most quick ACKs, at most half the window in segments: at the start, after a segment that came twice, and after a pause longer than the
    /// RTO; one for each segment that opens a growing buffer; without profile `linux` also after a hole.
    #[serde(with = "Whole::<0, 1000>")]
    quick: Option<u32>,
}

/// A receive buffer that grows with what the application reads (Linux's tcp_rmem).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ReceiveBufferFile")]
struct BufferSettings {
    /// Whose growth it has, and whose sizes where none are written; default 6.18.
    kernel: Option<Kernel>,
    /// At first.
    #[serde(with = "Size::<4096, 0x4000_0000>")]
    initial: Option<u32>,
    /// At most.
    #[serde(with = "Size::<4096, 0x4000_0000>")]
    max: Option<u32>,
    /// What a segment of 1448 bytes takes of it, as the network device has it: most 2304 B, a virtual kernel's 2176 B.
    #[serde(with = "Size::<1500, 65_536>")]
    segment: Option<u32>,
}

impl Switched for IdleRestart {
    const EXPECTED: &'static str =
        "false, true, or what a pause leaves of the window (rfc5681, rfc7661, linux)";
}

impl Switched for GrowthGate {
    const EXPECTED: &'static str = "false, true, or when the window opens (full, rfc7661, linux)";
}

impl Switched for Spacing {
    const EXPECTED: &'static str = "false, true, or how segments are spread (even, linux)";
}

impl Switched for DelayedAckSettings {
    const EXPECTED: &'static str = "false, or a table such as { segments = 2, timeout = \"200 ms\" }";
    const TABLE: bool = true;
}

impl Switched for BufferSettings {
    const EXPECTED: &'static str = "false, or a table such as { initial = \"128 KiB\", max = \"32 MiB\" }";
    const TABLE: bool = true;
}

/// Lays the keys that are written over the settings of the same names.
macro_rules! lay {
    ($file:expr => $settings:expr; $($key:ident),*) => {
        $(if let Some(written) = $file.$key {
            $settings.$key = written.into();
        })*
    };
}

impl Settings {
    /// What is written, over what a profile has.
    ///
    /// # Errors
    /// What does not go together.
    pub fn over(&self, mut config: Config) -> Result<Config, Fault> {
        self.windows(&mut config)?;
        config.growth = self.growth(config.growth)?;
        config.delayed_ack = self.delayed_ack(config.delayed_ack)?;
        self.timers(&mut config)?;
        match (self.no_delay, config.nagle) {
            (Some(true), _) => config.nagle = Nagle::Off,
            (Some(false), Nagle::Off) => config.nagle = Nagle::Classic,
            _ => {}
        }
        let (restart, gate) = (&mut config.restart_after_idle, &mut config.grow_only_when_limited);
        *restart = Setting::over(self.restart_after_idle, *restart, IdleRestart::Off, IdleRestart::Rfc5681);
        *gate = Setting::over(self.grow_only_when_limited, *gate, GrowthGate::Off, GrowthGate::Rfc7661);
        let usual = if config.host == Host::Linux { Spacing::Linux } else { Spacing::Even };
        config.pacing = Setting::over(self.pacing, config.pacing, Spacing::Off, usual);
        lay!(self => config; timestamps, sack, duplicate_sack, sack_compression, ecn, syn_linear_timeouts, limited_transmit, recover_guard,
            duplicate_threshold, burst, max_retransmissions, time_wait);
        Ok(config)
    }

    fn windows(&self, config: &mut Config) -> Result<(), Fault> {
        lay!(self => config; mss, window_scaling);
        let mss = config.mss;
        let within = |bytes: u64, what: &str, key: &str| {
            let fits = (u64::from(mss)..=MAX_WINDOW).contains(&bytes);
            let fault = || fault!("{what} from one segment ({mss} B) to 1 GiB", "{bytes} B").under(key);
            fits.then_some(bytes as u32).ok_or_else(fault)
        };
        let limit = |written: Ssthresh, what: &str, key: &str| match written.bytes(mss) {
            Ok(bytes) => within(bytes, what, key).map(Some),
            Err(Unlimited) => Ok(None),
        };
        let grew = config.receive_buffer.is_some();
        config.receive_buffer = self.receive_buffer(config.receive_buffer)?;
        match (self.receive_window, config.receive_buffer) {
            (Some(written), _) => {
                let Ok(bytes) = written.bytes(mss);
                config.receive_window = within(bytes, "a window", "receive_window")?;
            }
            (None, Some(buffer)) => config.receive_window = buffer.window_of(buffer.max),
            // The profile's is that of its buffer.
            (None, None) if grew => config.receive_window = MAX_UNSCALED as u32,
            (None, None) => {}
        }
        if config.receive_buffer.is_some() && !config.window_scaling {
            config.receive_window = config.receive_window.min(MAX_UNSCALED as u32);
        }
        let window = config.receive_window;
        let large = || fault!("at most {MAX_UNSCALED} B without window_scaling", "{window} B");
        let fits = config.window_scaling || u64::from(window) <= MAX_UNSCALED;
        ensure!(fits, large().under("receive_window"));
        let by_profile = self.profile.is_none_or(|profile| profile == Profile::Rfc);
        let by_profile = by_profile.then_some(InitialWindow::Word(InitialRule::Rfc5681));
        if let Some(initial) = self.initial_window.or(by_profile) {
            config.initial_window = match initial.bytes(mss) {
                Ok(bytes) => within(bytes, "a window", "initial_window")? / mss,
                Err(rule) => rule.segments(mss),
            };
        }
        if let Some(written) = self.initial_ssthresh {
            config.initial_ssthresh = limit(written, "a threshold", "initial_ssthresh")?;
        }
        if let Some(written) = self.send_buffer {
            config.send_buffer = limit(written, "a buffer", "send_buffer")?;
        }
        Ok(())
    }

    /// A window that is written alone stays as it is, as a socket's buffer of a fixed size does.
    fn receive_buffer(&self, profile: Option<ReceiveBuffer>) -> Result<Option<ReceiveBuffer>, Fault> {
        let on = profile.unwrap_or(ReceiveBuffer::LINUX);
        let BufferSettings { kernel, initial, max, segment } = match &self.receive_buffer {
            None => return Ok(profile.filter(|_| self.receive_window.is_none())),
            Some(Setting::Switch(switch)) => return Ok(switch.then_some(on)),
            Some(Setting::Written(written)) => written,
        };
        let on = kernel.map_or(on, ReceiveBuffer::of);
        let max = max.unwrap_or(on.max);
        let initial = initial.unwrap_or(on.initial.min(max));
        let large = || fault!("at most the buffer's max ({max} B)", "{initial} B");
        ensure!(initial <= max, large().under("initial").under("receive_buffer"));
        Ok(Some(ReceiveBuffer { kernel: on.kernel, initial, max, segment: segment.unwrap_or(on.segment) }))
    }

    fn growth(&self, profile: Growth) -> Result<Growth, Fault> {
        match (self.growth, profile, self.byte_counting_limit) {
            (None, _, None) => Ok(profile),
            (Some(GrowthName::Bytes), _, Some(limit))
            | (None, Growth::Bytes { .. } | Growth::Delivered, Some(limit))
            | (Some(GrowthName::Bytes), Growth::Bytes { limit }, None) => Ok(Growth::Bytes { limit }),
            (Some(GrowthName::Bytes), _, None) => Ok(Growth::Bytes { limit: 1 }),
            (Some(GrowthName::PerAck), _, None) => Ok(Growth::PerAck),
            (Some(GrowthName::Delivered), _, None) => Ok(Growth::Delivered),
            (written, _, Some(_)) => {
                let found = if written == Some(GrowthName::Delivered) { "delivered" } else { "per-ack" };
                let fault = conflict!("needs growth = \"bytes\", which is \"{found}\"");
                Err(fault.under("byte_counting_limit"))
            }
        }
    }

    fn delayed_ack(&self, profile: DelayedAck) -> Result<DelayedAck, Fault> {
        // RFC 5681 section 4.2: at least every second segment; most stacks wait 200 ms.
        let usual = DelayedAck::fixed(2, Span::from_millis(200));
        let on = if profile.segments > 1 { profile } else { usual };
        let written = match &self.delayed_ack {
            None => return Ok(profile),
            Some(Setting::Switch(true)) => return Ok(on),
            Some(Setting::Switch(false)) => return Ok(DelayedAck::OFF),
            Some(Setting::Written(written)) => written,
        };
        let segments = written.segments.unwrap_or(on.segments);
        let timeout = written.timeout.unwrap_or(on.timeout);
        let never = || fault!("a time above zero", "0 s").or("delayed_ack = false switches it off");
        ensure!(segments <= 1 || timeout > Span::ZERO, never().under("timeout").under("delayed_ack"));
        // A time of the profile's own that is longer than the one written is as long as that.
        let shortest = written.shortest.unwrap_or(if on.shortest < on.timeout {
            on.shortest.min(timeout)
        } else {
            timeout
        });
        let fits = shortest <= timeout && (segments <= 1 || shortest > Span::ZERO);
        let wrong = || fault!("a time above zero and at most the timeout ({timeout})", "{shortest}");
        ensure!(fits, wrong().under("shortest").under("delayed_ack"));
        let quick = written.quick.unwrap_or(on.quick);
        Ok(DelayedAck { segments, timeout, shortest, quick })
    }

    fn timers(&self, config: &mut Config) -> Result<(), Fault> {
        let rto = &mut config.rto;
        lay!(self.rto => rto; initial, min, max, granularity, min_variance, estimator);
        let most = rto.max;
        let bounded = [
            ("min", rto.min),
            ("initial", rto.initial),
            ("granularity", rto.granularity),
            ("min_variance", rto.min_variance),
        ];
        match bounded.into_iter().find(|(_, time)| *time > most) {
            Some((key, time)) => {
                Err(fault!("at most the rto's max ({most})", "{time}").under(key).under("rto"))
            }
            None => Ok(()),
        }
    }
}
