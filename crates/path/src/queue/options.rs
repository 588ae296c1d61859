//! Checks that the options of several schemes need.

use bentpipe_units::{Fault, Span, fault};

use super::Packets;

pub(super) fn yes() -> bool {
    true
}

pub(super) fn at_most(key: &str, packets: Packets, most: Packets, of: &str) -> Result<(), Fault> {
    match packets.0 <= most.0 {
        true => Ok(()),
        false => Err(fault!("at most the queue's {of} ({most})", "{packets}").under(key)),
    }
}

pub(super) fn longer(key: &str, time: Span, than: Span, of: &str) -> Result<(), Fault> {
    match time > than {
        true => Ok(()),
        false => Err(fault!("more than {of} ({than})", "{time}").under(key)),
    }
}
