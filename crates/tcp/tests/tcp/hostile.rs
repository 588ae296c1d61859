//! Peers that lie, guess and flood: what an endpoint makes of segments that no honest peer sends.
//!
//! The text of an RFC stands beside the test that holds it.

mod arbitrary;
mod blind;
mod lies;
mod order;
mod window;

use bentpipe_tcp::{Config, Endpoint, Segment};

use crate::harness::{CLIENT, Net, SERVER, config};

fn sack() -> Config {
    config("sack")
}

/// Hands `segment` to an end at the time of the net, past the checks that hold for honest peers, and returns what it answers.
fn answers(net: &mut Net, to: usize, segment: &Segment) -> Vec<Segment> {
    net.ends[to].on_segment(net.now, segment);
    everything(net, to)
}

/// What an end has to send.
fn everything(net: &mut Net, end: usize) -> Vec<Segment> {
    let now = net.now;
    std::iter::from_fn(|| net.ends[end].poll_transmit(now))
        .map(|transmit| transmit.segment)
        .take(1000)
        .collect()
}

fn delivered(end: &Endpoint) -> u64 {
    end.receiver().delivered()
}
