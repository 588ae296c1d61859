//! What becomes of packets when what follows them takes another route.

use crate::{Carried, Network, Probe, RouteId};

/// The routes that were left, and on which packets may still be.
#[derive(Clone, Debug, Default)]
pub struct LeftRoutes(Vec<RouteId>);

impl LeftRoutes {
    /// The route `old` is left for `new`. With the number of a turn, that turn loses the packets of all left routes on links that `new`
    /// does not have.
    pub fn leave<P: Carried, O: Probe<P>>(
        &mut self,
        net: &mut Network<P, O>,
        old: RouteId,
        new: RouteId,
        lost: Option<u32>,
    ) {
        self.0.push(old);
        if let Some(turn) = lost {
            for old in self.0.drain(..) {
                net.turn(old, new, turn);
            }
        }
    }
}
