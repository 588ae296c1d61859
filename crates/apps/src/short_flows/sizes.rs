//! How sizes of transfers are drawn.

use bentpipe_path::Stream;

use crate::{ShortFlowsSpec, Sizes};

/// No sum of sizes overflows.
const LARGEST: f64 = 1e12;

/// Of a Pareto distribution whose shape is not told.
const USUAL_SHAPE: f64 = 1.5;

/// A distribution of the sizes of transfers, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Drawn {
    Constant(u64),
    Exponential {
        mean: f64,
    },
    Pareto {
        mean: f64,
        shape: f64,
    },
    /// None below `least`, none above `most`.
    ParetoBetween {
        least: f64,
        most: f64,
        shape: f64,
    },
}

impl Drawn {
    pub(super) fn of(spec: &ShortFlowsSpec) -> Drawn {
        let (mean, shape) = (spec.bytes as f64, spec.shape.unwrap_or(USUAL_SHAPE));
        match (spec.size_distribution, spec.largest) {
            (Sizes::Constant, _) => Drawn::Constant(spec.bytes),
            (Sizes::Exponential, _) => Drawn::Exponential { mean },
            (Sizes::Pareto, None) => Drawn::Pareto { mean, shape },
            (Sizes::Pareto, Some(most)) => {
                let most = most as f64;
                Drawn::ParetoBetween { least: least(mean, shape, most), most, shape }
            }
        }
    }

    /// A size: at least a byte, and rounded to one.
    pub(super) fn draw(&self, stream: &mut Stream) -> u64 {
        let drawn = match *self {
            Drawn::Constant(bytes) => return bytes,
            Drawn::Exponential { mean } => mean * stream.exponential(),
            Drawn::Pareto { mean, shape } => mean * stream.pareto(shape),
            Drawn::ParetoBetween { least, most, shape } => {
                let below = 1.0 - libm::pow(least / most, shape);
                least * libm::pow(1.0 - stream.uniform() * below, -1.0 / shape)
            }
        };
        libm::round(drawn).clamp(1.0, LARGEST) as u64
    }
}

/// The least size of a Pareto distribution cut off at `most` that has this mean, by bisection: the mean grows with it.
fn least(mean: f64, shape: f64, most: f64) -> f64 {
    let mean_from = |least: f64| {
        let ratio = least / most;
        let cut = (1.0 - libm::pow(ratio, shape - 1.0)) / (1.0 - libm::pow(ratio, shape));
        shape / (shape - 1.0) * least * cut
    };
    let (mut low, mut high) = (0.0, mean);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if mean_from(middle) < mean { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(drawn: Drawn, seed: u64, n: usize) -> Vec<u64> {
        let mut stream = Stream::derive(seed, "sizes");
        (0..n).map(|_| drawn.draw(&mut stream)).collect()
    }

    fn mean(sizes: &[u64]) -> f64 {
        sizes.iter().sum::<u64>() as f64 / sizes.len() as f64
    }

    #[test]
    fn a_largest_size_leaves_the_mean_where_it_is() {
        for (shape, most) in [(1.2, 1e6), (1.5, 200e3), (3.0, 25e3), (1.2, 20_001.0), (1000.0, 1e9)] {
            let drawn = Drawn::ParetoBetween { least: least(20e3, shape, most), most, shape };
            let found = sizes(drawn, 1, 400_000);
            assert!(found.iter().all(|size| *size as f64 <= most), "{shape} {most}");
            let mean = mean(&found);
            // Five standard deviations of the mean of the first, which has the largest of all.
            assert!((mean / 20e3 - 1.0).abs() < 0.03, "{shape} {most}: {mean}");
        }
    }

    /// What `docs/reference/applications.md` says: the mean of 100 sizes is below that of the distribution in most runs.
    #[test]
    fn runs_of_a_hundred_pareto_sizes_lie_below_the_mean() {
        let below = |drawn: Drawn| (0..4000).filter(|seed| mean(&sizes(drawn, *seed, 100)) < 20e3).count();
        let pareto = |shape| Drawn::Pareto { mean: 20e3, shape };
        let cut = Drawn::ParetoBetween { least: least(20e3, 1.2, 1e6), most: 1e6, shape: 1.2 };
        let found = [pareto(1.2), pareto(1.5), cut].map(|drawn| below(drawn) as f64 / 4000.0);
        let said = [0.84, 0.70, 0.57];
        // Five standard deviations.
        assert!(found.iter().zip(said).all(|(found, said)| (found - said).abs() < 0.04), "{found:?}");
    }
}
