//! How far the right edge of the window moves at least, and in which units.

/// RFC 9293 section 3.8.6.2.2: the window opens by "min( Fr * RCV.BUFF, Eff.snd.MSS )" at least, Fr = 1/2; a scaled window
/// may round down by less than one unit of its scale.
pub(super) fn worthwhile(capacity: u32, mss: u32, scale: u8) -> u32 {
    (capacity / 2).min(mss).saturating_sub((1 << scale) - 1).max(1)
}

/// `bytes` in whole segments, one at least, if there are so many.
pub(super) fn whole_segments(bytes: u32, mss: u32) -> u32 {
    if bytes > mss { bytes / mss * mss } else { bytes }
}
