//! What a connection opens with.

use crate::Config;
use crate::control::Window;

/// What the handshake left of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Sender maximum segment size in bytes, options taken off.
    pub smss: u32,
    /// Whether the peer sends SACK blocks.
    pub sack: bool,
    /// The initial window in segments.
    pub initial_window: u32,
}

impl Agreed {
    /// All that `config` offers.
    pub fn all(config: &Config) -> Agreed {
        Agreed { smss: config.mss, sack: true, initial_window: config.initial_window }
    }

    /// The window for the first data.
    pub(super) fn first_window(&self, config: &Config) -> Window {
        let smss = f64::from(self.smss);
        let ssthresh = config.initial_ssthresh.map_or(f64::INFINITY, f64::from);
        let window = Window::new(smss * f64::from(self.initial_window), ssthresh, smss, config.growth);
        Window { spacing: config.pacing, ..window }
    }
}
