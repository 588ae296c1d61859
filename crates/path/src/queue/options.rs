//! Checks that the options of several schemes need.

use bentpipe_units::{Bytes, Span};

use super::Packets;
use crate::InvalidValue;

pub(super) fn yes() -> bool {
    true
}

pub(super) fn at_most(
    key: &'static str,
    packets: Packets,
    most: Packets,
    of: &str,
) -> Result<(), InvalidValue> {
    match packets.0 <= most.0 {
        true => Ok(()),
        false => {
            let message = format!("expected at most the queue's {of} ({most}), found {packets}");
            Err(InvalidValue { key, message })
        }
    }
}

pub(super) fn share(key: &'static str, value: f64) -> Result<(), InvalidValue> {
    match value > 0.0 && value <= 1.0 {
        true => Ok(()),
        false => Err(InvalidValue {
            key,
            message: format!("expected a number above 0 and at most 1, found {value}"),
        }),
    }
}

/// A number in its range, and at most 1e6: far from where the price would overflow.
pub(super) fn bounded(key: &'static str, value: f64, fits: bool, expected: &str) -> Result<(), InvalidValue> {
    match fits && value <= 1e6 {
        true => Ok(()),
        false => {
            Err(InvalidValue { key, message: format!("expected {expected} and at most 1e6, found {value}") })
        }
    }
}

pub(super) fn above_zero(key: &'static str, time: Span) -> Result<(), InvalidValue> {
    match time > Span::ZERO {
        true => Ok(()),
        false => Err(InvalidValue { key, message: "expected a time above zero, found 0 s".to_owned() }),
    }
}

pub(super) fn longer(key: &'static str, time: Span, than: Span, of: &str) -> Result<(), InvalidValue> {
    match time > than {
        true => Ok(()),
        false => {
            Err(InvalidValue { key, message: format!("expected more than {of} ({than}), found {time}") })
        }
    }
}

pub(super) fn mtu(bytes: Bytes) -> Result<(), InvalidValue> {
    match (1..=1 << 20).contains(&bytes.get()) {
        true => Ok(()),
        false => Err(InvalidValue { key: "mtu", message: format!("expected 1 B to 1 MiB, found {bytes}") }),
    }
}
