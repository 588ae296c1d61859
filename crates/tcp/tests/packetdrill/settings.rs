//! What a script sets: sysctls, routes, socket options; and the endpoint that comes of them.

use std::collections::BTreeMap;

use bentpipe_tcp::control::{ControlFactory, CubicOptions, CubicReading};
use bentpipe_tcp::{
    Catalogue, Chosen, Config, DelayedAck, Host, IdleRestart, Kernel, Nagle, Profile, ReceiveBuffer,
};
use bentpipe_units::Span;

use crate::asserts;
use crate::script::{Script, What};

/// Sysctls of TCP by the last part of their names, and what else is set.
pub(crate) struct Settings {
    pub(crate) profile: Profile,
    values: BTreeMap<String, String>,
    /// Whether one of FreeBSD's was set.
    pub(crate) bsd: bool,
}

/// Those that are known, where any value but these means another TCP.
const ONLY: [(&str, &[&str]); 10] = [
    ("recovery", &["1", "0x1"]),
    ("early_retrans", &["0", "3", "4"]),
    ("frto", &["1", "2"]),
    ("mtu_probing", &["0"]),
    ("shrink_window", &["0"]),
    ("ecn", &["0", "1", "2"]),
    ("syncookies", &["0", "1"]),
    ("blackhole", &["0"]),
    ("insecure_rst", &["0"]),
    ("insecure_syn", &["0"]),
];

/// What `defaults.sh` of Google's and the kernel's scripts sets, where it is another value than the profile's. Their kernel has
/// `CONFIG_HZ` 1000.
const DEFAULTS: [(&str, &str); 4] =
    [("rmem", "4096 540000 15728640"), ("slow_start_after_idle", "0"), ("ecn", "0"), ("hz", "1000")];

impl Settings {
    pub(crate) fn new(profile: Profile) -> Settings {
        Settings { profile, values: BTreeMap::new(), bsd: false }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok()
    }

    /// A command of the shell; an error says what it sets that has no meaning here. Once the connection is `open`, what it sets has none.
    pub(crate) fn command(&mut self, text: &str, open: bool) -> Result<(), String> {
        let text = text.replace("\\\n", " ");
        if text.contains("defaults.sh") {
            self.values.extend(DEFAULTS.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        for word in words(&text) {
            let Some((key, value)) = word.split_once('=') else { continue };
            let name = if let Some((_, name)) = key.split_once("net.inet.tcp.") {
                self.bsd = true;
                match name {
                    "sack.enable" => "sack",
                    "ecn.enable" => "ecn",
                    name => name,
                }
            } else if let Some((_, name)) =
                key.split_once("ipv4.tcp_").or_else(|| key.split_once("ipv4/tcp_"))
            {
                name
            } else {
                continue;
            };
            self.values.insert(name.to_owned(), value.to_owned());
        }
        if let Some((_, segments)) = text.split_once("initcwnd ") {
            let segments = segments.split_whitespace().next().unwrap_or("");
            self.values.insert("initcwnd".to_owned(), segments.to_owned());
        }
        for route in text.lines().filter(|line| line.contains("ip route")) {
            let options = ["initrwnd", "rto_min", "mtu", "features", "advmss", "congctl"];
            if let Some(option) = options.iter().find(|option| route.contains(**option)) {
                return Err(format!("{option} of a route"));
            }
        }
        let strange = ONLY.iter().find_map(|(name, known)| {
            let value = self.get(name).filter(|value| !known.contains(value))?;
            Some(format!("{name} = {value}"))
        });
        strange.filter(|_| !open).map_or(Ok(()), Err)
    }

    /// The endpoint's configuration, once the connection opens.
    pub(crate) fn config(&self, script: &Script, connects: bool) -> Result<Config, String> {
        let sockets = Sockets::of(script);
        let named = sockets.control.as_deref().or(self.get("congestion_control"));
        let control = match (named, self.profile) {
            (None, profile) => profile.control(),
            (Some("reno" | "newreno"), _) => "standard",
            (Some("bbr"), _) => "bbr1",
            (Some(name @ ("cubic" | "vegas" | "westwood")), _) => name,
            (Some(name), _) => return Err(format!("the congestion control {name}")),
        };
        let catalogue = Catalogue::default();
        let recovery = catalogue.usual(self.profile.recovery()).expect("a recovery");
        let linux = self.profile == Profile::Linux;
        let chosen: Chosen<dyn ControlFactory> = match (control, linux) {
            ("cubic", true) => {
                CubicOptions { reading: CubicReading::Linux, ..CubicOptions::default() }.into()
            }
            _ => catalogue.usual(control).expect("a control"),
        };
        let mut config = self.profile.config(recovery, chosen);
        config.slow_start = catalogue.usual(self.profile.slow_start(control)).expect("a slow start");
        if let Some(mtu) = script.options.iter().find(|(name, _)| name == "mtu") {
            config.mss = mtu.1.parse::<u32>().map_or(config.mss, |mtu| mtu.clamp(128, 65_535) - 40);
        }
        if let Some(mss) = sockets.mss.filter(|_| connects || sockets.mss_before_syn) {
            config.mss = config.mss.min(mss);
        }
        if sockets.no_delay {
            config.nagle = Nagle::Off;
        }
        let on = |name: &str, usual: bool| self.get(name).map_or(usual, |value| value != "0");
        if self.bsd {
            config.duplicate_sack = true;
            config.timestamps = on("rfc1323", true);
            config.window_scaling = on("rfc1323", true);
            config.delayed_ack = DelayedAck::fixed(2, Span::from_millis(40));
        } else {
            config.timestamps = on("timestamps", config.timestamps);
            config.window_scaling = on("window_scaling", config.window_scaling);
            config.duplicate_sack = on("dsack", config.duplicate_sack);
        }
        config.sack &= on("sack", true);
        self.set_window(&mut config, sockets.receive_buffer)?;
        let usual = if self.bsd || linux { "2" } else { "0" };
        config.ecn = match self.get("ecn").unwrap_or(usual) {
            "1" => true,
            "2" => !connects,
            _ => false,
        };
        if !on("slow_start_after_idle", true) {
            config.restart_after_idle = IdleRestart::Off;
        }
        if let Some(segments) = self.number("initcwnd") {
            config.initial_window = segments;
        }
        if let Some(hz) = self.number("hz") {
            config.rto.granularity = Span::from_millis(u64::from(1000 / hz.clamp(1, 1000)));
        }
        if let Some(most) = self.number("rto_max_ms") {
            config.rto.max = Span::from_millis(most.into());
        }
        if let Some(most) = self.number("retries2") {
            config.max_retransmissions = most;
        }
        if let Some(interval) = self.number("invalid_ratelimit") {
            config.challenge_interval = Span::from_millis(interval.into());
        }
        if let (Host::Linux, Some(linear)) = (config.host, self.number("syn_linear_timeouts")) {
            config.syn_linear_timeouts = linear;
        }
        Ok(config)
    }

    fn set_window(&self, config: &mut Config, socket: Option<u32>) -> Result<(), String> {
        if self.bsd {
            return Ok(());
        }
        if let Some(bytes) = socket {
            (config.receive_window, config.receive_buffer) = (bytes, None);
        } else if let Some(rmem) = self.get("rmem") {
            let sizes: Vec<u32> = rmem.split_whitespace().filter_map(bytes).collect();
            let [_, initial, max] = sizes[..] else { return Err(format!("tcp_rmem = {rmem}")) };
            let buffer = ReceiveBuffer { initial, max, ..ReceiveBuffer::of(Kernel::Linux618) };
            config.receive_window = buffer.window_of(max);
            config.receive_buffer = Some(buffer);
        }
        Ok(())
    }
}

/// A number, or `$((a*b))`.
fn bytes(text: &str) -> Option<u32> {
    let sum = text.trim_start_matches("$((").trim_end_matches("))");
    asserts::value(sum, &|_| None).ok().and_then(|(value, _)| u32::try_from(value).ok())
}

/// Words of the shell, quotes taken off.
fn words(text: &str) -> Vec<String> {
    let (mut out, mut quoted) = (vec![String::new()], false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => out.push(String::new()),
            c => out.last_mut().expect("one at least").push(c),
        }
    }
    out
}

/// What `setsockopt` sets anywhere in a script, and counts from the beginning.
#[derive(Default)]
struct Sockets {
    control: Option<String>,
    mss: Option<u32>,
    mss_before_syn: bool,
    receive_buffer: Option<u32>,
    no_delay: bool,
}

impl Sockets {
    fn of(script: &Script) -> Sockets {
        let mut sockets = Sockets { mss_before_syn: true, ..Sockets::default() };
        let mut syn = false;
        for event in &script.events {
            match &event.what {
                What::In(_) => syn = true,
                What::Call(call) if call.name == "setsockopt" => {
                    if let Some(mss) = call.option("TCP_MAXSEG") {
                        (sockets.mss, sockets.mss_before_syn) = (Some(mss), !syn);
                    }
                    let buffer = call.option("SO_RCVBUF").or(call.option("SO_RCVBUFFORCE"));
                    sockets.receive_buffer = sockets.receive_buffer.or(buffer);
                    sockets.no_delay |= call.option("TCP_NODELAY").is_some_and(|on| on != 0);
                    if call.mentions("TCP_CONGESTION") {
                        sockets.control = call.args.get(3).map(|name| name.trim_matches('"').to_owned());
                    }
                }
                _ => {}
            }
        }
        sockets
    }
}
