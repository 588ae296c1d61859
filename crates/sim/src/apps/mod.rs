//! What flows carry: who opens connections, who writes what, and when a flow is over.

mod deliveries;
mod external;
mod http;
mod onoff;
mod page;
mod relay;
mod short_flows;
mod sizes;
mod tls;
mod transactions;
mod udp;
mod video;
mod voip;

use std::ops::Range;

use bentpipe_path::Stream;
use bentpipe_tcp::State;
use bentpipe_units::{Span, Time};

pub(crate) use deliveries::Deliveries;
pub(crate) use external::Driven;
pub(crate) use http::Http;
pub(crate) use onoff::OnOff;
pub(crate) use relay::Relay;
pub(crate) use short_flows::ShortFlows;
pub(crate) use transactions::Transactions;
pub(crate) use udp::Udp;
pub use udp::datagrams;
pub(crate) use video::Video;
pub(crate) use voip::{Voip, opinion};

use crate::engine::End;
use crate::ids::{ConnectionId, EndId, FlowId, Side};
use bentpipe_scenario::{AppSpec, FlowSpec};

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
    /// The last of the relays that carry what its user asks for: the user is at the other end of that.
    pub(crate) last: Option<FlowId>,
    /// Of such a last one: the flow whose user is at its end.
    pub(crate) source: Option<FlowId>,
    pub(crate) over: bool,
}

pub(crate) enum App {
    /// So many bytes, `u64::MAX` while they have no end. The sending host opens the connection, or with a `request` of so many bytes
    /// the receiving one; the sending host closes it.
    Bulk { bytes: u64, request: Option<u64> },
    /// Pages. The receiving host opens the connections and closes them.
    Http(Box<Http>),
    /// Requests and answers. The receiving host opens the connection and closes it.
    Transactions(Box<Transactions>),
    /// A film in segments. The receiving host opens the connection and closes it.
    Video(Box<Video>),
    /// Short connections, which the sending host opens, or the receiving one with a request; the sending host closes them.
    ShortFlows(Box<ShortFlows>),
    /// Bytes at times of its own. The sending host opens the connection and closes it.
    OnOff(Box<OnOff>),
    /// The data of another flow, which ends at the node where this one begins. That node opens the connections, or the receiving host,
    /// where it opens those of the other flow.
    Relay(Box<Relay>),
    /// Datagrams, without a connection and so without ends.
    Udp(Box<Udp>),
    /// One from outside.
    External(Box<Driven>),
}

/// What somebody waits for: a page, an answer, a short transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) start: Time,
    /// To its last byte; none when that has not come.
    pub(crate) response: Option<Span>,
    /// Bytes in the direction of the flow's data.
    pub(crate) size: u64,
}

/// What an application wants after new data.
pub(crate) struct Due {
    /// To be called at this time, if not `Time::NEVER`.
    pub(crate) at: Time,
    /// That the other ends of the flow send too.
    pub(crate) others: bool,
}

impl Default for Due {
    fn default() -> Due {
        Due { at: Time::NEVER, others: false }
    }
}

impl Flow {
    /// A flow that starts at `start`, and whose connections will be those from number `first` on.
    pub(crate) fn new(spec: &FlowSpec, start: Time, seed: u64, first: usize) -> Flow {
        let stop = |duration: Option<Span>| duration.map_or(Time::NEVER, |duration| start + duration);
        let (app, duration) = match &spec.app {
            AppSpec::Ftp(ftp) => {
                let request = ftp.opened_by.asks(ftp.request);
                (App::Bulk { bytes: ftp.bytes.unwrap_or(u64::MAX), request }, ftp.duration)
            }
            AppSpec::Http(http) => {
                let stream = |of| Stream::derive(seed, &format!("flow/{}/{of}", spec.name));
                let user = Http::new(http, start, stream("think"), stream("sizes"));
                (App::Http(Box::new(user)), http.duration)
            }
            AppSpec::OnOff(onoff) => {
                let stream = Stream::derive(seed, &format!("flow/{}/onoff", spec.name));
                (App::OnOff(Box::new(OnOff::new(onoff, start, stream))), onoff.duration)
            }
            AppSpec::Transactions(app) => {
                let stream = Stream::derive(seed, &format!("flow/{}/think", spec.name));
                (App::Transactions(Box::new(Transactions::new(app, start, stream))), app.duration)
            }
            AppSpec::Video(app) => (App::Video(Box::new(Video::new(app, start))), app.duration),
            AppSpec::ShortFlows(app) => {
                let stream = |of| Stream::derive(seed, &format!("flow/{}/{of}", spec.name));
                let (arrivals, sizes) = (stream("arrivals"), stream("sizes"));
                let flows = ShortFlows::new(app, start, stop(app.duration), arrivals, sizes);
                // What has begun by the stop is still delivered.
                (App::ShortFlows(Box::new(flows)), None)
            }
            AppSpec::Trace(trace) => (App::ShortFlows(Box::new(ShortFlows::replay(trace, start))), None),
            AppSpec::Relay(relay) => {
                let upstream = FlowId(spec.upstream.unwrap_or_default() as u32);
                (App::Relay(Box::new(Relay::new(upstream, relay))), None)
            }
            AppSpec::Cbr(cbr) => {
                (App::Udp(Box::new(Udp::constant(cbr, start, stop(cbr.duration)))), cbr.duration)
            }
            AppSpec::Multimedia(media) => {
                let stream = Stream::derive(seed, &format!("flow/{}/video", spec.name));
                let udp = Udp::multimedia(media, start, stop(media.duration), stream);
                (App::Udp(Box::new(udp)), media.duration)
            }
            AppSpec::Voip(voip) => {
                let stream = Stream::derive(seed, &format!("flow/{}/speech", spec.name));
                (App::Udp(Box::new(Voip::udp(voip, start, stop(voip.duration), stream))), voip.duration)
            }
            AppSpec::External(app) => {
                let stream = Stream::derive(seed, &format!("flow/{}/app", spec.name));
                (App::External(Box::new(Driven::new(app, start, stream))), None)
            }
        };
        Flow {
            start,
            stop: stop(duration),
            app,
            connections: first..first + spec.app.connections(),
            relay: None,
            last: None,
            source: None,
            over: false,
        }
    }

    /// The ends of these of its connections.
    pub(crate) fn ends_of(connections: Range<usize>) -> impl Iterator<Item = EndId> + use<> {
        let connections = connections.map(|number| ConnectionId(number as u32));
        connections.flat_map(|connection| [connection.end(Side::Data), connection.end(Side::Back)])
    }

    /// A time that the application waits for has come: it starts, or asks for the next page, or stops.
    pub(crate) fn on_time(&mut self, now: Time, pairs: &mut [[End; 2]]) {
        match (&mut self.app, pairs) {
            (App::Http(http), pairs) if now >= self.stop => http.stop(pairs),
            (App::Http(http), pairs) => http.on_time(now, pairs),
            (App::Bulk { bytes, request: None }, [[data, back]]) if now == self.start => {
                back.listen();
                data.connect();
                offer(data, *bytes);
            }
            (App::Bulk { request: Some(request), .. }, [pair]) if now == self.start => ask(pair, *request),
            // Nobody has asked yet: the one who would does not any more.
            (App::Bulk { .. }, [[data, back]]) if data.state() == State::Listen => back.close(true),
            (App::Bulk { .. }, [[data, _]]) => data.close(true),
            // What was written by then is still delivered.
            (App::OnOff(_), [[data, _]]) if now >= self.stop => data.close(false),
            (App::OnOff(onoff), [[data, back]]) => {
                if now == self.start {
                    back.listen();
                    data.connect();
                }
                data.write(onoff.poll(now));
            }
            (App::Transactions(app), [pair]) if now >= self.stop => app.stop(pair),
            (App::Transactions(app), [pair]) => app.on_time(now, pair),
            (App::Video(video), [pair]) if now >= self.stop => video.stop(now, pair),
            (App::Video(video), [pair]) => video.on_time(now, pair),
            (App::ShortFlows(flows), pairs) => flows.on_time(now, pairs),
            (App::Relay(relay), pairs) if now == self.start => relay.listen(pairs),
            (App::External(app), [pair]) => app.on_time(now, pair),
            // One connection each, or none.
            (App::Udp(_) | App::Bulk { .. } | App::OnOff(_) | App::Relay(_), _)
            | (App::Transactions(_) | App::Video(_) | App::External(_), _) => {}
        }
    }

    /// New data was read at an end of its connection `number`.
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        number: usize,
        side: Side,
        bytes: u32,
        pairs: &mut [[End; 2]],
    ) -> Due {
        match &mut self.app {
            App::Http(http) => match http.on_data(now, number, side, pairs) {
                true => Due { at: http.next, others: true },
                false => Due::default(),
            },
            App::Transactions(app) => app.on_data(now, side, &mut pairs[number]),
            App::Video(video) => video.on_data(now, side, &mut pairs[number]),
            App::External(app) => app.on_data(now, side, u64::from(bytes), &mut pairs[number]),
            App::ShortFlows(flows) => {
                flows.on_data(now, number, side, &mut pairs[number]);
                Due::default()
            }
            // From the stop on nothing is offered.
            App::Bulk { bytes, request: Some(request) } if now < self.stop => {
                answer(&mut pairs[number][0], *request, *bytes);
                Due::default()
            }
            App::Bulk { .. } | App::OnOff(_) | App::Relay(_) | App::Udp(_) => Due::default(),
        }
    }

    /// When the application wants to be called again after `now`, which its stop does not count for.
    pub(crate) fn next_time(&self, now: Time) -> Time {
        match &self.app {
            App::Http(http) => http.next,
            App::OnOff(onoff) if now < self.stop => onoff.next_time(),
            App::ShortFlows(flows) => flows.next_time(),
            App::Relay(relay) => relay.next_time(now),
            App::External(app) => app.next,
            _ => Time::NEVER,
        }
    }

    /// Whether the application does more with what arrives on a side than read it.
    pub(crate) fn is_attended(&self, side: Side) -> bool {
        match &self.app {
            App::Http(_) | App::Transactions(_) | App::Video(_) | App::ShortFlows(_) | App::External(_) => {
                true
            }
            App::Bulk { request, .. } => request.is_some() && side == Side::Data,
            App::OnOff(_) | App::Relay(_) | App::Udp(_) => false,
        }
    }

    /// The connections whose ends have something to do after a call at a time.
    pub(crate) fn called(&self) -> Range<usize> {
        match &self.app {
            App::ShortFlows(flows) => {
                let Range { start, end } = flows.opened;
                self.connections.start + start..self.connections.start + end
            }
            _ => self.connections.clone(),
        }
    }

    /// What its users waited for, one after the other.
    pub(crate) fn exchanges(&self) -> &[Exchange] {
        match &self.app {
            App::Http(http) => &http.pages,
            App::Transactions(app) => &app.exchanges,
            App::Video(video) => &video.exchanges,
            App::External(app) => &app.exchanges,
            App::ShortFlows(flows) => flows.started(),
            App::Bulk { .. } | App::OnOff(_) | App::Relay(_) | App::Udp(_) => &[],
        }
    }

    /// An end of its connection `number` is closed, or only waits for old segments to die out: whether the flow is over.
    pub(crate) fn on_closed(&mut self, now: Time, number: usize, side: Side, broken: bool) -> bool {
        match &mut self.app {
            App::Bulk { request, .. } => side == Side::Data || (request.is_some() && broken),
            App::OnOff(_) | App::Relay(_) => side == Side::Data,
            App::Http(http) => http.on_closed(number, side, broken),
            App::Transactions(app) => app.on_closed(side, broken),
            App::Video(video) => video.on_closed(now, side, broken),
            App::External(app) => app.on_closed(side, broken),
            App::ShortFlows(flows) => flows.on_closed(number, side, broken),
            App::Udp(_) => false,
        }
    }

    /// Whether nothing is open and nothing to come.
    pub(crate) fn is_idle(&self) -> bool {
        match &self.app {
            App::Http(http) => http.is_idle(),
            App::ShortFlows(flows) => flows.idle(),
            _ => false,
        }
    }

    /// Whether all of the flow's data was delivered.
    pub(crate) fn complete(&self, pairs: &[[End; 2]]) -> bool {
        let back = pairs.first().map(|[_, back]| back);
        match &self.app {
            // By duration: finished when the FIN behind the last byte has arrived.
            App::Relay(relay) if relay.is_asked() => relay.complete,
            App::Bulk { bytes: u64::MAX, .. } | App::OnOff(_) | App::Relay(_) => {
                back.is_some_and(End::finished)
            }
            App::Bulk { .. } => back.is_some_and(|back| back.delivered() == back.got.size()),
            App::Http(http) => http.complete(),
            App::Transactions(app) => app.complete(),
            App::Video(video) => video.complete(),
            App::External(app) => pairs.first().is_some_and(|pair| app.complete(pair)),
            App::ShortFlows(flows) => flows.complete(),
            App::Udp(udp) => udp.over(),
        }
    }
}

/// The host that sends data hands over all of it: `u64::MAX` bytes have no end.
fn offer(data: &mut End, bytes: u64) {
    data.write(bytes);
    if bytes != u64::MAX {
        data.close(false);
    }
}

/// The receiving host opens the connection, and sends a request of so many bytes.
fn ask([data, back]: &mut [End; 2], request: u64) {
    data.listen();
    back.connect();
    back.write(request);
}

/// The host that sends data has read more of the request: with the whole of it, it answers.
fn answer(data: &mut End, request: u64, bytes: u64) {
    if data.delivered() == request && data.state() == State::Established {
        offer(data, bytes);
    }
}
