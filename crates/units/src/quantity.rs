use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::{Fault, Span, quoted, written_as_text};

/// A data rate in bits a second; never zero once parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(u64);

impl Rate {
    /// A rate of `bps` bits a second.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// Bits a second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The share `efficiency` (0 to 1) of this rate, to the nearest bit a second and at least one.
    pub fn scaled(self, efficiency: f64) -> Rate {
        Rate(((self.0 as f64 * efficiency).round() as u64).max(1))
    }

    /// The time that `bytes` take to send, rounded to the nearest nanosecond.
    #[inline]
    pub fn time_to_send(self, bytes: u64) -> Span {
        let bit_nanos = bytes.saturating_mul(8_000_000_000);
        Span::from_nanos(bit_nanos.saturating_add(self.0 / 2) / self.0)
    }
}

impl Bytes {
    /// `n` bytes.
    pub const fn new(n: u64) -> Bytes {
        Bytes(n)
    }

    /// Reads a size where `expected` says what may stand.
    pub fn read(text: &str, expected: &str) -> Result<Bytes, Fault> {
        parse(text, BYTE_UNITS, expected).map(Bytes)
    }

    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

struct Unit {
    name: &'static str,
    factor: f64,
}

const fn unit(name: &'static str, factor: f64) -> Unit {
    Unit { name, factor }
}

const RATE_UNITS: &[Unit] = &[
    unit("bit/s", 1.0),
    unit("kbit/s", 1e3),
    unit("Mbit/s", 1e6),
    unit("Gbit/s", 1e9),
    unit("Tbit/s", 1e12),
    unit("b/s", 1.0),
    unit("kb/s", 1e3),
    unit("Mb/s", 1e6),
    unit("Gb/s", 1e9),
    unit("Tb/s", 1e12),
    unit("bps", 1.0),
    unit("kbps", 1e3),
    unit("Mbps", 1e6),
    unit("Gbps", 1e9),
    unit("Tbps", 1e12),
];

const BYTE_UNITS: &[Unit] = &[
    unit("B", 1.0),
    unit("kB", 1e3),
    unit("MB", 1e6),
    unit("GB", 1e9),
    unit("TB", 1e12),
    unit("KiB", 1024.0),
    unit("MiB", 1048576.0),
    unit("GiB", 1073741824.0),
    unit("TiB", 1099511627776.0),
];

const SPAN_UNITS: &[Unit] = &[
    unit("ns", 1.0),
    unit("us", 1e3),
    unit("µs", 1e3),
    unit("ms", 1e6),
    unit("s", 1e9),
    unit("min", 6e10),
    unit("h", 3.6e12),
];

/// The largest magnitude taken: exact in an `f64`, and far above anything physical (104 days, 9 PB, 9 Pbit/s).
const LARGEST: f64 = 9.007_199_254_740_992e15;

fn parse(text: &str, units: &[Unit], expected: &str) -> Result<u64, Fault> {
    let found = quoted(text);
    let wrong = |more: &str| Fault::value(format!("{expected}{more}"), found.as_str());
    let text = text.trim();
    let split = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+' | '_')).unwrap_or(text.len());
    // "1e6 B" is a number with an exponent, "1 GB" is not.
    let split = match text[split..].strip_prefix('e') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') => {
            let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1);
            split + 2 + digits
        }
        _ => split,
    };
    let number: f64 = text[..split].replace('_', "").parse().map_err(|_| wrong(""))?;
    let name = text[split..].trim();
    let Some(unit) = units.iter().find(|u| u.name == name) else {
        let units: Vec<_> = units.iter().map(|unit| unit.name).collect();
        return Err(wrong(&format!(" (units: {})", units.join(", "))));
    };
    let value = number * unit.factor;
    if value < 0.0 {
        return Err(wrong(" that is not negative"));
    }
    if value > LARGEST {
        return Err(wrong(&format!(
            " of at most {LARGEST:.0e} {}",
            units.first().map_or("", |unit| unit.name)
        )));
    }
    let written = text[..split].split('e').next().unwrap_or_default();
    if value.round() == 0.0 && written.contains(|c: char| matches!(c, '1'..='9')) {
        return Err(wrong(&format!(" of at least {}", least(units))));
    }
    Ok(value.round() as u64)
}

/// The smallest quantity above zero, which the first of `units` counts.
fn least(units: &[Unit]) -> String {
    format!("1 {}", units.first().map_or("", |unit| unit.name))
}

const RATE_EXPECTED: &str = "a rate such as \"2.048 Mbit/s\"";
const BYTES_EXPECTED: &str = "a size such as \"64 KiB\"";
const SPAN_EXPECTED: &str = "a time such as \"250 ms\"";

impl FromStr for Rate {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Rate, Fault> {
        match parse(text, RATE_UNITS, RATE_EXPECTED)? {
            0 => {
                Err(Fault::value(format!("{RATE_EXPECTED} of at least {}", least(RATE_UNITS)), quoted(text)))
            }
            bps => Ok(Rate(bps)),
        }
    }
}

impl FromStr for Bytes {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Bytes, Fault> {
        Bytes::read(text, BYTES_EXPECTED)
    }
}

impl FromStr for Span {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Span, Fault> {
        parse(text, SPAN_UNITS, SPAN_EXPECTED).map(Span::from_nanos)
    }
}

/// Writes `value` with the largest of `scales` that leaves no fraction, so that reading it back is exact.
fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, scales: &[(u64, &str)]) -> fmt::Result {
    let (factor, name) = scales
        .iter()
        .find(|(factor, _)| value >= *factor && value.is_multiple_of(*factor))
        .or(scales.last())
        .copied()
        .unwrap_or((1, ""));
    write!(f, "{} {name}", value / factor)
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(
            f,
            self.0,
            &[(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1000, "kbit/s"), (1, "bit/s")],
        )
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB"), (1, "B")])
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scales = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];
        write_scaled(f, self.as_nanos(), &scales)
    }
}

written_as_text!(Rate, "Rate", RATE_EXPECTED, "^[0-9.eE+_-]+ *[kMGT]?(bit/s|b/s|bps)$");
written_as_text!(Bytes, "Bytes", BYTES_EXPECTED, "^[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B$");
written_as_text!(Span, "Span", SPAN_EXPECTED, "^[0-9.eE+_-]+ *(ns|us|µs|ms|s|min|h)$");

macro_rules! printed_as_text {
    ($($type:ty),*) => {
        $(impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })*
    };
}

printed_as_text!(Rate, Bytes, Span);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_forms_are_read() {
        assert_eq!("2.048 Mbit/s".parse(), Ok(Rate(2_048_000)));
        assert_eq!("256kb/s".parse(), Ok(Rate(256_000)));
        assert_eq!("64 KiB".parse(), Ok(Bytes(65_536)));
        assert_eq!("50 MB".parse(), Ok(Bytes(50_000_000)));
        assert_eq!("1e6 B".parse(), Ok(Bytes(1_000_000)));
        assert_eq!("1e-3 s".parse(), Ok(Span::from_millis(1)));
        assert_eq!("62.5 ms".parse(), Ok(Span::from_nanos(62_500_000)));
    }

    #[test]
    fn what_is_not_a_quantity_says_what_was_expected() {
        for (text, part) in [
            ("10 apples", "expected a rate"),
            ("-1 Mbit/s", "not negative"),
            ("0 bit/s", "of at least 1 bit/s, found \"0 bit/s\""),
            ("0.001 bit/s", "of at least 1 bit/s, found \"0.001 bit/s\""),
            ("1e-400 Mbit/s", "of at least 1 bit/s, found \"1e-400 Mbit/s\""),
            (
                "1 furlong",
                "(units: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, b/s, kb/s, Mb/s, Gb/s, Tb/s, bps, kbps, Mbps, Gbps, Tbps)",
            ),
            (
                "1e300 Mbit/s",
                "expected a rate such as \"2.048 Mbit/s\" of at most 9e15 bit/s, found \"1e300 Mbit/s\"",
            ),
            ("NaN Mbit/s", "expected a rate"),
            ("1e Mbit/s", "expected a rate"),
            ("", "expected a rate"),
        ] {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn what_is_too_small_to_count_is_not_taken_for_nothing() {
        for text in ["0.4 ns", "1e-400 s", "0.000_000_000_1 s"] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.contains("of at least 1 ns"), "{error}");
        }
        assert!("0.3 B".parse::<Bytes>().unwrap_err().to_string().contains("of at least 1 B"));
        assert_eq!("0e5 s".parse(), Ok(Span::ZERO));
        assert_eq!("0.0 B".parse(), Ok(Bytes(0)));
        assert_eq!("2 TB".parse(), Ok(Bytes(2_000_000_000_000)));
        assert_eq!("1 TiB".parse(), Ok(Bytes(1 << 40)));
        assert_eq!("1 Tbit/s".parse(), Ok(Rate(1_000_000_000_000)));
    }

    #[test]
    fn a_printed_quantity_reads_back_the_same() {
        for ns in [0, 1, 62_500_000, 250_000_000, 3_000_000_000, 1_234_567] {
            let span = Span::from_nanos(ns);
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        for bps in [1, 1_536_000, 2_048_000, 10_000_000_000] {
            assert_eq!(Rate(bps).to_string().parse(), Ok(Rate(bps)));
        }
    }

    #[test]
    fn sending_time_rounds_to_the_nearest_nanosecond() {
        assert_eq!(Rate(1_000_000_000).time_to_send(1500), Span::from_nanos(12_000));
        assert_eq!(Rate(1_536_000).time_to_send(512), Span::from_nanos(2_666_667));
    }
}
