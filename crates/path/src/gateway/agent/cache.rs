//! The packets of a flow that an agent keeps.

use std::collections::VecDeque;

use bentpipe_units::Time;

/// Numbers of the copies that the driver keeps: those that are free are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    free: Vec<u32>,
    next: u32,
}

impl Places {
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    pub(super) fn give_back(&mut self, place: u32) {
        self.free.push(place);
    }

    /// The place, if there is one.
    pub(super) fn give_back_all(&mut self, place: Option<u32>) {
        self.free.extend(place);
    }
}

/// A packet that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its first byte.
    pub(super) start: u64,
    /// Behind its last byte, and its FIN.
    pub(super) end: u64,
    /// Where the driver has it.
    pub(super) copy: u32,
    /// Payload bytes.
    pub(super) payload: u32,
    /// Bytes of the packet.
    pub(super) bytes: u32,
    /// Whether the sender sent it again, or it fills a hole that came from the sender's side.
    pub(super) by_sender: bool,
    /// How often the agent sent it again.
    pub(super) tries: u32,
    /// When it went onto the link last; `Time::NEVER` while it waits.
    pub(super) sent: Time,
    /// Whether it went more than once.
    pub(super) again: bool,
    /// The receiver has reported it beyond a hole.
    pub(super) sacked: bool,
    /// It is taken for lost, and is to go again.
    pub(super) lost: bool,
}

impl Entry {
    /// A packet that has not gone yet.
    pub(super) fn new(start: u64, fin: bool, payload: u32, bytes: u32, copy: u32) -> Entry {
        Entry {
            start,
            end: start + u64::from(payload) + u64::from(fin),
            copy,
            payload,
            bytes,
            by_sender: false,
            tries: 0,
            sent: Time::NEVER,
            again: false,
            sacked: false,
            lost: false,
        }
    }
}

/// The kept packets of a flow in the order of their data.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    entries: VecDeque<Entry>,
    bytes: u64,
}

impl Cache {
    /// Payload bytes kept.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Where what begins at `start` is, or would be.
    fn search(&self, start: u64) -> Result<usize, usize> {
        // Mostly it is new, and comes behind all others.
        let (Some(first), Some(last)) = (self.entries.front(), self.entries.back()) else { return Err(0) };
        if last.start < start {
            return Err(self.entries.len());
        }
        // Or all are of one length, and that says where it is.
        let at = (start.saturating_sub(first.start) / (first.end - first.start)) as usize;
        match self.entries.get(at).is_some_and(|entry| entry.start == start) {
            true => Ok(at),
            false => self.entries.binary_search_by_key(&start, |entry| entry.start),
        }
    }

    /// The packet that begins at `start`.
    pub(super) fn find(&mut self, start: u64) -> Option<&mut Entry> {
        let at = self.search(start).ok()?;
        self.entries.get_mut(at)
    }

    /// Where the packets begin that reach beyond `place`.
    fn beyond(&self, place: u64) -> usize {
        let at = self.search(place).unwrap_or_else(|at| at);
        let before = at.checked_sub(1).filter(|before| self.entries[*before].end > place);
        before.unwrap_or(at)
    }

    /// The packets that reach beyond `place`, to be changed.
    pub(super) fn reaching_mut(&mut self, place: u64) -> impl Iterator<Item = &mut Entry> {
        let at = self.beyond(place);
        self.entries.range_mut(at..)
    }

    /// The packets that reach beyond `place`.
    pub(super) fn from(&self, place: u64) -> impl Iterator<Item = &Entry> {
        self.entries.range(self.beyond(place)..)
    }

    /// Whether a kept packet has a byte of these.
    pub(super) fn overlaps(&self, start: u64, end: u64) -> bool {
        let at = self.search(start).unwrap_or_else(|at| at);
        let before = at.checked_sub(1).and_then(|at| self.entries.get(at));
        before.is_some_and(|entry| entry.end > start)
            || self.entries.get(at).is_some_and(|entry| entry.start < end)
    }

    /// Keeps a packet that is not there.
    pub(super) fn insert(&mut self, entry: Entry) {
        if let Err(at) = self.search(entry.start) {
            self.bytes += u64::from(entry.payload);
            self.entries.insert(at, entry);
        }
    }

    /// The first packet.
    pub(super) fn first(&mut self) -> Option<&mut Entry> {
        self.entries.front_mut()
    }

    /// Forgets the first packet if it lies before `una`.
    pub(super) fn pop(&mut self, una: u64, places: &mut Places) -> Option<Entry> {
        self.entries.front().filter(|entry| entry.end <= una)?;
        let entry = self.entries.pop_front()?;
        self.bytes -= u64::from(entry.payload);
        places.give_back(entry.copy);
        Some(entry)
    }

    /// Forgets the last packet if it begins beyond `place`.
    pub(super) fn pop_last(&mut self, place: u64, places: &mut Places) -> Option<Entry> {
        self.entries.back().filter(|entry| entry.start > place)?;
        let entry = self.entries.pop_back()?;
        self.bytes -= u64::from(entry.payload);
        places.give_back(entry.copy);
        Some(entry)
    }

    /// Forgets what lies before `una`.
    pub(super) fn release(&mut self, una: u64, places: &mut Places) {
        while self.pop(una, places).is_some() {}
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self, places: &mut Places) {
        self.release(u64::MAX, places);
    }
}
