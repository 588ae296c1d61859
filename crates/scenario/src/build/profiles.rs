//! What each profile has for the keys of `[tcp]`, as scenarios write it.

use bentpipe_tcp::control::StandardOptions;
use bentpipe_tcp::recovery::SackOptions;
use bentpipe_tcp::{DelayedAck, Growth, GrowthGate, IdleRestart, Nagle, Profile, RtoEstimator, Spacing};
use bentpipe_units::Span;

/// Keys below `tcp` and their values of `profile`; keys whose value depends on other choices are left out.
pub(crate) fn defaults(profile: Profile) -> Vec<(&'static str, String)> {
    let config = profile.config(SackOptions, StandardOptions::default());
    let bytes = |bytes: u32| match bytes {
        whole if whole >= 1 << 20 && whole % (1 << 20) == 0 => format!("\"{} MiB\"", whole >> 20),
        whole if whole >= 1 << 17 && whole % (1 << 10) == 0 => format!("\"{} KiB\"", whole >> 10),
        whole => format!("\"{whole} B\""),
    };
    let limit = |limit: Option<u32>| limit.map_or("\"unlimited\"".to_owned(), bytes);
    let time = |time: Span| format!("\"{time}\"");
    let word = |word: Option<&str>| word.map_or("false".to_owned(), |word| format!("\"{word}\""));
    let (growth, counted) = match config.growth {
        Growth::Bytes { limit } => ("bytes", Some(limit)),
        Growth::PerAck => ("per-ack", None),
        Growth::Delivered => ("delivered", None),
    };
    let initial = match profile {
        Profile::Rfc => "\"rfc5681\"".to_owned(),
        _ => format!("\"{} segments\"", config.initial_window),
    };
    let restart = match config.restart_after_idle {
        IdleRestart::Off => None,
        IdleRestart::Rfc5681 => Some("rfc5681"),
        IdleRestart::Rfc7661 => Some("rfc7661"),
        IdleRestart::Linux => Some("linux"),
    };
    let gate = match config.grow_only_when_limited {
        GrowthGate::Off => None,
        GrowthGate::Full => Some("full"),
        GrowthGate::Rfc7661 => Some("rfc7661"),
        GrowthGate::Linux => Some("linux"),
    };
    let pacing = match config.pacing {
        Spacing::Off => None,
        Spacing::Even => Some("even"),
        Spacing::Linux => Some("linux"),
    };
    let estimator = match config.rto.estimator {
        RtoEstimator::Rfc6298 => "rfc6298",
        RtoEstimator::Linux => "linux",
        RtoEstimator::Ns2 => "ns2",
    };
    let mut all = vec![
        ("mss", bytes(config.mss)),
        ("receive_buffer", config.receive_buffer.is_some().to_string()),
        ("send_buffer", limit(config.send_buffer)),
        ("no_delay", (config.nagle == Nagle::Off).to_string()),
        ("window_scaling", config.window_scaling.to_string()),
        ("timestamps", config.timestamps.to_string()),
        ("duplicate_sack", config.duplicate_sack.to_string()),
        ("ecn", config.ecn.to_string()),
        ("initial_window", initial),
        ("initial_ssthresh", limit(config.initial_ssthresh)),
        ("growth", format!("\"{growth}\"")),
        ("rto.initial", time(config.rto.initial)),
        ("rto.min", time(config.rto.min)),
        ("rto.max", time(config.rto.max)),
        ("rto.granularity", time(config.rto.granularity)),
        ("rto.min_variance", time(config.rto.min_variance)),
        ("rto.estimator", format!("\"{estimator}\"")),
        ("duplicate_threshold", config.duplicate_threshold.to_string()),
        ("limited_transmit", config.limited_transmit.to_string()),
        ("recover_guard", config.recover_guard.to_string()),
        ("restart_after_idle", word(restart)),
        ("grow_only_when_limited", word(gate)),
        ("burst", config.burst.to_string()),
        ("pacing", word(pacing)),
        ("syn_linear_timeouts", config.syn_linear_timeouts.to_string()),
        ("max_retransmissions", config.max_retransmissions.to_string()),
        ("time_wait", time(config.time_wait)),
    ];
    all.extend(counted.map(|limit| ("byte_counting_limit", limit.to_string())));
    match config.receive_buffer {
        Some(buffer) => all.extend([
            ("receive_buffer.kernel", format!("\"{}\"", buffer.kernel.name())),
            ("receive_buffer.initial", bytes(buffer.initial)),
            ("receive_buffer.max", bytes(buffer.max)),
            ("receive_buffer.segment", bytes(buffer.segment)),
        ]),
        None => all.push(("receive_window", bytes(config.receive_window))),
    }
    match config.delayed_ack {
        DelayedAck::OFF => all.push(("delayed_ack", "false".to_owned())),
        DelayedAck { segments, timeout, shortest, quick } => all.extend([
            ("delayed_ack.segments", segments.to_string()),
            ("delayed_ack.timeout", time(timeout)),
            ("delayed_ack.shortest", time(shortest)),
            ("delayed_ack.quick", quick.to_string()),
        ]),
    }
    all
}
