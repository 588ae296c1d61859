//! Drives an application from outside the crates.

use std::collections::VecDeque;

use bentpipe_path::Stream;
use bentpipe_tcp::{Endpoint, State};
use bentpipe_units::Time;
use bentpipe_units::external::External;

use super::{Due, Exchange};
use crate::engine::End;
use crate::ids::Side;
use bentpipe_scenario::{Application, ApplicationFactory, Host, Opener, Talk};

/// One flow of such an application.
pub(crate) struct Driven {
    application: Box<dyn Application>,
    stream: Stream,
    opened_by: Opener,
    /// When it is to be called next.
    pub(super) next: Time,
    started: bool,
    closed: bool,
    failed: bool,
    pub(super) exchanges: Vec<Exchange>,
    /// Those that have not ended.
    open: VecDeque<usize>,
}

impl Driven {
    pub(crate) fn new(spec: &External<dyn ApplicationFactory>, start: Time, stream: Stream) -> Driven {
        let factory = spec.factory();
        Driven {
            application: factory.make(),
            stream,
            opened_by: factory.opened_by(),
            next: start,
            started: false,
            closed: false,
            failed: false,
            exchanges: Vec::new(),
            open: VecDeque::new(),
        }
    }

    /// The time has come that it waits for.
    pub(super) fn on_time(&mut self, now: Time, pair: &mut [End; 2]) {
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
        let (opens, listens) = match self.opened_by {
            Opener::Sender => (data, back),
            Opener::Receiver => (back, data),
        };
        listens.tcp.listen();
        opens.tcp.connect();
        self.call(now, pair, |app, talk| app.on_start(talk));
    }

    /// New data was read at an end.
    pub(super) fn on_data(&mut self, now: Time, side: Side, bytes: u64, pair: &mut [End; 2]) -> Due {
        let host = match side {
            Side::Data => Host::Sender,
            Side::Back => Host::Receiver,
        };
        let [sent, requested] = self.call(now, pair, |app, talk| app.on_data(talk, host, bytes));
        Due { at: self.next, others: if side == Side::Data { requested } else { sent } }
    }

    /// Calls the application, and does what it wants; whether the end of the data and the other end have something to send.
    fn call(
        &mut self,
        now: Time,
        [data, back]: &mut [End; 2],
        hook: impl FnOnce(&mut dyn Application, &mut Talk<'_>),
    ) -> [bool; 2] {
        let mut talk = Talk {
            now,
            stream: &mut self.stream,
            sends: 0,
            requests: 0,
            call_at: None,
            closes: false,
            begins: Vec::new(),
            ends: 0,
        };
        hook(&mut *self.application, &mut talk);
        let Talk { sends, requests, call_at, closes, begins, ends, .. } = talk;
        for _ in 0..ends {
            if let Some(place) = self.open.pop_front() {
                self.exchanges[place].response = Some(now.since(self.exchanges[place].start));
            }
        }
        for size in begins {
            self.open.push_back(self.exchanges.len());
            self.exchanges.push(Exchange { start: now, response: None, size });
        }
        if let Some(at) = call_at {
            self.next = at.max(now);
        }
        write(&mut data.tcp, sends);
        write(&mut back.tcp, requests);
        let closes = closes && !self.closed;
        if closes {
            self.closed = true;
            match self.opened_by {
                Opener::Sender => data.tcp.close(false),
                Opener::Receiver => back.tcp.close(false),
            }
        }
        let closing = |opener| closes && self.opened_by == opener;
        [sends > 0 || closing(Opener::Sender), requests > 0 || closing(Opener::Receiver)]
    }

    /// An end is closed or in TIME-WAIT: whether the flow is over.
    pub(super) fn on_closed(&mut self, side: Side, failed: bool) -> bool {
        self.failed |= failed;
        let opener = match self.opened_by {
            Opener::Sender => Side::Data,
            Opener::Receiver => Side::Back,
        };
        if failed || side == opener {
            self.next = Time::NEVER;
            return true;
        }
        false
    }

    /// It has closed the connection, and all that was written has come.
    pub(super) fn complete(&self, [data, back]: &[End; 2]) -> bool {
        let receiver = match self.opened_by {
            Opener::Sender => back.tcp.receiver(),
            Opener::Receiver => data.tcp.receiver(),
        };
        self.closed && !self.failed && receiver.finished()
    }
}

/// Nobody reads what is written when the other end has closed.
fn write(tcp: &mut Endpoint, bytes: u64) {
    if bytes > 0 && tcp.state() != State::CloseWait {
        tcp.write(bytes);
    }
}
