//! What each profile has for the keys of `[tcp]`, as scenarios write it.

use std::fmt::Debug;

use bentpipe_units::Span;

use super::{DelayedAck, Growth, Nagle, Profile};
use crate::control::StandardOptions;
use crate::recovery::SackOptions;

impl Profile {
    /// Keys below `tcp` and their values; keys whose value depends on other choices are left out.
    pub fn defaults(self) -> Vec<(&'static str, String)> {
        let config = self.config(SackOptions, StandardOptions::default());
        let bytes = |bytes: u32| match bytes {
            whole if whole >= 1 << 20 && whole % (1 << 20) == 0 => format!("\"{} MiB\"", whole >> 20),
            whole if whole >= 1 << 17 && whole % (1 << 10) == 0 => format!("\"{} KiB\"", whole >> 10),
            whole => format!("\"{whole} B\""),
        };
        let limit = |limit: Option<u32>| limit.map_or("\"unlimited\"".to_owned(), bytes);
        let time = |time: Span| format!("\"{time}\"");
        // The names of these rules are single words.
        let word = |rule: &dyn Debug| match format!("{rule:?}").to_lowercase() {
            off if off == "off" => "false".to_owned(),
            rule => format!("\"{rule}\""),
        };
        let (growth, counted) = match config.growth {
            Growth::Bytes { limit } => ("bytes", Some(limit)),
            Growth::PerAck => ("per-ack", None),
            Growth::Delivered => ("delivered", None),
        };
        let initial = match self {
            Profile::Rfc => "\"rfc5681\"".to_owned(),
            _ => format!("\"{} segments\"", config.initial_window),
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
            ("rto.estimator", word(&config.rto.estimator)),
            ("duplicate_threshold", config.duplicate_threshold.to_string()),
            ("limited_transmit", config.limited_transmit.to_string()),
            ("recover_guard", config.recover_guard.to_string()),
            ("restart_after_idle", word(&config.restart_after_idle)),
            ("grow_only_when_limited", word(&config.grow_only_when_limited)),
            ("burst", config.burst.to_string()),
            ("pacing", word(&config.pacing)),
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
}
