//! Drives an application from outside the crates.

use std::collections::VecDeque;

use bentpipe_path::Stream;
use bentpipe_tcp::Chosen;
use bentpipe_tcp::State;
use bentpipe_units::Time;

use super::{Due, Exchange};
use crate::engine::End;
use crate::ids::Side;
use bentpipe_scenario::{Application, ApplicationFactory, Host, Opener, Talk, Wants};

/// One flow of such an application.
pub(crate) struct Driven {
    application: Box<dyn Application>,
    stream: Stream,
    /// The end that opens the connection, and closes it.
    opener: Side,
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
    pub(crate) fn new(spec: &Chosen<dyn ApplicationFactory>, start: Time, stream: Stream) -> Driven {
        let factory = spec.factory();
        Driven {
            application: factory.make(),
            stream,
            opener: match factory.opened_by() {
                Opener::Sender => Side::Data,
                Opener::Receiver => Side::Back,
            },
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
        let (opens, listens) = match self.opener {
            Side::Data => (data, back),
            Side::Back => (back, data),
        };
        listens.listen();
        opens.connect();
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
        pair: &mut [End; 2],
        hook: impl FnOnce(&mut dyn Application, &mut Talk<'_>),
    ) -> [bool; 2] {
        let mut talk = Talk { now, stream: &mut self.stream, wants: Wants::default() };
        hook(&mut *self.application, &mut talk);
        let Wants { sends, requests, call_at, closes, begins, ends } = talk.wants;
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

    /// An end is closed or in TIME-WAIT: whether the flow is over.
    pub(super) fn on_closed(&mut self, side: Side, failed: bool) -> bool {
        self.failed |= failed;
        if failed || side == self.opener {
            self.next = Time::NEVER;
            return true;
        }
        false
    }

    /// It has closed the connection, and all that was written has come.
    pub(super) fn complete(&self, [data, back]: &[End; 2]) -> bool {
        let other = match self.opener {
            Side::Data => back,
            Side::Back => data,
        };
        self.closed && !self.failed && other.finished()
    }
}

/// Writes unless the other end has closed: nobody would read it.
fn write(end: &mut End, bytes: u64) {
    if bytes > 0 && end.state() != State::CloseWait {
        end.write(bytes);
    }
}
