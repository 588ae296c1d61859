//! What limits each flow: for each stretch of time, why its sender sent no more, and whether a link on its route was full.

use std::collections::VecDeque;

use bentpipe_net::LinkId;
use bentpipe_tcp::{Endpoint, Limit, Seq, State};
use bentpipe_units::{Span, Time};

use crate::bounds::routes;
use crate::ids::ConnectionId;
use crate::result::FlowLimits;
use bentpipe_scenario::{Routing, Scenario};

/// A link is full that sends for so many per cent of a round trip.
const FULL_PERCENT: u128 = 95;

/// What a stretch of a connection's time counts as, before it is known whether a link was full.
#[derive(Clone, Copy)]
enum Why {
    ReceiveWindow,
    LossResponse,
    SlowStart,
    Timeouts,
    Application,
    /// All was sent, FIN too: if a link is full, it is what the rest waits for.
    End,
    Control,
}
const KINDS: usize = 7;

/// Adds up what limits the flows of a run.
pub(crate) struct Limits {
    links: Vec<Server>,
    /// Of flows over TCP, in the scenario's order.
    flows: Vec<Flow>,
    connections: Vec<Connection>,
}

/// When a direction of a link sends.
#[derive(Default)]
struct Server {
    /// In the time before `ahead`.
    busy: Span,
    /// From when until when it sends what it has taken, in order; a link may take a packet ahead of its time.
    ahead: VecDeque<(Time, Time)>,
}

struct Flow {
    /// The routes of its data, each with the time in seconds from which on it takes it; none where routing is dynamic.
    routes: Vec<(f64, Vec<LinkId>)>,
    found: FlowLimits,
}

struct Connection {
    /// Its flow, among those over TCP.
    flow: usize,
    /// Since when something limits it, and what; none while it is not open.
    now: Option<(Time, Why)>,
    /// Expiries of its timer so far, and SND.MAX at the last one until that is made up for.
    timeouts: u64,
    expired: Option<Seq>,
    /// Segments sent so far, and the time since the last of them: it is the timer's if the timer ends it.
    sent: u64,
    silent: [Span; KINDS],
    round: Round,
}

/// A stretch of a connection's time that is as long as its least round-trip time, or a little longer.
#[derive(Default)]
struct Round {
    began: Time,
    /// Which route the data took at its beginning, and how long each link on it had been sending.
    route: Option<usize>,
    busy: Vec<Span>,
    spent: [Span; KINDS],
}

impl Server {
    fn busy(&mut self, now: Time) -> Span {
        while let Some((begins, ends)) = self.ahead.front().copied().filter(|(_, ends)| *ends <= now) {
            self.ahead.pop_front();
            self.busy += ends.since(begins);
        }
        let begun = self.ahead.front().filter(|(begins, _)| *begins < now);
        self.busy + begun.map_or(Span::ZERO, |(begins, _)| now.since(*begins))
    }
}

impl Limits {
    pub(crate) fn new(scenario: &Scenario) -> Limits {
        let mut found = Limits {
            links: std::iter::repeat_with(Server::default).take(2 * scenario.links.len()).collect(),
            flows: Vec::new(),
            connections: Vec::new(),
        };
        for (number, spec) in scenario.flows.iter().enumerate().filter(|(_, spec)| !spec.app.over_udp()) {
            let flow = found.flows.len();
            found.connections.extend((0..spec.app.connections()).map(|_| Connection::new(flow)));
            let dynamic = scenario.routing == Routing::Dynamic || scenario.constellation.is_some();
            let routes = if dynamic { None } else { routes(scenario, number, spec) };
            found.flows.push(Flow {
                routes: routes.unwrap_or_default(),
                found: FlowLimits { flow: spec.name.clone(), ..FlowLimits::default() },
            });
        }
        found
    }

    /// A link that knows when a packet is sent as soon as it comes has taken one.
    pub(crate) fn taken(&mut self, now: Time, begins: Time, ends: Time, link: LinkId) {
        let server = &mut self.links[link.index()];
        // Of a link that no flow's data takes, nobody asks.
        server.busy(now);
        let ahead = &mut server.ahead;
        match ahead.back_mut() {
            Some(last) if last.1 == begins => last.1 = ends,
            _ => ahead.push_back((begins, ends)),
        }
    }

    /// A link that goes step by step has sent for `busy` until `now`, and goes on until `ends`.
    pub(crate) fn served(&mut self, now: Time, busy: Span, ends: Time, link: LinkId) {
        let server = &mut self.links[link.index()];
        server.busy = busy;
        server.ahead.clear();
        server.ahead.push_back((now, ends));
    }

    /// The end that the data of a connection comes from has done something, and sent what it could.
    pub(crate) fn acted(&mut self, now: Time, connection: ConnectionId, tcp: &Endpoint) {
        let one = &mut self.connections[connection.index()];
        let flow = &mut self.flows[one.flow];
        let was_open = one.now.is_some();
        let spoke = one.pass(now, tcp);
        let least = tcp.sender().rtt().min();
        let over = spoke && least.is_some_and(|least| now.since(one.round.began) >= least);
        match (was_open, one.now.is_some()) {
            (true, open) if over || !open => {
                one.round.end(now, flow, &mut self.links);
                one.round.begin(now, flow, &mut self.links);
            }
            (false, true) => one.round.begin(now, flow, &mut self.links),
            _ => {}
        }
    }

    /// Leaves out what limited the flows until now.
    pub(crate) fn measure_from(&mut self, now: Time) {
        for one in &mut self.connections {
            one.round.spent = Default::default();
            one.silent = Default::default();
            if let Some((since, _)) = &mut one.now {
                *since = now;
            }
        }
        for flow in &mut self.flows {
            flow.found = FlowLimits { flow: std::mem::take(&mut flow.found.flow), ..FlowLimits::default() };
        }
    }

    /// The run has ended.
    pub(crate) fn finish(mut self, end: Time) -> Vec<FlowLimits> {
        for one in &mut self.connections {
            if let Some((since, why)) = one.now {
                one.silent[why as usize] += end.since(since);
                one.spoke();
                one.round.end(end, &mut self.flows[one.flow], &mut self.links);
            }
        }
        self.flows.into_iter().map(|flow| flow.found).collect()
    }
}

impl Connection {
    fn new(flow: usize) -> Connection {
        let (round, silent) = (Round::default(), Default::default());
        Connection { flow, now: None, timeouts: 0, expired: None, sent: 0, silent, round }
    }

    /// It was silent, and is no more.
    fn spoke(&mut self) {
        for (spent, silent) in self.round.spent.iter_mut().zip(std::mem::take(&mut self.silent)) {
            *spent += silent;
        }
    }

    /// What limited it until now is over; what does from now on. Whether it has sent something.
    fn pass(&mut self, now: Time, tcp: &Endpoint) -> bool {
        let sender = tcp.sender();
        if let Some((since, why)) = self.now {
            self.silent[why as usize] += now.since(since);
        }
        let timeouts = sender.stats().timeouts;
        if timeouts > self.timeouts {
            self.timeouts = timeouts;
            self.expired = Some(sender.max());
            // Nothing else was waited for.
            let silence = self.silent.iter().fold(Span::ZERO, |sum, part| sum + *part);
            self.silent = Default::default();
            self.silent[Why::Timeouts as usize] = silence;
        }
        let sent = sender.stats().data_segments;
        let spoke = sent != self.sent;
        if spoke {
            self.sent = sent;
            self.spoke();
        }
        let window = sender.window();
        let back = |max: Seq| match window.ssthresh.is_finite() {
            true => !window.in_slow_start(),
            false => sender.una() >= max,
        };
        if self.expired.is_some_and(back) {
            self.expired = None;
        }
        let closed = matches!(tcp.state(), State::Closed | State::Listen | State::TimeWait);
        self.now = (!closed && !sender.fin_acknowledged()).then(|| (now, self.why(tcp)));
        if self.now.is_none() {
            self.spoke();
        }
        spoke
    }

    fn why(&self, tcp: &Endpoint) -> Why {
        if matches!(tcp.state(), State::SynSent | State::SynReceived) {
            return Why::SlowStart;
        }
        match tcp.sender().limit() {
            Limit::Application if tcp.sender().fin_sent() => Why::End,
            Limit::Application => Why::Application,
            Limit::ReceiveWindow => Why::ReceiveWindow,
            _ if self.expired.is_some() => Why::Timeouts,
            Limit::SlowStart => Why::SlowStart,
            Limit::LossResponse => Why::LossResponse,
            Limit::Control => Why::Control,
        }
    }
}

impl Flow {
    fn route(&self, now: Time) -> Option<usize> {
        self.routes.iter().rposition(|(since_s, _)| *since_s <= now.as_secs())
    }
}

impl Round {
    fn begin(&mut self, now: Time, flow: &Flow, links: &mut [Server]) {
        (self.began, self.route) = (now, flow.route(now));
        self.busy.clear();
        if let Some(route) = self.route {
            self.busy.extend(flow.routes[route].1.iter().map(|link| links[link.index()].busy(now)));
        }
    }

    /// Whether a link on the route has sent almost all the while.
    fn is_full(&self, now: Time, flow: &Flow, links: &mut [Server]) -> bool {
        let Some(route) = self.route.filter(|route| flow.route(now) == Some(*route)) else { return false };
        let length = u128::from(now.since(self.began).as_nanos());
        let mut links = flow.routes[route].1.iter().map(|link| links[link.index()].busy(now).as_nanos());
        length > 0
            && self.busy.iter().any(|before| {
                let sent = links.next().unwrap_or(0).saturating_sub(before.as_nanos());
                100 * u128::from(sent) >= FULL_PERCENT * length
            })
    }

    fn end(&mut self, now: Time, flow: &mut Flow, links: &mut [Server]) {
        let full = self.is_full(now, flow, links);
        let found = &mut flow.found;
        let spent = std::mem::take(&mut self.spent);
        let seconds = |why: Why| spent[why as usize].as_secs();
        // Who has nothing to send sends no more where the link has room.
        found.application_s += seconds(Why::Application);
        for (why, otherwise) in [
            (Why::ReceiveWindow, &mut found.receive_window_s),
            (Why::LossResponse, &mut found.loss_response_s),
            (Why::SlowStart, &mut found.slow_start_s),
            (Why::Timeouts, &mut found.timeouts_s),
            (Why::End, &mut found.application_s),
            (Why::Control, &mut found.control_s),
        ] {
            *(if full { &mut found.link_s } else { otherwise }) += seconds(why);
        }
    }
}
