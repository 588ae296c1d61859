//! What a link is set up with.

use bentpipe_units::{Fault, MAX_RATE, Rate, Span, Under, ensure, fault};
use serde::Deserialize;

use super::repair::Repair;
use super::schedule::Schedule;
use crate::{LossSpec, QueueSpec};

/// What one direction of a link is set up with; written alone, without what changes or repairs it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Nominal rate.
    pub rate: Rate,
    /// Propagation delay, from the last bit sent to the last bit received.
    pub delay: Span,
    /// Share of the nominal rate that carries packets (framing, coding, roll-off); above 0, at most 1.
    #[serde(skip, default = "all")]
    pub efficiency: f64,
    /// What may wait while another packet is sent.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Which packets arrive damaged.
    #[serde(default)]
    pub loss: LossSpec,
    /// How all this changes.
    #[serde(skip)]
    pub schedule: Schedule,
    /// What becomes of the packets that arrive damaged.
    #[serde(skip)]
    pub repair: Repair,
}

fn all() -> f64 {
    1.0
}

impl LinkConfig {
    /// Whether it draws random numbers on which a result may depend.
    pub fn draws(&self) -> bool {
        let changes = self.schedule.0.iter().filter_map(|change| change.loss.as_ref());
        self.queue.draws() || changes.chain([&self.loss]).any(LossSpec::draws)
    }

    /// Whether the values go together.
    ///
    /// # Errors
    /// Those that do not.
    pub fn validate(&self) -> Result<(), Fault> {
        let LinkConfig { rate, efficiency, .. } = *self;
        // What is left below one bit a second would be rounded up to it.
        let enough = |rate: Rate| rate.as_bps() as f64 * efficiency >= 1.0;
        let too_fast = |rate: Rate| fault!("a rate of at most {MAX_RATE}", "{rate}").under("rate");
        ensure!(rate <= MAX_RATE, too_fast(rate));
        let little = || fault!("a share that leaves at least 1 bit/s of {rate}", "{efficiency:?}");
        ensure!(enough(rate), little().under("efficiency"));
        self.queue.validate().under("queue")?;
        self.schedule.validate().under("schedule")?;
        for (place, change) in self.schedule.0.iter().enumerate() {
            let here = |fault: Fault| fault.under(format!("[{place}]")).under("schedule");
            let rate = change.rate.unwrap_or(rate);
            ensure!(rate <= MAX_RATE, here(too_fast(rate)));
            let expected = "a rate of which the efficiency";
            let little = || fault!("{expected} {efficiency:?} leaves at least 1 bit/s", "{rate}");
            ensure!(enough(rate), here(little().under("rate")));
        }
        Ok(())
    }
}
