//! How windows are written.

use std::convert::Infallible;
use std::str::FromStr;

use bentpipe_units::{Bytes, Fault, quoted, written_as_text};

/// A window as it is written: in bytes, in segments, or by one of the words `W`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window<W> {
    Bytes(u64),
    Segments(u64),
    Word(W),
}

/// The words that a window may be written by.
pub(super) trait Words: Copy + 'static {
    /// What may stand there.
    const EXPECTED: &'static str;
    const ALL: &'static [(&'static str, Self)];
}

/// A window in bytes or in segments.
pub(super) type Segments = Window<Infallible>;

/// An initial window, or a rule for it.
pub(super) type InitialWindow = Window<InitialRule>;

/// A slow-start threshold or a buffer: a window, or none.
pub(super) type Ssthresh = Window<Unlimited>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InitialRule {
    /// RFC 5681 section 3.1: 2 segments above 2190 B, 4 up to 1095 B, else 3.
    Rfc5681,
    /// RFC 6928 section 2: "min (10*MSS, max (2*MSS, 14600))".
    Rfc6928,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unlimited;

impl Words for Infallible {
    const EXPECTED: &'static str = "a window such as \"64 KiB\" or \"96 segments\"";
    const ALL: &'static [(&'static str, Infallible)] = &[];
}

impl Words for InitialRule {
    const EXPECTED: &'static str =
        "a window such as \"64 KiB\" or \"10 segments\", \"rfc5681\" or \"rfc6928\"";
    const ALL: &'static [(&'static str, InitialRule)] =
        &[("rfc5681", InitialRule::Rfc5681), ("rfc6928", InitialRule::Rfc6928)];
}

impl Words for Unlimited {
    const EXPECTED: &'static str = "a window such as \"64 KiB\" or \"96 segments\", or \"unlimited\"";
    const ALL: &'static [(&'static str, Unlimited)] = &[("unlimited", Unlimited)];
}

impl<W: Words> FromStr for Window<W> {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Window<W>, Fault> {
        let wrong = || Fault::value(W::EXPECTED, quoted(text));
        let trimmed = text.trim();
        if let Some((_, word)) = W::ALL.iter().find(|(word, _)| *word == trimmed) {
            return Ok(Window::Word(*word));
        }
        let number = trimmed.strip_suffix("segments").or_else(|| trimmed.strip_suffix("segment"));
        let Some(number) = number.map(str::trim_end) else {
            return Bytes::read(trimmed, W::EXPECTED).map(|bytes| Window::Bytes(bytes.get()));
        };
        let number = Some(number).filter(|number| number.starts_with(|c: char| c.is_ascii_digit()));
        let number = number.and_then(|number| number.replace('_', "").parse().ok());
        number.map(Window::Segments).ok_or_else(wrong)
    }
}

impl<W> Window<W> {
    /// In bytes, with segments of `mss` bytes, or the word.
    pub(super) fn bytes(self, mss: u32) -> Result<u64, W> {
        match self {
            Window::Segments(n) => Ok(n.saturating_mul(u64::from(mss))),
            Window::Bytes(n) => Ok(n),
            Window::Word(word) => Err(word),
        }
    }
}

impl InitialRule {
    /// In whole segments of `mss` bytes.
    pub(super) fn segments(self, mss: u32) -> u32 {
        match (self, mss) {
            (InitialRule::Rfc5681, 0..=1095) => 4,
            (InitialRule::Rfc5681, 1096..=2190) => 3,
            (InitialRule::Rfc5681, _) => 2,
            (InitialRule::Rfc6928, _) => (14_600 / mss).clamp(2, 10),
        }
    }
}

macro_rules! written {
    ($($type:ident $name:literal $words:ident $prefix:literal;)+) => {
        $(written_as_text!($type, $name, $words::EXPECTED, concat!("^(", $prefix, "[0-9_]+ *segments?|[0-9.eE+_-]+ *([kMGT]|[KMGT]i)?B)$"));)+
    };
}

written! {
    Segments "Segments" Infallible "";
    InitialWindow "InitialWindow" InitialRule "rfc5681|rfc6928|";
    Ssthresh "Ssthresh" Unlimited "unlimited|";
}
