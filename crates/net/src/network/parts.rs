//! A network cut in two, for conservative parallel simulation: each part has all links and routes, and does what happens at its own nodes.
//!
//! Of a link the part of the node where it begins has the queue, and the part of the node where it ends has the packets that it has taken.

use std::sync::Arc;

use bentpipe_path::{Link, Offered, PacketId, Taken};
use bentpipe_units::{Span, Time};

use super::{Network, label};
use crate::routes::Step;
use crate::{Carried, LinkId, LinkSetup, Probe};

/// What a network knows of its part.
pub(super) struct Part<P> {
    /// Whether this is the second part, and whether each node is in that.
    second: bool,
    nodes: Arc<[bool]>,
    /// Of each direction of a link, whether it begins here and whether it ends here.
    sides: Vec<[bool; 2]>,
    /// What goes to the other part.
    out: Vec<Crossing<P>>,
    /// The hops of the packets that are under way in the other part.
    strays: Vec<u32>,
}

/// A packet that goes to the other part.
pub struct Crossing<P> {
    packet: P,
    hop: u32,
    taken: Taken,
}

impl<P> Part<P> {
    pub(super) fn strays(&self) -> impl Iterator<Item = u32> {
        self.strays.iter().copied()
    }

    pub(super) fn delivers(&self, link: LinkId) -> bool {
        self.sides[link.index()][1]
    }
}

impl<P: Carried, O: Probe<P>> Network<P, O> {
    /// To be called before there are links: from now on this does only what happens at the nodes of the second part, or of the first.
    /// `nodes` says of each whether it is in the second.
    pub fn cut(&mut self, nodes: Arc<[bool]>, second: bool) {
        let (sides, out, strays) = (Vec::new(), Vec::new(), Vec::new());
        self.part = Some(Box::new(Part { second, nodes, sides, out, strays }));
    }

    /// Cuts a link.
    pub(super) fn cut_link(&mut self, link: &LinkSetup) {
        let Some(part) = &mut self.part else { return };
        let [from, to] = [link.from, link.to].map(|node| part.nodes[node.index()] == part.second);
        part.sides.extend([[from, to], [to, from]]);
        self.routes.far.extend([from && !to, to && !from]);
        let number = self.links.len() - 2;
        let directions = self.routes.far[number..].iter().zip(&mut self.links[number..]);
        directions.filter(|(far, _)| **far).for_each(|(_, link)| link.begin_ahead());
    }

    /// How long it takes a packet at least to come from the other part; none where nothing can.
    pub fn lookahead(&self) -> Option<Span> {
        let sides = self.part.iter().flat_map(|part| &part.sides);
        let inwards = sides.zip(&self.links).filter(|(sides, _)| **sides == [false, true]);
        inwards.map(|(_, link)| link.delay()).min()
    }

    /// What goes to the other part, to be taken out.
    pub fn outwards(&mut self) -> Option<&mut Vec<Crossing<P>>> {
        self.part.as_mut().map(|part| &mut part.out)
    }

    /// Takes what comes from the other part, before its time.
    pub fn take_in(&mut self, crossing: Crossing<P>) {
        let Crossing { packet, hop, taken } = crossing;
        let id = self.packets.insert(packet);
        self.packets.set_hop(id, hop);
        let Some(number) = self.routes.link(hop) else { return };
        let link = &mut self.links[number.index()];
        let before = link.next_time();
        link.deliver(id, taken);
        if link.next_time() < before {
            self.calendar.push(link.next_time(), number);
        }
        if matches!(self.routes.step(hop), Step::Ahead(_)) && taken.arrives() <= self.ahead.until {
            self.go_on_ahead(number, taken.arrives(), id, taken.bytes());
        }
    }

    /// Hands a packet to a link that ends in the other part.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_far(&mut self, at: Time, hop: u32, number: LinkId, id: PacketId, bytes: u32) {
        let link = &mut self.links[number.index()];
        let (offered, _) =
            link.offer_ahead(at, id, bytes, || label(&self.packets, id, self.gateways.names()));
        if offered != Offered::Queued && self.not_just_queued(at, number, id, offered).is_none() {
            return;
        }
        let taken = self.links[number.index()].last_taken();
        if let (Some(part), Some(taken)) = (&mut self.part, taken) {
            part.out.push(Crossing { packet: self.packets.get(id).clone(), hop, taken });
        }
        self.packets.remove(id);
    }

    /// The hops of the packets that are under way in this part, for [`Network::set_strays`] in the other.
    pub fn strays(&self) -> Vec<u32> {
        self.packets.hops().collect()
    }

    /// To be called before [`Network::go_ahead`].
    pub fn set_strays(&mut self, strays: Vec<u32>) {
        if let Some(part) = &mut self.part {
            part.strays = strays;
        }
    }

    /// The links, when the part is over.
    pub fn take_links(&mut self) -> Vec<Link> {
        std::mem::take(&mut self.links)
    }

    /// Adds what the links of the other part did.
    pub fn join(&mut self, others: Vec<Link>) {
        let Some(part) = &self.part else { return };
        for ((sides, link), mut other) in part.sides.iter().zip(&mut self.links).zip(others) {
            if !sides[0] {
                std::mem::swap(link, &mut other);
            }
            if sides[0] != sides[1] {
                link.join(other);
            }
        }
    }
}
