//! From the TCP settings as written to those of one end of one flow.

use std::sync::Arc;

use bentpipe_apps::AppSpec;
use bentpipe_tcp::control::{ControlFactory, NoSuch};
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::slow_start::SlowStartFactory;
use bentpipe_tcp::{
    Catalogue, Chosen, Config, DelayedAck, Growth, GrowthGate, Host, IdleRestart, Nagle, Profile,
    ReceiveBuffer, Scheme, Spacing,
};
use bentpipe_units::registry::Kind;
use bentpipe_units::{Fault, Span, Under, conflict, ensure, fault, no_such_key};

use super::choices::{Choices, find};
use crate::keys::{
    GrowthName, InitialRule, InitialWindow, ReceiveBufferFile, Setting, Ssthresh, TcpFile, Unlimited, keys_of,
};
use crate::read::{divided, read, read_by};
use crate::text::{Node, Table, Value, merge};

/// The largest window that scaling can express is a little below this (RFC 7323 section 2.3).
const MAX_WINDOW: u64 = 1 << 30;

/// The largest window of a header without scaling.
const MAX_UNSCALED: u64 = 65_535;

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowEnd {
    Sender,
    Receiver,
}

/// The names of the schemes that have options: the keys of their tables below `tcp`.
fn option_tables(catalogue: &Catalogue) -> Vec<&str> {
    fn of<K: Kind + ?Sized>(catalogue: &Catalogue) -> impl Iterator<Item = &str> {
        catalogue.all::<K>().filter(|scheme| scheme.has_options()).map(Scheme::name)
    }
    let controls = of::<dyn ControlFactory>(catalogue).chain(of::<dyn RecoveryFactory>(catalogue));
    controls.chain(of::<dyn SlowStartFactory>(catalogue)).collect()
}

/// Checks what the settings in `node` say by themselves.
pub(crate) fn check(catalogue: &Catalogue, node: Option<&Node>) -> Result<(), Fault> {
    let (known, tables) = (keys_of::<TcpFile>(), option_tables(catalogue));
    if let Some(key) = tables.iter().find(|key| known.contains(key)) {
        let fault =
            conflict!("is a setting, and the name of a control, recovery or slow start with options too");
        return Err(fault.under(*key));
    }
    if let Some((_, key)) = tables.iter().enumerate().find(|(place, key)| tables[..*place].contains(key)) {
        let fault = conflict!("is the name of two of the controls, recoveries and slow starts with options");
        return Err(fault.under(*key));
    }
    let Some(node) = node else { return Ok(()) };
    if let Some(name) = settings_of(catalogue, node)?.slow_start {
        find::<dyn SlowStartFactory>(catalogue, &name)?;
    }
    catalogue.all::<dyn ControlFactory>().try_for_each(|scheme| factory(scheme, node).map(drop))?;
    catalogue.all::<dyn RecoveryFactory>().try_for_each(|scheme| factory(scheme, node).map(drop))?;
    catalogue.all::<dyn SlowStartFactory>().try_for_each(|scheme| factory(scheme, node).map(drop))
}

/// The settings in `node`, without the tables of schemes.
fn settings_of(catalogue: &Catalogue, node: &Node) -> Result<TcpFile, Fault> {
    let options = option_tables(catalogue);
    let known = keys_of::<TcpFile>();
    let [_, settings] = divided(node, &options, known, |key| no_such_key(key, &[known, &options].concat()))?;
    read(&settings)
}

/// The factory that the options of `scheme` come to, in `node`.
fn factory<F>(scheme: &Scheme<F>, node: &Node) -> Result<Arc<F>, Fault>
where
    F: Kind<Known = Arc<F>, Value = Arc<F>> + ?Sized,
{
    match node.get(scheme.name()).filter(|_| scheme.has_options()) {
        Some(options) => read_by(scheme, options).under(scheme.name()),
        None => Ok(Arc::clone(scheme.known())),
    }
}

/// The profile of the flow called `flow`, by which its sender goes.
pub(crate) fn profile(root: &Node, flow: &str) -> Result<Profile, Fault> {
    for path in [&["flows", flow, "tcp", "profile"][..], &["tcp", "profile"]] {
        if let Some(node) = root.find(path) {
            return read::<Profile>(node).map_err(|fault| fault.below(path));
        }
    }
    Ok(Profile::Rfc)
}

/// The settings of one end of the flow called `flow`: `[tcp]`, the flow's own over it, the receiver's own over both.
pub(crate) fn config(
    root: &Node,
    flow: &str,
    catalogue: &Catalogue,
    end: FlowEnd,
    choices: &Choices<'_>,
    app: &AppSpec,
) -> Result<Config, Fault> {
    let layers = [&["tcp"][..], &["flows", flow, "tcp"], &["flows", flow, "receiver_tcp"]];
    let layers = if end == FlowEnd::Sender { &layers[..2] } else { &layers };
    let mut node = Node { value: Value::Table(Table::new()), origin: root.origin };
    for above in layers.iter().filter_map(|path| root.find(path)) {
        merge(&mut node, above.clone());
    }
    // A fault is that of the highest layer that has its key.
    let here = |fault: Fault| {
        let keys: Vec<&str> = fault.path.iter().map(String::as_str).collect();
        let written = layers.iter().rev().find(|path| root.find(&[path, &keys[..]].concat()).is_some());
        let path = written.unwrap_or(&layers[0]);
        fault.clone().below(path)
    };
    let file = settings_of(catalogue, &node).map_err(here)?;
    let profile = file.profile.unwrap_or(Profile::Rfc);
    add_options(profile, &mut node);
    let Choices { recovery, control, slow_start: own_start } = choices;
    let inner = control.inner.map(|inner| factory(inner, &node)).transpose().map_err(here)?;
    let outer = factory(control.outer, &node).map_err(here)?;
    let chosen = control.of(outer, inner).map_err(|no_such| match no_such {
        NoSuch::Composition(fault) => fault.below(&["flows", flow, "control"]),
        NoSuch::Name => fault!("a control", "none").below(&["flows", flow, "control"]),
    })?;
    let recovery = Chosen::new(recovery.name().to_owned(), factory(recovery, &node).map_err(here)?);
    let usual = own_start.unwrap_or(profile.slow_start(chosen.name()));
    let name = file.slow_start.as_deref().unwrap_or(usual);
    let slow_start = find(catalogue, name).map_err(here)?;
    let slow_start = Chosen::new(slow_start.name().to_owned(), factory(slow_start, &node).map_err(here)?);
    let mut base = Config { slow_start, ..profile.config(recovery, chosen) };
    if app.facts().sets_no_delay {
        base.nagle = Nagle::Off;
    }
    settings(&file, base).map_err(here)
}

/// Lays the options that schemes have with `profile` under those that are written in `node`.
fn add_options(profile: Profile, node: &mut Node) {
    let origin = node.origin;
    for (scheme, key, value) in profile.options() {
        let Some(settings) = node.table_mut() else { return };
        let table = || Node { value: Value::Table(Table::new()), origin };
        let options = settings.entry((*scheme).to_owned()).or_insert_with(table);
        if let Some(options) = options.table_mut() {
            let value = || Node { value: Value::Text((*value).to_owned()), origin };
            options.entry((*key).to_owned()).or_insert_with(value);
        }
    }
}

/// Lays the keys that are written over the settings of the same names.
macro_rules! lay {
    ($file:expr => $settings:expr; $($key:ident),*) => {
        $(if let Some(written) = $file.$key {
            $settings.$key = written.into();
        })*
    };
}

/// What is written, over what the profile has.
fn settings(file: &TcpFile, mut config: Config) -> Result<Config, Fault> {
    windows(file, &mut config)?;
    config.growth = growth(file, config.growth)?;
    config.delayed_ack = delayed_ack(file, config.delayed_ack)?;
    timers(file, &mut config)?;
    match (file.no_delay, config.nagle) {
        (Some(true), _) => config.nagle = Nagle::Off,
        (Some(false), Nagle::Off) => config.nagle = Nagle::Classic,
        _ => {}
    }
    if let Some(rule) = file.pacing {
        let profile = if config.host == Host::Linux { Spacing::Linux } else { Spacing::Even };
        config.pacing = rule.over(profile, Spacing::Off, profile);
    }
    if let Some(rule) = file.restart_after_idle {
        let profile = config.restart_after_idle;
        config.restart_after_idle = rule.over(profile, IdleRestart::Off, IdleRestart::Rfc5681);
    }
    if let Some(rule) = file.grow_only_when_limited {
        let profile = config.grow_only_when_limited;
        config.grow_only_when_limited = rule.over(profile, GrowthGate::Off, GrowthGate::Rfc7661);
    }
    lay!(file => config; timestamps, sack, duplicate_sack, sack_compression, ecn, syn_linear_timeouts, limited_transmit, recover_guard,
        duplicate_threshold, burst, max_retransmissions, time_wait);
    Ok(config)
}

fn windows(file: &TcpFile, config: &mut Config) -> Result<(), Fault> {
    if let Some(mss) = file.mss {
        config.mss = mss as u32;
    }
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
    config.window_scaling = file.window_scaling.unwrap_or(config.window_scaling);
    let grew = config.receive_buffer.is_some();
    config.receive_buffer = receive_buffer(file, config.receive_buffer)?;
    match (file.receive_window, config.receive_buffer) {
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
    let by_profile = file.profile.is_none_or(|profile| profile == Profile::Rfc);
    let by_profile = by_profile.then_some(InitialWindow::Word(InitialRule::Rfc5681));
    if let Some(initial) = file.initial_window.or(by_profile) {
        config.initial_window = match initial.bytes(mss) {
            Ok(bytes) => within(bytes, "a window", "initial_window")? / mss,
            Err(rule) => rule.segments(mss),
        };
    }
    if let Some(written) = file.initial_ssthresh {
        config.initial_ssthresh = limit(written, "a threshold", "initial_ssthresh")?;
    }
    if let Some(written) = file.send_buffer {
        config.send_buffer = limit(written, "a buffer", "send_buffer")?;
    }
    Ok(())
}

/// A window that is written alone stays as it is, as a socket's buffer of a fixed size does.
fn receive_buffer(file: &TcpFile, profile: Option<ReceiveBuffer>) -> Result<Option<ReceiveBuffer>, Fault> {
    let on = profile.unwrap_or(ReceiveBuffer::LINUX);
    let ReceiveBufferFile { kernel, initial, max, segment } = match &file.receive_buffer {
        None => return Ok(profile.filter(|_| file.receive_window.is_none())),
        Some(Setting::Switch(switch)) => return Ok(switch.then_some(on)),
        Some(Setting::Written(written)) => written,
    };
    let on = kernel.map_or(on, ReceiveBuffer::of);
    let max = max.map_or(on.max, |max| max as u32);
    let initial = initial.map_or(on.initial.min(max), |initial| initial as u32);
    let large = || fault!("at most the buffer's max ({max} B)", "{initial} B");
    ensure!(initial <= max, large().under("initial").under("receive_buffer"));
    let segment = segment.map_or(on.segment, |segment| segment as u32);
    Ok(Some(ReceiveBuffer { kernel: on.kernel, initial, max, segment }))
}

fn growth(file: &TcpFile, profile: Growth) -> Result<Growth, Fault> {
    let limit = file.byte_counting_limit.map(|limit| limit.get() as u32);
    match (file.growth, profile, limit) {
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

fn delayed_ack(file: &TcpFile, profile: DelayedAck) -> Result<DelayedAck, Fault> {
    // RFC 5681 section 4.2: at least every second segment; most stacks wait 200 ms.
    let usual = DelayedAck::fixed(2, Span::from_millis(200));
    let on = if profile.segments > 1 { profile } else { usual };
    let written = match &file.delayed_ack {
        None => return Ok(profile),
        Some(Setting::Switch(true)) => return Ok(on),
        Some(Setting::Switch(false)) => return Ok(DelayedAck::OFF),
        Some(Setting::Written(written)) => written,
    };
    let segments = written.segments.map_or(on.segments, |segments| segments.get() as u32);
    let timeout = written.timeout.unwrap_or(on.timeout);
    let never = || fault!("a time above zero", "0 s").or("delayed_ack = false switches it off");
    ensure!(segments <= 1 || timeout > Span::ZERO, never().under("timeout").under("delayed_ack"));
    // A time of the profile's own that is longer than the one written is as long as that.
    let shortest =
        written.shortest.unwrap_or(if on.shortest < on.timeout { on.shortest.min(timeout) } else { timeout });
    let fits = shortest <= timeout && (segments <= 1 || shortest > Span::ZERO);
    let wrong = || fault!("a time above zero and at most the timeout ({timeout})", "{shortest}");
    ensure!(fits, wrong().under("shortest").under("delayed_ack"));
    let quick = written.quick.map_or(on.quick, |quick| quick.get() as u32);
    Ok(DelayedAck { segments, timeout, shortest, quick })
}

fn timers(file: &TcpFile, config: &mut Config) -> Result<(), Fault> {
    let rto = &mut config.rto;
    lay!(file.rto => rto; initial, min, max, granularity, min_variance, estimator);
    let most = rto.max;
    let bounded = [
        ("min", rto.min),
        ("initial", rto.initial),
        ("granularity", rto.granularity),
        ("min_variance", rto.min_variance),
    ];
    match bounded.into_iter().find(|(_, time)| *time > most) {
        Some((key, time)) => Err(fault!("at most the rto's max ({most})", "{time}").under(key).under("rto")),
        None => Ok(()),
    }
}
