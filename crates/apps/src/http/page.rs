//! The sizes of a page's objects.

use std::collections::VecDeque;

use bentpipe_path::Stream;

use crate::{HttpSpec, Pages};

/// The objects of a page, in bytes.
pub(super) struct Page {
    pub(super) main: u64,
    pub(super) embedded: VecDeque<u64>,
}

impl Page {
    pub(super) fn of(spec: &HttpSpec, stream: &mut Stream) -> Page {
        match spec.size_distribution {
            Pages::Constant => {
                let embedded = (0..spec.objects).map(|_| spec.object).collect();
                Page { main: spec.main_object, embedded }
            }
            Pages::Gpp2 => {
                let (main, objects) = (MAIN.draw(stream), embedded_objects(stream));
                Page { main, embedded: (0..objects).map(|_| EMBEDDED.draw(stream)).collect() }
            }
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.main + self.embedded.iter().sum::<u64>()
    }
}

/// A log-normal distribution from `least` to `most`: what lies beyond is drawn again.
struct LogNormal {
    mean_of_log: f64,
    deviation_of_log: f64,
    least: f64,
    most: f64,
}

/// 3GPP2 C.R1002: mean 10,710 B and standard deviation 25,032 B before it is cut off.
const MAIN: LogNormal = LogNormal { mean_of_log: 8.35, deviation_of_log: 1.37, least: 100.0, most: 2e6 };

/// Mean 7758 B and standard deviation 126,168 B before it is cut off.
const EMBEDDED: LogNormal = LogNormal { mean_of_log: 6.17, deviation_of_log: 2.36, least: 50.0, most: 2e6 };

impl LogNormal {
    fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let size = libm::exp(self.mean_of_log + self.deviation_of_log * stream.normal());
            if (self.least..=self.most).contains(&size) {
                return libm::round(size) as u64;
            }
        }
    }
}

/// The Pareto distribution of the number of embedded objects, of which `LEAST` are taken off. What lies above `MOST` counts as that:
/// so the mean is the 5.64 that are stated, and the most are 53.
const SHAPE: f64 = 1.1;
const LEAST: f64 = 2.0;
const MOST: f64 = 55.0;

fn embedded_objects(stream: &mut Stream) -> u32 {
    let drawn = LEAST * libm::pow(1.0 - stream.uniform(), -1.0 / SHAPE);
    libm::round(drawn.min(MOST) - LEAST) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(n: u64) -> Vec<Page> {
        let spec = HttpSpec { size_distribution: Pages::Gpp2, ..HttpSpec::default() };
        let mut stream = Stream::derive(1, "pages");
        (0..n).map(|_| Page::of(&spec, &mut stream)).collect()
    }

    fn share(values: &[f64], holds: impl Fn(f64) -> bool) -> f64 {
        values.iter().filter(|value| holds(**value)).count() as f64 / values.len() as f64
    }

    #[test]
    fn objects_are_log_normal_between_their_bounds() {
        let pages = pages(20_000);
        let main: Vec<f64> = pages.iter().map(|page| page.main as f64).collect();
        let embedded: Vec<f64> =
            pages.iter().flat_map(|page| &page.embedded).map(|size| *size as f64).collect();
        assert!(main.iter().all(|size| (100.0..=2e6).contains(size)));
        assert!(embedded.iter().all(|size| (50.0..=2e6).contains(size)));
        // P(X < exp(μ + zσ)) between the bounds. The lower bound takes off Φ(−2.73) = 0.0031 and Φ(−0.957) = 0.1694.
        for (sizes, law, cut) in [(&main, MAIN, 0.0031), (&embedded, EMBEDDED, 0.1694)] {
            for (z, below) in [(-0.5, 0.3085), (0.0, 0.5), (1.0, 0.8413)] {
                let limit = libm::exp(law.mean_of_log + z * law.deviation_of_log);
                let found = share(sizes, |size| size < limit);
                let expected = (below - cut) / (1.0 - cut);
                assert!((found - expected).abs() < 0.018, "{z}: {found}, expected {expected}");
            }
        }
        // Of the distributions as they are cut off: 10,837 B and 8200 B, and not the 10,710 B and 7758 B that are stated.
        let mean = |sizes: &[f64]| sizes.iter().sum::<f64>() / sizes.len() as f64;
        assert!((mean(&main) / 10_837.0 - 1.0).abs() < 0.09, "{}", mean(&main));
        assert!((mean(&embedded) / 8200.0 - 1.0).abs() < 0.09, "{}", mean(&embedded));
    }

    #[test]
    fn the_number_of_embedded_objects_is_pareto_with_its_bound() {
        let pages = pages(100_000);
        let numbers: Vec<f64> = pages.iter().map(|page| page.embedded.len() as f64).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        // Rounding to whole objects makes it 5.62, and the standard deviation is 10.6.
        assert!((mean - 5.62).abs() < 0.17, "{mean}");
        // P(2 + n > x) = (2 / x)^1.1.
        for (above, expected) in [(0.5, 0.7823), (10.5, 0.1332), (52.5, 0.0264)] {
            let found = share(&numbers, |number| number > above);
            assert!((found - expected).abs() < 0.007, "{above}: {found}, expected {expected}");
        }
        assert!(numbers.iter().all(|number| *number <= 53.0));
    }
}
