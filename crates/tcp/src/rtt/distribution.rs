//! How the round trips of a connection's bytes were: the time that each acknowledged byte took, in bins of a logarithmic scale.

use bentpipe_units::Span;

use crate::Seq;

/// A bin is at most 1/64 of the times in it wide.
const BITS: u32 = 6;

/// Round trips by the bytes that they brought: each sample counts as often as bytes were acknowledged since the sample before.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrips {
    /// The bin of the last sample, which the next one is likely to fall into: where it begins, how wide it is, what is in it.
    edge: u64,
    width: u64,
    now: Bin,
    counted: Seq,
    others: Option<Box<RttDistribution>>,
}

/// Bytes by round trip. Sums of two can be made, and what came after one of the same connections.
#[derive(Clone, Debug, Default)]
pub struct RttDistribution {
    /// The number of the first bin.
    first: usize,
    bins: Vec<Bin>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    bytes: u64,
    /// Nanoseconds beyond the beginning of the bin, each byte by itself.
    excess: u64,
}

impl RoundTrips {
    /// None yet; sequence numbers are counted from `iss` on, so that the handshake counts as its SYN does.
    pub(crate) fn new(iss: Seq) -> RoundTrips {
        RoundTrips { edge: 0, width: 0, now: Bin::default(), counted: iss, others: None }
    }

    /// A sample came, with which all up to `una` is acknowledged.
    #[inline(always)]
    pub(crate) fn add(&mut self, rtt: Span, una: Seq) {
        let nanos = rtt.as_nanos();
        if nanos.wrapping_sub(self.edge) >= self.width {
            self.change_bin(nanos);
        }
        let bytes = u64::from(una - self.counted);
        self.counted = una;
        self.now.bytes += bytes;
        // A full bin leaves the mean within its width.
        self.now.excess = self.now.excess.saturating_add((nanos - self.edge) * bytes);
    }

    #[inline(never)]
    fn change_bin(&mut self, nanos: u64) {
        if self.now.bytes > 0 {
            self.others.get_or_insert_default().put(number(self.edge), self.now);
        }
        self.now = Bin::default();
        (self.edge, self.width) = bounds(number(nanos));
    }

    /// Adds bytes by their round trip so far.
    pub(crate) fn add_to(&self, all: &mut RttDistribution) {
        if let Some(others) = &self.others {
            all.add(others);
        }
        all.put(number(self.edge), self.now);
    }

    #[cfg(test)]
    fn distribution(&self) -> RttDistribution {
        let mut all = RttDistribution::default();
        self.add_to(&mut all);
        all
    }
}

impl RttDistribution {
    /// Takes what another one has.
    pub fn add(&mut self, other: &RttDistribution) {
        if self.bins.is_empty() {
            return self.clone_from(other);
        }
        for (place, bin) in other.bins.iter().enumerate() {
            self.put(other.first + place, *bin);
        }
    }

    /// The same without what there was at an `earlier` time.
    #[must_use]
    pub fn since(self, earlier: &RttDistribution) -> RttDistribution {
        let mut later = self;
        for (place, before) in earlier.bins.iter().enumerate() {
            let number = earlier.first + place;
            if let Some(bin) = number.checked_sub(later.first).and_then(|place| later.bins.get_mut(place)) {
                bin.bytes -= before.bytes;
                later.bytes -= before.bytes;
                bin.excess -= before.excess;
            }
        }
        later
    }

    fn put(&mut self, number: usize, added: Bin) {
        if added.bytes == 0 {
            return;
        }
        if self.bins.is_empty() {
            self.first = number;
        }
        if number < self.first {
            let more = self.first - number;
            self.bins.splice(0..0, std::iter::repeat_n(Bin::default(), more));
            self.first = number;
        }
        let place = number - self.first;
        if place >= self.bins.len() {
            self.bins.resize(place + 1, Bin::default());
        }
        let bin = &mut self.bins[place];
        bin.bytes += added.bytes;
        self.bytes += added.bytes;
        bin.excess = bin.excess.saturating_add(added.excess);
    }

    /// The mean in seconds; `None` of no bytes.
    pub fn mean_secs(&self) -> Option<f64> {
        let nanos: u128 = self.numbered().map(|(number, bin)| bin.nanos(number)).sum();
        (self.bytes > 0).then(|| nanos as f64 / self.bytes as f64 / 1e9)
    }

    /// The round trip in seconds within which a `share` of the bytes was acknowledged, to 1/64 of itself; `None` of no bytes.
    pub fn quantile_secs(&self, share: f64) -> Option<f64> {
        let [quantile] = self.quantiles_secs([share]);
        quantile
    }

    /// The same of several shares, which ascend.
    pub fn quantiles_secs<const N: usize>(&self, shares: [f64; N]) -> [Option<f64>; N] {
        let (mut below, mut reached) = (0, None);
        let mut filled = self.numbered().filter(|(_, bin)| bin.bytes > 0);
        shares.map(|share| {
            let wanted = share * self.bytes as f64;
            while reached.is_none() || (below as f64) < wanted {
                let (number, bin) = filled.next()?;
                below += bin.bytes;
                reached = Some((number, bin));
            }
            let (number, bin) = reached?;
            Some(bin.nanos(number) as f64 / bin.bytes as f64 / 1e9)
        })
    }

    fn numbered(&self) -> impl Iterator<Item = (usize, &Bin)> {
        (self.first..).zip(&self.bins)
    }
}

impl Bin {
    fn nanos(&self, number: usize) -> u128 {
        u128::from(bounds(number).0) * u128::from(self.bytes) + u128::from(self.excess)
    }
}

/// The bin of a time.
fn number(nanos: u64) -> usize {
    let shift = (nanos | 1 << BITS).ilog2() - BITS;
    ((shift << BITS) as usize) + (nanos >> shift) as usize
}

/// Where a bin begins, and how wide it is.
fn bounds(number: usize) -> (u64, u64) {
    let shift = (number >> BITS).saturating_sub(1);
    let mantissa = (number - (shift << BITS)) as u64;
    (mantissa << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_sample_counts_as_often_as_bytes_were_acknowledged_since_the_one_before() {
        let mut round_trips = RoundTrips::new(Seq(u32::MAX - 999));
        // Across the end of the sequence numbers; the third acknowledges nothing.
        for (ms, acked) in [(100, 1_000), (500, 10_000), (900, 10_000)] {
            round_trips.add(Span::from_millis(ms), Seq(u32::MAX - 999) + acked);
        }
        let found = round_trips.distribution();
        assert_eq!(found.mean_secs(), Some(0.46));
        assert_eq!([0.1, 0.11, 0.99].map(|share| found.quantile_secs(share)), [0.1, 0.5, 0.5].map(Some));
    }

    #[test]
    fn equal_round_trips_have_their_own_value_as_every_quantile() {
        let mut round_trips = RoundTrips::new(Seq(0));
        assert_eq!(round_trips.distribution().quantile_secs(0.5), None);
        assert_eq!(round_trips.distribution().mean_secs(), None);
        round_trips.add(Span::from_nanos(520_123_457), Seq(1));
        round_trips.add(Span::from_nanos(520_123_457), Seq(1 << 31));
        let found = round_trips.distribution();
        assert_eq!(found.mean_secs(), Some(0.520123457));
        assert_eq!(found.quantile_secs(0.99), Some(0.520123457));
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_64th_and_the_mean_is_exact(
            samples in prop::collection::vec((0_u64..1 << 45, 1_u32..3000), 1..200),
            split in 0_usize..200,
            share in 0.01_f64..1.0,
        ) {
            let mut round_trips = RoundTrips::new(Seq(7));
            let mut before = RttDistribution::default();
            let mut una = Seq(7);
            for (place, &(nanos, bytes)) in samples.iter().enumerate() {
                if place == split {
                    before = round_trips.distribution();
                }
                una += bytes;
                round_trips.add(Span::from_nanos(nanos), una);
            }
            let all = round_trips.distribution();
            let total: u128 = samples.iter().map(|&(_, bytes)| u128::from(bytes)).sum();
            let sum: u128 = samples.iter().map(|&(nanos, bytes)| u128::from(nanos) * u128::from(bytes)).sum();
            prop_assert_eq!(all.mean_secs(), Some(sum as f64 / total as f64 / 1e9));
            let mut sorted = samples.clone();
            sorted.sort_unstable();
            let mut below = 0;
            let exact = sorted.iter().find(|&&(_, bytes)| {
                below += bytes;
                f64::from(below) >= share * total as f64
            });
            let exact = exact.map_or(0.0, |&(nanos, _)| nanos as f64 / 1e9);
            let found = all.quantile_secs(share).unwrap_or(f64::NAN);
            prop_assert!((found - exact).abs() <= exact / 64.0 + 1e-9, "{} {}", found, exact);
            // What came after a split and what came before are the whole again.
            let mut joined = all.clone().since(&before);
            prop_assert_eq!(joined.bytes + before.bytes, all.bytes);
            joined.add(&before);
            prop_assert_eq!(joined.mean_secs(), all.mean_secs());
            prop_assert_eq!(joined.quantile_secs(share), all.quantile_secs(share));
        }

        #[test]
        fn a_time_lies_in_its_bin(nanos in 0_u64..=u64::MAX) {
            let (edge, width) = bounds(number(nanos));
            prop_assert!(edge <= nanos && nanos - edge < width && (width == 1 || edge / width >= 64));
        }
    }
}
