//! A receive buffer that follows what the application reads: Linux's dynamic right-sizing.

use bentpipe_units::{Span, Time};

use crate::{Config, Kernel, ReceiveBuffer, Seq};

/// The receive buffer of Linux 6.12 and 6.18 (`tcp_rcvbuf_grow`, `tcp_grow_window`, `tcp_rcv_rtt_update`, all in `tcp_input.c`), and the
/// window that it has room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    buffer: ReceiveBuffer,
    /// The buffer now (`sk_rcvbuf`), in bytes.
    size: u32,
    /// The window that it is never larger than.
    most: u32,
    /// The window of the SYN, and that which may be offered by now (`rcv_ssthresh`).
    of_syn: u32,
    offered: u32,
    mss: u32,
    /// Bytes that the application read in the best round trip so far (`rcvq_space.space`).
    read_per_round: u32,
    /// What it had read when the round trip that is measured began, and when that was.
    round: (u64, Time),
    /// Round-trip time as the receiver sees it (`rcv_rtt_est`); none before the first sample.
    rtt: Option<Span>,
    /// When the window offered last will have been filled, and since when it is measured: a bound of the round-trip time.
    filled: Option<(Seq, Time)>,
    last_echo: u32,
    /// What the application had read when the newest segment came.
    read: u64,
    /// When the newest segment came, how much of it was next in order, and the round-trip time with it.
    arrival: Time,
    pub(super) first: u32,
    rtt_then: Option<Span>,
}

impl Tuning {
    /// None where the buffer does not change.
    pub(super) fn of(config: &Config) -> Option<Box<Tuning>> {
        let buffer = config.receive_buffer?;
        let mss = config.mss;
        let mut tuning = Tuning {
            buffer,
            size: buffer.initial,
            most: config.receive_window,
            of_syn: 0,
            offered: 0,
            mss,
            read_per_round: 0,
            round: (0, Time::NEVER),
            rtt: None,
            filled: None,
            last_echo: 0,
            read: 0,
            arrival: Time::ZERO,
            first: 0,
            rtt_then: None,
        };
        tuning.open(config.receive_window, mss);
        Some(Box::new(tuning))
    }

    /// The connection opens with segments of `mss` bytes, and the header can have a window of `most` bytes.
    ///
    /// Half of the buffer is window at first, in whole segments, and no more than a SYN has room for
    /// (`tcp_select_initial_window`); ten segments are taken for what the application reads in a round trip
    /// (`tcp_init_buffer_space`).
    pub(super) fn open(&mut self, most: u32, mss: u32) {
        self.most = self.most.min(most);
        self.mss = mss;
        let half = self.size / 2;
        let whole = if half > mss { half / mss * mss } else { half };
        self.of_syn = self.most.min(whole).min(u32::from(u16::MAX));
        // A segment is reserved.
        self.offered = self.of_syn.min(half.saturating_sub(mss)).max(mss.min(self.of_syn));
        self.read_per_round = self.offered.min(10 * mss).max(1);
    }

    /// What of the buffer so many bytes of payload take that lie in so many runs.
    pub(super) fn memory_of(&self, bytes: u32, runs: usize) -> u32 {
        self.buffer.memory_of(bytes, runs)
    }

    /// The window that may be offered where so much of the buffer is taken.
    pub(super) fn window(&self, taken: u32) -> u32 {
        self.offered.min(self.room(taken))
    }

    /// The window of the SYN.
    pub(super) fn of_syn(&self) -> u32 {
        self.of_syn
    }

    /// The connection is open: the first round trip begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.round = (0, now);
    }

    /// The round trip, as this end sees it.
    pub(super) fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// `tcp_space`, in what the header can have.
    fn room(&self, taken: u32) -> u32 {
        self.buffer.window_of(self.size.saturating_sub(taken)).min(self.most)
    }

    /// A segment with a timestamp came, sent a round trip after ours that bore `echo`.
    pub(super) fn on_echo(&mut self, echo: u32, rtt: Span, len: u32, unread: u32) {
        if echo != self.last_echo && len >= self.mss {
            // Linux 6.18 takes no larger sample while something is unread.
            self.sample(rtt, unread == 0 || self.buffer.kernel == Kernel::Linux612);
        }
        self.last_echo = echo;
    }

    /// The smallest sample counts at once, a larger one by an eighth where `smooth`.
    fn sample(&mut self, rtt: Span, smooth: bool) {
        self.rtt = match self.rtt {
            Some(old) if rtt >= old => Some(if smooth { old - old / 8 + rtt / 8 } else { old }),
            _ => Some(rtt),
        };
    }

    /// A segment with data comes; before it the application had read `read` bytes and left `unread`.
    pub(super) fn on_arrival(&mut self, now: Time, nxt: Seq, read: u64, unread: u32, past_hole: u32) {
        if self.round.1 == Time::NEVER {
            self.round = (read, now);
        }
        // It reads when what comes is in order; past a hole nothing is measured (tcp_rcv_space_adjust, from tcp_recvmsg).
        if read != self.read {
            self.measure(read, unread, past_hole);
            self.read = read;
        }
        self.arrival = now;
        let (end, since) = self.filled.unwrap_or((nxt, Time::NEVER));
        if nxt >= end {
            if since != Time::NEVER && self.rtt.is_none_or(|rtt| now.since(since) < rtt) {
                self.sample(now.since(since), false);
            }
            self.filled = Some((nxt + self.offered, now));
        }
        self.rtt_then = self.rtt;
    }

    /// A round trip after the last time, the buffer has to hold more than twice what the application read in it. It is measured with the first
    /// segment that is read: what was held behind a hole which that has filled waits then, and belongs to the next round.
    fn measure(&mut self, read: u64, unread: u32, past_hole: u32) {
        let (begun, since) = self.round;
        if self.arrival < since || self.rtt_then.is_none_or(|rtt| self.arrival.since(since) < rtt) {
            return;
        }
        let behind = ((read - self.read) as u32).saturating_sub(self.first);
        let read = read - u64::from(behind);
        let copied = ((read - begun) as u32).saturating_sub(unread + behind);
        if copied > self.read_per_round {
            self.grow(copied, if self.buffer.kernel == Kernel::Linux612 { 0 } else { past_hole });
        }
        self.round = (read, self.arrival);
    }

    /// The buffer has room for twice what was read in a round trip, more where that has grown, and what waits past a hole.
    pub(super) fn grow(&mut self, copied: u32, past_hole: u32) {
        let (before, copied) = (u64::from(self.read_per_round), u64::from(copied));
        self.read_per_round = copied as u32;
        // "Add some cushion because of small variations."
        let twice = match self.buffer.kernel {
            Kernel::Linux612 => 2 * copied + 16 * u64::from(self.mss),
            Kernel::Linux618 => 2 * copied,
        };
        let window = twice + 2 * (twice * copied.saturating_sub(before) / before) + u64::from(past_hole);
        let size = self.buffer.for_window(window).min(u64::from(self.buffer.max)) as u32;
        self.size = self.size.max(size);
    }

    /// A segment was taken past a hole, which reaches `past_hole` bytes beyond what is in order: Linux 6.18 makes room for it.
    pub(super) fn on_hole(&mut self, past_hole: u32) {
        if self.buffer.kernel == Kernel::Linux612 {
            return;
        }
        self.grow(self.read_per_round, past_hole);
    }

    /// What may be offered opens by two segments with each that comes, where the buffer has room; whether it did.
    pub(super) fn open_further(&mut self, len: u32, taken: u32) -> bool {
        let room = self.room(taken);
        // Less than 128 bytes are not counted (tcp_event_data_recv).
        if len < 128 || room <= self.offered {
            return false;
        }
        self.offered = room.min(self.offered + 2 * self.mss.max(len));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn no_round_ends_while_nothing_is_read_behind_a_hole() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut tuning = of(Kernel::Linux618);
        tuning.sample(Span::from_millis(100), true);
        // A segment at 0 ms, read at once; the next is lost, and those behind it come for two round trips.
        tuning.on_arrival(at(0), Seq(1), 0, 0, 0);
        for ms in (10..200).step_by(10) {
            tuning.on_arrival(at(ms), Seq(1449), 1448, 0, 0);
        }
        assert_eq!(tuning.round, (0, at(0)));
        // The hole was filled at 200 ms, and all was read: the round ends with the first of it, while the others wait.
        tuning.on_arrival(at(200), Seq(1449), 1448, 0, 0);
        tuning.first = 1448;
        tuning.on_arrival(at(210), Seq(30_409), 30_408, 0, 0);
        assert_eq!((tuning.round, tuning.read_per_round), ((2896, at(200)), 14_600));
        // They belong to the next.
        tuning.on_arrival(at(300), Seq(31_857), 31_856, 0, 0);
        tuning.on_arrival(at(310), Seq(33_305), 33_304, 0, 0);
        assert_eq!((tuning.round, tuning.read_per_round), ((33_304, at(300)), 30_408));
    }

    #[test]
    fn the_first_round_begins_with_the_connection_and_not_with_its_data() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut tuning = of(Kernel::Linux618);
        tuning.begin(at(0));
        tuning.sample(Span::from_millis(100), true);
        tuning.first = 1448;
        for (n, ms) in (0..).zip([95, 101, 107]) {
            tuning.on_arrival(at(ms), Seq(1 + n * 1448), u64::from(n * 1448), 0, 0);
        }
        assert_eq!(tuning.round, (2896, at(101)));
    }

    fn of(kernel: Kernel) -> Box<Tuning> {
        let catalogue = crate::Catalogue::default();
        let recovery = catalogue.usual("rack").expect("a recovery");
        let control = catalogue.usual("cubic").expect("a control");
        let buffer = Some(ReceiveBuffer::of(kernel));
        let config = Config { receive_buffer: buffer, ..Profile::Linux.config(recovery, control) };
        Tuning::of(&config).expect("a buffer that grows")
    }

    #[test]
    fn what_waits_past_a_hole_grows_the_buffer_of_6_18_alone() {
        let on_hole = |kernel: Kernel| {
            let mut tuning = of(kernel);
            tuning.on_hole(200_000);
            tuning.size
        };
        // 2 x 14,600 and 200,000 bytes, of which 160/256 are window.
        assert_eq!([Kernel::Linux612, Kernel::Linux618].map(on_hole), [131_072, 366_720]);
        // And where a round ends: twice and twice more what was read, 29,200 bytes for 14,600.
        let at_end = |kernel: Kernel| {
            let mut tuning = of(kernel);
            tuning.rtt_then = Some(Span::ZERO);
            (tuning.round, tuning.first) = ((0, Time::ZERO), 29_200);
            tuning.measure(29_200, 0, 200_000);
            tuning.size
        };
        assert!(at_end(Kernel::Linux612) < at_end(Kernel::Linux618));
    }

    #[test]
    fn while_something_is_unread_6_18_takes_no_larger_round_trip() {
        let after = |kernel: Kernel, unread: u32| {
            let mut tuning = of(kernel);
            tuning.on_echo(1, Span::from_millis(80), 1460, 0);
            tuning.on_echo(2, Span::from_millis(160), 1460, unread);
            tuning.rtt()
        };
        let ms = |ms| Some(Span::from_millis(ms));
        assert_eq!([0, 1460].map(|unread| after(Kernel::Linux618, unread)), [ms(90), ms(80)]);
        assert_eq!([0, 1460].map(|unread| after(Kernel::Linux612, unread)), [ms(90), ms(90)]);
    }
}
