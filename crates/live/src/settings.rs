//! What one run against the kernel is set up with.

use std::collections::BTreeMap;

use bentpipe_path::{DisorderSpec, LinkConfig, LossSpec, QueueSpec, Schedule};
use bentpipe_tcp::{Config, ControlKind, DelayedAck, Profile, RecoveryKind};
use bentpipe_units::{Bytes, Rate, Span};
use serde::{Deserialize, Serialize};

use crate::namespace::Network;
use crate::{LiveError, kernel};

/// Which way the data goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From our end to the kernel.
    #[default]
    Send,
    /// From the kernel to our end.
    Receive,
}

impl Direction {
    pub(crate) fn opposite(self) -> Direction {
        match self {
            Direction::Send => Direction::Receive,
            Direction::Receive => Direction::Send,
        }
    }
}

/// Which end says first that it has no more data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosesFirst {
    /// The one that sends the data, behind its last byte.
    #[default]
    Sender,
    /// The one that receives it, as soon as the connection is open.
    Receiver,
}

/// One direction of the path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// What may wait.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Which packets are lost.
    #[serde(default)]
    pub loss: LossSpec,
    /// Which packets are held up or come twice.
    #[serde(default)]
    pub disorder: DisorderSpec,
}

impl Way {
    pub(crate) fn link(&self) -> LinkConfig {
        LinkConfig {
            rate: self.rate,
            delay: self.delay,
            efficiency: 1.0,
            queue: self.queue,
            loss: self.loss.clone(),
            schedule: Schedule::default(),
        }
    }

    fn validate(&self) -> Result<(), LiveError> {
        let checked = self.queue.validate().and(self.loss.validate()).and(self.disorder.validate());
        checked.map_err(|error| LiveError::Setting(error.to_string()))
    }
}

/// How the receiving program or our receiving end reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// Bytes a second, or as fast as they come.
    pub bytes_per_s: Option<u64>,
    /// Stop reading once so many bytes were read.
    pub pause_after: Option<Bytes>,
    /// For so long.
    pub pause: Span,
}

/// One run: our end, the kernel's end, the path between them, and what goes over it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What our end resends, when: the name of a recovery, or `linux` for a second kernel in place of our end.
    pub recovery: String,
    /// How large our end's window is: the name of a control; of one of the kernel's where that is in our end's place.
    pub control: String,
    /// Which way the data goes.
    #[serde(default)]
    pub direction: Direction,
    /// How much data.
    pub bytes: Bytes,
    /// How much the receiver of the data sends back after the sender has closed its half.
    #[serde(default)]
    pub answer: Bytes,
    /// Which end closes first.
    #[serde(default)]
    pub closes_first: ClosesFirst,
    /// How the receiver of the data reads.
    #[serde(default)]
    pub reading: Reading,
    /// The way of the data.
    pub forward: Way,
    /// The way of the acknowledgments.
    pub backward: Way,
    /// Largest payload that our end takes, in bytes.
    #[serde(default = "default_mss")]
    pub mss: u32,
    /// Largest payload that the kernel takes, in bytes; the MTU of the TUN device is 40 bytes more.
    #[serde(default = "default_mss")]
    pub kernel_mss: u32,
    /// Our end's receive buffer.
    #[serde(default = "default_window")]
    pub window: Bytes,
    /// The receive buffer of the kernel's socket; it sizes it itself otherwise.
    #[serde(default)]
    pub kernel_buffer: Option<Bytes>,
    /// The congestion control of the kernel's socket; what the namespace has by default otherwise.
    #[serde(default)]
    pub kernel_control: Option<String>,
    /// Whether our end offers window scaling.
    #[serde(default = "yes")]
    pub scaling: bool,
    /// Whether our end offers timestamps.
    #[serde(default)]
    pub timestamps: bool,
    /// Whether our end offers SACK; as the recovery has it otherwise.
    #[serde(default)]
    pub sack: Option<bool>,
    /// First sequence number of our end; drawn otherwise.
    #[serde(default)]
    pub sequence: Option<u32>,
    /// First sequence number of the kernel where it opens the connection; it draws its own otherwise.
    #[serde(default)]
    pub kernel_sequence: Option<u32>,
    /// Whether the kernel acknowledges every segment at once; by itself it does so for the first ones only.
    #[serde(default)]
    pub quickack: bool,
    /// Initial window of our end in segments; that of the RFC otherwise.
    #[serde(default)]
    pub initial_window: Option<u32>,
    /// Whether our end acknowledges each segment at once instead of every second.
    #[serde(default)]
    pub acknowledge_each: bool,
    /// Attributes of the kernel's route to our end, by the name that `ip route` has for them, such as `initcwnd`.
    #[serde(default)]
    pub route: BTreeMap<String, String>,
    /// Settings of the kernel for IPv4, by the name that they have under `net.ipv4`.
    #[serde(default)]
    pub sysctl: BTreeMap<String, String>,
    /// For the payload, the losses and our first sequence number.
    #[serde(default = "one")]
    pub seed: u64,
}

fn default_mss() -> u32 {
    1460
}

fn default_window() -> Bytes {
    Bytes::new(1 << 20)
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

/// What stands at our end of the path.
#[derive(Clone, Debug)]
pub(crate) enum Own {
    /// Our endpoint.
    Ours(Config),
    /// A second kernel.
    Linux(Network),
}

/// The recovery that stands for a second kernel.
const LINUX: &str = "linux";

/// Headers without options; a TUN device's MTU counts them.
const HEADERS: u32 = bentpipe_tcp::IP_HEADER + bentpipe_tcp::TCP_HEADER;

impl Settings {
    /// Reads settings as JSON.
    ///
    /// # Errors
    /// When a key is unknown or missing, or a value impossible; the message names it.
    pub fn from_json(text: &str) -> Result<Settings, LiveError> {
        let settings: Settings =
            serde_json::from_str(text).map_err(|error| LiveError::Setting(error.to_string()))?;
        settings.validate()?;
        Ok(settings)
    }

    fn validate(&self) -> Result<(), LiveError> {
        if self.recovery == LINUX {
            known_to_the_kernel("control", &self.control)?;
        } else {
            self.recovery_kind()?;
            self.control_kind()?;
        }
        if let Some(control) = &self.kernel_control {
            known_to_the_kernel("kernel_control", control)?;
        }
        self.forward.validate()?;
        self.backward.validate()?;
        let refuse = |text: String| Err(LiveError::Setting(text));
        for mss in [self.mss, self.kernel_mss] {
            if !(88..=65_495).contains(&mss) {
                return refuse(format!("mss: expected 88 to 65495 bytes, found {mss}"));
            }
        }
        if !(1..=1 << 30).contains(&self.window.get()) {
            return refuse(format!("window: expected 1 B to 1 GiB, found {}", self.window));
        }
        if self.closes_first == ClosesFirst::Receiver && self.answer.get() > 0 {
            return refuse("answer: a receiver that closes first cannot send anything back".to_owned());
        }
        if self.initial_window == Some(0) {
            return refuse("initial_window: expected at least 1 segment, found 0".to_owned());
        }
        let mut words = self.route.iter().flat_map(|(name, value)| [name, value]);
        if let Some(word) = words.find(|word| !is_setting_name(word)) {
            return refuse(format!("route: expected names and values such as initcwnd 10, found {word:?}"));
        }
        if let Some(name) = self.sysctl.keys().find(|name| !is_setting_name(name)) {
            return refuse(format!(
                "sysctl: expected a name under net.ipv4 such as tcp_sack, found {name:?}"
            ));
        }
        Ok(())
    }

    fn recovery_kind(&self) -> Result<RecoveryKind, LiveError> {
        let all = RecoveryKind::ALL;
        named(&all, RecoveryKind::name, "recovery", &[LINUX], &self.recovery)
    }

    fn control_kind(&self) -> Result<ControlKind, LiveError> {
        let all = ControlKind::ALL;
        named(&all, ControlKind::name, "control", &[], &self.control)
    }

    /// What stands at our end of the path, and how it is set up.
    pub(crate) fn own(&self) -> Result<Own, LiveError> {
        if self.recovery == LINUX {
            return Ok(Own::Linux(self.own_network()));
        }
        let base = Profile::Rfc.config(self.recovery_kind()?, self.control_kind()?);
        let delayed_ack = if self.acknowledge_each {
            DelayedAck { segments: 1, timeout: Span::ZERO }
        } else {
            base.delayed_ack
        };
        Ok(Own::Ours(Config {
            mss: self.mss,
            initial_window: self.initial_window.unwrap_or(base.initial_window),
            delayed_ack,
            receive_window: self.window.get() as u32,
            window_scaling: self.scaling,
            timestamps: self.timestamps,
            sack: self.sack.unwrap_or(base.sack),
            ..base
        }))
    }

    /// How the kernel's end is set up.
    pub(crate) fn network(&self) -> Network {
        Network {
            mtu: self.kernel_mss + HEADERS,
            quickack: self.quickack,
            route: self.route.clone(),
            sysctl: self.sysctl.clone(),
        }
    }

    /// How a kernel in our end's place is set up: as our end would be, and in all else as the other kernel.
    fn own_network(&self) -> Network {
        let mut network = Network {
            mtu: self.mss + HEADERS,
            quickack: self.quickack || self.acknowledge_each,
            ..self.network()
        };
        network
            .route
            .extend(self.initial_window.map(|segments| ("initcwnd".to_owned(), segments.to_string())));
        let switch = |name: &str, on: bool| (name.to_owned(), u8::from(on).to_string());
        network
            .sysctl
            .extend([switch("tcp_window_scaling", self.scaling), switch("tcp_timestamps", self.timestamps)]);
        network.sysctl.extend(self.sack.map(|on| switch("tcp_sack", on)));
        network
    }
}

fn known_to_the_kernel(key: &str, control: &str) -> Result<(), LiveError> {
    let known = kernel::controls();
    let known = known.map_err(|error| LiveError::while_doing("reading the kernel's controls", &error))?;
    if known.iter().any(|name| name == control) {
        return Ok(());
    }
    let known = known.join(", ");
    Err(LiveError::Setting(format!(
        "{key}: expected one of {known}, which this kernel has, found {control:?}"
    )))
}

fn is_setting_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The kind of that name; `others` may stand for `key` too.
fn named<T: Copy>(
    all: &[T],
    name: fn(T) -> &'static str,
    key: &str,
    others: &[&str],
    wanted: &str,
) -> Result<T, LiveError> {
    all.iter().copied().find(|kind| name(*kind) == wanted).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|kind| name(*kind)).chain(others.iter().copied()).collect();
        LiveError::Setting(format!("{key}: expected one of {}, found {wanted:?}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r#"{"recovery": "sack", "control": "standard", "bytes": "1 MB",
        "forward": {"rate": "10 Mbit/s", "delay": "20 ms"}, "backward": {"rate": "1 Mbit/s", "delay": "20 ms"}}"#;

    fn with(from: &str, to: &str) -> Result<Settings, LiveError> {
        let text = PLAIN.replacen(from, to, 1);
        assert_ne!(text, PLAIN);
        Settings::from_json(&text)
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let settings = Settings::from_json(PLAIN).unwrap();
        assert_eq!((settings.mss, settings.network().mtu), (1460, 1500));
        let Own::Ours(config) = settings.own().unwrap() else { panic!("a kernel at our end") };
        assert!(config.sack);
    }

    #[test]
    fn a_kernel_in_our_place_offers_what_our_end_would() {
        let recovery = r#""recovery": "linux", "timestamps": true, "scaling": false, "acknowledge_each": true,
            "initial_window": 4, "sysctl": {"tcp_sack": "0", "tcp_timestamps": "0"}, "control": "reno", "bytes""#;
        let settings = with(r#""recovery": "sack", "control": "standard", "bytes""#, recovery).unwrap();
        let Own::Linux(network) = settings.own().unwrap() else { panic!("our endpoint") };
        let pairs = |map: &BTreeMap<String, String>| {
            map.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(pairs(&network.sysctl), "tcp_sack=0 tcp_timestamps=1 tcp_window_scaling=0");
        assert_eq!((pairs(&network.route), network.quickack), ("initcwnd=4".to_owned(), true));
        let said = with(r#""recovery": "sack""#, r#""recovery": "linux""#).unwrap_err().to_string();
        assert!(
            said.starts_with("control: expected one of ") && said.ends_with(r#", found "standard""#),
            "{said}"
        );
    }

    #[test]
    fn what_cannot_be_is_named() {
        let said = |from: &str, to: &str| with(from, to).unwrap_err().to_string();
        assert_eq!(
            said("\"sack\"", "\"cubic\""),
            "recovery: expected one of tahoe, reno, newreno, sack, linux, found \"cubic\""
        );
        assert_eq!(
            said("\"bytes\":", "\"mss\": 40, \"bytes\":"),
            "mss: expected 88 to 65495 bytes, found 40"
        );
        assert_eq!(
            said("\"bytes\":", "\"sysctl\": {\"../x\": \"1\"}, \"bytes\":"),
            "sysctl: expected a name under net.ipv4 such as tcp_sack, found \"../x\""
        );
        assert_eq!(
            said("\"bytes\":", "\"route\": {\"dev\": \"lo up\"}, \"bytes\":"),
            "route: expected names and values such as initcwnd 10, found \"lo up\""
        );
        assert!(said("\"bytes\":", "\"byte\":").starts_with("unknown field `byte`"));
    }
}
