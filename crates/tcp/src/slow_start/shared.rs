//! A start from what other connections over the same path have: `shared`.
//!
//! A gateway at the senders' network sees their connections and tells a new one what window to begin with, as TCP/SPAND has it
//! (Y. Zhang, L. Qiu, S. Keshav 2000; Savage, Cardwell, Anderson 1999) and TCP fast start for one host (Padmanabhan, Katz 1998). How windows are
//! shared out is RFC 9040's: in the ensemble, what all hold together is divided by those who use it.

use std::sync::{Arc, Mutex, PoisonError};

use bentpipe_units::bounded::Number;
use bentpipe_units::{Span, Time};

use super::{SlowStart, SlowStartFactory, options};
use crate::control::{Ack, Window};

options! {
    "shared", "a new connection begins with its share of what those over the same path have, paced (TCP/SPAND, RFC 9040)";
    /// Options of the slow start shared.
    // All of its share. Ten minutes: how long the state of a path is good for is left open by all sources.
    pub struct SharedStartOptions {
        /// The part of its share that a new connection begins with, above 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub share: f64 = 1.0,
        /// What is known is not used when it is older than this.
        pub expires: Span = Span::from_secs(600.0),
    }
}

impl SlowStartFactory for SharedStartOptions {
    /// Of a connection that shares with nobody.
    fn make(&self) -> Box<dyn SlowStart> {
        Box::new(SharedStart::new(*self, &SharedPath::default()))
    }
}

/// What the connections over a path have, each by its place.
#[derive(Clone, Debug, Default)]
pub struct SharedPath(Arc<Mutex<Vec<Held>>>);

/// What a connection had when it heard of an ACK last.
#[derive(Clone, Copy, Debug)]
struct Held {
    at: Time,
    rtt: Span,
    cwnd: f64,
    ssthresh: f64,
}

/// Connections that have heard nothing for so many round trips are over, or idle.
const SILENT: u64 = 2;

/// One connection over a shared path.
pub struct SharedStart {
    options: SharedStartOptions,
    path: SharedPath,
    /// Its place there, once it has heard of an ACK.
    place: Option<usize>,
    /// Until when it paces.
    paced: Option<Time>,
    rtt: Span,
}

impl SharedStart {
    /// Shares `path` with all others that were given it.
    pub fn new(options: SharedStartOptions, path: &SharedPath) -> SharedStart {
        SharedStart { options, path: path.clone(), place: None, paced: None, rtt: Span::ZERO }
    }

    /// cwnd and ssthresh of one more connection: what all had when somebody was heard of last, by those who go on and this one.
    fn estimate(&self, now: Time) -> Option<(f64, f64)> {
        let path = self.path.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = path.iter().max_by_key(|held| held.at)?;
        if now.since(newest.at) > self.options.expires {
            return None;
        }
        let others =
            || path.iter().enumerate().filter(|(place, _)| Some(*place) != self.place).map(|(_, held)| held);
        let active = others().filter(|held| now.since(held.at) <= held.rtt * SILENT).count();
        let together = path.iter().filter(|held| newest.at.since(held.at) <= held.rtt * SILENT);
        let (cwnd, ssthresh) =
            together.fold((0.0, 0.0), |(cwnd, ssthresh), held| (cwnd + held.cwnd, ssthresh + held.ssthresh));
        let users = (active + 1) as f64;
        Some((self.options.share * cwnd / users, self.options.share * ssthresh / users))
    }

    /// Takes its share where that is more than it has, paced over a round trip.
    fn begin(&mut self, w: &mut Window, now: Time) {
        let Some((cwnd, ssthresh)) = self.estimate(now).filter(|(cwnd, _)| *cwnd > w.cwnd) else { return };
        w.cwnd = cwnd;
        w.ssthresh = w.ssthresh.min(ssthresh.max(cwnd));
        if self.rtt > Span::ZERO {
            w.pacing_rate = cwnd / self.rtt.as_secs();
            self.paced = Some(now + self.rtt);
        }
    }
}

impl SlowStart for SharedStart {
    fn on_ack(&mut self, w: &mut Window, _ack: &Ack<'_>, growth: f64) {
        w.cwnd += growth;
    }

    fn listens(&self) -> bool {
        true
    }

    fn on_handshake(&mut self, w: &mut Window, now: Time, rtt: Span) {
        self.rtt = rtt;
        self.begin(w, now);
    }

    fn on_restart(&mut self, w: &mut Window, now: Time) {
        self.begin(w, now);
    }

    fn on_any_ack(&mut self, w: &mut Window, ack: &Ack<'_>) {
        if self.paced.is_some_and(|until| ack.now >= until) {
            self.paced = None;
        }
        self.rtt = ack.rtt_min.unwrap_or(self.rtt);
        let held = Held { at: ack.now, rtt: self.rtt, cwnd: w.cwnd, ssthresh: w.ssthresh };
        let mut path = self.path.0.lock().unwrap_or_else(PoisonError::into_inner);
        match self.place {
            Some(place) => path[place] = held,
            None => {
                self.place = Some(path.len());
                path.push(held);
            }
        }
    }

    fn paces(&self) -> bool {
        self.paced.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Growth, Record};

    const MSS: f64 = 1000.0;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// A connection that hears of an ACK while it has so many bytes of window and 100 ms of RTT.
    fn hears(start: &mut SharedStart, ms: u64, cwnd: f64, ssthresh: f64) {
        let record = Record::default();
        let mut w = Window::new(cwnd, ssthresh, MSS, Growth::PerAck);
        let ack =
            Ack { now: at(ms), acked: 1000, rtt_min: Some(Span::from_millis(100)), ..Ack::new(&record) };
        start.on_any_ack(&mut w, &ack);
    }

    /// The window of a connection after its handshake.
    fn begins(start: &mut SharedStart, ms: u64) -> Window {
        let mut w = Window::new(2.0 * MSS, f64::INFINITY, MSS, Growth::PerAck);
        start.on_handshake(&mut w, at(ms), Span::from_millis(100));
        w
    }

    #[test]
    fn one_that_comes_later_takes_what_was_there_and_paces_it_for_a_round_trip() {
        let path = SharedPath::default();
        let options = SharedStartOptions::default();
        let mut first = SharedStart::new(options, &path);
        assert_eq!(begins(&mut first, 0).cwnd, 2.0 * MSS);
        hears(&mut first, 900, 40.0 * MSS, 30.0 * MSS);
        let mut second = SharedStart::new(options, &path);
        let w = begins(&mut second, 2000);
        assert_eq!((w.cwnd, w.ssthresh), (40.0 * MSS, 40.0 * MSS));
        assert_eq!(w.pacing_rate, 400.0 * MSS);
        assert!(second.paces());
        hears(&mut second, 2099, 40.0 * MSS, 40.0 * MSS);
        assert!(second.paces());
        hears(&mut second, 2100, 40.0 * MSS, 40.0 * MSS);
        assert!(!second.paces());
    }

    #[test]
    fn one_that_comes_beside_others_takes_an_equal_share() {
        let path = SharedPath::default();
        let options = SharedStartOptions { share: 0.5, ..SharedStartOptions::default() };
        let (mut one, mut two) = (SharedStart::new(options, &path), SharedStart::new(options, &path));
        hears(&mut one, 900, 40.0 * MSS, f64::INFINITY);
        hears(&mut two, 950, 20.0 * MSS, f64::INFINITY);
        let mut third = SharedStart::new(options, &path);
        let w = begins(&mut third, 1000);
        assert_eq!((w.cwnd, w.ssthresh), (10.0 * MSS, f64::INFINITY));
        // The one that is silent for more than two round trips is over; its window is free.
        hears(&mut two, 1150, 20.0 * MSS, f64::INFINITY);
        assert_eq!(begins(&mut third, 1150).cwnd, 5.0 * MSS);
    }

    #[test]
    fn what_is_old_or_small_is_not_taken() {
        let path = SharedPath::default();
        let options = SharedStartOptions { expires: Span::from_secs(5.0), ..SharedStartOptions::default() };
        let mut first = SharedStart::new(options, &path);
        hears(&mut first, 0, 40.0 * MSS, f64::INFINITY);
        assert_eq!(begins(&mut SharedStart::new(options, &path), 5000).cwnd, 40.0 * MSS);
        assert_eq!(begins(&mut SharedStart::new(options, &path), 5001).cwnd, 2.0 * MSS);
        hears(&mut first, 6000, MSS, f64::INFINITY);
        assert_eq!(begins(&mut SharedStart::new(options, &path), 6001).cwnd, 2.0 * MSS);
    }

    #[test]
    fn after_a_pause_it_has_what_it_had() {
        let path = SharedPath::default();
        let mut start = SharedStart::new(SharedStartOptions::default(), &path);
        hears(&mut start, 0, 40.0 * MSS, 30.0 * MSS);
        let mut w = Window::new(2.0 * MSS, 30.0 * MSS, MSS, Growth::PerAck);
        start.on_restart(&mut w, at(9000));
        assert_eq!((w.cwnd, w.ssthresh, start.paces()), (40.0 * MSS, 30.0 * MSS, true));
    }
}
