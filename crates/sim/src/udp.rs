//! A flow over UDP: what was sent, and what became of it.

use bentpipe_apps::Datagrams;
use bentpipe_net::RouteId;
use bentpipe_units::Time;

use crate::deliveries::Deliveries;
use crate::ids::{ConnectionId, EndId, Side};
use crate::packet::Datagram;

/// An unresponsive stream of datagrams, and what became of them.
pub(crate) struct Udp {
    pub(crate) datagrams: Datagrams,
    /// The end that it comes from.
    pub(crate) end: EndId,
    /// The way that it takes.
    pub(crate) route: RouteId,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) got: Deliveries,
}

impl Udp {
    pub(crate) fn new(datagrams: Datagrams) -> Udp {
        Udp {
            datagrams,
            end: ConnectionId(0).end(Side::Data),
            route: RouteId::default(),
            sent: 0,
            sent_bytes: 0,
            delivered: 0,
            lost: 0,
            got: Deliveries::of(u64::MAX),
        }
    }

    /// Payload bytes of the next datagram that is due by `now`.
    pub(crate) fn poll(&mut self, now: Time) -> Option<u32> {
        self.datagrams.poll(now).inspect(|bytes| {
            self.sent += 1;
            self.sent_bytes += u64::from(*bytes);
        })
    }

    pub(crate) fn on_delivery(&mut self, now: Time, datagram: Datagram) {
        self.delivered += 1;
        self.got.take(now, datagram.len);
        self.datagrams.source.on_delivery(now, datagram.offset);
    }

    /// Whether all was sent, and each datagram has arrived or was lost.
    pub(crate) fn over(&self) -> bool {
        self.datagrams.next_time() == Time::NEVER && self.sent == self.delivered + self.lost
    }
}
