//! A network device of the kernel: its side of vhost-user, with notifications by messages as the kernel's clock wants them.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use virtio_queue::{Queue, QueueT};
use vm_memory::{Bytes, FileOffset, GuestAddress, GuestMemoryMmap};

use crate::sockets::{receive, receive_with, send};

/// The header of vhost-user: request, flags, size of what follows.
const HEADER: usize = 12;
const VERSION: u32 = 1;
const REPLY: u32 = 4;
const NEED_REPLY: u32 = 8;

const GET_FEATURES: u32 = 1;
const SET_MEM_TABLE: u32 = 5;
const SET_VRING_NUM: u32 = 8;
const SET_VRING_ADDR: u32 = 9;
const SET_VRING_BASE: u32 = 10;
const GET_PROTOCOL_FEATURES: u32 = 15;
const SET_VRING_ENABLE: u32 = 18;
const SET_BACKEND_REQ_FD: u32 = 21;
const VRING_KICK: u32 = 35;
/// Of the backend to the kernel.
const BACKEND_VRING_CALL: u32 = 4;

/// Virtio 1, and that there are protocol features: no offloads.
const FEATURES: u64 = 1 << 32 | 1 << 30;
/// Replies, requests of the backend, notifications by messages.
const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 14;

const RX: usize = 0;
const TX: usize = 1;
const QUEUE: u16 = 1024;
/// Before each frame.
pub(crate) const NET_HEADER: usize = 12;
/// What of a frame is looked at: all of one without segmentation.
const FRAME: usize = 1600 * 2;

/// Who hears of each frame.
pub(crate) type Sent<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

pub(crate) struct Device {
    pub(crate) stream: UnixStream,
    backend: Option<UnixStream>,
    memory: Option<GuestMemoryMmap>,
    rings: [Queue; 2],
    frame: Vec<u8>,
}

impl Device {
    pub(crate) fn new(stream: UnixStream) -> io::Result<Device> {
        let queue = || Queue::new(QUEUE).map_err(io::Error::other);
        Ok(Device { stream, backend: None, memory: None, rings: [queue()?, queue()?], frame: Vec::new() })
    }

    /// Takes a message. Frames that the kernel sends by it go to `sent`, before it goes on.
    pub(crate) fn handle(&mut self, sent: Sent<'_>) -> io::Result<()> {
        let mut header = [0; HEADER];
        let files = receive_with(&mut self.stream, &mut header)?;
        let word = |bytes: &[u8], at: usize| {
            bytes.get(at..at + 4).map_or(0, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        };
        let (request, flags, size) = (word(&header, 0), word(&header, 4), word(&header, 8) as usize);
        let mut payload = [0; 1024];
        let payload = payload.get_mut(..size).ok_or(io::ErrorKind::InvalidData)?;
        receive(&mut self.stream, payload)?;
        let first = word(payload, 0);
        let long = |at: usize| u64::from(word(payload, at + 4)) << 32 | u64::from(word(payload, at));
        let mut answer = None;
        let ring = self.rings.get_mut(first as usize);
        match (request, ring) {
            (GET_FEATURES, _) => answer = Some(FEATURES),
            (GET_PROTOCOL_FEATURES, _) => answer = Some(PROTOCOL_FEATURES),
            (SET_MEM_TABLE, _) => {
                let regions = (0..first as usize).map(|region| 8 + 32 * region);
                let regions = regions.map(|at| [long(at), long(at + 8), long(at + 24)]);
                self.memory = Some(map(regions.zip(files))?);
            }
            (SET_VRING_NUM, Some(ring)) => ring.set_size(word(payload, 4) as u16),
            (SET_VRING_ADDR, Some(ring)) => {
                let halves = |at: usize| (Some(word(payload, at)), Some(word(payload, at + 4)));
                let ((low, high), used, avail) = (halves(8), halves(16), halves(24));
                ring.set_desc_table_address(low, high);
                ring.set_used_ring_address(used.0, used.1);
                ring.set_avail_ring_address(avail.0, avail.1);
            }
            (SET_VRING_BASE, Some(ring)) => ring.set_next_avail(word(payload, 4) as u16),
            (SET_VRING_ENABLE, Some(ring)) => {
                ring.set_ready(word(payload, 4) != 0);
                if let (RX, Some(memory)) = (first as usize, &self.memory) {
                    // That there is room again is seen where it is needed.
                    ring.disable_notification(memory).map_err(io::Error::other)?;
                }
            }
            (SET_BACKEND_REQ_FD, _) => self.backend = files.into_iter().next().map(UnixStream::from),
            (VRING_KICK, _) if first as usize == TX => self.take_frames(sent)?,
            _ => {}
        }
        match answer {
            Some(answer) => self.reply(request, answer),
            None if flags & NEED_REPLY != 0 => self.reply(request, 0),
            None => Ok(()),
        }
    }

    fn reply(&mut self, request: u32, value: u64) -> io::Result<()> {
        let mut bytes = [0; HEADER + 8];
        bytes[..4].copy_from_slice(&request.to_le_bytes());
        bytes[4..8].copy_from_slice(&(VERSION | REPLY).to_le_bytes());
        bytes[8..12].copy_from_slice(&8_u32.to_le_bytes());
        bytes[12..].copy_from_slice(&value.to_le_bytes());
        send(&mut self.stream, &bytes)
    }

    /// Takes what the kernel has sent.
    pub(crate) fn take_frames(&mut self, sent: Sent<'_>) -> io::Result<()> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let ring = &mut self.rings[TX];
        while let Some(chain) = ring.pop_descriptor_chain(memory) {
            let head = chain.head_index();
            self.frame.clear();
            for piece in chain {
                let at = self.frame.len();
                let end = (at + piece.len() as usize).min(FRAME);
                self.frame.resize(end, 0);
                memory.read_slice(&mut self.frame[at..], piece.addr()).map_err(io::Error::other)?;
            }
            ring.add_used(memory, head, 0).map_err(io::Error::other)?;
            if let Some(frame) = self.frame.get(NET_HEADER..) {
                sent(frame)?;
            }
        }
        Ok(())
    }

    /// Puts a frame, behind room for its header, where the kernel finds it; whether there was room.
    pub(crate) fn deliver(&mut self, frame: &[u8]) -> io::Result<bool> {
        let (Some(memory), ring) = (&self.memory, &mut self.rings[RX]) else { return Ok(false) };
        let Some(chain) = ring.pop_descriptor_chain(memory) else { return Ok(false) };
        let head = chain.head_index();
        let mut rest = frame;
        for piece in chain {
            let (now, later) = rest.split_at(rest.len().min(piece.len() as usize));
            memory.write_slice(now, piece.addr()).map_err(io::Error::other)?;
            rest = later;
        }
        let written = (frame.len() - rest.len()) as u32;
        ring.add_used(memory, head, written).map_err(io::Error::other)?;
        Ok(rest.is_empty())
    }

    /// Tells the kernel of what was delivered, which it acknowledges behind other messages.
    pub(crate) fn call(&mut self) -> io::Result<()> {
        let mut bytes = [0; HEADER + 8];
        bytes[..4].copy_from_slice(&BACKEND_VRING_CALL.to_le_bytes());
        bytes[4..8].copy_from_slice(&(VERSION | NEED_REPLY).to_le_bytes());
        bytes[8..12].copy_from_slice(&8_u32.to_le_bytes());
        bytes[12..16].copy_from_slice(&(RX as u32).to_le_bytes());
        let backend = self.backend.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        send(backend, &bytes)
    }

    /// Where the acknowledgment of a call comes from.
    pub(crate) fn backend(&self) -> Option<&UnixStream> {
        self.backend.as_ref()
    }

    /// Takes the acknowledgment of a call.
    pub(crate) fn called(&mut self) -> io::Result<()> {
        let backend = self.backend.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        receive(backend, &mut [0; HEADER + 8])
    }
}

/// The kernel's memory: guest address, size and place in its file of each region.
fn map(regions: impl Iterator<Item = ([u64; 3], OwnedFd)>) -> io::Result<GuestMemoryMmap> {
    let ranges = regions.map(|([guest, size, offset], file)| {
        (GuestAddress(guest), size as usize, Some(FileOffset::new(File::from(file), offset)))
    });
    GuestMemoryMmap::from_ranges_with_files(ranges.collect::<Vec<_>>()).map_err(io::Error::other)
}
