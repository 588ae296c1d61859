//! The sending half of a connection: what is outstanding, the retransmission timer, and the order in which data goes out.

mod acks;
mod agreed;
mod application;
mod asked;
mod dummies;
mod error;
mod groups;
mod idle;
mod limit;
mod marks;
mod opening;
mod paced;
mod pacing;
mod peer;
mod rate;
mod receive_window;
mod record;
mod restart;
mod sack;
mod samples;
mod send_path;
mod settle;
mod state;
mod timeout;
mod timers;
mod transmit;
mod tso;
mod usage;
mod write_queue;
mod writing;

use bentpipe_units::Span;

pub use acks::Incoming;
pub use agreed::Agreed;
pub use error::ConnectionError;
pub use limit::Limit;
pub use rate::{LostSegment, RateSample};
pub use record::{Record, Sent};
pub use state::SenderStats;
pub use transmit::Outgoing;

use application::Application;
use asked::{Asked, DummiesLeft};
use groups::Groups;
use pacing::Pacing;
use peer::PeerWindow;
use restart::Restart;
use send_path::SendPath;
use timers::Timers;
use usage::Usage;
use write_queue::WriteQueue;

use crate::Seq;
use crate::control::{Control, Window};
use crate::recovery::{Recovery, Reductions};
use crate::rtt::{RoundTrips, RttEstimator};
use crate::slow_start::SlowStart;

/// The sending half of a connection.
pub struct Sender {
    send_path: SendPath,
    /// SND.UNA, the byte after the newest one ever sent, and what a segment holds.
    una: Seq,
    max: Seq,
    smss: u32,
    peer: PeerWindow,
    app: Application,
    queue: WriteQueue,
    timers: Timers,
    window: Window,
    usage: Usage,

    control: Box<dyn Control>,
    asked: Asked,
    dummies: DummiesLeft,
    recovery: Box<dyn Recovery>,
    slow_start: Box<dyn SlowStart>,
    /// Whether the slow start hears of every ACK and loss.
    start_listens: bool,
    restart: Restart,
    reductions: Reductions,

    record: Record,
    rtt: RttEstimator,
    round_trips: RoundTrips,
    /// Segments that the peer reported to have twice, as Linux counts them.
    came_twice: u64,
    /// RTT by the timestamp that the last ACK echoed which the recovery may have to know of.
    echoed: Option<Span>,
    /// Segments resent since the last ACK or timeout.
    resent_this_pass: u32,
    groups: Groups,
    /// Whether data is paced.
    paced: bool,
    pacing: Pacing,
    stats: SenderStats,
}
