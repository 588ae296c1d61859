//! Loss models from outside the crate.

use std::fmt;

use bentpipe_units::Time;

use super::{LossModel, LossSpec};
use crate::Stream;

/// A packet whose last bit has just been sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub at: Time,
    /// Which of the packets that this direction of the link sends, counted from 1.
    pub number: u64,
    /// Its length in bytes.
    pub bytes: u32,
}

/// A loss model: it decides on the packets of one direction of a link in the order in which they are sent.
pub trait Loss: fmt::Debug + Send {
    /// Whether the packet is lost. `stream` has the random numbers of the losses of this direction, and no others are to be used.
    fn lost(&mut self, packet: &Sent, stream: &mut Stream) -> bool;
}

/// What makes a loss model for each direction that names it, and again where a schedule names it.
pub trait LossFactory: fmt::Debug + Send + Sync {
    /// A model that has seen no packet.
    fn make(&self) -> Box<dyn Loss>;
}

/// What a link that goes step by step loses.
#[derive(Debug)]
pub(crate) enum Losses {
    Ours(LossModel),
    External(Box<dyn Loss>),
}

impl Losses {
    pub(crate) fn new(spec: &LossSpec, stream: &mut Stream) -> Losses {
        match spec {
            LossSpec::External(external) => Losses::External(external.factory().make()),
            ours => Losses::Ours(LossModel::new(ours, stream)),
        }
    }

    #[inline]
    pub(crate) fn lost(&mut self, packet: &Sent, stream: &mut Stream) -> bool {
        match self {
            Losses::Ours(model) => model.lost(packet.bytes, stream),
            Losses::External(model) => model.lost(packet, stream),
        }
    }
}
