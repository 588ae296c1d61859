use std::collections::BTreeMap;

/// The probability that a packet of `bits` bits has more than `correctable` wrong ones, at the bit error rate `ber`
/// with independent errors.
///
/// Without correction this is PER = 1 - (1 - BER)^bits. In general it is the upper tail of a binomial,
/// 1 - Σ C(n,k) BER^k (1 - BER)^(n-k) over k from 0 to `correctable`; whichever side of it is small is summed, so that a
/// probability of 1e-17 is as exact as one of 0.5. The same on every machine (`libm`).
pub fn packet_error_rate(ber: f64, bits: u64, correctable: u32) -> f64 {
    let n = bits as f64;
    if u64::from(correctable) >= bits || ber <= 0.0 {
        return 0.0;
    }
    if ber >= 1.0 {
        return 1.0;
    }
    let log_none = n * libm::log1p(-ber);
    if correctable == 0 {
        return -libm::expm1(log_none);
    }
    let odds = ber / (1.0 - ber);
    let log_odds = libm::log(ber) - libm::log1p(-ber);
    // Terms are carried as logarithms: (1 - BER)^n alone would underflow for a bad link and a long packet.
    let next_log = |k: f64, log_term: f64| log_term + libm::log((n - k) / (k + 1.0)) + log_odds;
    let mut log_term = log_none;
    let mut repaired = 0.0;
    for k in 0..=correctable {
        repaired += libm::exp(log_term);
        log_term = next_log(f64::from(k), log_term);
    }
    if f64::from(correctable) + 1.0 < n * ber {
        return (1.0 - repaired).clamp(0.0, 1.0);
    }
    let mut k = f64::from(correctable) + 1.0;
    let mut term = libm::exp(log_term);
    let mut lost = 0.0;
    // Beyond the mean every term is smaller than the one before, from the start by the ratio (n-k)/(k+1) * odds.
    while k <= n && term > lost * 1e-17 {
        lost += term;
        term *= (n - k) / (k + 1.0) * odds;
        k += 1.0;
    }
    lost.min(1.0)
}

/// Packet error rates of one link, remembered by packet length.
#[derive(Clone, Debug)]
pub(super) struct BitErrors {
    ber: f64,
    correctable: u32,
    last: (u32, f64),
    known: BTreeMap<u32, f64>,
}

impl BitErrors {
    pub(super) fn new(ber: f64, correctable: u32) -> BitErrors {
        BitErrors { ber, correctable, last: (0, 0.0), known: BTreeMap::new() }
    }

    #[inline]
    pub(super) fn packet_error_rate(&mut self, bytes: u32) -> f64 {
        if self.last.0 != bytes {
            self.look_up(bytes);
        }
        self.last.1
    }

    #[inline(never)]
    fn look_up(&mut self, bytes: u32) {
        let rate = || packet_error_rate(self.ber, u64::from(bytes) * 8, self.correctable);
        self.last = (bytes, *self.known.entry(bytes).or_insert_with(rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ C(n,k) p^k (1-p)^(n-k) over k > t, from the other end and by recursion over bits, with plain arithmetic.
    fn by_recursion(ber: f64, bits: u64, correctable: u32) -> f64 {
        let mut exactly = vec![0.0; correctable as usize + 1];
        exactly[0] = 1.0;
        let mut more = 0.0;
        for _ in 0..bits {
            more += exactly[correctable as usize] * ber;
            for k in (0..exactly.len()).rev() {
                let from_below = if k > 0 { exactly[k - 1] * ber } else { 0.0 };
                exactly[k] = exactly[k] * (1.0 - ber) + from_below;
            }
        }
        more
    }

    fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
        assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found:e}, expected {expected:e}");
    }

    #[test]
    fn agrees_with_a_recursion_over_bits() {
        for ber in [1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1] {
            for bits in [8, 320, 4_096, 12_000] {
                for correctable in [0, 1, 2, 5, 16, 100] {
                    let expected = by_recursion(ber, bits, correctable);
                    let found = packet_error_rate(ber, bits, correctable);
                    if expected > 1e-290 {
                        let what = format!("ber {ber:e}, {bits} bits, {correctable} correctable");
                        assert_close(found, expected, 1e-9, &what);
                    } else {
                        assert!(found < 1e-280, "{found:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn tiny_error_rates_keep_their_digits() {
        // 1 - (1-p)^n = np - n(n-1)p²/2 + …, and the tail past one repaired bit = n(n-1)p²/2 - n(n-1)(n-2)p³/3 + …
        assert_close(packet_error_rate(1e-12, 12_000, 0), 1.2e-8 - 7.1994e-17, 1e-15, "no correction");
        assert_close(packet_error_rate(1e-12, 12_000, 1), 7.1994e-17, 1e-7, "one bit corrected");
    }

    #[test]
    fn the_ends_of_the_range_are_exact() {
        assert_eq!(packet_error_rate(0.0, 12_000, 0), 0.0);
        assert_eq!(packet_error_rate(1.0, 12_000, 0), 1.0);
        assert_eq!(packet_error_rate(1.0, 12_000, 11_999), 1.0);
        assert_eq!(packet_error_rate(1.0, 12_000, 12_000), 0.0);
        assert_eq!(packet_error_rate(0.5, 0, 0), 0.0);
        assert_eq!(packet_error_rate(0.5, 524_280, 3), 1.0);
        assert_eq!(packet_error_rate(0.5, 1, 0), 0.5);
        assert!(packet_error_rate(0.5, 524_280, 300_000) < 1e-300);
    }

    #[test]
    fn never_grows_with_correction_nor_shrinks_with_length() {
        for ber in [1e-7, 1e-4, 0.003, 0.2] {
            for correctable in 0..40 {
                for bits in [100, 1_000, 12_000] {
                    let here = packet_error_rate(ber, bits, correctable);
                    assert!(packet_error_rate(ber, bits, correctable + 1) <= here * (1.0 + 1e-12));
                    assert!(packet_error_rate(ber, bits + 8, correctable) * (1.0 + 1e-12) >= here);
                }
            }
        }
    }

    #[test]
    fn remembered_rates_are_the_computed_ones() {
        let mut errors = BitErrors::new(1e-6, 1);
        for bytes in [1500, 40, 1500, 1500, 576, 40, 0] {
            assert_eq!(errors.packet_error_rate(bytes), packet_error_rate(1e-6, u64::from(bytes) * 8, 1));
        }
        assert_eq!(errors.known.len(), 4);
    }
}
