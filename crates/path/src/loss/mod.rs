//! Which packets a link damages.

mod spec;

pub use spec::{InvalidLoss, LossSpec};
