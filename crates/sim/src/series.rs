//! Time series of a run, as columns of equal length.

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
    /// Time in seconds, a row a packet taken.
    pub time_s: Vec<f64>,
    /// Packets waiting, the one being sent not counted.
    pub queue_packets: Vec<u64>,
}
