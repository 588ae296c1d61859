//! What one run against the kernel is set up with.

use std::collections::BTreeMap;

use bentpipe_path::{DisorderSpec, LinkConfig};
use bentpipe_tcp::control::{Composition, ControlFactory, NoSuch};
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::{Catalogue, Chosen};
use bentpipe_units::{Bytes, Span};
use serde::Deserialize;

use crate::path_setup::PathSetup;
use crate::{LiveError, ScenarioFlow, kernel};

/// Which way the data goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosesFirst {
    /// The one that sends the data, behind its last byte.
    #[default]
    Sender,
    /// The one that receives it, as soon as the connection is open.
    Receiver,
}

/// How the receiving program or our receiving end reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// Bytes a second, or as fast as they come.
    pub bytes_per_s: Option<u64>,
    /// Stop reading once so many bytes were read.
    pub pause_after: Option<Bytes>,
    /// For so long.
    pub pause: Span,
}

/// One run: our end, the kernel's end, the path between them, and what goes over it. Beside a flow of a scenario there are no
/// `forward` and `backward`, and what is left out of the two TCPs is as the flow has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
    #[serde(default)]
    pub forward: Option<LinkConfig>,
    /// The way of the acknowledgments.
    #[serde(default)]
    pub backward: Option<LinkConfig>,
    /// What changes the order of packets behind the links.
    #[serde(default)]
    pub disorder: DisorderBothWays,
    /// Largest payload that our end takes, in bytes; 1460 otherwise.
    #[serde(default)]
    pub mss: Option<u32>,
    /// Largest payload that the kernel takes, in bytes; 1460 otherwise. The MTU of the TUN device is 40 bytes more.
    #[serde(default)]
    pub kernel_mss: Option<u32>,
    /// Our end's receive buffer; 1 MiB otherwise.
    #[serde(default)]
    pub window: Option<Bytes>,
    /// The receive buffer of the kernel's socket; it sizes it itself otherwise.
    #[serde(default)]
    pub kernel_buffer: Option<Bytes>,
    /// The congestion control of the kernel's socket; what the namespace has by default otherwise.
    #[serde(default)]
    pub kernel_control: Option<String>,
    /// Whether our end offers window scaling; it does otherwise.
    #[serde(default)]
    pub scaling: Option<bool>,
    /// Whether our end offers timestamps; it does not otherwise.
    #[serde(default)]
    pub timestamps: Option<bool>,
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

fn one() -> u64 {
    1
}

/// The recovery that stands for a second kernel.
pub(crate) const LINUX: &str = "linux";

/// Which packets come out of the path in another order than that of its links, or twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DisorderBothWays {
    /// On the way of the data.
    pub forward: DisorderSpec,
    /// On the way of the acknowledgments.
    pub backward: DisorderSpec,
}

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
            self.chosen_recovery()?;
            self.chosen_control()?;
        }
        if let Some(control) = &self.kernel_control {
            known_to_the_kernel("kernel_control", control)?;
        }
        for way in self.forward.iter().chain(&self.backward) {
            way.queue.validate().map_err(|error| LiveError::Setting(error.to_string()))?;
        }
        let refuse = |text: String| Err(LiveError::Setting(text));
        for mss in [self.mss, self.kernel_mss].into_iter().flatten() {
            if !(88..=65_495).contains(&mss) {
                return refuse(format!("mss: expected 88 to 65495 bytes, found {mss}"));
            }
        }
        if let Some(window) = self.window
            && !(1..=1 << 30).contains(&window.get())
        {
            return refuse(format!("window: expected 1 B to 1 GiB, found {window}"));
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

    /// Where the packets go: over the links of `flow`, or without one over the two ways.
    pub(crate) fn path_setup(&self, flow: Option<&ScenarioFlow<'_>>) -> Result<PathSetup, LiveError> {
        match (flow, &self.forward, &self.backward) {
            (Some(flow), None, None) => Ok(flow.path_setup()),
            (None, Some(forward), Some(backward)) => Ok(PathSetup::direct(forward, backward)),
            (Some(_), ..) => {
                Err(LiveError::Setting("forward: expected none beside a scenario, found one".to_owned()))
            }
            (None, ..) => {
                Err(LiveError::Setting("forward: expected one, and backward, found none".to_owned()))
            }
        }
    }

    pub(crate) fn chosen_recovery(&self) -> Result<Chosen<dyn RecoveryFactory>, LiveError> {
        let catalogue = Catalogue::default();
        catalogue.usual(&self.recovery).ok_or_else(|| {
            let known = [catalogue.names::<dyn RecoveryFactory>(), vec![LINUX]].concat();
            none_of("recovery", &known.join(", "), &self.recovery)
        })
    }

    pub(crate) fn chosen_control(&self) -> Result<Chosen<dyn ControlFactory>, LiveError> {
        let catalogue = Catalogue::default();
        let found = Composition::find(&catalogue, &self.control).and_then(|found| found.usual());
        found.map_err(|no_such| match no_such {
            NoSuch::Composition(message) => LiveError::Setting(format!("control: {message}")),
            NoSuch::Name => {
                let known: Vec<_> = Composition::all(&catalogue).iter().map(Composition::name).collect();
                none_of("control", &known.join(", "), &self.control)
            }
        })
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

fn none_of(key: &str, known: &str, found: &str) -> LiveError {
    LiveError::Setting(format!("{key}: expected one of {known}, found {found:?}"))
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
    fn what_cannot_be_is_named() {
        let said = |from: &str, to: &str| with(from, to).unwrap_err().to_string();
        assert_eq!(
            said("\"sack\"", "\"cubic\""),
            "recovery: expected one of tahoe, reno, newreno, sack, newreno-1999, sack-1996, sack-linux-2.4, rack, linux, found \"cubic\""
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
        let one_way = with(r#"{"rate": "1 Mbit/s", "delay": "20 ms"}"#, "null").unwrap();
        let said = one_way.path_setup(None).unwrap_err().to_string();
        assert_eq!(said, "forward: expected one, and backward, found none");
    }
}
