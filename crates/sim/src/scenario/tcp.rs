//! From the TCP settings as written to those of one end of one flow.

use bentpipe_tcp::{Config, ControlKind, DelayedAck, Growth, Profile, RecoveryKind};
use bentpipe_units::Span;

use super::error::ScenarioError;
use super::layers::merge;
use super::schema::TcpFile;
use super::tree::{Document, Place};
use super::written::{DelayedAckSetting, GrowthName, Segments, Ssthresh};

/// The largest window that scaling can express is a little below this (RFC 7323 section 2.3).
const MAX_WINDOW: u64 = 1 << 30;

/// The largest window of a header without scaling.
const MAX_UNSCALED: u64 = 65_535;

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

/// The settings of one end of the flow at `flow`: `[tcp]`, the flow's own over it, the receiver's own over both.
pub(crate) fn config(
    document: &Document,
    flow: &Place<'_>,
    end: End,
    recovery: RecoveryKind,
    control: ControlKind,
) -> Result<Config, ScenarioError> {
    let mut layers = vec![document.place(&["tcp"]), flow.below(&["tcp"])];
    if end == End::Receiver {
        layers.push(flow.below(&["receiver_tcp"]));
    }
    let nodes = layers.iter().filter_map(Place::node).cloned();
    let merged = nodes.reduce(|mut below, above| {
        merge(&mut below, above);
        below
    });
    let file = match &merged {
        Some(node) => layers[layers.len() - 1].read_from(node)?,
        None => TcpFile::default(),
    };
    settings(&file, recovery, control).map_err(|(key, message)| {
        let written = layers.iter().rev().find(|layer| layer.below(key).node().is_some());
        written.unwrap_or(&layers[0]).error(key, message)
    })
}

/// The key below `tcp`, and what is wrong with it.
type Fault = (&'static [&'static str], String);

/// Lays the keys that are written over the settings of the same names.
macro_rules! lay {
    ($file:expr => $settings:expr; $($key:ident),*) => {
        $(if let Some(written) = $file.$key {
            $settings.$key = written.into();
        })*
    };
}

fn settings(file: &TcpFile, recovery: RecoveryKind, control: ControlKind) -> Result<Config, Fault> {
    let profile = file.profile.map_or(Profile::Rfc, |profile| profile.0);
    let mut config = profile.config(recovery, control);
    windows(file, &mut config)?;
    config.growth = growth(file, config.growth)?;
    config.delayed_ack = delayed_ack(file, config.delayed_ack)?;
    timers(file, &mut config)?;
    lay!(file => config; timestamps, sack, ecn, limited_transmit, recover_guard, restart_after_idle,
        grow_only_when_limited, duplicate_threshold, max_retransmissions, time_wait);
    let (adalr, afc) = (&file.adalr, &file.afc);
    lay!(adalr => config.adalr; scaling, cwnd_increase, rwnd_increase, loss_recovery, rtt_dev_gain);
    config.adalr.rwnd_reading = adalr.rwnd_reading.map_or(config.adalr.rwnd_reading, |choice| choice.0);
    config.adalr.avoidance_reading =
        adalr.avoidance_reading.map_or(config.adalr.avoidance_reading, |choice| choice.0);
    lay!(afc => config.afc; delayed_recovery, rate_adjustment);
    config.afc.growth_while_delayed =
        afc.growth_while_delayed.map_or(config.afc.growth_while_delayed, |choice| choice.0);
    Ok(config)
}

fn windows(file: &TcpFile, config: &mut Config) -> Result<(), Fault> {
    if let Some(mss) = file.mss {
        config.mss = mss as u32;
    }
    let mss = config.mss;
    let window = |written: Segments, what: &str, key: &'static [&'static str]| {
        let bytes = written.bytes(mss);
        if bytes < u64::from(mss) || bytes > MAX_WINDOW {
            let message = format!("expected {what} from one segment ({mss} B) to 1 GiB, found {bytes} B");
            return Err((key, message));
        }
        Ok(bytes as u32)
    };
    if let Some(written) = file.receive_window {
        config.receive_window = window(written, "a window", &["receive_window"])?;
    }
    config.window_scaling = file.window_scaling.unwrap_or(config.window_scaling);
    if u64::from(config.receive_window) > MAX_UNSCALED && !config.window_scaling {
        let message = format!(
            "expected at most {MAX_UNSCALED} B without window_scaling, found {} B",
            config.receive_window
        );
        return Err((&["receive_window"], message));
    }
    if let Some(written) = file.initial_window {
        window(written, "a window", &["initial_window"])?;
        config.initial_window = written.segments(mss) as u32;
    }
    match file.initial_ssthresh {
        Some(Ssthresh::Unlimited) => config.initial_ssthresh = None,
        Some(Ssthresh::Window(written)) => {
            config.initial_ssthresh = Some(window(written, "a threshold", &["initial_ssthresh"])?);
        }
        None => {}
    }
    Ok(())
}

fn growth(file: &TcpFile, profile: Growth) -> Result<Growth, Fault> {
    let by_bytes = match file.growth {
        Some(choice) => choice.0 == GrowthName::Bytes,
        None => matches!(profile, Growth::Bytes { .. }),
    };
    let key = &["byte_counting_limit"];
    match (by_bytes, file.byte_counting_limit) {
        (false, None) => Ok(Growth::PerAck),
        (false, Some(_)) => {
            Err((key, "expected growth = \"bytes\" beside this key, found \"per-ack\"".to_owned()))
        }
        (true, Some(limit)) => Ok(Growth::Bytes { limit: limit.get() as u32 }),
        (true, None) => Ok(match profile {
            Growth::Bytes { limit } => Growth::Bytes { limit },
            Growth::PerAck => Growth::Bytes { limit: 1 },
        }),
    }
}

fn delayed_ack(file: &TcpFile, profile: DelayedAck) -> Result<DelayedAck, Fault> {
    let at_once = DelayedAck { segments: 1, timeout: Span::ZERO };
    // RFC 5681 section 4.2: at least every second segment; most stacks wait 200 ms.
    let usual = DelayedAck { segments: 2, timeout: Span::from_millis(200) };
    let on = if profile.segments > 1 { profile } else { usual };
    let written = match &file.delayed_ack {
        None => return Ok(profile),
        Some(DelayedAckSetting::Switch(true)) => return Ok(on),
        Some(DelayedAckSetting::Switch(false)) => return Ok(at_once),
        Some(DelayedAckSetting::Table(written)) => written,
    };
    let segments = written.segments.map_or(on.segments, |segments| segments.get() as u32);
    let timeout = written.timeout.unwrap_or(on.timeout);
    if segments > 1 && timeout == Span::ZERO {
        let message = "expected a time above zero, found 0 s; delayed_ack = false switches it off".to_owned();
        return Err((&["delayed_ack", "timeout"], message));
    }
    Ok(DelayedAck { segments, timeout })
}

fn timers(file: &TcpFile, config: &mut Config) -> Result<(), Fault> {
    let rto = &mut config.rto;
    lay!(file.rto => rto; initial, min, max, granularity);
    let most = rto.max;
    let bounded: [(&'static [&'static str], Span); 3] = [
        (&["rto", "min"], rto.min),
        (&["rto", "initial"], rto.initial),
        (&["rto", "granularity"], rto.granularity),
    ];
    match bounded.into_iter().find(|(_, time)| *time > most) {
        Some((key, time)) => Err((key, format!("expected at most the rto's max ({most}), found {time}"))),
        None => Ok(()),
    }
}
