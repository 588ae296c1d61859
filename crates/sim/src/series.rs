//! Time series of a run, as columns of equal length.

use bentpipe_units::Time;

/// All series of a run.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// One entry a connection, in the scenario's order of flows; then one a flow over UDP.
    pub flows: Vec<FlowSeries>,
    /// One entry a direction of a link: 2i is link i, 2i + 1 its reverse.
    pub links: Vec<LinkSeries>,
}

/// A connection's series, of the direction of the flow's data. Sequence numbers are bytes since the first byte of data, and do not wrap.
/// A flow over UDP has only what was sent and lost, a row a datagram.
#[derive(Clone, Debug, Default)]
pub struct FlowSeries {
    /// The flow's name; with `/1`, `/2` and so on behind it when the flow may open several connections.
    pub name: String,
    /// The sender's state, a row whenever it changed.
    pub state: StateColumns,
    /// Segments with payload, a row when one was sent.
    pub sent: SentColumns,
    /// Cumulative ACKs at the sender, a row an arrival.
    pub acked: AckColumns,
    /// SACK blocks at the sender, a row a block.
    pub sacked: SackColumns,
    /// Segments with payload that a queue dropped or a link damaged, a row each.
    pub lost: LostColumns,
}

/// Columns of [`FlowSeries::state`].
#[derive(Clone, Debug, Default)]
pub struct StateColumns {
    /// Time in seconds.
    pub time_s: Vec<f64>,
    /// Congestion window in bytes.
    pub cwnd_bytes: Vec<f64>,
    /// Slow start threshold in bytes; infinite before the first loss.
    pub ssthresh_bytes: Vec<f64>,
    /// Bytes sent and not cumulatively acknowledged.
    pub flight_bytes: Vec<f64>,
    /// Newest RTT sample in seconds; NaN before the first.
    pub rtt_s: Vec<f64>,
    /// Retransmission timeout in seconds.
    pub rto_s: Vec<f64>,
}

/// Columns of [`FlowSeries::sent`].
#[derive(Clone, Debug, Default)]
pub struct SentColumns {
    /// Time in seconds.
    pub time_s: Vec<f64>,
    /// First byte.
    pub sequence_bytes: Vec<u64>,
    /// Payload in bytes.
    pub payload_bytes: Vec<u64>,
    /// 1 for a retransmission, else 0.
    pub retransmission: Vec<u64>,
}

/// Columns of [`FlowSeries::acked`].
#[derive(Clone, Debug, Default)]
pub struct AckColumns {
    /// Time in seconds.
    pub time_s: Vec<f64>,
    /// The byte expected next.
    pub sequence_bytes: Vec<u64>,
}

/// Columns of [`FlowSeries::sacked`].
#[derive(Clone, Debug, Default)]
pub struct SackColumns {
    /// Time in seconds.
    pub time_s: Vec<f64>,
    /// First byte of the block.
    pub start_bytes: Vec<u64>,
    /// The byte after the block.
    pub end_bytes: Vec<u64>,
}

/// Columns of [`FlowSeries::lost`].
#[derive(Clone, Debug, Default)]
pub struct LostColumns {
    /// Time in seconds.
    pub time_s: Vec<f64>,
    /// First byte.
    pub sequence_bytes: Vec<u64>,
    /// 1 when a full queue dropped it, 0 when it was damaged under way.
    pub by_queue: Vec<u64>,
}

impl LostColumns {
    /// A loss on a link that passes its packets on is known ahead of its time.
    pub(crate) fn sort_by_time(&mut self) {
        let mut order: Vec<usize> = (0..self.time_s.len()).collect();
        order.sort_by(|a, b| self.time_s[*a].total_cmp(&self.time_s[*b]));
        self.time_s = order.iter().map(|row| self.time_s[*row]).collect();
        self.sequence_bytes = order.iter().map(|row| self.sequence_bytes[*row]).collect();
        self.by_queue = order.iter().map(|row| self.by_queue[*row]).collect();
    }
}

/// A direction of a link.
#[derive(Clone, Debug, Default)]
pub struct LinkSeries {
    /// Time in seconds: a row when a packet is taken, and one when it begins to be sent unless it is sent at once.
    pub time_s: Vec<f64>,
    /// Packets waiting from then on, the one being sent not counted.
    pub queue_packets: Vec<u64>,
}

/// A packet in a queue, first in, first out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) taken: Time,
    /// When it begins to be sent.
    pub(crate) begins: Time,
}

impl LinkSeries {
    /// The series up to `end` of a link whose packets waited so.
    pub(crate) fn of(waits: &[Wait], end: Time) -> LinkSeries {
        let mut series = LinkSeries::default();
        let mut begun =
            waits.iter().filter(|wait| wait.begins > wait.taken).map(|wait| wait.begins).peekable();
        let mut waiting = 0;
        let mut row = |at: Time, waiting: u64| {
            if at <= end {
                series.time_s.push(at.as_secs());
                series.queue_packets.push(waiting);
            }
        };
        for wait in waits {
            while let Some(at) = begun.next_if(|begins| *begins <= wait.taken) {
                waiting -= 1;
                row(at, waiting);
            }
            waiting += u64::from(wait.begins > wait.taken);
            row(wait.taken, waiting);
        }
        for at in begun {
            waiting -= 1;
            row(at, waiting);
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_fills_and_drains_packet_by_packet() {
        let at = Time::from_nanos;
        let wait = |taken, begins| Wait { taken: at(taken), begins: at(begins) };
        // Three packets at once, each sent in 10 s; one that comes when the second ends; one that finds nobody.
        let s = 1_000_000_000;
        let waits =
            [wait(0, 0), wait(0, 10 * s), wait(0, 20 * s), wait(20 * s, 30 * s), wait(50 * s, 50 * s)];
        let rows = |end: u64| {
            let series = LinkSeries::of(&waits, at(end * s));
            series.time_s.into_iter().zip(series.queue_packets).collect::<Vec<_>>()
        };
        let whole = [(0.0, 0), (0.0, 1), (0.0, 2), (10.0, 1), (20.0, 0), (20.0, 1), (30.0, 0), (50.0, 0)];
        assert_eq!(rows(60), whole);
        assert_eq!(rows(20), whole[..6]);
    }
}
