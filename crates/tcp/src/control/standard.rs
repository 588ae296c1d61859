//! RFC 5681: `standard`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Control, ControlFactory};
use crate::Named;

/// RFC 5681 and nothing else: every hook at its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl Control for Standard {
    fn adjusts_receive_window(&self) -> bool {
        false
    }
}

/// The choice of [`Standard`], which has no options.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct StandardOptions;

impl Named for StandardOptions {
    const NAME: &'static str = "standard";
    const SUMMARY: &'static str = "slow start, congestion avoidance, halving (RFC 5681)";
}

impl ControlFactory for StandardOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Standard)
    }

    /// With it, each recovery is a variant under the recovery's name.
    fn recoveries(&self) -> &[&str] {
        &[]
    }
}
