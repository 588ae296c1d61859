//! Applications from outside the crates.

use std::fmt;

use bentpipe_path::Stream;
use bentpipe_units::Time;

use super::opener::Opener;

/// Which host of a flow: the one that its data comes from, or the one that it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// `from`.
    Sender,
    /// `to`.
    Receiver,
}

/// The programs at both ends of a connection, which share one state.
///
/// The connection opens at the flow's start.
pub trait Application: fmt::Debug + Send {
    /// The flow starts.
    fn on_start(&mut self, talk: &mut Talk<'_>);
    /// The time has come that was asked for last.
    fn on_time(&mut self, talk: &mut Talk<'_>);
    /// The host has read so many bytes more, in order.
    fn on_data(&mut self, talk: &mut Talk<'_>, host: Host, bytes: u64);
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
