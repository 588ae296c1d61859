//! How both ends of a connection are set up: each as the flow of a scenario has it, or as a run without one begins, and the
//! settings over that.

use bentpipe_tcp::{Chosen, Config, DelayedAck, Profile};

use crate::namespace::StackSettings;
use crate::settings::LINUX;
use crate::sys::Framing;
use crate::{Direction, LiveError, ScenarioFlow, Settings};

/// What stands at our end of the path.
#[derive(Clone, Debug)]
pub(crate) enum Own {
    /// Our endpoint.
    Ours(Box<Config>),
    /// A second kernel.
    Linux(Kernel),
}

/// How a kernel at an end of the path is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) network: StackSettings,
    /// Receive buffer of the socket, in bytes; the kernel sizes it itself otherwise.
    pub(crate) buffer: Option<u64>,
    /// Congestion control of the socket.
    pub(crate) control: Option<String>,
}

/// Without a flow: what our end can receive.
const WINDOW: u32 = 1 << 20;

/// Headers without options; a TUN device's MTU counts them.
const HEADERS: u32 = bentpipe_tcp::IP_HEADER + bentpipe_tcp::TCP_HEADER;

impl Settings {
    /// What stands at our end, and how it is set up.
    pub(crate) fn own(&self, flow: Option<&ScenarioFlow<'_>>) -> Result<Own, LiveError> {
        let flows = flow.map(|flow| flow.tcp(self.direction == Direction::Send));
        if self.recovery != LINUX {
            let (recovery, control) = (self.chosen_recovery()?, self.chosen_control()?);
            let usual = Profile::Rfc.config(recovery.clone(), control.clone());
            let base = match flows {
                // SACK as the flow's own recovery has it is SACK as this one has it.
                Some(tcp) => Config {
                    recovery: as_the_flow_has_it(recovery, &tcp.recovery),
                    control: as_the_flow_has_it(control, &tcp.control),
                    sack: own_sack(tcp).unwrap_or(usual.sack),
                    ..tcp.clone()
                },
                None => Config { receive_window: WINDOW, ..usual },
            };
            return Ok(Own::Ours(Box::new(self.over(base))));
        }
        let mut kernel = match flows {
            Some(tcp) => self.kernel_like(&self.over(tcp.clone())),
            None => self.kernel_in_our_place(),
        };
        kernel.control = Some(self.control.clone());
        Ok(Own::Linux(kernel))
    }

    /// How the other end is set up, which is always a kernel.
    pub(crate) fn kernel(&self, flow: Option<&ScenarioFlow<'_>>) -> Kernel {
        let mut kernel = match flow {
            Some(flow) => {
                let tcp = flow.tcp(self.direction == Direction::Receive);
                let tcp = Config { mss: self.kernel_mss.unwrap_or(tcp.mss), ..tcp.clone() };
                self.kernel_like(&tcp)
            }
            None => Kernel {
                network: self.network(self.kernel_mss.unwrap_or_else(default_mss)),
                buffer: None,
                control: None,
            },
        };
        kernel.buffer = self.kernel_buffer.map(|bytes| bytes.get()).or(kernel.buffer);
        kernel.control = self.kernel_control.clone();
        kernel
    }

    /// What is chosen of our TCP, over `base`.
    fn over(&self, base: Config) -> Config {
        let at_once = DelayedAck::OFF;
        Config {
            mss: self.mss.unwrap_or(base.mss),
            initial_window: self.initial_window.unwrap_or(base.initial_window),
            delayed_ack: if self.acknowledge_each { at_once } else { base.delayed_ack },
            receive_window: self.window.map_or(base.receive_window, |window| window.get() as u32),
            receive_buffer: base.receive_buffer.filter(|_| self.window.is_none()),
            window_scaling: self.scaling.unwrap_or(base.window_scaling),
            timestamps: self.timestamps.unwrap_or(base.timestamps),
            sack: self.sack.unwrap_or(base.sack),
            ..base
        }
    }

    /// A kernel that is set up like `tcp` as far as it has a setting for it, and in all else as it is told.
    fn kernel_like(&self, tcp: &Config) -> Kernel {
        let mut network = self.network(tcp.mss);
        network.quickack |= tcp.delayed_ack.segments == 1;
        network.route.entry("initcwnd".to_owned()).or_insert_with(|| tcp.initial_window.to_string());
        let offered = [
            ("tcp_window_scaling", Some(tcp.window_scaling)),
            ("tcp_timestamps", Some(tcp.timestamps)),
            ("tcp_ecn", Some(tcp.ecn)),
            ("tcp_sack", own_sack(tcp)),
        ];
        for (name, on) in offered {
            if let Some(on) = on {
                network.sysctl.entry(name.to_owned()).or_insert_with(|| switch(on));
            }
        }
        let buffer = match tcp.receive_buffer {
            Some(buffer) => {
                let sizes = format!("4096 {} {}", buffer.initial, buffer.max);
                network.sysctl.entry("tcp_rmem".to_owned()).or_insert(sizes);
                None
            }
            None => Some(buffer_for(tcp.receive_window)),
        };
        Kernel { network, buffer, control: None }
    }

    /// A kernel in our end's place, without a flow: as our end would be, and in all else as the other kernel.
    fn kernel_in_our_place(&self) -> Kernel {
        let mut network = self.network(self.mss.unwrap_or_else(default_mss));
        network.quickack |= self.acknowledge_each;
        network
            .route
            .extend(self.initial_window.map(|segments| ("initcwnd".to_owned(), segments.to_string())));
        let offered = [
            ("tcp_window_scaling", Some(self.scaling.unwrap_or(true))),
            ("tcp_timestamps", Some(self.timestamps.unwrap_or(false))),
            ("tcp_sack", self.sack),
        ];
        network
            .sysctl
            .extend(offered.into_iter().filter_map(|(name, on)| Some((name.to_owned(), switch(on?)))));
        let window = self.window.map_or(WINDOW, |window| window.get() as u32);
        Kernel { network, buffer: Some(buffer_for(window)), control: None }
    }

    /// What every kernel is told.
    fn network(&self, mss: u32) -> StackSettings {
        StackSettings {
            mtu: mss + HEADERS,
            framing: Framing::Bare,
            quickack: self.quickack,
            route: self.route.clone(),
            sysctl: self.sysctl.clone(),
        }
    }
}

fn default_mss() -> u32 {
    1460
}

/// A kernel advertises about half of its buffer.
fn buffer_for(window: u32) -> u64 {
    2 * u64::from(window)
}

fn switch(on: bool) -> String {
    u8::from(on).to_string()
}

/// What was chosen by name, with the options that the flow has for it where the flow names the same.
fn as_the_flow_has_it<F: ?Sized>(chosen: Chosen<F>, flow: &Chosen<F>) -> Chosen<F> {
    if chosen.name() == flow.name() { flow.clone() } else { chosen }
}

/// Whether SACK is offered, where that is otherwise than the recovery has it by itself.
fn own_sack(tcp: &Config) -> Option<bool> {
    let usual = tcp.recovery.factory().offers_sack();
    (tcp.sack != usual).then_some(tcp.sack)
}

#[cfg(test)]
mod tests;
