use std::f64::consts::PI;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A random stream of one component: xoshiro256++ (Blackman and Vigna 2021).
///
/// The stream depends on the run's seed and the component's name alone, so adding a component disturbs no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Xoshiro256PlusPlus);

/// FNV-1a of 64 bits (Fowler, Noll and Vo 1991): the same on every machine and in every release, which `std`'s hasher does not promise.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) fn splitmix64(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Stream {
    /// The stream of the component named `component` in the run with this `seed`.
    pub fn derive(seed: u64, component: &str) -> Stream {
        // Seed and name are mixed one after the other: their plain XOR would let nearby seeds and names coincide.
        let state = splitmix64(splitmix64(seed) ^ fnv1a(component.as_bytes()));
        Stream(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// A stream for a part of the component, which draws nothing from this one.
    pub(crate) fn part(&self, name: &str) -> Stream {
        let state = splitmix64(self.clone().next_u64() ^ fnv1a(name.as_bytes()));
        Stream(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// 32 random bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Uniform over the multiples of 2⁻⁵³ in [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Standard normal: the cosine half of Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(2.0 * PI * self.uniform())
    }

    /// Exponential with mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    /// Pareto with mean 1 and this shape, above 1: scale (shape − 1)/shape, by inversion.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        (shape - 1.0) / shape * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }

    /// Log-normal with mean 1 and this coefficient of variation: exp(σZ − σ²/2) with σ² = ln(1 + variation²).
    pub fn log_normal(&mut self, variation: f64) -> f64 {
        let variance = libm::log1p(variation * variation);
        libm::exp(libm::sqrt(variance) * self.normal() - variance / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_hash_is_fnv_1a() {
        // Test vectors of the FNV reference code.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_mixer_is_splitmix64() {
        // First output of the reference implementation from state 1234567.
        assert_eq!(splitmix64(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn results_of_published_runs_depend_on_these_values() {
        // Computed apart from this code, from the published definitions of the three algorithms.
        let mut stream = Stream::derive(1, "link:satellite");
        let first = [12_562_370_351_516_870_868, 5_643_615_866_190_711_239, 7_852_323_915_039_890_487];
        assert_eq!([(); 3].map(|()| stream.next_u64()), first);
        assert_eq!(stream.next_u32(), 3_806_905_570);
        assert_eq!(stream.uniform(), 0.949_526_877_903_985_3);
    }

    #[test]
    fn seed_and_name_both_choose_the_stream() {
        let first = |seed, name| Stream::derive(seed, name).next_u64();
        let mut seen: Vec<_> =
            (0..100).flat_map(|s| ["a", "b", "ab", "ba", ""].map(|n| first(s, n))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 500);
        assert_eq!(Stream::derive(7, "x"), Stream::derive(7, "x"));
    }

    #[test]
    fn log_normal_has_mean_one_and_the_variation_asked_for() {
        let mut stream = Stream::derive(3, "frames");
        let n = 200_000;
        for variation in [0.0, 0.3, 1.0] {
            let values: Vec<f64> = (0..n).map(|_| stream.log_normal(variation)).collect();
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
            // Five standard deviations of the mean.
            assert!((mean - 1.0).abs() <= 5.0 * variation / f64::from(n).sqrt(), "{mean}");
            assert!((variance.sqrt() - variation).abs() <= 0.03 * variation, "{variance}");
            // The median of a log-normal is the exponential of its logarithm's mean.
            let below = values.iter().filter(|x| **x < 1.0 / (1.0 + variation * variation).sqrt()).count();
            assert!(variation == 0.0 || below.abs_diff(n as usize / 2) < 1200, "{below}");
        }
    }

    #[test]
    fn uniform_fills_the_unit_interval_evenly() {
        let mut stream = Stream::derive(3, "uniform");
        let n = 100_000;
        let mut bins = [0_u32; 10];
        for _ in 0..n {
            let u = stream.uniform();
            assert!((0.0..1.0).contains(&u));
            bins[(u * 10.0) as usize] += 1;
        }
        // Five standard deviations of a binomial with n = 100,000 and p = 0.1.
        assert!(bins.iter().all(|bin| bin.abs_diff(10_000) < 475), "{bins:?}");
    }
}
