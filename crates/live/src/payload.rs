//! Real bytes, at the edge only: what we send is a function of its place in the stream, what we receive is put in order
//! and hashed. The endpoint moves lengths.

use bentpipe_tcp::Seq;
use sha2::{Digest, Sha256};

/// Writes the bytes of the stream of `seed` from `offset` on: words of SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) fn fill(seed: u64, offset: u64, out: &mut [u8]) {
    let mut word_number = offset / 8;
    let mut skip = (offset % 8) as usize;
    let mut rest = out;
    while !rest.is_empty() {
        let word = word(seed, word_number).to_le_bytes();
        let taken = (8 - skip).min(rest.len());
        rest[..taken].copy_from_slice(&word[skip..skip + taken]);
        rest = &mut rest[taken..];
        word_number += 1;
        skip = 0;
    }
}

fn word(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The hash of the first `bytes` bytes of the stream of `seed`.
pub(crate) fn hash_of(seed: u64, bytes: u64) -> String {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    let mut offset = 0;
    while offset < bytes {
        let length = (bytes - offset).min(chunk.len() as u64) as usize;
        fill(seed, offset, &mut chunk[..length]);
        hash.update(&chunk[..length]);
        offset += length as u64;
    }
    hex(hash)
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where in its stream a sequence number lies, counted on across the wrap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    seq: Seq,
    offset: u64,
}

impl Place {
    /// `first` is the sequence number of the stream's first byte.
    pub(crate) fn new(first: Seq) -> Place {
        Place { seq: first, offset: 0 }
    }

    /// The offset of `seq`, which lies less than 2^31 from the last one asked for.
    pub(crate) fn of(&mut self, seq: Seq) -> u64 {
        self.offset = self.offset.saturating_add_signed(i64::from(seq.diff(self.seq)));
        self.seq = seq;
        self.offset
    }
}

/// Puts what arrives in order, and hashes what is delivered.
pub(crate) struct Reassembly {
    ring: Vec<u8>,
    delivered: u64,
    hash: Sha256,
}

impl Reassembly {
    /// For a receiver that never has more than `window` bytes to come.
    pub(crate) fn new(window: u32) -> Reassembly {
        Reassembly { ring: vec![0; window.max(1) as usize], delivered: 0, hash: Sha256::new() }
    }

    /// Keeps the part of `bytes`, which begin `ahead` bytes after what is delivered, that lies within the ring.
    pub(crate) fn keep(&mut self, ahead: i64, bytes: &[u8]) {
        let skip = usize::try_from(-ahead).unwrap_or(0).min(bytes.len());
        let start = usize::try_from(ahead).unwrap_or(0);
        let room = self.ring.len().saturating_sub(start);
        let fresh = &bytes[skip..];
        let fresh = &fresh[..fresh.len().min(room)];
        let size = self.ring.len() as u64;
        let at = ((self.delivered + start as u64) % size) as usize;
        let first = fresh.len().min(self.ring.len() - at);
        self.ring[at..at + first].copy_from_slice(&fresh[..first]);
        self.ring[..fresh.len() - first].copy_from_slice(&fresh[first..]);
    }

    /// Hashes what was delivered since, up to `delivered` bytes in all; whether there was anything.
    pub(crate) fn deliver_to(&mut self, delivered: u64) -> bool {
        let news = self.delivered < delivered;
        let size = self.ring.len() as u64;
        while self.delivered < delivered {
            let at = (self.delivered % size) as usize;
            let length = (delivered - self.delivered).min(size - at as u64) as usize;
            self.hash.update(&self.ring[at..at + length]);
            self.delivered += length as u64;
        }
        news
    }

    /// The hash of what was delivered.
    pub(crate) fn hash(&self) -> String {
        hex(self.hash.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_depends_on_its_place_alone() {
        let mut whole = vec![0; 1000];
        fill(7, 0, &mut whole);
        for (start, length) in [(0, 3), (1, 16), (13, 100), (992, 8), (999, 1)] {
            let mut part = vec![0; length];
            fill(7, start as u64, &mut part);
            assert_eq!(part, whole[start..start + length]);
        }
        let mut other = vec![0; 1000];
        fill(8, 0, &mut other);
        assert_ne!(other, whole);
    }

    #[test]
    fn places_go_on_across_the_wrap() {
        let mut place = Place::new(Seq(u32::MAX - 9));
        assert_eq!(place.of(Seq(u32::MAX)), 9);
        assert_eq!(place.of(Seq(90)), 100);
        assert_eq!(place.of(Seq(u32::MAX - 9)), 0);
    }

    #[test]
    fn segments_out_of_order_and_twice_are_hashed_in_order() {
        let (seed, total) = (3, 5000u64);
        let mut reassembly = Reassembly::new(1000);
        let segment = |reassembly: &mut Reassembly, start: u64, length: usize| {
            let mut bytes = vec![0; length];
            fill(seed, start, &mut bytes);
            let ahead = start as i64 - reassembly.delivered as i64;
            reassembly.keep(ahead, &bytes);
        };
        for start in (0..total).step_by(500) {
            segment(&mut reassembly, start + 250, 250);
            segment(&mut reassembly, start.saturating_sub(100), 400);
            reassembly.deliver_to(start + 500);
        }
        assert_eq!(reassembly.hash(), hash_of(seed, total));
    }
}
