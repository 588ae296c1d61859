//! The kernel's clock: messages and shared memory of the time-travel protocol (include/uapi/linux/um_timetravel.h).
//!
//! A kernel since 6.12 has the shared memory, which spares it most messages.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use crate::sockets::{receive, send, send_with};

const ACK: u32 = 0;
const START: u32 = 1;
const REQUEST: u32 = 2;
const WAIT: u32 = 3;
const GET: u32 = 4;
const UPDATE: u32 = 5;
const RUN: u32 = 6;
const FREE_UNTIL: u32 = 7;
const GET_TOD: u32 = 8;

/// The kernel's number among the clients; ours is 0.
const KERNEL: u16 = 1;
const SHARES_TIME: u32 = 1;
/// Of virtual-kernel/linux: packets need no messages.
const RINGS_BY_CLOCK: u32 = 1 << 31;
const REQUESTS: u32 = 1;

/// Where things are in the shared memory.
mod at {
    pub(super) const VERSION: usize = 0;
    pub(super) const LENGTH: usize = 4;
    pub(super) const FREE_UNTIL: usize = 8;
    pub(super) const NOW: usize = 16;
    pub(super) const RUNNING: usize = 24;
    pub(super) const CLIENTS: usize = 26;
    pub(super) const OURS: usize = 4096;
    pub(super) const KERNELS: usize = OURS + 128;
    pub(super) const CAPABILITIES: usize = 0;
    pub(super) const FLAGS: usize = 4;
    pub(super) const REQUEST: usize = 8;
}
const SIZE: usize = at::KERNELS + 128;

/// No time at all: the kernel takes the highest bit for a sign.
pub(crate) const NEVER: u64 = i64::MAX as u64;

/// What its wall clock shows at its start, in nanoseconds since 1970.
const WALL_CLOCK: u64 = 1_700_000_000_000_000_000;

/// The clock of a kernel, in nanoseconds since its start.
pub(crate) struct Calendar {
    pub(crate) stream: UnixStream,
    file: File,
    shared: MmapRegion,
    now: u64,
    request: u64,
    free_until: u64,
    pub(crate) waits: bool,
    sequence: u32,
}

impl Calendar {
    /// The clock of a kernel that starts, and may run before `until`.
    pub(crate) fn new(stream: UnixStream, until: u64) -> io::Result<Calendar> {
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let file = File::from(memfd_create("time", MemfdFlags::CLOEXEC)?);
        ftruncate(&file, SIZE as u64)?;
        let shared =
            MmapRegion::from_file(FileOffset::new(file.try_clone()?, 0), SIZE).map_err(io::Error::other)?;
        let calendar = Calendar {
            stream,
            file,
            shared,
            now: 0,
            request: NEVER,
            free_until: until,
            waits: false,
            sequence: 1,
        };
        calendar.set(at::VERSION, 2_u32);
        calendar.set(at::LENGTH, SIZE as u32);
        calendar.set(at::CLIENTS, KERNEL + 1);
        calendar.set(at::OURS + at::CAPABILITIES, SHARES_TIME);
        Ok(calendar)
    }

    fn set<T: vm_memory::ByteValued>(&self, place: usize, value: T) {
        // Within the memory, which is ours.
        if let Ok(field) = self.shared.get_ref::<T>(place) {
            field.store(value);
        }
    }

    fn get<T: vm_memory::ByteValued + Default>(&self, place: usize) -> T {
        self.shared.get_ref::<T>(place).map_or_else(|_| T::default(), |field| field.load())
    }

    fn is_shared(&self) -> bool {
        self.get::<u32>(at::KERNELS + at::CAPABILITIES) & SHARES_TIME != 0
    }

    /// Whether devices are looked at when the kernel waits or says something here, and are named where it is to run.
    pub(crate) fn names_devices(&self) -> bool {
        self.get::<u32>(at::KERNELS + at::CAPABILITIES) & RINGS_BY_CLOCK != 0
    }

    /// The time of the kernel that runs.
    pub(crate) fn now(&self) -> u64 {
        if self.is_shared() { self.get(at::NOW) } else { self.now }
    }

    /// The time of a kernel that waits becomes `now`.
    pub(crate) fn advance(&mut self, now: u64) {
        self.now = now;
        self.set(at::NOW, now);
    }

    /// When a kernel that waits wants to run.
    pub(crate) fn request(&self) -> u64 {
        if !self.is_shared() {
            return self.request;
        }
        match self.get::<u32>(at::KERNELS + at::FLAGS) & REQUESTS {
            0 => NEVER,
            _ => self.get(at::KERNELS + at::REQUEST),
        }
    }

    /// Lets a kernel that waits run at `now`, and on before `until`. There is something from `devices`, a bit for each.
    pub(crate) fn run(&mut self, now: u64, until: u64, devices: u32) -> io::Result<()> {
        self.advance(now);
        self.request = NEVER;
        self.waits = false;
        if self.is_shared() {
            self.set(at::FREE_UNTIL, until);
            self.set(at::RUNNING, KERNEL);
            return send(&mut self.stream, &bytes(RUN, devices, now));
        }
        self.free_until = until;
        self.tell(FREE_UNTIL, until)?;
        self.tell(RUN, now)
    }

    /// The kernel that runs may do so before `until` only.
    pub(crate) fn run_until(&mut self, until: u64) -> io::Result<()> {
        if self.is_shared() {
            if until < self.get(at::FREE_UNTIL) {
                self.set(at::FREE_UNTIL, until);
            }
        } else if until < self.free_until {
            self.free_until = until;
            self.tell(FREE_UNTIL, until)?;
        }
        Ok(())
    }

    /// Takes a message.
    pub(crate) fn handle(&mut self) -> io::Result<()> {
        let message = self.receive()?;
        self.answer(message)
    }

    pub(crate) fn receive(&mut self) -> io::Result<Message> {
        let mut bytes = [0; 16];
        receive(&mut self.stream, &mut bytes)?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Ok((word(0), word(4), u64::from(word(12)) << 32 | u64::from(word(8))))
    }

    pub(crate) fn answer(&mut self, (what, sequence, time): Message) -> io::Result<()> {
        let mut answer = 0;
        match what {
            START => {
                self.set(at::FREE_UNTIL, self.free_until);
                self.set(at::RUNNING, KERNEL);
                // It takes two descriptors; the second is for a log.
                let log = File::open("/dev/null")?;
                let bytes = bytes(ACK, sequence, u64::from(KERNEL));
                return send_with(&self.stream, &bytes, &[self.file.as_fd(), log.as_fd()]);
            }
            REQUEST => self.request = time,
            WAIT => {
                self.waits = true;
                if self.is_shared() {
                    self.set(at::RUNNING, 0_u16);
                    return Ok(());
                }
            }
            GET => answer = self.now(),
            UPDATE => self.now = self.now.max(time),
            GET_TOD => answer = WALL_CLOCK,
            _ => return Ok(()),
        }
        send(&mut self.stream, &bytes(ACK, sequence, answer))
    }

    fn send(&mut self, what: u32, time: u64) -> io::Result<()> {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        send(&mut self.stream, &bytes(what, sequence, time))
    }

    /// Sends a message and waits until it is acknowledged.
    fn tell(&mut self, what: u32, time: u64) -> io::Result<()> {
        self.send(what, time)?;
        loop {
            let message = self.receive()?;
            if message.0 == ACK {
                return Ok(());
            }
            self.answer(message)?;
        }
    }
}

/// What, a sequence number, a time.
pub(crate) type Message = (u32, u32, u64);

fn bytes(what: u32, sequence: u32, time: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&what.to_le_bytes());
    bytes[4..8].copy_from_slice(&sequence.to_le_bytes());
    bytes[8..].copy_from_slice(&time.to_le_bytes());
    bytes
}
