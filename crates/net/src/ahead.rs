//! Links in a row that only one of them feeds, where routes change in the course of a run: a packet goes ahead over them, without an event for
//! each, as far as it comes by the time at which routes or delays may change next.

use bentpipe_path::Link;
use bentpipe_units::Time;

use crate::routes::Routes;
use crate::{LinkId, RouteId};

/// Which links packets go ahead over.
#[derive(Default)]
pub(crate) struct Ahead {
    /// A packet goes on from a link at which it arrives by then.
    pub(crate) until: Time,
    /// The links, each before the one that feeds it.
    pub(crate) links: Vec<LinkId>,
    /// The hops that say so.
    hops: Vec<u32>,
    pub(crate) off: bool,
}

/// Who feeds a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    Nobody,
    Only(LinkId),
    /// A host, or several links.
    Shared,
}

/// What is known of a link.
#[derive(Clone, Copy)]
struct Known {
    feeder: Feeder,
    /// Whether all of its packets may go ahead.
    ahead: bool,
    is_listed: bool,
}

impl Ahead {
    /// Finds the links: what happens on them and behind them is known in advance, and all of their packets go on to links that nobody else
    /// feeds, now that packets are sent on `routes` alone and others are under way at `strays`.
    pub(crate) fn mark(
        &mut self,
        routes: &mut Routes,
        links: &[Link],
        used: &[RouteId],
        strays: impl Iterator<Item = u32>,
    ) {
        for hop in self.hops.drain(..) {
            routes.set_ahead(hop, false);
        }
        self.links.clear();
        if self.off || routes.is_guarded() {
            return;
        }
        let mut is_used = vec![false; routes.len()];
        for route in used {
            for (hop, _) in routes.links(*route) {
                if !std::mem::replace(&mut is_used[hop as usize], true) {
                    self.hops.push(hop);
                }
            }
        }
        for stray in strays {
            let rest = (stray..).take_while(|hop| routes.link(*hop).is_some());
            let rest = rest.take_while(|hop| !std::mem::replace(&mut is_used[*hop as usize], true));
            self.hops.extend(rest);
        }
        let mut known: Vec<Known> = links
            .iter()
            .map(|link| Known { feeder: Feeder::Nobody, ahead: link.is_closed(), is_listed: false })
            .collect();
        for link in used.iter().filter_map(|route| routes.link(route.0)) {
            known[link.index()].feeder = Feeder::Shared;
        }
        let pairs = || self.hops.iter().filter_map(|hop| Some((routes.link(*hop)?, routes.link(hop + 1))));
        for (link, next) in pairs() {
            if let Some(next) = next {
                let feeder = &mut known[next.index()].feeder;
                *feeder = match *feeder {
                    Feeder::Nobody => Feeder::Only(link),
                    Feeder::Only(other) if other == link => Feeder::Only(link),
                    _ => Feeder::Shared,
                };
            }
        }
        for (link, next) in pairs() {
            let alone = next.is_some_and(|next| {
                links[next.index()].is_closed() && known[next.index()].feeder == Feeder::Only(link)
            });
            known[link.index()].ahead &= alone;
        }
        let mut by_depth: Vec<(usize, LinkId)> = Vec::new();
        for hop in &self.hops {
            let Some(link) = routes.link(*hop) else { continue };
            let Known { ahead: true, is_listed: false, .. } = known[link.index()] else { continue };
            let feeders = std::iter::successors(Some(link), |link| match known[link.index()].feeder {
                Feeder::Only(feeder) if known[feeder.index()].ahead => Some(feeder),
                _ => None,
            });
            // In a ring of links nobody is the first.
            match feeders.take(links.len()).count() {
                depth if depth < links.len() => {
                    known[link.index()].is_listed = true;
                    by_depth.push((depth, link));
                }
                _ => known[link.index()].ahead = false,
            }
        }
        by_depth.sort_unstable_by(|one, other| other.cmp(one));
        self.links.extend(by_depth.iter().map(|(_, link)| *link));
        self.hops.retain(|hop| routes.link(*hop).is_some_and(|link| known[link.index()].ahead));
        for hop in &self.hops {
            routes.set_ahead(*hop, true);
        }
    }
}
