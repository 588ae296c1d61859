//! The named profiles that bundle settings.

use bentpipe_units::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Config, DelayedAck, Growth, GrowthGate, Host, IdleRestart, Nagle, ReceiveBuffer, RtoConfig, RtoEstimator,
    Spacing,
};
use crate::Chosen;
use crate::control::ControlFactory;
use crate::recovery::RecoveryFactory;
use crate::slow_start::StandardStartOptions;

/// Each profile with its name in scenarios and one line for `bentpipe list presets`.
macro_rules! profiles {
    ($($(#[doc = $doc:literal])* $profile:ident = $name:literal, $summary:literal;)+) => {
        /// A named bundle of settings that imitates one stack.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
        pub enum Profile {
            $($(#[doc = $doc])* #[serde(rename = $name)] $profile,)+
        }

        impl Profile {
            /// Every profile there is.
            pub const ALL: [Profile; [$($name),+].len()] = [$(Profile::$profile),+];

            /// The name used in scenarios.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Profile::$profile => $name,)+
                }
            }

            /// One line for `bentpipe list presets`.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Profile::$profile => $summary,)+
                }
            }
        }
    };
}

profiles! {
    /// The plain current RFCs.
    Rfc = "rfc", "the plain current RFCs: byte counting, min RTO 1 s, window scaling, delayed ACK";
    /// ns-2's one-way agents around 2000: windows in packets, every ACK counts one, no limited transmit (ns-2.35 has it on).
    Ns2 = "ns2", "ns-2's one-way agents: growth an ACK, 10 ms tick, min RTO 0.2 s, every segment acknowledged";
    /// OPNET's stack of 2007 as the `adalr` document sets it.
    Opnet = "opnet", "OPNET 2007: 0.5 s tick, min RTO 1 s, initial window 2, 65,535-byte window, no timestamps";
    /// Linux 2.4.19, whose recovery is `sack-linux-2.4`.
    Linux24 = "linux-2.4", "Linux 2.4.19: quick ACKs, timestamps, D-SACK, variance term 200 ms at least; recovery sack-linux-2.4 beside it";
    /// Linux 6.18 with the defaults of its sysctls.
    Linux = "linux", "Linux 6.18: cubic over rack, initial window 10, a receive buffer that grows, timestamps, D-SACK, quick ACKs";
}

impl Profile {
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
            pacing: Spacing::Off,
            // RFC 9293 section 3.7.4: "A TCP implementation SHOULD implement the Nagle algorithm".
            nagle: Nagle::Classic,
            send_buffer: None,
            max_retransmissions: 15,
            syn_linear_timeouts: 0,
            // RFC 5961 section 7: the example, of 10.
            challenge_interval: Span::from_millis(5000),
            time_wait: Span::from_millis(60_000),
        };
        match self {
            Profile::Rfc => rfc,
            Profile::Ns2 => Config {
                initial_window: 2,
                growth: Growth::PerAck,
                delayed_ack: DelayedAck::OFF,
                rto: RtoConfig {
                    initial: Span::from_millis(3000),
                    min: Span::from_millis(200),
                    granularity: Span::from_millis(10),
                    ..rfc.rto
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
                    max: Span::from_millis(64_000),
                    granularity: Span::from_millis(500),
                    ..rfc.rto
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
        receive_window: ReceiveBuffer::LINUX.window_of(ReceiveBuffer::LINUX.max),
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
        // tcp_invalid_ratelimit: one.
        challenge_interval: Span::from_millis(500),
        // tcp_slow_start_after_idle 1: tcp_cwnd_restart.
        restart_after_idle: IdleRestart::Linux,
        // tcp_is_cwnd_limited.
        grow_only_when_limited: GrowthGate::Linux,
        // tcp_sack 1, tcp_window_scaling 1, tcp_reordering 3, tcp_retries2 15 and TCP_TIMEWAIT_LEN are
        // as in the other profiles. tcp_ecn 2 accepts ECN and does not offer it.
        ..rfc
    }
}
