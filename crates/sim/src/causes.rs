//! Which lost segments cost a reduction of the window, by the cause of the loss: what a control mistook.
//!
//! The network notes losses and the senders note reductions; both are rare, and are joined here from time to time. What a
//! join gives does not depend on when it is made: a loss is known from the time at which it happens on, also where a link
//! that passes its packets told it early.

use bentpipe_net::Lost;
use bentpipe_tcp::recovery::Reduction;
use bentpipe_tcp::{Ecn, Flags, Seq};
use bentpipe_units::Time;

use crate::ids::{ConnectionId, Side};
use crate::packet::Packet;

bentpipe_units::numbers! {
    /// Lost data segments by cause, and what they cost.
    ///
    /// A lost segment costs a reduction of the window when the sender reduces after it has sent it, before the cumulative ACK
    /// passes it, and for a window of data that it is in: its first byte is at or after SND.UNA, and before the `recover` of the
    /// loss that the reduction answers to (SND.MAX at a timeout). A retransmission that is lost is a loss of its own. A segment is
    /// counted by its cause when it has cost a reduction or the cumulative ACK has passed it; what neither has happened to at the
    /// end of a run is open.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LossCauses {
        /// Data segments that a link damaged.
        #[serde(rename = "loss_cause_random")]
        pub random: u64 = "segment", "random", flows sum;
        /// Data segments that a link damaged and that cost a reduction; null where a kernel has the connection.
        #[serde(rename = "loss_cause_random_cut")]
        pub random_cut: Option<u64> = "segment", "reduced after random", flows sum;
        /// Data segments that a full queue dropped.
        #[serde(rename = "loss_cause_congestion")]
        pub congestion: u64 = "segment", "congestion", flows sum;
        /// Data segments that a full queue dropped and that cost no reduction; null where a kernel has the connection.
        #[serde(rename = "loss_cause_congestion_kept")]
        pub congestion_kept: Option<u64> = "segment", "not reduced after congestion", flows sum;
        /// Reductions of the window: in answer to a loss, to a mark, or to an expiry of the retransmission timer; null where a
        /// kernel has the connection.
        #[serde(rename = "loss_cause_cuts")]
        pub cuts: Option<u64> = "", "reductions", flows sum;
        /// Reductions that answer to no mark, and in whose window of data nothing was lost; null where a kernel has the
        /// connection.
        #[serde(rename = "loss_cause_needless_cuts")]
        pub needless_cuts: Option<u64> = "", "needless reductions", flows sum;
        /// Data segments lost whose case is open at the end: they have cost no reduction, and the cumulative ACK has not passed them.
        #[serde(rename = "loss_cause_open")]
        pub open: u64 = "segment", "open", flows sum;
    }
}

impl Default for LossCauses {
    fn default() -> LossCauses {
        let none = Some(0);
        LossCauses {
            random: 0,
            random_cut: none,
            congestion: 0,
            congestion_kept: none,
            cuts: none,
            needless_cuts: none,
            open: 0,
        }
    }
}

fn add(to: &mut Option<u64>, more: u64) {
    *to = to.map(|sum| sum + more);
}

impl LossCauses {
    /// Of a kernel's connection, whose reductions nobody tells.
    pub(crate) fn without_reductions(self) -> LossCauses {
        LossCauses { random_cut: None, congestion_kept: None, cuts: None, needless_cuts: None, ..self }
    }

    fn count(&mut self, lost: &LostSegment) {
        match lost.cause {
            Cause::Random => {
                self.random += 1;
                add(&mut self.random_cut, u64::from(lost.cut));
            }
            Cause::Congestion => {
                self.congestion += 1;
                add(&mut self.congestion_kept, u64::from(!lost.cut));
            }
            Cause::Uncounted => {}
        }
    }
}

impl LossCauses {
    /// What was counted since `earlier`; a loss that was open then counts where its case was closed.
    pub(crate) fn since(&self, earlier: &LossCauses) -> LossCauses {
        let less = |now: Option<u64>, then: Option<u64>| now.map(|now| now.saturating_sub(then.unwrap_or(0)));
        LossCauses {
            random: self.random.saturating_sub(earlier.random),
            random_cut: less(self.random_cut, earlier.random_cut),
            congestion: self.congestion.saturating_sub(earlier.congestion),
            congestion_kept: less(self.congestion_kept, earlier.congestion_kept),
            cuts: less(self.cuts, earlier.cuts),
            needless_cuts: less(self.needless_cuts, earlier.needless_cuts),
            open: self.open,
        }
    }
}

impl std::ops::AddAssign for LossCauses {
    fn add_assign(&mut self, other: LossCauses) {
        self.random += other.random;
        add(&mut self.random_cut, other.random_cut.unwrap_or(0));
        self.congestion += other.congestion;
        add(&mut self.congestion_kept, other.congestion_kept.unwrap_or(0));
        add(&mut self.cuts, other.cuts.unwrap_or(0));
        add(&mut self.needless_cuts, other.needless_cuts.unwrap_or(0));
        self.open += other.open;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Random,
    Congestion,
    /// A FIN without data: no data segment, and a reason to reduce all the same.
    Uncounted,
}

#[derive(Clone, Copy, Debug)]
struct LostSegment {
    seq: Seq,
    sent: Time,
    cause: Cause,
    /// Whether it has cost a reduction.
    cut: bool,
}

#[derive(Clone, Copy, Debug)]
struct Noted {
    /// When it is lost.
    at: Time,
    connection: ConnectionId,
    lost: LostSegment,
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    reduction: Reduction,
    needless: bool,
}

#[derive(Clone, Debug, Default)]
struct Connection {
    /// Losses that a reduction may still answer to.
    open: Vec<LostSegment>,
    /// Reductions that a loss may still be found for.
    cuts: Vec<Cut>,
    closed: LossCauses,
}

/// What was lost, and what it cost, by connection.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    /// Not yet joined.
    noted: Vec<Noted>,
    /// None while a connection has lost and reduced nothing.
    connections: Vec<Option<Box<Connection>>>,
}

impl Causes {
    pub(crate) fn new(connections: usize) -> Causes {
        Causes { noted: Vec::new(), connections: vec![None; connections] }
    }

    /// A packet is lost at time `at`.
    pub(crate) fn note(&mut self, at: Time, packet: &Packet, why: Lost) {
        let Some(segment) = packet.content.segment() else { return };
        // Data goes to the other side than it comes from, and a dummy segment is none.
        let data = segment.len > 0 && segment.ecn != Ecn::Low;
        if packet.to.side() == Side::Data || !(data || segment.flags.has(Flags::FIN)) {
            return;
        }
        let cause = match why {
            _ if segment.len == 0 => Cause::Uncounted,
            Lost::Dropped(_) => Cause::Congestion,
            Lost::Damaged(_) | Lost::Left(_) => Cause::Random,
        };
        let lost = LostSegment { seq: segment.seq, sent: packet.sent, cause, cut: false };
        self.noted.push(Noted { at, connection: packet.to.connection(), lost });
    }

    /// Joins what has happened by `now`. `sender` gives, for a connection, SND.UNA and the reductions since the last join.
    pub(crate) fn join(&mut self, now: Time, mut sender: impl FnMut(usize) -> (Seq, Vec<Reduction>)) {
        let connections = &mut self.connections;
        self.noted.retain(|noted| {
            if noted.at <= now {
                connections[noted.connection.index()].get_or_insert_default().open.push(noted.lost);
            }
            noted.at > now
        });
        for (number, connection) in connections.iter_mut().enumerate() {
            let (una, reductions) = sender(number);
            if connection.is_some() || !reductions.is_empty() {
                connection.get_or_insert_default().join(una, reductions);
            }
        }
    }

    /// What is known of some connections after the last join.
    pub(crate) fn sum(&self, connections: std::ops::Range<usize>) -> LossCauses {
        let mut sum = LossCauses::default();
        for connection in self.connections[connections].iter().flatten() {
            sum += connection.closed;
            for lost in &connection.open {
                match lost.cut {
                    true => sum.count(lost),
                    false => sum.open += u64::from(lost.cause != Cause::Uncounted),
                }
            }
            add(&mut sum.needless_cuts, connection.cuts.iter().filter(|cut| cut.needless).count() as u64);
        }
        sum
    }
}

impl Connection {
    fn join(&mut self, una: Seq, reductions: Vec<Reduction>) {
        if self.open.is_empty() && self.cuts.is_empty() && reductions.is_empty() {
            return;
        }
        add(&mut self.closed.cuts, reductions.len() as u64);
        self.cuts
            .extend(reductions.into_iter().map(|reduction| Cut { reduction, needless: !reduction.marked }));
        let mut losses = std::mem::take(&mut self.open);
        losses.sort_by_key(|lost| lost.sent);
        let mut losses = losses.into_iter().peekable();
        let (open, closed) = (&mut self.open, &mut self.closed);
        let mut close_below = |open: &mut Vec<LostSegment>, una: Seq| {
            open.retain(|lost| {
                if lost.seq < una {
                    closed.count(lost);
                }
                lost.seq >= una
            });
        };
        for Cut { reduction, needless } in &mut self.cuts {
            // What goes out at the time of a reduction goes out in answer to it.
            while let Some(lost) = losses.next_if(|lost| lost.sent < reduction.time) {
                open.push(lost);
            }
            close_below(open, reduction.una);
            for lost in open.iter_mut().filter(|lost| lost.seq < reduction.below) {
                lost.cut = true;
                *needless = false;
            }
        }
        open.extend(losses);
        close_below(open, una);
        // An ACK of data sent after a reduction: every packet sent before has arrived or is lost, for links keep the order.
        self.cuts.retain(|cut| {
            let answered = una > cut.reduction.max;
            add(&mut self.closed.needless_cuts, u64::from(answered && cut.needless));
            !answered
        });
    }
}

#[cfg(test)]
mod tests;
