//! What flows carry: who opens connections, who writes what, and when a flow is over.

mod http;
mod onoff;
mod relay;
mod udp;

use std::ops::Range;

use bentpipe_path::Stream;
use bentpipe_tcp::{Endpoint, Receiver};
use bentpipe_units::{Span, Time};

pub(crate) use http::Http;
pub(crate) use onoff::OnOff;
pub(crate) use relay::Relay;
pub(crate) use udp::{HEADERS, Udp};

use crate::engine::End;
use crate::ids::{ConnectionId, EndId, FlowId, Side};
use crate::scenario::{AppSpec, FlowSpec};

/// One flow: its application, and where its connections are.
pub(crate) struct Flow {
    pub(crate) start: Time,
    /// When the application stops; `Time::NEVER` while it has no end.
    pub(crate) stop: Time,
    pub(crate) app: App,
    /// Its connections among all.
    pub(crate) connections: Range<usize>,
    /// The flow that carries its data on from the node that it goes to.
    pub(crate) relay: Option<FlowId>,
    pub(crate) over: bool,
}

pub(crate) enum App {
    /// So many bytes, `u64::MAX` while they have no end. The sending host opens the connection and closes it.
    Bulk { bytes: u64 },
    /// Pages. The receiving host opens the connections and closes them.
    Http(Box<Http>),
    /// Bytes at times of its own. The sending host opens the connection and closes it.
    OnOff(Box<OnOff>),
    /// The data of another flow, which ends at the node where this one begins. That node opens the connection and closes it.
    Relay(Box<Relay>),
    /// Datagrams, without a connection and so without ends.
    Udp(Box<Udp>),
}

impl Flow {
    /// A flow whose connections will be those from number `first` on.
    pub(crate) fn new(spec: &FlowSpec, seed: u64, first: usize) -> Flow {
        let start = Time::ZERO + spec.start;
        let stop = |duration: Option<Span>| duration.map_or(Time::NEVER, |duration| start + duration);
        let (app, duration) = match &spec.app {
            AppSpec::Ftp(ftp) => (App::Bulk { bytes: ftp.bytes.unwrap_or(u64::MAX) }, ftp.duration),
            AppSpec::Http(http) => (App::Http(Box::new(Http::new(http, start))), http.duration),
            AppSpec::OnOff(onoff) => {
                let stream = Stream::derive(seed, &format!("flow/{}/onoff", spec.name));
                (App::OnOff(Box::new(OnOff::new(onoff, start, stream))), onoff.duration)
            }
            AppSpec::Relay(relay) => {
                let upstream = FlowId(spec.upstream.unwrap_or_default() as u32);
                (App::Relay(Box::new(Relay::new(upstream, relay.buffer))), None)
            }
            AppSpec::Cbr(cbr) => {
                (App::Udp(Box::new(Udp::constant(cbr, start, stop(cbr.duration)))), cbr.duration)
            }
            AppSpec::Multimedia(media) => {
                let stream = Stream::derive(seed, &format!("flow/{}/video", spec.name));
                let udp = Udp::multimedia(media, start, stop(media.duration), stream);
                (App::Udp(Box::new(udp)), media.duration)
            }
        };
        Flow {
            start,
            stop: stop(duration),
            app,
            connections: first..first + spec.app.connections(),
            relay: None,
            over: false,
        }
    }

    /// The ends of its connections.
    pub(crate) fn ends(&self) -> impl Iterator<Item = EndId> + use<> {
        let connections = self.connections.clone().map(|number| ConnectionId(number as u32));
        connections.flat_map(|connection| [connection.end(Side::Data), connection.end(Side::Back)])
    }

    /// A time that the application waits for has come: it starts, or asks for the next page, or stops.
    pub(crate) fn on_time(&mut self, now: Time, pairs: &mut [[End; 2]]) {
        match (&mut self.app, pairs) {
            (App::Http(http), pairs) if now >= self.stop => http.stop(pairs),
            (App::Http(http), pairs) => http.on_time(now, pairs),
            (App::Bulk { bytes }, [[data, back]]) if now == self.start => {
                back.tcp.listen();
                data.tcp.connect();
                data.tcp.write(*bytes);
                if *bytes != u64::MAX {
                    data.tcp.close(false);
                }
            }
            (App::Bulk { .. }, [[data, _]]) => data.tcp.close(true),
            // What was written by then is still delivered.
            (App::OnOff(_), [[data, _]]) if now >= self.stop => data.tcp.close(false),
            (App::OnOff(onoff), [[data, back]]) => {
                if now == self.start {
                    back.tcp.listen();
                    data.tcp.connect();
                }
                data.tcp.write(onoff.poll(now));
            }
            // The relay opens the connection when its upstream connection is open.
            (App::Relay(_), [[_, back]]) => back.tcp.listen(),
            (App::Udp(_) | App::Bulk { .. } | App::OnOff(_) | App::Relay(_), _) => {}
        }
    }

    /// When the application wants to be called again after `now`, which its stop does not count for.
    pub(crate) fn next_time(&self, now: Time) -> Time {
        match &self.app {
            App::OnOff(onoff) if now < self.stop => onoff.next_time(),
            _ => Time::NEVER,
        }
    }

    /// An end of the flow is closed, or only waits for old segments to die out: whether the flow is over.
    pub(crate) fn on_closed(&mut self, end: EndId, tcp: &Endpoint) -> bool {
        let number = end.connection().index() - self.connections.start;
        match &mut self.app {
            App::Bulk { .. } | App::OnOff(_) | App::Relay(_) => end.side() == Side::Data,
            App::Http(http) => http.on_closed(number, end.side(), tcp.error().is_some()),
            App::Udp(_) => false,
        }
    }

    /// Whether all of the flow's data was delivered.
    pub(crate) fn complete(&self, pairs: &[[End; 2]]) -> bool {
        let receiver = || pairs.first().map(|[_, back]| back.tcp.receiver());
        match &self.app {
            // By duration: finished when the FIN behind the last byte has arrived.
            App::Bulk { bytes: u64::MAX } | App::OnOff(_) | App::Relay(_) => {
                receiver().is_some_and(Receiver::finished)
            }
            App::Bulk { bytes } => receiver().is_some_and(|receiver| receiver.delivered() == *bytes),
            App::Http(http) => http.complete(),
            App::Udp(udp) => udp.over(),
        }
    }

    /// From the flow's start to its last byte, or to the end of the run when bytes are missing.
    pub(crate) fn active(&self, end: Time, last_byte: Option<Time>) -> Span {
        last_byte.unwrap_or(end).since(self.start)
    }
}
