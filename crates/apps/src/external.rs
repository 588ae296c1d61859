//! Applications from outside the crates.

use std::collections::VecDeque;
use std::fmt;

use bentpipe_units::registry::Chosen;

use crate::prelude::*;

/// The programs at both ends of a connection, which share one state.
///
/// The connection opens at the flow's start.
pub trait Application: fmt::Debug + Send {
    /// The flow starts.
    fn on_start(&mut self, talk: &mut Talk<'_>);
    /// The time has come that was asked for last.
    fn on_time(&mut self, talk: &mut Talk<'_>);
    /// The host of a side has read so many bytes more, in order.
    fn on_data(&mut self, talk: &mut Talk<'_>, side: Side, bytes: u64);
}

/// What makes an application for each flow that names it.
pub trait ApplicationFactory: fmt::Debug + Send + Sync {
    /// One that has not started.
    fn make(&self) -> Box<dyn Application>;
    /// Which host opens the connection, and closes it.
    fn opened_by(&self) -> Opener;
    /// Whether it closes the connection by itself, before the end of the run.
    fn ends(&self) -> bool;
    /// Whether it sends what is less than a segment at once (`TCP_NODELAY`).
    fn no_delay(&self) -> bool;
}

/// What an application is told, and what it does.
#[derive(Debug)]
pub struct Talk<'a> {
    /// Now.
    pub now: Time,
    /// Its random numbers.
    pub stream: &'a mut Stream,
    /// What it does.
    pub wants: Wants,
}

/// What an application does when it is called.
#[derive(Debug, Default)]
pub struct Wants {
    /// Bytes that the sender's host writes.
    pub sends: u64,
    /// Bytes that the receiver's host writes.
    pub requests: u64,
    /// When [`Application::on_time`] is called next; it takes the place of an earlier wish.
    pub call_at: Option<Time>,
    /// Whether the host that opened the connection closes it, behind what it wrote.
    pub closes: bool,
    /// Exchanges that begin now, by the bytes that their users wait for. They end in the order in which they began.
    pub begins: Vec<u64>,
    /// Exchanges that end now.
    pub ends: usize,
}

impl App for Chosen<dyn ApplicationFactory> {
    fn facts(&self) -> Facts {
        Facts {
            ends: self.factory().ends(),
            is_asked_for: self.factory().opened_by() == Opener::Receiver,
            sets_no_delay: self.factory().no_delay(),
            draws: true,
            ..Facts::default()
        }
    }

    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
        Running::connected(Driven {
            application: self.factory().make(),
            stream: beginning.stream("app"),
            opener: if self.facts().is_asked_for { Side::Back } else { Side::Data },
            next: beginning.start,
            started: false,
            closed: false,
            failed: false,
            exchanges: Vec::new(),
            open: VecDeque::new(),
        })
    }
}

/// One flow of such an application.
struct Driven {
    application: Box<dyn Application>,
    stream: Stream,
    /// The end that opens the connection, and closes it.
    opener: Side,
    /// When it is to be called next.
    next: Time,
    started: bool,
    closed: bool,
    failed: bool,
    exchanges: Vec<Exchange>,
    /// Those that have not ended.
    open: VecDeque<usize>,
}

impl Driven {
    /// Calls the application, and does what it wants; whether the end of the data and the other end have something to send.
    fn call(
        &mut self,
        now: Time,
        pair: &mut Pair<impl Socket>,
        hook: impl FnOnce(&mut dyn Application, &mut Talk<'_>),
    ) -> [bool; 2] {
        let mut talk = Talk { now, stream: &mut self.stream, wants: Wants::default() };
        hook(&mut *self.application, &mut talk);
        let Wants { sends, requests, call_at, closes, begins, ends } = talk.wants;
        for _ in 0..ends {
            if let Some(place) = self.open.pop_front() {
                self.exchanges[place].end(now);
            }
        }
        for size in begins {
            self.open.push_back(self.exchanges.len());
            self.exchanges.push(Exchange::begun(now, size));
        }
        if let Some(at) = call_at {
            self.next = at.max(now);
        }
        let [data, back] = &mut *pair;
        write(data, sends);
        write(back, requests);
        let mut has_more = [sends > 0, requests > 0];
        if closes && !self.closed {
            self.closed = true;
            pair[self.opener as usize].close(false);
            has_more[self.opener as usize] = true;
        }
        has_more
    }
}

impl<S: Socket> Program<S> for Driven {
    fn on_time(&mut self, now: Time, pairs: &mut [Pair<S>]) {
        let [pair] = pairs else { return };
        if now < self.next {
            return;
        }
        self.next = Time::NEVER;
        if self.started {
            self.call(now, pair, |app, talk| app.on_time(talk));
            return;
        }
        self.started = true;
        let [data, back] = &mut *pair;
        let (opens, listens) = match self.opener {
            Side::Data => (data, back),
            Side::Back => (back, data),
        };
        listens.listen();
        opens.connect();
        self.call(now, pair, |app, talk| app.on_start(talk));
    }

    fn on_data(&mut self, now: Time, number: usize, side: Side, bytes: u64, pairs: &mut [Pair<S>]) -> Due {
        let [sent, requested] =
            self.call(now, &mut pairs[number], |app, talk| app.on_data(talk, side, bytes));
        Due { at: self.next, others: if side == Side::Data { requested } else { sent } }
    }

    fn on_closed(&mut self, _: Time, _: usize, side: Side, failed: bool) -> bool {
        self.failed |= failed;
        if failed || side == self.opener {
            self.next = Time::NEVER;
            return true;
        }
        false
    }

    fn next_time(&self) -> Time {
        self.next
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// It has closed the connection, and all that was written has come.
    fn complete(&self, pairs: &[Pair<S>]) -> bool {
        let other = 1 - self.opener as usize;
        self.closed && !self.failed && pairs.first().is_some_and(|pair| pair[other].finished())
    }
}

/// Writes unless the other end has closed: nobody would read it.
fn write(end: &mut impl Socket, bytes: u64) {
    if bytes > 0 && end.state() != State::CloseWait {
        end.write(bytes);
    }
}
