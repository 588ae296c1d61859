//! The tail of the normal distribution, and back.

use std::f64::consts::FRAC_1_SQRT_2;

/// Q(x): the share of a standard normal variable above `x`.
pub(crate) fn tail(x: f64) -> f64 {
    0.5 * libm::erfc(x * FRAC_1_SQRT_2)
}

/// The x of which Q(x) is `share`, above 0 and below 1; to 1e-15, by halving.
pub(crate) fn inverse_tail(share: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match tail(middle) > share {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::{inverse_tail, tail};

    #[test]
    fn the_tail_is_that_of_the_tables() {
        // Abramowitz and Stegun (1964), tables 26.1 and 26.6.
        for (x, share) in
            [(0.0, 0.5), (1.0, 0.158_655_253_9), (2.0, 0.022_750_131_95), (-1.0, 0.841_344_746_1)]
        {
            assert!((tail(x) - share).abs() < 1e-10, "{x}");
        }
        for (share, x) in [(0.5, 0.0), (0.1, 1.281_551_57), (0.025, 1.959_963_98), (1e-4, 3.719_016_49)] {
            assert!((inverse_tail(share) - x).abs() < 1e-8, "{share}");
        }
    }
}
