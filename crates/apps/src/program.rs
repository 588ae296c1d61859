//! What an application does: the programs at both ends of a flow, and what drives them.

use std::fmt;
use std::ops::Range;

use bentpipe_path::Stream;
use bentpipe_tcp::State;
use bentpipe_units::{Rate, Span, Time};

use crate::Users;

/// A side of a flow's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The host that the flow's data comes from.
    Data = 0,
    /// The host that it goes to; acknowledgments come back from there.
    Back = 1,
}

/// An end of a connection, as the program there uses it.
pub trait Socket {
    /// Passive open.
    fn listen(&mut self);
    /// Active open.
    fn connect(&mut self);
    /// Hands over so many bytes more; `u64::MAX` have no end.
    fn write(&mut self, bytes: u64);
    /// There is no more to write; with `discard` what has not been sent is forgotten.
    fn close(&mut self, discard: bool);
    /// Where the connection is.
    fn state(&self) -> State;
    /// Bytes that the program has read.
    fn delivered(&self) -> u64;
    /// Whether everything up to the other end's FIN has come.
    fn finished(&self) -> bool;
}

/// Both ends of a connection, [`Side::Data`] first.
pub type Pair<S> = [S; 2];

/// How a flow begins.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// The flow's name.
    pub flow: &'a str,
    /// The run's seed.
    pub seed: u64,
    /// When the application starts.
    pub start: Time,
    /// When it stops; `Time::NEVER` while it has no duration.
    pub stop: Time,
}

impl Beginning<'_> {
    /// The random numbers of one purpose.
    pub fn stream(&self, purpose: &str) -> Stream {
        Stream::derive(self.seed, &format!("flow/{}/{purpose}", self.flow))
    }
}

/// An application that has begun.
pub enum Running<S> {
    /// Over connections.
    Connected(Box<dyn Program<S>>),
    /// Over UDP.
    Datagrams(Datagrams),
    /// A relay: its buffers are its driver's.
    Relay,
}

impl<S> Running<S> {
    pub(crate) fn connected(program: impl Program<S> + 'static) -> Running<S> {
        Running::Connected(Box::new(program))
    }
}

impl<S> fmt::Debug for Running<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a running application")
    }
}

/// The programs at both ends of a flow's connections, `pairs`.
pub trait Program<S> {
    /// A time has come that it waits for, the start first.
    fn on_time(&mut self, now: Time, pairs: &mut [Pair<S>]);

    /// Its duration is over.
    fn on_stop(&mut self, _now: Time, _pairs: &mut [Pair<S>]) {}

    /// So many bytes more were read at an end of connection `number`.
    fn on_data(
        &mut self,
        _now: Time,
        _number: usize,
        _side: Side,
        _bytes: u64,
        _pairs: &mut [Pair<S>],
    ) -> Due {
        Due::default()
    }

    /// An end of connection `number` is closed, or only waits for old segments to die out; `broken` after an error: whether the flow is
    /// over.
    fn on_closed(&mut self, now: Time, number: usize, side: Side, broken: bool) -> bool;

    /// When it wants to be called again, where [`Due`] has not said it.
    fn next_time(&self) -> Time {
        Time::NEVER
    }

    /// Whether it does more with what arrives on a side than read it.
    fn attends(&self, _side: Side) -> bool {
        true
    }

    /// The connections whose ends have something to do after a call at a time; all, where none are told.
    fn called(&self) -> Option<Range<usize>> {
        None
    }

    /// What its users waited for, one after the other.
    fn exchanges(&self) -> &[Exchange] {
        &[]
    }

    /// Adds what the users of `flow` saw from `from` to `end`.
    fn tell(&self, users: &mut Users, flow: &str, [from, _end]: [Time; 2]) {
        users.add_transactions(flow, self.exchanges(), from);
    }

    /// Whether nothing is open and nothing to come.
    fn is_idle(&self) -> bool {
        false
    }

    /// Whether all of the flow's data was delivered.
    fn complete(&self, pairs: &[Pair<S>]) -> bool;
}

/// What somebody waits for: a page, an answer, a short transfer.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// When they asked.
    pub start: Time,
    /// To its last byte; none when that has not come.
    pub response: Option<Span>,
    /// Bytes in the direction of the flow's data.
    pub size: u64,
}

impl Exchange {
    pub(crate) fn begun(start: Time, size: u64) -> Exchange {
        Exchange { start, response: None, size }
    }

    /// Its last byte has come.
    pub(crate) fn end(&mut self, now: Time) {
        self.response = Some(now.since(self.start));
    }
}

/// What an application wants after new data.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// To be called at this time, if not `Time::NEVER`.
    pub at: Time,
    /// That the other ends of the flow send too.
    pub others: bool,
}

impl Default for Due {
    fn default() -> Due {
        Due { at: Time::NEVER, others: false }
    }
}

/// What an application sends at times of its own, whatever becomes of it.
pub trait Source {
    /// The next frame; `None` behind the last one.
    fn next_frame(&mut self) -> Option<Frame>;

    /// The datagram has arrived before which so many payload bytes were sent.
    fn on_delivery(&mut self, _now: Time, _offset: u64) {}

    /// Adds what the users of `flow` saw from `from` on, when of all datagrams so many were sent and so many were lost.
    fn tell(&self, _users: &mut Users, _flow: &str, _sent: u64, _lost: u64, _from: Time) {}
}

/// Bytes that leave together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When.
    pub at: Time,
    /// How many.
    pub bytes: u64,
}

/// The frames of a source as datagrams, each at the time of its frame.
pub struct Datagrams {
    /// Where they are from.
    pub source: Box<dyn Source>,
    /// Most payload bytes of a datagram.
    packet: u32,
    /// No frame leaves at this time or later.
    stop: Time,
    /// What leaves next.
    frame: Option<Frame>,
}

impl fmt::Debug for Datagrams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "datagrams of at most {} B", self.packet)
    }
}

impl Datagrams {
    /// Datagrams of at most `packet` bytes, until the application stops.
    pub fn new(source: impl Source + 'static, packet: u32, stop: Time) -> Datagrams {
        let mut datagrams = Datagrams { source: Box::new(source), packet, stop, frame: None };
        datagrams.turn_to_next_frame();
        datagrams
    }

    /// When datagrams leave next; `Time::NEVER` when no more will.
    pub fn next_time(&self) -> Time {
        self.frame.map_or(Time::NEVER, |frame| frame.at)
    }

    /// Payload bytes of the next datagram that is due by `now`.
    pub fn poll(&mut self, now: Time) -> Option<u32> {
        while let Some(frame) = self.frame.as_mut().filter(|frame| frame.at <= now) {
            let bytes = frame.bytes.min(u64::from(self.packet));
            frame.bytes -= bytes;
            if frame.bytes == 0 {
                self.turn_to_next_frame();
            }
            if bytes > 0 {
                return Some(bytes as u32);
            }
        }
        None
    }

    /// All that leave before `end`, with their times.
    pub fn until(mut self, end: Time) -> Vec<(Time, u32)> {
        let mut all = Vec::new();
        while self.next_time() < end {
            let at = self.next_time();
            all.extend(self.poll(at).map(|bytes| (at, bytes)));
        }
        all
    }

    fn turn_to_next_frame(&mut self) {
        self.frame = self.source.next_frame().filter(|frame| frame.at < self.stop);
    }
}

/// How long the rate takes for so many bytes: always from the start, so that roundings do not add up.
pub(crate) fn elapsed(bytes: u64, rate: Rate) -> Span {
    let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(rate.as_bps());
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The bytes of so long a time at the rate, to the nearest one.
pub(crate) fn bytes_in(rate: Rate, length: Span) -> u64 {
    let bits = u128::from(rate.as_bps()) * u128::from(length.as_nanos());
    u64::try_from((bits + 4_000_000_000) / 8_000_000_000).unwrap_or(u64::MAX)
}
