//! One flow: its application, as it runs, and where its connections are.

use std::ops::Range;

use bentpipe_apps::{Due, Exchange, Program, Running, Socket, Users};
use bentpipe_scenario::Scenario;
use bentpipe_units::Time;

use crate::engine::End;
use crate::ids::{ConnectionId, EndId, FlowId, Side};
use crate::relay::Relay;
use crate::udp::Udp;

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
    /// Programs at both ends of connections.
    Connected(Box<dyn Program<End>>),
    /// The data of another flow, which ends at the node where this one begins. That node opens the connections, or the receiving host,
    /// where it opens those of the other flow.
    Relay(Box<Relay>),
    /// Datagrams, without a connection and so without ends.
    Udp(Box<Udp>),
}

impl Flow {
    /// The flow with this index, whose connections will be those from number `first` on.
    pub(crate) fn new(scenario: &Scenario, index: usize, seed: u64, first: usize) -> Flow {
        let (spec, beginning) = (&scenario.flows[index], scenario.beginning(index, seed));
        Flow {
            start: beginning.start,
            stop: beginning.stop,
            app: match spec.app.start(&beginning) {
                Running::Connected(program) => App::Connected(program),
                Running::Datagrams(datagrams) => App::Udp(Box::new(Udp::new(datagrams))),
                Running::Relay => App::Relay(Box::new(Relay::new(spec))),
            },
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

    /// A time that the application waits for has come: it starts, or goes on, or stops.
    pub(crate) fn on_time(&mut self, now: Time, pairs: &mut [[End; 2]]) {
        match &mut self.app {
            App::Connected(program) if now >= self.stop => program.on_stop(now, pairs),
            App::Connected(program) => program.on_time(now, pairs),
            App::Relay(relay) if now == self.start => relay.listen(pairs),
            App::Relay(_) | App::Udp(_) => {}
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
            App::Connected(program) => program.on_data(now, number, side, u64::from(bytes), pairs),
            App::Relay(_) | App::Udp(_) => Due::default(),
        }
    }

    /// When the application wants to be called again after `now`, which its stop does not count for.
    pub(crate) fn next_time(&self, now: Time) -> Time {
        match &self.app {
            App::Connected(program) => program.next_time(),
            App::Relay(relay) => relay.next_time(now),
            App::Udp(_) => Time::NEVER,
        }
    }

    /// Whether the application does more with what arrives on a side than read it.
    pub(crate) fn is_attended(&self, side: Side) -> bool {
        matches!(&self.app, App::Connected(program) if program.attends(side))
    }

    /// The connections whose ends have something to do after a call at a time.
    pub(crate) fn called(&self) -> Range<usize> {
        let all = self.connections.clone();
        match &self.app {
            App::Connected(program) => program.called().map_or(all, |called| {
                self.connections.start + called.start..self.connections.start + called.end
            }),
            App::Relay(_) | App::Udp(_) => all,
        }
    }

    /// What its users waited for, one after the other.
    pub(crate) fn exchanges(&self) -> &[Exchange] {
        match &self.app {
            App::Connected(program) => program.exchanges(),
            App::Relay(_) | App::Udp(_) => &[],
        }
    }

    /// Adds what the users of this flow, called `name`, saw from `from` to `end`.
    pub(crate) fn tell(&self, users: &mut Users, name: &str, [from, end]: [Time; 2]) {
        match &self.app {
            App::Connected(program) => program.tell(users, name, [from, end]),
            App::Udp(udp) => udp.datagrams.source.tell(users, name, udp.sent, udp.lost, from),
            App::Relay(_) => {}
        }
    }

    /// An end of its connection `number` is closed, or only waits for old segments to die out: whether the flow is over.
    pub(crate) fn on_closed(&mut self, now: Time, number: usize, side: Side, broken: bool) -> bool {
        match &mut self.app {
            App::Connected(program) => program.on_closed(now, number, side, broken),
            App::Relay(_) => side == Side::Data,
            App::Udp(_) => false,
        }
    }

    /// Whether nothing is open and nothing to come.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(&self.app, App::Connected(program) if program.is_idle())
    }

    /// Whether all of the flow's data was delivered.
    pub(crate) fn complete(&self, pairs: &[[End; 2]]) -> bool {
        match &self.app {
            App::Connected(program) => program.complete(pairs),
            App::Relay(relay) if relay.is_asked() => relay.complete,
            App::Relay(_) => pairs.first().is_some_and(|[_, back]| back.finished()),
            App::Udp(udp) => udp.over(),
        }
    }
}
