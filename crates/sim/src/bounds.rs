//! What a transfer can come to at best on a path: bounds that need no simulation.
//!
//! The first three hold for every TCP that knows nothing of the path beforehand; one that is above them is wrong. The response functions
//! say what a control comes to that answers each loss as Reno or CUBIC does.

mod along;
mod route;

pub use along::{Along, along};
pub(crate) use route::routes;
pub use route::{Carried, carried};

/// A path as a transfer meets it while nothing waits in its queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathBounds {
    /// Rate of the narrowest link, in bits a second.
    pub rate_bps: f64,
    /// Share of the packets that are damaged, 0 to 1.
    pub loss: f64,
    /// Propagation delay from sender to receiver, in seconds.
    pub delay_s: f64,
    /// Propagation delay there and back, in seconds.
    pub rtt_s: f64,
    /// Payload of a full segment, in bytes.
    pub payload: f64,
    /// A full segment as the link carries it, in bytes.
    pub packet: f64,
}

impl PathBounds {
    /// What the link carries of payload, in bits a second: rate (1 - PER) and the share of a packet that is payload.
    pub fn carried_bps(&self) -> f64 {
        self.rate_bps * (1.0 - self.loss) * self.payload / self.packet
    }

    /// What a window of so many bytes lets through, in bits a second: a window a round trip.
    pub fn window_bps(&self, window: f64) -> f64 {
        window * 8.0 / self.rtt_s
    }

    /// The least time from the first SYN to the last of `bytes` bytes for a window that begins at `initial` bytes and doubles a round
    /// trip, in seconds.
    ///
    /// What an ACK tells and what it opens the window by let out at most 2 bytes for each acknowledged one (RFC 5681 section 3.1), so that
    /// before the round trip k, counted from 0, at most `initial` (2^k - 1) bytes were sent. What is left then needs its time on the link:
    /// the largest of these times over all k, after a round trip for the handshake, and the way to the receiver.
    pub fn doubling_s(&self, bytes: f64, initial: f64) -> f64 {
        let bps = PathBounds { loss: 0.0, ..*self }.carried_bps();
        let (mut longest, mut sent, mut round, mut window) = (0.0_f64, 0.0, 0.0, initial);
        while sent < bytes {
            longest = longest.max(round * self.rtt_s + (bytes - sent) * 8.0 / bps);
            sent += window;
            window *= 2.0;
            round += 1.0;
        }
        self.rtt_s + longest + self.delay_s
    }

    /// What Reno comes to, in bits a second of payload: a loss after every 1/`loss` segments, an ACK a segment.
    ///
    /// Mathis, Semke, Mahdavi and Ott (1997): MSS/RTT sqrt(3/2) / sqrt(p).
    pub fn mathis_bps(&self) -> f64 {
        self.window_bps(self.payload * (1.5 / self.loss).sqrt())
    }

    /// What CUBIC comes to, in bits a second of payload, where it is not as fast as Reno alone: a loss after every 1/`loss` segments.
    ///
    /// RFC 9438 section 5.1 has a mean window of 1.054 RTT^0.75 / p^0.75 segments, with C = 0.4 and β = 0.7. Where Reno's is larger, it is
    /// as fast as that (section 4.3).
    pub fn cubic_bps(&self) -> f64 {
        let segments = 1.054 * libm::pow(self.rtt_s / self.loss, 0.75);
        self.window_bps(self.payload * segments).max(self.mathis_bps())
    }
}

#[cfg(test)]
mod tests {
    use super::PathBounds;

    const GEO: PathBounds =
        PathBounds { rate_bps: 250e6, loss: 0.0, delay_s: 0.3, rtt_s: 0.6, payload: 1460.0, packet: 1500.0 };

    #[test]
    fn a_large_download_over_a_satellite_needs_ten_seconds_from_ten_segments() {
        // 11 round trips of 10, 20, 40 … segments are 29.9 MB, the rest takes 2.31 s; a round trip before it, half of one after it.
        let seconds = GEO.doubling_s(100e6, 14_600.0);
        assert!((seconds - 9.81).abs() < 0.005, "{seconds}");
        // From a window that fills the pipe nothing but the link counts.
        let filled = GEO.doubling_s(100e6, 20e6);
        assert!((filled - (0.9 + 100e6 * 8.0 / (250e6 * 1460.0 / 1500.0))).abs() < 1e-9, "{filled}");
        // A window of data or less takes the way alone, and its time on the link.
        assert!((GEO.doubling_s(1460.0, 14_600.0) - 0.9 - 1500.0 * 8.0 / 250e6).abs() < 1e-9);
    }

    #[test]
    fn the_link_and_the_window_bound_what_goes_through() {
        assert_eq!(PathBounds { loss: 0.25, ..GEO }.carried_bps(), 250e6 * 0.75 * 1460.0 / 1500.0);
        assert_eq!(GEO.window_bps(65_535.0), 65_535.0 * 8.0 / 0.6);
    }

    #[test]
    fn the_response_functions_are_those_of_their_sources() {
        // RFC 9438 section 5.1, table 1: RTT 0.1 s, windows of Reno and CUBIC in segments.
        let segments = |bps: f64, path: &PathBounds| bps * path.rtt_s / 8.0 / path.payload;
        for (loss, reno, cubic) in
            [(1e-2, 12.0, 12.0), (1e-3, 38.0, 38.0), (1e-4, 120.0, 187.0), (1e-6, 1200.0, 5926.0)]
        {
            let path = PathBounds { loss, rtt_s: 0.1, ..GEO };
            let found = segments(path.mathis_bps(), &path);
            assert!((found / reno - 1.0).abs() < 0.03, "{loss}: {found} for {reno}");
            let found = segments(path.cubic_bps(), &path);
            assert!((found / cubic - 1.0).abs() < 0.03, "{loss}: {found} for {cubic}");
        }
    }
}
