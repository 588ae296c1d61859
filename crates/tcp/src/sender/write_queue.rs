//! The write queue of a Linux host: the application's writes are copied into buffers (`struct sk_buff`), as long as the send buffer has room,
//! and go out of them in packets (`tcp_sendmsg_locked` and `sk_stream_wait_memory`; `tcp_write_xmit`).

use std::collections::VecDeque;

use super::Sender;
use super::application::Fin;
use crate::config::SK_BUFF;
use crate::{Config, Host, Seq};

/// `sk_gso_max_size`, less `MAX_TCP_HEADER` and 1.
const MOST_IN_BUFFER: u32 = 65_536 - MAX_TCP_HEADER - 1;
/// `TCP_MSS_DEFAULT`: windows up to it are not halved (`tcp_bound_to_half_wnd`).
const NOT_HALVED: u32 = 536;
/// What a buffer takes of the memory beside its payload (`tcp_stream_alloc_skb`): its head, `struct skb_shared_info` and `struct sk_buff`.
const HEAD: u32 = 256 + SHARED_INFO + SK_BUFF;
const MAX_TCP_HEADER: u32 = 192;
const SHARED_INFO: u32 = 320;
/// Of `tcp_wmem`: what a socket has at first, and at most where nothing else is set.
const FIRST: u32 = 16_384;
const UNBOUNDED: u32 = 64 << 20;
/// `TCP_INIT_CWND`.
const LEAST_WINDOW: u32 = 10;

/// What the writer, or an ACK, has the queue do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    Off,
    /// One packet goes (`tcp_push_one`).
    One,
    /// Whatever the window lets go, also what is less than a segment (`TCP_NAGLE_PUSH`, `TCP_NAGLE_OFF`).
    Forced,
    /// Whatever the window and Nagle's rule let go (`tcp_push_pending_frames`).
    Pending,
}

/// What the application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// It copies, or has nothing to copy.
    Runs,
    /// It found the send buffer full, and waits once what may go has gone.
    Stops,
    /// It waits for room; whether something has happened that may have made some.
    Waits { heard: bool },
}

/// Payload that waits, and whether PSH is set behind it.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    len: u32,
    push: bool,
}

/// What is written and not acknowledged.
#[derive(Clone, Debug)]
pub(super) struct WriteQueue {
    pub(super) is_there: bool,
    /// Of each write what is not copied yet; whether something of the first is.
    writes: VecDeque<u64>,
    begun: bool,
    buffers: VecDeque<Buffer>,
    /// Payload in them, and of the packet that is going out.
    copied: u32,
    /// The packets that are outstanding: where each ends, and whether a buffer with PSH does there.
    packets: VecDeque<(Seq, bool)>,
    /// Where PSH was set last (`pushed_seq`).
    pushed: Seq,
    /// `sk_sndbuf`, and the most that it grows to.
    memory: u32,
    most: u32,
    /// `per_mss` of `tcp_sndbuf_expand`.
    segment: u32,
    writer: Writer,
    pub(super) push: Push,
    /// Whether the application has closed, and was seen to.
    pub(super) closed: bool,
    pub(super) packet: Packet,
}

/// The packet that is going out: what is left of it, and what its last segment is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    pub(super) left: u32,
    pub(super) push: bool,
    /// Whether PSH is the buffer's.
    pub(super) buffer_push: bool,
    pub(super) fin: bool,
    /// Less than a full one.
    pub(super) small: bool,
}

impl WriteQueue {
    pub(super) fn new(config: &Config, first: Seq) -> WriteQueue {
        let most = config.send_buffer.unwrap_or(UNBOUNDED);
        let segment = (config.mss + MAX_TCP_HEADER + SHARED_INFO).next_power_of_two() + SK_BUFF;
        WriteQueue {
            is_there: config.host == Host::Linux,
            writes: VecDeque::new(),
            begun: false,
            buffers: VecDeque::new(),
            copied: 0,
            packets: VecDeque::new(),
            pushed: first,
            memory: FIRST.max(2 * LEAST_WINDOW * segment).min(most),
            most,
            segment,
            writer: Writer::Runs,
            push: Push::Pending,
            closed: false,
            packet: Packet::default(),
        }
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.writes.push_back(bytes);
    }

    /// What is not copied is dropped: how much is left.
    pub(super) fn discard(&mut self) -> u32 {
        self.writes.clear();
        self.copied
    }

    /// Whether no packet is going out, and the writer does nothing before something else happens.
    #[inline(never)]
    pub(super) fn is_quiet(&self) -> bool {
        self.packet.left == 0
            && match self.writer {
                Writer::Waits { heard } => !heard,
                Writer::Runs => self.writes.is_empty(),
                Writer::Stops => false,
            }
    }

    /// Whether all that the send buffer has room for was sent.
    pub(super) fn is_full(&self) -> bool {
        self.copied == 0 && matches!(self.writer, Writer::Waits { .. })
    }

    /// All before `una` is acknowledged.
    #[inline]
    pub(super) fn acknowledged(&mut self, una: Seq) {
        while self.packets.front().is_some_and(|packet| packet.0 <= una) {
            self.packets.pop_front();
        }
        if let Writer::Waits { heard } = &mut self.writer {
            *heard = true;
        }
    }

    /// Whether PSH was set behind what ended at `end`: a retransmission has it too, which it has not for being the last of a packet.
    pub(super) fn had_push(&self, end: Seq) -> bool {
        let place = self.packets.partition_point(|packet| packet.0 < end);
        self.packets.get(place).is_some_and(|packet| packet.0 == end && packet.1)
    }

    /// A segment of `len` bytes of the packet goes out, up to `end`.
    #[inline]
    pub(super) fn sent(&mut self, len: u32, end: Seq) {
        self.copied -= len;
        self.packet.left -= len;
        if self.packet.left == 0 {
            self.packets.push_back((end, self.packet.buffer_push));
        }
    }

    /// A byte goes out to probe the window.
    pub(super) fn probed(&mut self) {
        self.copied = self.copied.saturating_sub(1);
        if let Some(head) = self.buffers.front_mut() {
            head.len -= 1;
            if head.len == 0 {
                self.buffers.pop_front();
            }
        }
    }

    /// The first buffer, whether it is the last one as well, once it has taken so much of the next that it has `wanted` bytes
    /// (`tcp_grow_skb`).
    pub(super) fn head(&mut self, wanted: u32) -> Option<(u32, bool)> {
        let len = self.buffers.front()?.len;
        if len < wanted
            && let Some(next) = self.buffers.get_mut(1)
        {
            let more = (wanted - len).min(next.len);
            next.len -= more;
            let (empty, push) = (next.len == 0, next.push);
            self.buffers[0].len += more;
            if empty {
                self.buffers[0].push |= push;
                self.buffers.remove(1);
            }
        }
        Some((self.buffers[0].len, self.buffers.len() == 1))
    }

    /// A packet of so many bytes is taken off the first buffer: whether that has PSH there.
    pub(super) fn take(&mut self, bytes: u32) -> bool {
        let head = &mut self.buffers[0];
        head.len -= bytes;
        let push = head.push && head.len == 0;
        if head.len == 0 {
            self.buffers.pop_front();
        }
        push
    }

    /// Copies into the last buffer, or a new one, as much as that has room for (`tcp_sendmsg_locked`). `used` is the memory in use, and `written`
    /// the byte behind what is copied.
    fn copy(&mut self, smss: u32, largest: u32, used: u32, written: Seq) {
        let whole = if largest > NOT_HALVED { largest / 2 } else { largest };
        let goal = (MOST_IN_BUFFER.min(whole) / smss).max(1) * smss;
        let Some(write) = self.writes.front_mut() else { return };
        if self.buffers.back().is_none_or(|tail| tail.len >= goal) {
            if used >= self.memory {
                if let Some(tail) = self.buffers.back_mut() {
                    tail.push = true;
                    self.pushed = written;
                }
                (self.writer, self.push) = (Writer::Stops, Push::Forced);
                return;
            }
            self.buffers.push_back(Buffer { len: 0, push: false });
        }
        let alone = self.buffers.len() == 1;
        let Some(tail) = self.buffers.back_mut() else { return };
        let bytes = u64::from(goal - tail.len).min(*write) as u32;
        tail.len += bytes;
        self.copied += bytes;
        if *write != u64::MAX {
            *write -= u64::from(bytes);
        }
        let written = written + bytes;
        let ended = *write == 0;
        let pushes = ended || (written - self.pushed) as i32 > (largest / 2) as i32;
        // A write that goes on in the buffer of another takes its PSH away, and no more does later.
        tail.push = (tail.push && self.begun) || pushes;
        self.begun = !ended;
        if pushes {
            self.pushed = written;
            self.push = if ended { Push::Pending } else { Push::Forced };
        } else if alone {
            self.push = Push::One;
        }
        if ended {
            self.writes.pop_front();
        }
    }
}

impl Sender {
    /// The memory that all takes which is written and not acknowledged (`sk_wmem_queued`). Neighbours that are reported by SACK become one
    /// packet (`tcp_shift_skb_data`).
    fn memory_used(&self) -> u32 {
        let (queue, flight) = (&self.queue, self.flight());
        let held = self.record.board().held();
        let packets = queue.packets.len() as u64;
        let joined = if held == 0 { 0 } else { packets * u64::from(held) / u64::from(flight.max(1)) };
        flight + queue.copied + HEAD * ((packets - joined) as u32 + queue.buffers.len() as u32)
    }

    /// Something has happened while the application waits for room: the send buffer grows with cwnd unless that is full
    /// (`tcp_new_space`, `tcp_sndbuf_expand`), and the application goes on once a third of it is free (`sk_stream_is_writeable`).
    pub(super) fn look_for_space(&mut self) {
        if self.queue.writer == Writer::Runs {
            return;
        }
        if f64::from(self.record.in_flight(self.flight()) + self.smss) <= self.window.cwnd {
            // `bbr_sndbuf_expand`: 3.
            let windows = if self.asked.reads_rates { 3 } else { 2 };
            let wanted = windows * self.window.segments().max(LEAST_WINDOW) * self.queue.segment;
            self.queue.memory = self.queue.memory.max(wanted.min(self.queue.most));
        }
        if self.queue.writer != Writer::Stops {
            let used = self.memory_used();
            let free = self.queue.memory.saturating_sub(used);
            self.queue.writer = if free >= used / 2 { Writer::Runs } else { Writer::Waits { heard: false } };
        }
    }

    /// The application does its next step, where it has one: whether there is something to look at.
    pub(super) fn write_on(&mut self) -> bool {
        match self.queue.writer {
            Writer::Stops => self.queue.writer = Writer::Waits { heard: false },
            Writer::Waits { heard: true } => self.look_for_space(),
            Writer::Waits { heard: false } | Writer::Runs => {}
        }
        if self.queue.writer != Writer::Runs {
            return false;
        }
        if self.queue.writes.is_empty() {
            let closes = self.app.fin == Fin::Queued && !self.queue.closed;
            if closes {
                (self.queue.closed, self.queue.push) = (true, Push::Forced);
            }
            return closes;
        }
        let used = self.memory_used();
        let written = self.max + self.queue.copied;
        self.queue.copy(self.smss, self.peer.largest, used, written);
        true
    }

    /// The application goes on while nothing may be sent.
    #[inline]
    pub(super) fn write_meanwhile(&mut self) {
        if self.queue.is_there && !self.queue.is_quiet() {
            while self.write_on() {}
            self.queue.push = Push::Pending;
        }
    }
}
