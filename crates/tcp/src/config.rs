//! What one end of a connection is set up with, and the named profiles that bundle it.

use bentpipe_units::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Chosen;
use crate::control::ControlFactory;
use crate::recovery::RecoveryFactory;
use crate::slow_start::{SlowStartFactory, StandardStartOptions};

/// How much an ACK of new data opens cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// One SMSS an ACK in slow start, SMSS²/cwnd an ACK in congestion avoidance, whatever the ACK covers
    /// (RFC 2581; RFC 5681 equation 3).
    PerAck,
    /// By the bytes acknowledged: at most `limit` SMSS an ACK in slow start (RFC 3465 section 2.2; `limit` 1 is
    /// RFC 5681 equation 2), SMSS for every cwnd acknowledged in congestion avoidance.
    Bytes {
        /// L of RFC 3465; 1 in the slow start after a timeout (section 2.3).
        limit: u32,
    },
    /// By the segments reported for the first time, in order or selectively, without a limit but ssthresh in slow start, and a whole segment for every cwnd of them after it (Linux's `tcp_newly_delivered`, `tcp_slow_start`, `tcp_cong_avoid_ai`). Reductions leave whole segments.
    Delivered,
}

/// When an ACK may open cwnd, by how much of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrowthGate {
    /// Always (RFC 5681).
    #[serde(skip)]
    Off,
    /// When it finds cwnd full (RFC 2861 section 3; Linux 2.4).
    Full,
    /// While half of cwnd and more is acknowledged in a round trip, or when it finds cwnd full (RFC 7661 section 4.3).
    Rfc7661,
    /// When cwnd was full in this window of data or the one before, and in slow start while cwnd is less than twice as large as the flight was
    /// (Linux's `tcp_is_cwnd_limited`).
    Linux,
}

/// What a pause leaves of cwnd, when nothing was sent for longer than the RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleRestart {
    /// All.
    #[serde(skip)]
    Off,
    /// The restart window (RFC 5681 section 4.1).
    Rfc5681,
    /// All for five minutes; after longer a half, and ssthresh three quarters, for each five (RFC 7661 section 4.4).
    Rfc7661,
    /// Half for each RTO, but the initial window; and ssthresh three quarters (RFC 2861; Linux's `tcp_cwnd_restart`).
    Linux,
}

/// When the receiver acknowledges in-order data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// An ACK at the latest for this many full-sized segments; 1 acknowledges each at once.
    pub segments: u32,
    /// An ACK at the latest after this time (RFC 1122 4.2.3.2: under 0.5 s).
    pub timeout: Span,
    /// The shortest such time: between the two it follows the time from segment to segment, as in Linux; as long as `timeout`
    /// where it is fixed.
    pub shortest: Span,
    /// ACKs at once at the connection's start and after a hole, at most so many; 0 for none. They are no more than half the window
    /// holds.
    pub quick: u32,
}

impl DelayedAck {
    /// Each segment is acknowledged at once.
    pub const OFF: DelayedAck = DelayedAck::fixed(1, Span::ZERO);

    /// An ACK for so many segments, or after a time that does not change.
    pub const fn fixed(segments: u32, timeout: Span) -> DelayedAck {
        DelayedAck { segments, timeout, shortest: timeout, quick: 0 }
    }
}

/// Whose habits an end has where the RFCs leave room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Host {
    /// What the RFCs say first.
    #[default]
    Rfc,
    /// Linux 6.
    Linux,
}

/// What waits until what was sent is acknowledged, so that it may go with more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nagle {
    /// Nothing (`TCP_NODELAY`).
    Off,
    /// Less than a segment, while anything is outstanding (RFC 896).
    Classic,
    /// Less than a segment, while such a one is outstanding (draft-minshall-nagle, Linux).
    Minshall,
}

/// A kernel whose receive buffer grows in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Linux 6.12, the long-term one of 2024.
    #[serde(rename = "6.12")]
    Linux612,
    /// Linux 6.18, the one of 2025.
    #[serde(rename = "6.18")]
    Linux618,
}

impl Kernel {
    /// Every one that there is.
    pub const ALL: [Kernel; 2] = [Kernel::Linux612, Kernel::Linux618];

    /// The name used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Linux612 => "6.12",
            Kernel::Linux618 => "6.18",
        }
    }
}

/// A receive buffer that grows with what the application reads in a round trip, as Linux's does (`tcp_rmem`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// Whose growth it has.
    pub kernel: Kernel,
    /// At first, in bytes.
    pub initial: u32,
    /// At most, in bytes.
    pub max: u32,
}

impl ReceiveBuffer {
    /// That of Linux 6.18: `tcp_rmem` 4096 131072 33554432.
    pub const LINUX: ReceiveBuffer = ReceiveBuffer::of(Kernel::Linux618);

    /// That of a kernel: up to 6.15 the largest was 6 MiB.
    pub const fn of(kernel: Kernel) -> ReceiveBuffer {
        let max = match kernel {
            Kernel::Linux612 => 6 << 20,
            Kernel::Linux618 => 32 << 20,
        };
        ReceiveBuffer { kernel, initial: 131_072, max }
    }

    /// What a segment of 1448 bytes takes: 2048 bytes for the packet and 256 for what describes it.
    pub(crate) const SEGMENT: u32 = 2304;
    /// The share of a buffer that is payload, in 256ths (`scaling_ratio`).
    const PAYLOAD: u64 = 1448 * 256 / ReceiveBuffer::SEGMENT as u64;

    /// The window that a buffer of so many bytes has room for.
    pub const fn window_of(bytes: u32) -> u32 {
        (bytes as u64 * ReceiveBuffer::PAYLOAD / 256) as u32
    }

    /// The buffer that has room for a window of so many bytes.
    pub(crate) const fn for_window(bytes: u64) -> u64 {
        bytes * 256 / ReceiveBuffer::PAYLOAD
    }
}

/// The retransmission timer's settings (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Before the first RTT sample.
    pub initial: Span,
    /// Lower bound of the RTO.
    pub min: Span,
    /// Upper bound, also of the backed-off RTO.
    pub max: Span,
    /// Clock granularity G: the RTO's variance term is at least this, and the timer expires on a multiple of it.
    pub granularity: Span,
    /// Lower bound of the RTO's variance term beside the granularity.
    pub min_variance: Span,
    /// How samples make up SRTT and the variance term.
    pub estimator: RtoEstimator,
}

/// How round-trip samples make up SRTT and the RTO's variance term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoEstimator {
    /// RFC 6298; with several samples a window, the gains of RFC 7323 appendix G.
    #[default]
    Rfc6298,
    /// Linux's `tcp_rtt_estimator`: every sample counts alike, the variance term rises with the largest deviation at once and
    /// falls once a window, and a sample below SRTT hardly raises it. Each ACK gives a sample that reports what was sent once, in order
    /// or by SACK, by the time of sending and by the timestamp only where something was sent again. Timers expire as on its
    /// timer wheel, and pacing makes up for half of what comes late.
    Linux,
    /// ns-2's `rtt_update`: a round trip is the ticks of the granularity that its clock counts meanwhile, SRTT is whole eighths of a
    /// tick and the variance term whole quarters, and the timer expires when the RTO is over, not on a tick. The handshake
    /// gives no sample.
    Ns2,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whose habits it has where the RFCs leave room.
    pub host: Host,
    /// What to retransmit, when.
    pub recovery: Chosen<dyn RecoveryFactory>,
    /// How large the window is.
    pub control: Chosen<dyn ControlFactory>,
    /// What becomes of growth below ssthresh.
    pub slow_start: Chosen<dyn SlowStartFactory>,
    /// Largest payload of a segment that this end sends and takes, in bytes, options not counted.
    pub mss: u32,
    /// The window that an empty receiver advertises, in bytes; with a receive buffer that grows, at most.
    pub receive_window: u32,
    /// A receive buffer that grows; none for a window that stays as it is.
    pub receive_buffer: Option<ReceiveBuffer>,
    /// Offer window scaling (RFC 7323). Without it a window over 65,535 bytes is advertised as 65,535.
    pub window_scaling: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer selective acknowledgments (RFC 2018).
    pub sack: bool,
    /// Report data that came twice, where SACK is agreed on (RFC 2883).
    pub duplicate_sack: bool,
    /// Segments past a hole share ACKs, as in Linux; of an end with its habits.
    pub sack_compression: bool,
    /// Offer explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Initial ssthresh in bytes; `None` is "arbitrarily high" (RFC 5681 section 3.1).
    pub initial_ssthresh: Option<u32>,
    /// How an ACK opens cwnd.
    pub growth: Growth,
    /// When in-order data is acknowledged.
    pub delayed_ack: DelayedAck,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Duplicate ACKs that mean a loss.
    pub duplicate_threshold: u32,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Tahoe and Reno: no second fast retransmit before the data outstanding at the first is acknowledged
    /// (the `recover` test of RFC 6582 section 3.2; ns-2's `bugFix_`).
    pub recover_guard: bool,
    /// What becomes of cwnd in an idle time of more than one RTO.
    pub restart_after_idle: IdleRestart,
    /// Grow cwnd only when so much of it is used.
    pub grow_only_when_limited: GrowthGate,
    /// New data waits until so many segments, or a third of the window, may go at once, as behind TCP segmentation offload; 1 for no wait.
    pub burst: u32,
    /// What waits to be sent with more.
    pub nagle: Nagle,
    /// Bytes of memory for what is not acknowledged, as `SO_SNDBUF` has it; none for any number. The application goes on once a third is
    /// free.
    pub send_buffer: Option<u32>,
    /// Timeouts in a row without progress, after which the connection ends with an error (R2 of RFC 1122 4.2.3.5).
    pub max_retransmissions: u32,
    /// Timeouts of a SYN that leave the RTO as it is, before the others double it.
    pub syn_linear_timeouts: u32,
    /// How long a closed end remembers the connection (TIME-WAIT, twice the MSL).
    pub time_wait: Span,
}

impl Config {
    /// The payload that the send buffer has room for, two segments at least; all where it has no bound.
    pub(crate) fn send_room(&self) -> u32 {
        let room = |bytes: u32| (u64::from(bytes) * SENT_PAYLOAD / 4096) as u32;
        self.send_buffer.map_or(u32::MAX, |bytes| room(bytes).max(2 * self.mss))
    }

    /// By how much more payload the send buffer has room where so much of it is reported by SACK: Linux makes one packet of neighbours that
    /// are (`tcp_shift_skb_data`), with one head.
    #[inline]
    pub(crate) fn room_by_sack(held: u32) -> u32 {
        (u64::from(held) * (4096 - SENT_PAYLOAD) / 4096) as u32
    }

    /// The shift with which the largest window, or the largest receive buffer, fits the header's 16 bits (RFC 7323 section 2.2).
    pub(crate) fn window_scale(&self) -> u8 {
        let bytes = self.receive_buffer.map_or(self.receive_window, |buffer| buffer.max);
        (0..14).find(|shift| bytes >> shift <= 65_535).unwrap_or(14)
    }
}

/// A named bundle of settings that imitates one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The plain current RFCs.
    Rfc,
    /// ns-2's one-way agents around 2000: windows in packets, every ACK counts one, no limited transmit (ns-2.35 has it on).
    Ns2,
    /// OPNET's stack of 2007 as the `adalr` document sets it.
    Opnet,
    /// Linux 2.4.19, whose recovery is `sack-linux-2.4`.
    #[serde(rename = "linux-2.4")]
    Linux24,
    /// Linux 6.18 with the defaults of its sysctls.
    Linux,
}

impl Profile {
    /// Every profile there is.
    pub const ALL: [Profile; 5] =
        [Profile::Rfc, Profile::Ns2, Profile::Opnet, Profile::Linux24, Profile::Linux];

    /// The name used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Rfc => "rfc",
            Profile::Ns2 => "ns2",
            Profile::Opnet => "opnet",
            Profile::Linux24 => "linux-2.4",
            Profile::Linux => "linux",
        }
    }

    /// One line for `bentpipe list presets`.
    pub const fn summary(self) -> &'static str {
        match self {
            Profile::Rfc => "the plain current RFCs: byte counting, min RTO 1 s, window scaling, delayed ACK",
            Profile::Ns2 => {
                "ns-2's one-way agents: growth an ACK, 10 ms tick, min RTO 0.2 s, every segment acknowledged"
            }
            Profile::Opnet => {
                "OPNET 2007: 0.5 s tick, min RTO 1 s, initial window 2, 65,535-byte window, no timestamps"
            }
            Profile::Linux24 => {
                "Linux 2.4.19: quick ACKs, timestamps, D-SACK, variance term 200 ms at least; recovery sack-linux-2.4 beside it"
            }
            Profile::Linux => {
                "Linux 6.18: cubic over rack, initial window 10, a receive buffer that grows, timestamps, D-SACK, quick ACKs"
            }
        }
    }

    /// The recovery of a flow that names none.
    pub const fn recovery(self) -> &'static str {
        match self {
            // tcp_recovery 1, tcp_early_retrans 3, tcp_frto 2.
            Profile::Linux => "rack",
            _ => "sack",
        }
    }

    /// The recovery of a variant that is this control with one of its own; none where the control decides.
    pub fn recovery_under(self, control: &dyn ControlFactory) -> Option<&'static str> {
        // net/ipv4/tcp_*.c: every control goes over the one recovery that there is.
        (self == Profile::Linux && control.in_linux()).then(|| self.recovery())
    }

    /// The control of a flow that names none.
    pub const fn control(self) -> &'static str {
        match self {
            // tcp_congestion_control, CONFIG_DEFAULT_CUBIC.
            Profile::Linux => "cubic",
            _ => "standard",
        }
    }

    /// The slow start of a flow with this `control` that names none.
    pub fn slow_start(self, control: &str) -> &'static str {
        match (self, control) {
            // It is a part of tcp_cubic.c.
            (Profile::Linux, "cubic") => "hystart",
            _ => "standard",
        }
    }

    /// Options that schemes have with this profile where nothing else is written: scheme, key, value.
    pub const fn options(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            Profile::Linux => &[("cubic", "reading", "linux")],
            _ => &[],
        }
    }

    /// The settings of this profile for an end that uses `recovery` and `control`.
    pub fn config(
        self,
        recovery: impl Into<Chosen<dyn RecoveryFactory>>,
        control: impl Into<Chosen<dyn ControlFactory>>,
    ) -> Config {
        let recovery = recovery.into();
        let rfc = Config {
            host: Host::Rfc,
            sack: recovery.factory().offers_sack(),
            recovery,
            control: control.into(),
            slow_start: StandardStartOptions.into(),
            mss: 1460,
            receive_window: 65_535,
            receive_buffer: None,
            window_scaling: true,
            timestamps: false,
            duplicate_sack: false,
            sack_compression: true,
            ecn: false,
            // RFC 5681 section 3.1: three segments when 1095 < SMSS <= 2190.
            initial_window: 3,
            initial_ssthresh: None,
            growth: Growth::Bytes { limit: 1 },
            delayed_ack: DelayedAck::fixed(2, Span::from_millis(200)),
            rto: RtoConfig {
                initial: Span::from_millis(1000),
                min: Span::from_millis(1000),
                max: Span::from_millis(60_000),
                granularity: Span::from_millis(1),
                min_variance: Span::ZERO,
                estimator: RtoEstimator::Rfc6298,
            },
            duplicate_threshold: 3,
            limited_transmit: true,
            recover_guard: true,
            restart_after_idle: IdleRestart::Rfc5681,
            grow_only_when_limited: GrowthGate::Rfc7661,
            burst: 1,
            // RFC 9293 section 3.7.4: "A TCP implementation SHOULD implement the Nagle algorithm".
            nagle: Nagle::Classic,
            send_buffer: None,
            max_retransmissions: 15,
            syn_linear_timeouts: 0,
            time_wait: Span::from_millis(60_000),
        };
        match self {
            Profile::Rfc => rfc,
            Profile::Ns2 => Config {
                window_scaling: true,
                initial_window: 2,
                growth: Growth::PerAck,
                delayed_ack: DelayedAck::OFF,
                rto: RtoConfig {
                    initial: Span::from_millis(3000),
                    min: Span::from_millis(200),
                    max: Span::from_millis(60_000),
                    granularity: Span::from_millis(10),
                    min_variance: Span::ZERO,
                    estimator: RtoEstimator::Rfc6298,
                },
                nagle: Nagle::Off,
                limited_transmit: false,
                restart_after_idle: IdleRestart::Off,
                grow_only_when_limited: GrowthGate::Off,
                ..rfc
            },
            Profile::Opnet => Config {
                window_scaling: false,
                initial_window: 2,
                initial_ssthresh: Some(65_535),
                growth: Growth::PerAck,
                rto: RtoConfig {
                    initial: Span::from_millis(3000),
                    min: Span::from_millis(1000),
                    max: Span::from_millis(64_000),
                    granularity: Span::from_millis(500),
                    min_variance: Span::ZERO,
                    estimator: RtoEstimator::Rfc6298,
                },
                nagle: Nagle::Off,
                limited_transmit: false,
                restart_after_idle: IdleRestart::Off,
                grow_only_when_limited: GrowthGate::Off,
                max_retransmissions: 6,
                ..rfc
            },
            Profile::Linux24 => linux_2_4(rfc),
            Profile::Linux => linux(rfc),
        }
    }
}

/// Linux 2.4.19, each setting with the sysctl, constant or function that it is from (`net/ipv4`, `include/net/tcp.h`).
fn linux_2_4(rfc: Config) -> Config {
    Config {
        // tcp_rmem 87380, a quarter of it overhead (tcp_adv_win_scale 2) and a segment reserved (tcp_init_buffer_space), in whole
        // segments of 1448 bytes (__tcp_select_window).
        receive_window: 44 * 1448,
        // tcp_timestamps 1, tcp_dsack 1.
        timestamps: true,
        duplicate_sack: true,
        // tcp_v4_init_sock; tcp_init_cwnd gives more only to a path of 20 ms or with a cached ssthresh.
        initial_window: 2,
        // tcp_cong_avoid: an ACK is an ACK.
        growth: Growth::PerAck,
        delayed_ack: DelayedAck {
            // __tcp_ack_snd_check: more than one full frame.
            segments: 2,
            // tcp_send_delayed_ack: HZ/2 at most, TCP_ATO_MIN at least.
            timeout: Span::from_millis(500),
            shortest: Span::from_millis(40),
            // TCP_MAX_QUICKACKS.
            quick: 16,
        },
        rto: RtoConfig {
            // TCP_TIMEOUT_INIT.
            initial: Span::from_millis(3000),
            // TCP_RTO_MIN, which bounds the variance term (tcp_rtt_estimator) and with it the RTO.
            min: Span::from_millis(200),
            min_variance: Span::from_millis(200),
            estimator: RtoEstimator::Rfc6298,
            // TCP_RTO_MAX.
            max: Span::from_millis(120_000),
            // HZ 100.
            granularity: Span::from_millis(10),
        },
        // tcp_minshall_check.
        nagle: Nagle::Minshall,
        // tcp_cwnd_restart.
        restart_after_idle: IdleRestart::Linux,
        // tcp_ack: prior_in_flight >= snd_cwnd.
        grow_only_when_limited: GrowthGate::Full,
        // tcp_retries2 15 and TCP_TIMEWAIT_LEN are as in the other profiles.
        ..rfc
    }
}

/// Linux 6.18, each setting with the sysctl, constant or function that it is from (`net/ipv4`, `include/net/tcp.h`).
fn linux(rfc: Config) -> Config {
    Config {
        host: Host::Linux,
        // tcp_rmem 4096 131072 33554432, tcp_moderate_rcvbuf 1.
        receive_window: ReceiveBuffer::window_of(ReceiveBuffer::LINUX.max),
        receive_buffer: Some(ReceiveBuffer::LINUX),
        // tcp_timestamps 1, tcp_dsack 1.
        timestamps: true,
        duplicate_sack: true,
        // TCP_INIT_CWND.
        initial_window: 10,
        // tcp_slow_start: as many segments as were newly delivered, however many.
        growth: Growth::Delivered,
        delayed_ack: DelayedAck {
            // __tcp_ack_snd_check: more than one full frame.
            segments: 2,
            // TCP_DELACK_MAX and TCP_DELACK_MIN.
            timeout: Span::from_millis(200),
            shortest: Span::from_millis(40),
            // TCP_MAX_QUICKACKS.
            quick: 16,
        },
        rto: RtoConfig {
            // TCP_TIMEOUT_INIT.
            initial: Span::from_millis(1000),
            // tcp_rto_min_us, which bounds the variance term (tcp_rtt_estimator) and with it the RTO.
            min: Span::from_millis(200),
            min_variance: Span::from_millis(200),
            // tcp_rtt_estimator.
            estimator: RtoEstimator::Linux,
            // tcp_rto_max_ms.
            max: Span::from_millis(120_000),
            // CONFIG_HZ 250.
            granularity: Span::from_millis(4),
        },
        // tcp_minshall_check.
        nagle: Nagle::Minshall,
        // tcp_wmem 4096 16384 4194304.
        send_buffer: Some(4 << 20),
        // tcp_syn_linear_timeouts.
        syn_linear_timeouts: 4,
        // tcp_slow_start_after_idle 1: tcp_cwnd_restart.
        restart_after_idle: IdleRestart::Linux,
        // tcp_is_cwnd_limited.
        grow_only_when_limited: GrowthGate::Linux,
        // tcp_sack 1, tcp_window_scaling 1, tcp_reordering 3, tcp_retries2 15 and TCP_TIMEWAIT_LEN are
        // as in the other profiles. tcp_ecn 2 accepts ECN and does not offer it.
        ..rfc
    }
}

/// What a send buffer has room for, in 4096ths: of what is sent at a few Mbit/s a packet of four segments of 1448 bytes
/// (`tcp_tso_autosize`) takes 1280 bytes more, for `struct sk_buff` and its head.
const SENT_PAYLOAD: u64 = 4 * 1448 * 4096 / (4 * 1448 + 1280);
