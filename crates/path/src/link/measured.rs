//! A link's measurement: from when on it counts, and what has arrived by a time.

use bentpipe_units::{Span, Time};

use super::repair::RepairSums;
use super::stats::{LinkStats, Sums, Tally};
use super::supply::Supply;
use super::waits::{WaitQuantiles, Waits};
use super::work::ROUNDED;
use super::{DAMAGED, Link};

/// What has come to the far end.
struct Arrivals {
    /// Packets, damaged ones among them.
    packets: u64,
    /// Bytes of those that arrived whole.
    bytes: u64,
    corrupted: u64,
}

impl Link {
    /// What the link did in [0, `end`], or from where [`Link::measure_from`] began; `end` is not before the last delivery. A
    /// packet that [`Link::pass`] on another link brought here ahead of time counts only when its time has come.
    pub fn stats(&mut self, end: Time) -> LinkStats {
        let (mut sums, most_waiting) = self.sums(end);
        let mut begin = Time::ZERO;
        if let Some(before) = &self.before {
            begin = before.0;
            sums = sums.since(&before.1);
        }
        let waits =
            self.waits().as_ref().map_or_else(WaitQuantiles::default, |waits| waits.quantiles(sums.taken));
        let order_wait = self.served.as_ref().and_then(|served| served.order_wait());
        let repair = order_wait.map(|wait| sums.repair.stats(wait));
        let elapsed = end.since(begin);
        let changes = self.served.as_ref().is_some_and(|served| served.changes);
        let supply = changes.then(|| sums.supply.stats(elapsed));
        LinkStats { waits, repair, supply, ..sums.stats(elapsed, most_waiting) }
    }

    /// Also tells, from now on, how the waits of packets are distributed. One that a packet is offered with ahead of its time
    /// counts from the offer on.
    pub fn measure_waits(&mut self) {
        *self.waits() = Waits::new().map(Box::new);
    }

    fn waits(&mut self) -> &mut Option<Box<Waits>> {
        match &mut self.served {
            Some(served) => &mut served.waits,
            None => &mut self.waits,
        }
    }

    /// Begins the measurement of [`Link::stats`] at `now`.
    pub fn measure_from(&mut self, now: Time) {
        let waiting = self.queue_packets(now);
        self.before = Some(Box::new((now, self.sums(now).0)));
        match &mut self.served {
            Some(served) => served.forget_most(waiting),
            None => self.tally.max_waiting = waiting,
        }
        if let Some(waits) = self.waits() {
            waits.clear();
        }
    }

    /// With the most packets that have waited at once.
    fn sums(&mut self, end: Time) -> (Sums, u32) {
        if let Some(served) = &mut self.served {
            return served.sums(end);
        }
        let Arrivals { packets, bytes: delivered_bytes, corrupted } = self.arrivals(end);
        let (tally, counts) = (&self.tally, &self.counts);
        let mut busy = self.free_at.since(Time::ZERO) - tally.idle;
        let (mut waits, mut waits_to_end, mut taken) =
            (counts.waits, counts.waits, self.ring.tail + tally.crossed);
        // Above `ROUNDED` a packet may end up to a nanosecond later than by itself, but not after the next begins.
        let late = Span::from_nanos(u64::from(self.rate > ROUNDED));
        let mut follows = self.free_at;
        for number in (self.ring.head..self.ring.tail).rev() {
            let slot = self.ring.get(number);
            let sent = (slot.starts + self.rate.time_to_send(u64::from(slot.bytes)) + late).min(follows);
            follows = slot.starts;
            if sent <= end {
                break;
            }
            busy = busy - sent.since(slot.starts.max(end));
            waits_to_end -= u128::from(slot.starts.since(end.max(slot.offered)).as_nanos());
            if slot.offered > end {
                taken -= 1;
                waits -= u128::from(slot.starts.since(slot.offered).as_nanos());
            }
        }
        let sums = Sums {
            busy,
            waiting: waits_to_end,
            taken,
            waits,
            delivered: packets - corrupted,
            delivered_bytes,
            corrupted,
            dropped: counts.dropped,
            early: counts.early,
            marked: counts.marked,
            repair: RepairSums::default(),
            supply: Supply::default(),
        };
        (sums, tally.max_waiting)
    }

    /// What arrived by `end`: where packets pass, all were counted when they were taken.
    fn arrivals(&self, end: Time) -> Arrivals {
        let Tally { delivered_bytes: bytes, crossed, .. } = self.tally;
        let corrupted = self.counts.corrupted;
        if !self.passes {
            return Arrivals { packets: self.ring.head + crossed, bytes, corrupted };
        }
        let mut arrivals = Arrivals { packets: self.ring.tail + crossed, bytes, corrupted };
        for number in (self.ring.head..self.ring.tail).rev() {
            let slot = self.ring.get(number);
            if slot.arrives <= end {
                break;
            }
            arrivals.packets -= 1;
            match slot.id {
                DAMAGED => arrivals.corrupted -= 1,
                _ => arrivals.bytes -= u64::from(slot.bytes),
            }
        }
        arrivals
    }
}
