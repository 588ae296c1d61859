//! Bit errors of QPSK, without a code and behind a convolutional one of rate 1/2.

use crate::budget::from_db;
use crate::normal::tail;

/// Wrong bits of all paths of the code 133, 171 (octal, constraint length 7) at the distances 10, 12, 14 …, of odd distance there are none
/// (Odenwalder 1970; Frenger, Orten and Ottosson 1999, table 1).
const WEIGHTS: [f64; 9] =
    [36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];

/// The distance of the first weight.
const FREE_DISTANCE: f64 = 10.0;

/// Share of bits that are wrong behind a Viterbi decoder of soft decisions, at most 0.5: the union bound Σ c_d Q(√(2 d R Eb/N₀)), which holds
/// to 0.1 dB where it is below 1e-3, and is too high above.
pub fn ber_half_rate(eb_n0_db: f64) -> f64 {
    let energy = from_db(eb_n0_db);
    let term = |(place, weight): (usize, &f64)| {
        let distance = FREE_DISTANCE + 2.0 * place as f64;
        weight * tail((2.0 * distance * 0.5 * energy).sqrt())
    };
    WEIGHTS.iter().enumerate().map(term).sum::<f64>().min(0.5)
}

/// Share of bits that are wrong without a code: Q(√(2 Eb/N₀)).
pub fn ber_uncoded(eb_n0_db: f64) -> f64 {
    tail((2.0 * from_db(eb_n0_db)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::{ber_half_rate, ber_uncoded};

    #[test]
    fn without_a_code_a_millionth_takes_10_5_db() {
        for (db, ber) in [(0.0, 0.078_65), (9.588, 1e-5), (10.530, 1e-6)] {
            assert!((ber_uncoded(db) / ber - 1.0).abs() < 2e-3, "{db}: {}", ber_uncoded(db));
        }
    }

    /// By the bound, at a BER of 1e-5.
    #[test]
    fn the_code_gains_five_decibels() {
        let at = |ber: f64, curve: fn(f64) -> f64| {
            (0..1500).map(|c| f64::from(c) / 100.0).find(|db| curve(*db) < ber)
        };
        let gain = at(1e-5, ber_uncoded).unwrap_or(0.0) - at(1e-5, ber_half_rate).unwrap_or(0.0);
        assert!((gain - 5.3).abs() < 0.15, "{gain}");
    }

    #[test]
    fn it_falls_and_is_a_share() {
        let mut before = 0.5;
        for tenth in -200..200 {
            let ber = ber_half_rate(f64::from(tenth) / 10.0);
            assert!((0.0..=before).contains(&ber), "{tenth}");
            before = ber;
        }
    }
}
