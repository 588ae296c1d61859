//! What the network and its hosts tell, and who hears it: loss causes, series and captures, the flows over UDP.

use bentpipe_net::{Calendar, LinkId, Lost, Probe};
use bentpipe_path::Link;
use bentpipe_tcp::Endpoint;
use bentpipe_units::Time;

use crate::causes::Causes;
use crate::ids::{Call, ConnectionId, EndId, Target};
use crate::observe::Observer;
use crate::packet::{Content, Packet};
use bentpipe_drive::TURNS;

/// Hears what happens at hosts, as [`Probe`] does in the network: what has no body here costs nothing.
pub(crate) trait HostProbe {
    /// An end has taken what came, or its timer, and sent what it had to send.
    #[inline(always)]
    fn acted(&mut self, now: Time, end: EndId, tcp: &Endpoint) {
        let _ = (now, end, tcp);
    }

    /// A relay's buffer holds so many bytes from now on; `relay` is the connection that it sends by.
    #[inline(always)]
    fn buffered(&mut self, now: Time, relay: ConnectionId, bytes: u64) {
        let _ = (now, relay, bytes);
    }
}

/// Hears what happens in the network and at its hosts.
pub(crate) struct Watch {
    /// When ends, applications and handovers want to be called, and when a flow over UDP hears of a loss.
    pub(crate) timers: Calendar<Target>,
    pub(crate) observer: Option<Box<Observer>>,
    pub(crate) causes: Causes,
    /// Packets that each handover lost.
    pub(crate) left: Vec<u64>,
    /// For each connection, those of UDP flows behind all others: packets lost because their path over satellites had gone, and
    /// because there was none when they were sent; empty without satellites.
    pub(crate) strayed: Vec<[u64; TURNS]>,
}

impl HostProbe for Watch {
    #[inline(always)]
    fn acted(&mut self, now: Time, end: EndId, tcp: &Endpoint) {
        if let Some(observer) = &mut self.observer {
            observer.state(now, end, tcp);
        }
    }

    fn buffered(&mut self, now: Time, relay: ConnectionId, bytes: u64) {
        if let Some(observer) = &mut self.observer {
            observer.buffered(now, relay, bytes);
        }
    }
}

impl Probe<Packet> for Watch {
    #[inline(always)]
    fn follows(&self) -> bool {
        self.observer.is_some()
    }

    fn sent(&mut self, now: Time, packet: &Packet) {
        if let Some(observer) = &mut self.observer {
            observer.sent(now, packet);
        }
    }

    fn arrived(&mut self, now: Time, packet: &Packet) {
        if let Some(observer) = &mut self.observer {
            observer.arrived(now, packet);
        }
    }

    #[inline(always)]
    fn taken(&mut self, now: Time, at: Time, link: LinkId, state: &mut Link) {
        if let Some(observer) = &mut self.observer {
            observer.taken(now, at, link, state);
        }
    }

    fn served(&mut self, now: Time, link: LinkId, state: &mut Link) {
        if let Some(observer) = &mut self.observer {
            observer.served(now, link, state);
        }
    }

    #[cold]
    fn lost(&mut self, now: Time, at: Time, packet: &Packet, why: Lost) {
        if let Some(observer) = &mut self.observer {
            observer.lost(now, at, packet, why);
        }
        self.causes.note(at, packet, why);
        if let Content::Datagram(datagram) = &packet.content {
            // At its time, which may be still to come.
            self.timers.push(at, Call::Loss(datagram.flow).into());
        }
        if let Lost::Left(handover) = why {
            match self.strayed.get_mut(packet.to.connection().index()) {
                Some(strayed) => strayed[handover as usize] += 1,
                None => self.left[handover as usize] += 1,
            }
        }
    }
}
