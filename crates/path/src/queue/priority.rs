//! Strict priority: the most urgent packet goes first.

use bentpipe_units::{Rate, Time, options};

use super::codel::Line;
use super::discipline::{Drops, Queue, ServerView, Verdict, Waiting};
use super::{Discipline, Packets, Scheme};
use crate::Stream;

options! {
    "priority", "strict priority: packets of the highest class first, each class in order";
    /// Strict priority among the classes of flows.
    pub struct PriorityOptions {
        /// The most packets that wait, in all classes together.
        pub limit: Packets,
    }
}

/// As many as the class selectors of DiffServ (RFC 2474 section 4.2.2).
const CLASSES: usize = 8;

/// Behind them are packets that give way to all.
const LINES: usize = CLASSES + 1;

impl Scheme for PriorityOptions {
    fn limit(&self) -> Packets {
        self.limit
    }

    fn discipline(&self, _: Rate, _: Stream) -> Discipline {
        Discipline::OnLeaving(Box::new(Priority { limit: self.limit.0, lines: Default::default() }))
    }
}

#[derive(Debug)]
struct Priority {
    limit: u32,
    /// What gives way to all, then by class, the least urgent first.
    lines: [Line; LINES],
}

impl Queue for Priority {
    fn enqueue(&mut self, _: Time, packet: Waiting, server: &ServerView, drops: &mut Drops) -> Verdict {
        let class = match packet.label.low {
            true => 0,
            false => 1 + usize::from(packet.label.class).min(CLASSES - 1),
        };
        if self.packets() >= self.limit && server.idle_since.is_none() {
            // The newest packet of the lowest class gives way to one of a higher class.
            match self.lines[..class].iter_mut().find_map(Line::pop_last) {
                Some(last) => drops.full(last),
                None => return Verdict::DropFull,
            }
        }
        self.lines[class].push(packet);
        Verdict::Take
    }

    fn dequeue(&mut self, _: Time, _: &mut Drops) -> Option<Waiting> {
        self.lines.iter_mut().rev().find_map(Line::pop)
    }

    fn packets(&self) -> u32 {
        self.lines.iter().map(Line::len).sum()
    }

    fn bytes(&self) -> u64 {
        self.lines.iter().map(Line::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use bentpipe_units::Rate;

    use super::super::Label;
    use super::*;

    const BUSY: ServerView = ServerView { rate: Rate::from_bps(8_000_000), idle_since: None };

    fn packet(id: u32, class: u8) -> Waiting {
        let label = Label { class, ..Label::default() };
        Waiting { id, bytes: 100, label, came: Time::ZERO, marked: false }
    }

    #[test]
    fn the_most_urgent_goes_first_and_a_class_keeps_its_order() {
        let mut queue = Priority { limit: 10, lines: Default::default() };
        let mut drops = Drops::default();
        for (id, class) in [(0, 0), (1, 3), (2, 7), (3, 3), (4, 0), (5, 7)] {
            assert_eq!(queue.enqueue(Time::ZERO, packet(id, class), &BUSY, &mut drops), Verdict::Take);
        }
        assert_eq!((queue.packets(), queue.bytes()), (6, 600));
        let order: Vec<_> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut drops)).map(|packet| packet.id).collect();
        assert_eq!(order, [2, 5, 1, 3, 0, 4]);
    }

    #[test]
    fn what_gives_way_to_all_goes_last_and_is_dropped_first() {
        let mut queue = Priority { limit: 3, lines: Default::default() };
        let mut drops = Drops::default();
        let low = |id: u32| {
            let label = Label { class: 7, low: true, ..Label::default() };
            Waiting { label, ..packet(id, 7) }
        };
        for (packet, verdict) in [
            (low(0), Verdict::Take),
            (packet(1, 0), Verdict::Take),
            (low(2), Verdict::Take),
            (low(3), Verdict::DropFull),
            (packet(4, 0), Verdict::Take),
        ] {
            assert_eq!(queue.enqueue(Time::ZERO, packet, &BUSY, &mut drops), verdict, "{packet:?}");
        }
        assert_eq!(drops.packets.iter().map(|packet| packet.id).collect::<Vec<_>>(), [2]);
        let order: Vec<_> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut drops)).map(|packet| packet.id).collect();
        assert_eq!(order, [1, 4, 0]);
    }

    #[test]
    fn where_there_is_no_room_the_newest_of_the_lowest_class_gives_way() {
        let mut queue = Priority { limit: 3, lines: Default::default() };
        let mut drops = Drops::default();
        let verdicts = [(0, 1), (1, 1), (2, 2), (3, 1), (4, 0), (5, 2), (6, 7)]
            .map(|(id, class)| queue.enqueue(Time::ZERO, packet(id, class), &BUSY, &mut drops));
        let (take, full) = (Verdict::Take, Verdict::DropFull);
        assert_eq!(verdicts, [take, take, take, full, full, take, take]);
        assert_eq!(drops.packets.iter().map(|packet| packet.id).collect::<Vec<_>>(), [1, 0]);
        assert_eq!((queue.packets(), drops.full, drops.early), (3, 2, 0));
    }
}
