//! Agents at the nodes: gateways that keep copies of what passes them, swallow packets and send some.

use bentpipe_path::gateway::{Agent, Direction, Emission, Room, Seen, Verdict};
use bentpipe_path::{Link, PacketId, QueueSpec};
use bentpipe_units::Time;

use crate::store::Store;
use crate::{Carried, LinkId, Topology};

/// The agents, and the copies that they keep.
pub(crate) struct Agents<P> {
    posts: Vec<Post<P>>,
}

/// An agent and the direction of a link that it guards.
struct Post<P> {
    agent: Agent,
    link: LinkId,
    queue: QueueSpec,
    /// When its event is due: the time that it names, or earlier.
    armed: Time,
    /// By place.
    copies: Vec<Copy<P>>,
}

/// A copy of a packet, and where it goes on.
#[derive(Clone, Default)]
struct Copy<P> {
    packet: P,
    hop: u32,
    bytes: u32,
}

/// What an agent made of a packet.
pub(crate) enum Met {
    GoesOn,
    Gone,
}

impl<P: Carried> Agents<P> {
    pub(crate) fn new(topology: &Topology) -> Agents<P> {
        let posts = topology.directions().filter_map(|(link, direction)| {
            let spec = direction.gateway.as_ref()?;
            let queue = direction.link.queue.clone();
            Some(Post { agent: spec.agent()?, link, queue, armed: Time::NEVER, copies: Vec::new() })
        });
        Agents { posts: posts.collect() }
    }

    /// The guarded directions, in the order of their agents.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = LinkId> {
        self.posts.iter().map(|post| post.link)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (LinkId, &Agent)> {
        self.posts.iter().map(|post| (post.link, &post.agent))
    }

    /// Shows a packet to an agent, behind which it goes on at `hop`.
    pub(crate) fn show(
        &mut self,
        number: u32,
        way: Direction,
        (id, seen, hop): (PacketId, &Seen, u32),
        packets: &mut Store<P>,
        links: &mut [Link],
        now: Time,
    ) -> Met {
        let post = &mut self.posts[number as usize];
        let verdict = match way {
            Direction::Forward => post.agent.forward(now, seen, &post.room(links, now)),
            Direction::Backward => post.agent.backward(now, seen),
        };
        match verdict {
            Verdict::Pass => {}
            Verdict::Lower(window) => packets.get_mut(id).lower(window),
            Verdict::Keep(place) => post.keep(place, packets.get(id), hop, seen.bytes),
            Verdict::KeepLowered(place, window) => {
                packets.get_mut(id).lower(window);
                post.keep(place, packets.get(id), hop, seen.bytes);
            }
            Verdict::Hold(place) => {
                post.keep(place, packets.get(id), hop, seen.bytes);
                packets.remove(id);
                return Met::Gone;
            }
            Verdict::Renumber(seq) => packets.get_mut(id).renumber(seq),
            Verdict::Swallow => {
                packets.remove(id);
                return Met::Gone;
            }
        }
        Met::GoesOn
    }

    /// When an agent wants an event that it does not have yet.
    pub(crate) fn arm(&mut self, number: u32) -> Option<Time> {
        let post = &mut self.posts[number as usize];
        let next = post.agent.next_time();
        (next < post.armed).then(|| {
            post.armed = next;
            next
        })
    }

    /// The event of an agent: what it sends, with its length and where that goes on.
    pub(crate) fn poll(&mut self, number: u32, links: &mut [Link], now: Time) -> Option<(P, u32, u32)> {
        let post = &mut self.posts[number as usize];
        if post.armed == now {
            post.armed = Time::NEVER;
        }
        let room = post.room(links, now);
        match post.agent.poll(now, &room)? {
            Emission::Copy(place, stamp) => {
                let Copy { mut packet, hop, bytes } = post.copies.get(place as usize)?.clone();
                if let Some(stamp) = stamp {
                    packet.stamp(stamp);
                }
                Some((packet, bytes, hop))
            }
            Emission::Answer(place, answer) => {
                let Copy { mut packet, hop, .. } = post.copies.get(place as usize)?.clone();
                let bytes = packet.answer(&answer);
                Some((packet, bytes, hop))
            }
        }
    }
}

impl<P: Carried> Post<P> {
    /// Before the guarded link.
    fn room(&self, links: &mut [Link], now: Time) -> Room {
        let link = &mut links[self.link.index()];
        let waiting = (link.queue_packets(now), link.queue_bytes(now));
        Room::new(&self.queue, link.rate(), waiting)
    }

    fn keep(&mut self, place: u32, packet: &P, hop: u32, bytes: u32) {
        let place = place as usize;
        if place >= self.copies.len() {
            self.copies.resize(place + 1, Copy::default());
        }
        self.copies[place] = Copy { packet: packet.clone(), hop, bytes };
    }
}
