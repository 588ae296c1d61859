//! TCP options: the layout of Linux when writing, anything well-formed when reading.

use super::DecodeError;
use crate::{Options, SackBlock, Seq, Timestamps};

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The largest shift; a larger one counts as this one (RFC 7323 section 2.3).
const MOST_WINDOW_SHIFT: u8 = 14;

/// Appends `options`, [`Options::wire_len`] bytes in all: every option starts or ends on a word.
pub(super) fn write(options: &Options, out: &mut Vec<u8>) {
    if let Some(mss) = options.mss {
        out.extend([MSS, 4]);
        out.extend(mss.to_be_bytes());
    }
    if options.sack_permitted {
        let filler = if options.timestamps.is_some() { &[][..] } else { &[NOP, NOP] };
        out.extend(filler);
        out.extend([SACK_PERMITTED, 2]);
    }
    if let Some(timestamps) = options.timestamps {
        let filler = if options.sack_permitted { &[][..] } else { &[NOP, NOP] };
        out.extend(filler);
        out.extend([TIMESTAMPS, 10]);
        out.extend(timestamps.value.to_be_bytes());
        out.extend(timestamps.echo.to_be_bytes());
    }
    if let Some(shift) = options.window_scale {
        out.extend([NOP, WINDOW_SCALE, 3, shift]);
    }
    let blocks = options.sack.as_slice();
    if !blocks.is_empty() {
        out.extend([NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            out.extend(block.start.0.to_be_bytes());
            out.extend(block.end.0.to_be_bytes());
        }
    }
}

/// Reads the options between the fixed header and the payload. An unknown kind is skipped (RFC 9293 section
/// 3.1, MUST-6); one with an impossible length is an error (MUST-7), and so is a known one that comes twice.
pub(super) fn read(mut bytes: &[u8]) -> Result<Options, DecodeError> {
    let mut options = Options::default();
    let mut seen = 0u16;
    loop {
        let (kind, length) = match *bytes {
            [] | [END, ..] => return Ok(options),
            [NOP, ..] => {
                bytes = &bytes[1..];
                continue;
            }
            [kind] => return Err(DecodeError::OptionCutOff { kind }),
            [kind, length, ..] => (kind, length),
        };
        if length < 2 {
            return Err(DecodeError::OptionLength { kind, length });
        }
        let Some((option, rest)) = bytes.split_at_checked(usize::from(length)) else {
            return Err(DecodeError::OptionCutOff { kind });
        };
        bytes = rest;
        if matches!(kind, MSS | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS) {
            if seen & (1 << kind) != 0 {
                return Err(DecodeError::OptionTwice { kind });
            }
            seen |= 1 << kind;
        }
        read_one(kind, &option[2..], &mut options).ok_or(DecodeError::OptionLength { kind, length })?;
    }
}

/// Takes one option into `options`; `None` when its length does not suit its kind.
fn read_one(kind: u8, value: &[u8], options: &mut Options) -> Option<()> {
    match kind {
        MSS => options.mss = Some(u16::from_be_bytes(value.try_into().ok()?)),
        WINDOW_SCALE => {
            let [shift] = value.try_into().ok()?;
            options.window_scale = Some(u8::min(shift, MOST_WINDOW_SHIFT));
        }
        SACK_PERMITTED => {
            let [] = value.try_into().ok()?;
            options.sack_permitted = true;
        }
        SACK => {
            if value.is_empty() {
                return None;
            }
            for block in value.chunks(8) {
                let (start, end) = read_pair(block)?;
                if !options.sack.push(SackBlock { start: Seq(start), end: Seq(end) }) {
                    return None;
                }
            }
        }
        TIMESTAMPS => {
            let (value, echo) = read_pair(value)?;
            options.timestamps = Some(Timestamps { value, echo });
        }
        _ => {}
    }
    Some(())
}

fn read_pair(bytes: &[u8]) -> Option<(u32, u32)> {
    let pair = u64::from_be_bytes(bytes.try_into().ok()?);
    Some(((pair >> 32) as u32, pair as u32))
}
