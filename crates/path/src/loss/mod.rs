//! Which packets a link damages.

mod bits;
mod external;
mod spec;

use crate::Stream;

use bits::BitErrors;
pub use bits::packet_error_rate;
pub(crate) use external::Losses;
pub use external::{Loss, LossFactory, Sent};
pub use spec::LossSpec;

/// Decides packet by packet, in the order in which they are sent, which are lost.
///
/// What it decides about the n-th packet depends on the stream, n and the packets' lengths only, so two runs that send the
/// same packets lose the same ones.
#[derive(Clone, Debug)]
pub struct LossModel(Model);

/// What is rare or large is boxed: a link without loss should not carry it through the cache.
#[derive(Clone, Debug)]
enum Model {
    None,
    Packet(f64),
    Ber(Box<BitErrors>),
    Drop(Box<DropList>),
    GilbertElliott(Box<GilbertElliott>),
}

#[derive(Clone, Debug)]
struct DropList {
    /// Ascending, without repeats.
    packets: Vec<u64>,
    at_least: u64,
    counted: u64,
    /// Index in `packets` of the first one still to come.
    next: usize,
}

#[derive(Clone, Debug)]
struct GilbertElliott {
    bad: bool,
    good_to_bad: f64,
    bad_to_good: f64,
    loss_in_bad: f64,
    loss_in_good: f64,
}

impl LossModel {
    /// The loss that `spec` describes; `spec` has passed its checks. Gilbert-Elliott draws its first state here,
    /// from the stationary distribution. A model from outside loses nothing here: the link that goes step by step asks it.
    pub fn new(spec: &LossSpec, stream: &mut Stream) -> LossModel {
        LossModel(match *spec {
            LossSpec::None | LossSpec::External(_) => Model::None,
            LossSpec::Packet { probability } => Model::Packet(probability),
            LossSpec::Ber { ber, correctable_bits } => {
                Model::Ber(Box::new(BitErrors::new(ber, correctable_bits)))
            }
            LossSpec::Drop { ref packets, at_least } => {
                let mut packets = packets.clone();
                packets.sort_unstable();
                packets.dedup();
                Model::Drop(Box::new(DropList { packets, at_least: at_least.get(), counted: 0, next: 0 }))
            }
            LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_in_bad, loss_in_good } => {
                let bad = stream.uniform() < good_to_bad / (good_to_bad + bad_to_good);
                Model::GilbertElliott(Box::new(GilbertElliott {
                    bad,
                    good_to_bad,
                    bad_to_good,
                    loss_in_bad,
                    loss_in_good,
                }))
            }
        })
    }

    /// Whether nothing is ever lost.
    pub fn is_none(&self) -> bool {
        matches!(self.0, Model::None)
    }

    /// Whether the next packet, `bytes` long, is lost.
    #[inline]
    pub fn lost(&mut self, bytes: u32, stream: &mut Stream) -> bool {
        // Out of line: a link without loss is the common one, and stays small.
        !matches!(self.0, Model::None) && self.draw(bytes, stream)
    }

    #[inline(never)]
    fn draw(&mut self, bytes: u32, stream: &mut Stream) -> bool {
        match &mut self.0 {
            Model::None => false,
            Model::Packet(probability) => stream.uniform() < *probability,
            Model::Ber(errors) => stream.uniform() < errors.packet_error_rate(bytes),
            Model::Drop(list) => list.lost(bytes),
            Model::GilbertElliott(channel) => channel.lost(stream),
        }
    }
}

impl DropList {
    fn lost(&mut self, bytes: u32) -> bool {
        if u64::from(bytes) < self.at_least {
            return false;
        }
        self.counted += 1;
        let lost = self.packets.get(self.next) == Some(&self.counted);
        self.next += usize::from(lost);
        lost
    }
}

impl GilbertElliott {
    fn lost(&mut self, stream: &mut Stream) -> bool {
        let (loss, leave) = if self.bad {
            (self.loss_in_bad, self.bad_to_good)
        } else {
            (self.loss_in_good, self.good_to_bad)
        };
        // Two draws a packet whatever the values, so that changing a loss share leaves the states as they were.
        let lost = stream.uniform() < loss;
        self.bad ^= stream.uniform() < leave;
        lost
    }
}

#[cfg(test)]
mod tests {
    use bentpipe_units::Bytes;

    use super::*;

    fn losses(spec: &LossSpec, bytes: u32, packets: usize) -> Vec<bool> {
        let mut stream = Stream::derive(11, "loss");
        let mut loss = LossModel::new(spec, &mut stream);
        (0..packets).map(|_| loss.lost(bytes, &mut stream)).collect()
    }

    fn count(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64
    }

    /// The number of losses among independent packets lies within five standard deviations of its mean.
    fn assert_binomial(spec: &LossSpec, bytes: u32, packets: usize) {
        let p = spec.mean_loss(bytes).unwrap();
        let n = packets as f64;
        let found = count(&losses(spec, bytes, packets));
        assert!(
            (found - n * p).abs() < 5.0 * (n * p * (1.0 - p)).sqrt(),
            "{spec:?}: {found}, expected {}",
            n * p
        );
    }

    #[test]
    fn independent_losses_come_at_their_rate() {
        assert_binomial(&LossSpec::Packet { probability: 1e-3 }, 1500, 400_000);
        assert_binomial(&LossSpec::Packet { probability: 0.3 }, 1500, 100_000);
        assert_binomial(&LossSpec::Ber { ber: 1e-6, correctable_bits: 0 }, 1500, 200_000);
        assert_binomial(&LossSpec::Ber { ber: 1e-4, correctable_bits: 2 }, 1500, 200_000);
    }

    #[test]
    fn certain_and_impossible_losses_are_just_that() {
        assert_eq!(count(&losses(&LossSpec::None, 1500, 1000)), 0.0);
        assert_eq!(count(&losses(&LossSpec::Packet { probability: 0.0 }, 1500, 1000)), 0.0);
        assert_eq!(count(&losses(&LossSpec::Packet { probability: 1.0 }, 1500, 1000)), 1000.0);
        assert_eq!(count(&losses(&LossSpec::Ber { ber: 1.0, correctable_bits: 0 }, 40, 1000)), 1000.0);
        assert_eq!(count(&losses(&LossSpec::Ber { ber: 0.0, correctable_bits: 0 }, 40, 1000)), 0.0);
    }

    #[test]
    fn a_higher_probability_loses_the_same_packets_and_more() {
        let few = losses(&LossSpec::Packet { probability: 0.01 }, 1500, 10_000);
        let many = losses(&LossSpec::Packet { probability: 0.02 }, 1500, 10_000);
        assert!(few.iter().zip(&many).all(|(few, many)| many | !few));
        assert!(count(&many) > count(&few));
    }

    #[test]
    fn no_loss_draws_nothing() {
        let mut stream = Stream::derive(1, "loss");
        let untouched = stream.clone();
        let mut loss = LossModel::new(&LossSpec::None, &mut stream);
        assert!(!loss.lost(1500, &mut stream));
        assert_eq!(stream, untouched);
    }

    #[test]
    fn a_drop_list_counts_from_one_and_passes_over_small_packets() {
        let spec = LossSpec::Drop { packets: vec![4, 2, 2], at_least: Bytes::new(100) };
        let mut stream = Stream::derive(1, "loss");
        let mut loss = LossModel::new(&spec, &mut stream);
        let sizes = [40, 1500, 99, 100, 40, 1500, 1500, 1500];
        let lost: Vec<_> = sizes.iter().map(|bytes| loss.lost(*bytes, &mut stream)).collect();
        assert_eq!(lost, [false, false, false, true, false, false, true, false]);
    }

    fn bursts(good_to_bad: f64, bad_to_good: f64, loss_in_bad: f64, loss_in_good: f64) -> LossSpec {
        LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_in_bad, loss_in_good }
    }

    #[test]
    fn gilbert_elliott_has_its_mean_loss_and_burst_length() {
        let spec = bursts(0.02, 0.25, 1.0, 0.0);
        let lost = losses(&spec, 1500, 1_000_000);
        let mean = count(&lost) / lost.len() as f64;
        assert!((mean / spec.mean_loss(1500).unwrap() - 1.0).abs() < 0.03, "{mean}");
        let starts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let burst = count(&lost) / starts;
        // 1/r packets.
        assert!((burst * 0.25 - 1.0).abs() < 0.03, "{burst}");
    }

    #[test]
    fn gilbert_elliott_loses_in_both_states_when_told_to() {
        let spec = bursts(0.1, 0.3, 0.6, 0.04);
        assert_eq!(spec.mean_loss(40), Some(0.25 * 0.6 + 0.75 * 0.04));
        let mean = count(&losses(&spec, 1500, 1_000_000)) / 1e6;
        assert!((mean / 0.18 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn gilbert_elliott_starts_in_its_stationary_distribution() {
        let spec = bursts(0.001, 0.003, 1.0, 0.0);
        let first_lost = (0..20_000).filter(|seed| {
            let mut stream = Stream::derive(*seed, "loss");
            let mut loss = LossModel::new(&spec, &mut stream);
            loss.lost(1500, &mut stream)
        });
        // Five standard deviations of a binomial with n = 20,000 and p = 0.25.
        assert!(first_lost.count().abs_diff(5000) < 307);
    }
}
