//! What must be true of an endpoint whatever the network does.

use bentpipe_tcp::{Config, Ecn, Endpoint, Flags, Segment, Seq, State, Transmit};

/// What is known of one end without asking it: the bytes that reached it, the window that it was told, the edge it gave.
#[derive(Default)]
pub(crate) struct Check {
    /// The peer's first byte of data.
    first: Seq,
    timestamps: bool,
    sack: bool,
    /// A first block may tell what came twice (RFC 2883).
    duplicate_sack: bool,
    /// A byte of the peer's data has reached this end inside its window.
    arrived: Vec<bool>,
    /// How many of them from the first on.
    prefix: usize,
    /// Where the peer's FIN stands, once one has reached this end inside its window.
    fin: Option<Seq>,
    /// The newest segment that arrived past a hole, until an ACK has told of it.
    newest: Option<(Seq, Seq)>,
    /// Right edge that this end was told.
    told: Option<Seq>,
    /// Right edge and ACK that this end gave.
    given: Option<(Seq, Seq)>,
    scale_offered: Option<u8>,
    peer_scale_offered: Option<u8>,
    highest_sent: Option<Seq>,
    /// A control that may send beyond the receiver's edge.
    oversteps: bool,
    /// The most that it did.
    pub(crate) beyond: u32,
}

impl Check {
    pub(crate) fn new(peer_iss: Seq, timestamps: bool, sack: bool, own: &Config) -> Check {
        // What is chosen shows its options, which are its own.
        let oversteps = format!("{:?}", own.control).contains("rwnd_increase: true");
        let (first, duplicate_sack) = (peer_iss + 1, own.duplicate_sack);
        Check { first, timestamps, sack, duplicate_sack, oversteps, ..Check::default() }
    }

    fn scales(&self) -> Option<(u8, u8)> {
        self.scale_offered.zip(self.peer_scale_offered)
    }

    pub(crate) fn before_arrival(&mut self, end: &Endpoint, segment: &Segment) {
        self.newest = None;
        if segment.ecn == Ecn::Low {
            // A dummy or its ACK: it brings nothing.
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.peer_scale_offered = segment.options.window_scale;
        }
        if segment.flags.has(Flags::ACK) {
            let scale = if segment.flags.has(Flags::SYN) { None } else { self.scales() };
            let edge = segment.ack + (u32::from(segment.window) << scale.map_or(0, |(_, peer)| peer));
            self.told = Some(self.told.map_or(edge, |told| told.max(edge)));
        } else if segment.flags.has(Flags::SYN) {
            self.told = None;
        }
        let synchronised = !matches!(end.state(), State::Closed | State::Listen | State::SynSent);
        let takes_data = matches!(
            end.state(),
            State::SynReceived | State::Established | State::FinWait1 | State::FinWait2
        );
        let sender = end.sender();
        // RFC 5961 section 5.2: what has overtaken more than a window of ACKs is discarded.
        let too_old = segment.ack < sender.una() - sender.largest_peer_window();
        if !synchronised || !takes_data || too_old {
            return;
        }
        let (nxt, edge) = (end.receiver().nxt(), end.receiver().nxt() + end.receiver().window());
        if segment.flags.has(Flags::FIN) && segment.seq < edge && segment.seq + segment.len <= edge {
            self.fin = Some(segment.seq + segment.len);
        }
        if segment.len == 0 {
            return;
        }
        let inside = |seq: Seq| nxt <= seq && seq < edge;
        for offset in 0..segment.len {
            let seq = segment.seq + offset;
            if inside(seq) {
                let index = (seq - self.first) as usize;
                if self.arrived.len() <= index {
                    self.arrived.resize(index + 1, false);
                }
                self.arrived[index] = true;
            }
        }
        if segment.seq > nxt && segment.seq < edge && !self.timestamps {
            self.newest = Some((segment.seq, (segment.seq + segment.len).min(edge)));
        }
    }

    pub(crate) fn after_arrival(&mut self, end: &Endpoint, trace: impl Fn() -> String) {
        while self.arrived.get(self.prefix) == Some(&true) {
            self.prefix += 1;
        }
        let delivered = end.receiver().delivered() as usize;
        if self.timestamps {
            // PAWS may have rejected what arrived late.
            assert!(delivered <= self.prefix, "{delivered} bytes delivered of {}\n{}", self.prefix, trace());
        } else {
            assert_eq!(delivered, self.prefix, "bytes delivered, and in order here\n{}", trace());
        }
        if end.error().is_none() && end.state() != State::Closed {
            assert!(self.newest.is_none() || end.receiver().owes_ack(), "no ACK past a hole\n{}", trace());
        }
    }

    pub(crate) fn sent(&mut self, end: &Endpoint, transmit: &Transmit, trace: impl Fn() -> String) {
        let segment = &transmit.segment;
        let sender = end.sender();
        if segment.flags.has(Flags::SYN) {
            self.scale_offered = segment.options.window_scale;
            return;
        }
        if segment.flags.has(Flags::RST) {
            return;
        }
        self.ack_and_edge(segment, &trace);
        self.sack_blocks(segment, &trace);
        let cwnd = sender.window().cwnd;
        assert!(cwnd >= sender.window().smss, "cwnd {cwnd} below one segment\n{}", trace());
        if segment.len > 0 && segment.ecn != Ecn::Low {
            self.data(end, transmit, &trace);
        }
        self.highest_sent = Some(self.highest_sent.map_or(segment.end(), |seq| seq.max(segment.end())));
    }

    fn data(&mut self, end: &Endpoint, transmit: &Transmit, trace: &impl Fn() -> String) {
        let (segment, sender) = (&transmit.segment, end.sender());
        let last = segment.seq + segment.len;
        // A client that has seen no ACK has seen no data either; the server was told by the first ACK.
        let told = self.told.unwrap_or(last);
        let probe = segment.len == 1 && segment.seq == told;
        if last > told && !probe {
            self.beyond = self.beyond.max(last - told);
            assert!(self.oversteps, "sent {} bytes beyond the receiver's edge\n{}", last - told, trace());
        }
        let new = self.highest_sent.is_none_or(|highest| segment.seq >= highest);
        assert_eq!(transmit.again, !new, "whether it was sent before\n{}", trace());
        let (flight, cwnd, smss) = (sender.flight(), sender.window().cwnd, sender.window().smss);
        if new && !probe && !self.sack {
            // Limited transmit adds two segments (RFC 3042), FIN a byte. With SACK it is pipe that cwnd bounds.
            let most = cwnd + 2.0 * smss + 1.0;
            assert!(f64::from(flight) <= most, "flight {flight} with cwnd {cwnd}\n{}", trace());
        }
    }

    fn ack_and_edge(&mut self, segment: &Segment, trace: &impl Fn() -> String) {
        let scale = self.scales().map_or(0, |(own, _)| own);
        let edge = segment.ack + (u32::from(segment.window) << scale);
        if let Some((given, ack)) = self.given {
            assert!(edge >= given, "the right edge moved left by {}\n{}", given - edge, trace());
            assert!(segment.ack >= ack, "the ACK moved left\n{}", trace());
        }
        self.given = Some((edge, segment.ack));
    }

    fn holds(&self, seq: Seq) -> bool {
        self.arrived.get((seq - self.first) as usize) == Some(&true)
    }

    /// Whether a block may have this sequence number: FIN has one too.
    fn may_report(&self, seq: Seq) -> bool {
        self.holds(seq) || self.fin == Some(seq)
    }

    fn sack_blocks(&mut self, segment: &Segment, trace: &impl Fn() -> String) {
        let newest = self.newest.take();
        let mut blocks = segment.options.sack.as_slice();
        if let ([twice, rest @ ..], true) = (blocks, self.duplicate_sack)
            && (twice.end <= segment.ack
                || rest.iter().any(|run| run.start <= twice.start && twice.end <= run.end))
        {
            let held = |offset| self.holds(twice.start + offset);
            assert!((0..twice.end - twice.start).all(held), "a report of bytes that never came\n{}", trace());
            blocks = rest;
        }
        for (index, block) in blocks.iter().enumerate() {
            let sound = segment.ack < block.start && block.start < block.end;
            assert!(sound, "a block at or below the ACK\n{}", trace());
            for other in &blocks[..index] {
                let apart = block.end < other.start || other.end < block.start;
                assert!(apart, "blocks that touch\n{}", trace());
            }
            let mut held = (0..block.end - block.start).map(|offset| self.may_report(block.start + offset));
            assert!(held.all(|byte| byte), "a block of bytes that never came\n{}", trace());
            if !self.timestamps {
                let whole = !self.holds(block.start - 1) && !self.may_report(block.end);
                assert!(whole, "a part of a block\n{}", trace());
            }
        }
        if let (Some((start, end)), Some(first)) = (newest, blocks.first()) {
            // RFC 2018 section 4.
            let reported = first.start <= start && end <= first.end;
            assert!(reported, "the newest segment is not in the first block\n{}", trace());
        }
    }
}
