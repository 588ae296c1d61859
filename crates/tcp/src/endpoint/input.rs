//! A segment for a connection that is open, or nearly: RFC 9293 section 3.10.7.4.

use bentpipe_units::Time;

use super::*;

impl Endpoint {
    /// Header prediction (Jacobson 1990): inside the window, nothing but ACK set, and where timestamps are on with one no older than the last.
    #[inline(always)]
    pub(super) fn expects(&self, segment: &Segment) -> bool {
        segment.flags == Flags::ACK
            && segment.ecn == Ecn::NotEct
            && self.has_room_for(segment)
            && (!self.timestamps || self.is_stamped_in_order(segment))
    }

    /// Whether a segment is inside the window and acknowledges no more than is outstanding.
    #[inline(always)]
    fn has_room_for(&self, segment: &Segment) -> bool {
        self.state == State::Established
            && u64::from(segment.seq - self.receiver.nxt()) + u64::from(segment.len)
                <= u64::from(self.receiver.window())
            && segment.ack - self.sender.una() <= self.sender.flight()
    }

    /// The same with PSH.
    #[inline(always)]
    pub(super) fn expects_pushed(&self, segment: &Segment) -> bool {
        segment.flags == Flags::ACK | Flags::PSH
            && segment.ecn == Ecn::NotEct
            && self.has_room_for(segment)
            && (!self.timestamps || self.is_stamped_in_order(segment))
    }

    #[inline(always)]
    fn is_stamped_in_order(&self, segment: &Segment) -> bool {
        segment.options.timestamps.is_some_and(|stamps| Seq(stamps.value) >= Seq(self.ts_recent))
    }

    /// Header prediction where segments carry more than TCP's: marks and congestion headers are looked at beside.
    #[inline(always)]
    pub(super) fn expects_extended(&self, segment: &Segment) -> bool {
        self.extended
            && (!self.timestamps || self.is_stamped_in_order(segment))
            && segment.flags | Flags::CONGESTION | Flags::PSH == Flags::ACK | Flags::CONGESTION | Flags::PSH
            && segment.ecn != Ecn::Low
            && self.has_room_for(segment)
    }

    /// A segment that was expected and carries more than TCP's.
    pub(super) fn accept_expected_extended(&mut self, now: Time, segment: &Segment) {
        self.echo |= self.ecn && segment.len > 0 && segment.ecn == Ecn::Ce;
        match self.timestamps {
            true => self.accept_stamped_apart(now, segment),
            false => self.accept_expected::<true>(now, segment),
        }
        self.take_congestion_header(segment);
    }

    /// A segment that was expected, with a timestamp where they are on.
    #[inline(always)]
    pub(super) fn accept_stamped(&mut self, now: Time, segment: &Segment) {
        self.note_timestamp(segment);
        let next = segment.len > 0 && segment.seq == self.receiver.nxt() && self.receiver.lacks_nothing();
        if next && self.receiver.is_tuned() {
            self.time_arrival(now, segment);
        }
        match next && self.acknowledges_nothing(segment) {
            true => self.receiver.on_next(now, segment.len),
            false => self.accept_expected::<true>(now, segment),
        }
    }

    /// The same for those who are not the loop.
    #[inline(never)]
    pub(super) fn accept_stamped_apart(&mut self, now: Time, segment: &Segment) {
        self.accept_stamped(now, segment);
    }

    /// A segment that was expected, of a peer that is known to send no timestamps, or not.
    #[inline(always)]
    pub(super) fn accept_expected<const STAMPED: bool>(&mut self, now: Time, segment: &Segment) {
        if segment.seq != self.receiver.nxt() {
            return self.accept(now, segment);
        }
        if !self.acknowledges_nothing(segment) {
            self.take_ack::<STAMPED>(now, segment, segment.len > 0, false);
        }
        if segment.len == 0 {
            return;
        }
        if self.receiver.lacks_nothing() {
            self.receiver.on_next(now, segment.len);
        } else {
            self.take_data(now, segment);
            self.follow_fins(now);
        }
    }

    pub(super) fn on_segment_synchronised(&mut self, now: Time, segment: &Segment) {
        if segment.ecn == Ecn::Low {
            return self.on_dummy(now, segment);
        }
        if !self.check(now, segment) {
            return;
        }
        match self.extended {
            true => self.accept_extended(now, segment),
            false => self.accept(now, segment),
        }
    }

    /// Takes a segment that carries more than TCP's.
    #[inline(never)]
    fn accept_extended(&mut self, now: Time, segment: &Segment) {
        match self.ecn {
            true => self.accept_with_ecn(now, segment),
            false => self.accept(now, segment),
        }
        self.take_congestion_header(segment);
    }

    /// What a segment that passed the checks acknowledges and brings.
    #[inline(never)]
    pub(super) fn accept(&mut self, now: Time, segment: &Segment) {
        let mark_echo = self.ecn && segment.flags.has(Flags::ECE);
        self.take_ack::<true>(now, segment, segment.sequence_len() > 0, mark_echo);
        self.take_data(now, segment);
        self.follow_fins(now);
    }

    /// The ACK field and the window say what is known, and nothing is outstanding: the common data segment.
    #[inline]
    pub(super) fn acknowledges_nothing(&self, segment: &Segment) -> bool {
        segment.len > 0
            && self.sender.flight() == 0
            && segment.ack == self.sender.una()
            && u32::from(segment.window) << self.peer_scale == self.sender.peer_window()
    }

    /// RFC 9293 section 3.10.7.4 up to the fifth check; whether there is an ACK field to look at.
    pub(super) fn check(&mut self, now: Time, segment: &Segment) -> bool {
        let syn_alone = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if self.state == State::SynReceived && syn_alone && segment.seq + 1 == self.receiver.nxt() {
            // The peer sent its SYN again: it has not seen our answer.
            self.syn.due = true;
            self.syn.again += 1;
            return false;
        }
        if self.lacks_timestamps(segment) {
            return false;
        }
        let in_order = self.timestamps_in_order(segment);
        if !in_order || !self.acceptable(segment) {
            if !segment.flags.has(Flags::RST) {
                // Linux counts what has no sequence numbers with the challenges (`tcp_oow_rate_limited`).
                let limited = self.config.host == Host::Linux && segment.sequence_len() == 0;
                match limited || segment.flags.has(Flags::SYN) {
                    true => self.challenge(now),
                    false => self.receiver.ack_soon(),
                }
                if in_order {
                    self.receiver.refuse(segment.seq, segment.len);
                }
                let fin_again = segment.flags.has(Flags::FIN) && segment.end() == self.receiver.nxt();
                if self.state == State::TimeWait && in_order && fin_again {
                    // The peer has not seen our ACK: "Acknowledge it, and restart the 2 MSL timeout."
                    self.time_wait_until = now + self.config.time_wait;
                }
            }
            return false;
        }
        if segment.flags.has(Flags::RST) {
            // RFC 5961 section 3.2: only the exact next sequence number resets; a near miss is challenged.
            if segment.seq != self.receiver.nxt() {
                self.challenge(now);
            } else if self.state == State::SynReceived && self.passive {
                self.listen_again();
            } else if self.state == State::TimeWait {
                // Both directions are through: RFC 9293 section 3.10.7.4 gives no signal here.
                self.state = State::Closed;
            } else {
                self.end(ConnectionError::Reset);
            }
            return false;
        }
        if segment.flags.has(Flags::SYN) {
            // RFC 9293 section 3.10.7.4, fourth check: after a passive open, another SYN takes the first one back.
            match self.state == State::SynReceived && self.passive {
                true => self.listen_again(),
                false => self.challenge(now),
            }
            return false;
        }
        if !segment.flags.has(Flags::ACK) {
            return false;
        }
        if self.state == State::SynReceived {
            if segment.ack != self.iss + 1 {
                self.answer_with_reset(segment);
                return false;
            }
            self.establish(now, segment);
            self.window_from = (segment.seq, segment.ack);
            self.take_text_of_syn(now);
        }
        if !self.may_acknowledge(segment.ack) {
            self.challenge(now);
            return false;
        }
        // TS.Recent is the key to everything that the peer sends later: not for whoever guesses a sequence number.
        self.note_timestamp(segment);
        true
    }

    /// Owes the peer an ACK that a segment it did not send, or does not remember, gave cause for, unless many went out lately.
    #[cold]
    #[inline(never)]
    fn challenge(&mut self, now: Time) {
        let config = &self.config;
        if self.challenges.get_or_insert_with(|| Box::new(Challenges::of(config))).allow(now) {
            self.receiver.ack_soon();
        }
    }

    /// Whether an ACK field tells of what was sent, and lately.
    ///
    /// RFC 5961 section 5.2: "The ACK value is considered acceptable only if it is in the range of ((SND.UNA - MAX.SND.WND) <=
    /// SEG.ACK <= SND.NXT)", where SND.NXT is the byte after the newest one ever sent.
    fn may_acknowledge(&self, ack: Seq) -> bool {
        self.sender.max() - ack <= self.sender.flight() + self.sender.largest_peer_window()
    }

    /// RFC 9293 section 3.10.7.4, first check.
    pub(super) fn acceptable(&self, segment: &Segment) -> bool {
        let (nxt, window) = (self.receiver.nxt(), self.receiver.window());
        let inside = |seq: Seq| seq >= nxt && seq < nxt + window;
        match (segment.sequence_len(), window) {
            (0, 0) => segment.seq == nxt,
            // A peer with a full window out has no number left below the edge for a plain ACK. Section 3.10.7.4 would drop
            // it, and with it the news of a hole; Linux takes it, and so does this end.
            (0, _) => inside(segment.seq) || (segment.seq == nxt + window && !segment.flags.has(Flags::RST)),
            // "If the RCV.WND is zero, no segments will be acceptable, but special allowance should be made to accept
            // valid ACKs": the receiver drops the payload.
            (_, 0) => segment.seq == nxt,
            // The test looks at the first byte and at the last. A segment around the whole window has bytes inside it too,
            // and a peer that resends across a window that it was told later has no other way to send them.
            _ => segment.seq < nxt + window && segment.end() > nxt,
        }
    }

    /// RFC 7323 section 5.3 (R1): PAWS.
    pub(super) fn timestamps_in_order(&self, segment: &Segment) -> bool {
        let (true, Some(timestamps)) = (self.timestamps, segment.options.timestamps) else { return true };
        Seq(timestamps.value) >= Seq(self.ts_recent) || segment.flags.has(Flags::RST)
    }

    /// RFC 7323 section 3.2: "If a non-<RST> segment is received without a TSopt, a TCP SHOULD silently drop the segment."
    /// Linux takes it: a middlebox may have removed the option.
    fn lacks_timestamps(&self, segment: &Segment) -> bool {
        let lacks = self.timestamps && segment.options.timestamps.is_none() && !segment.flags.has(Flags::RST);
        lacks && self.config.host == Host::Rfc
    }

    /// RFC 7323 section 5.3 (R3): TS.Recent, by segments that passed (R1) and (R2).
    pub(super) fn note_timestamp(&mut self, segment: &Segment) {
        if let (true, Some(timestamps)) = (self.timestamps, segment.options.timestamps)
            && segment.seq <= self.last_ack_sent
            && Seq(timestamps.value) >= Seq(self.ts_recent)
        {
            self.ts_recent = timestamps.value;
        }
    }

    #[inline(always)]
    pub(super) fn take_ack<const STAMPED: bool>(
        &mut self,
        now: Time,
        segment: &Segment,
        carries_data: bool,
        mark_echo: bool,
    ) {
        if segment.ack < self.sender.una() {
            return;
        }
        let (wl1, wl2) = self.window_from;
        // RFC 9293 section 3.10.7.4, with one case more: when a resent segment brings the newest ACK, the old window counted
        // from it would reach beyond the receiver's edge.
        let newest_ack = segment.ack > self.sender.una();
        let newer = newest_ack || wl1 < segment.seq || (wl1 == segment.seq && wl2 <= segment.ack);
        if newer {
            self.window_from = (segment.seq.max(wl1), segment.ack);
        }
        if self.sender.has_nothing_to_send() && self.acknowledges_nothing(segment) {
            return;
        }
        let sack = if self.sack { segment.options.sack.as_slice() } else { &[] };
        let incoming = Incoming {
            ack: segment.ack,
            window: newer.then(|| u32::from(segment.window) << self.peer_scale),
            sack,
            carries_data,
            timestamp_rtt: None,
            mark_echo,
        };
        self.sender.on_ack_of::<STAMPED>(now, &incoming, || {
            let timestamps = segment.options.timestamps.filter(|_| STAMPED && self.timestamps)?;
            echoed_rtt(self.syn.sent, now, timestamps.echo)
        });
    }

    /// A segment with data echoes what this end sent a round trip ago: its receiver hears of it.
    #[inline(never)]
    fn time_arrival(&mut self, now: Time, segment: &Segment) {
        if let (true, Some(timestamps)) = (self.timestamps, segment.options.timestamps)
            && let Some(rtt) = echoed_rtt(self.syn.sent, now, timestamps.echo).filter(|rtt| *rtt > Span::ZERO)
        {
            self.receiver.on_echo(timestamps.echo, rtt, segment.len);
        }
    }

    pub(super) fn take_data(&mut self, now: Time, segment: &Segment) {
        let receiving = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if receiving && segment.sequence_len() > 0 {
            if self.receiver.is_tuned() {
                self.time_arrival(now, segment);
            }
            if self.config.host == Host::Linux {
                self.answers = true;
                let push = segment.flags.has(Flags::PSH);
                self.receiver.foresee(segment.len, push, self.sender.rtt().smoothed(), self.last_ack_sent);
            }
            self.receiver.on_data(now, segment.seq, segment.len, segment.flags.has(Flags::FIN));
        } else if segment.sequence_len() > 0 {
            self.receiver.ack_soon();
        }
    }

    pub(super) fn follow_fins(&mut self, now: Time) {
        let theirs = self.receiver.finished();
        if self.state == State::Established && !theirs {
            return;
        }
        let ours = self.sender.fin_acknowledged();
        let before = self.state;
        self.state = match (self.state, ours, theirs) {
            (State::Established, _, true) => State::CloseWait,
            (State::FinWait1, true, true) | (State::FinWait2, _, true) | (State::Closing, true, _) => {
                State::TimeWait
            }
            (State::FinWait1, false, true) => State::Closing,
            (State::FinWait1, true, false) => State::FinWait2,
            (State::LastAck, true, _) => State::Closed,
            (state, _, _) => state,
        };
        if theirs && self.state != before && matches!(self.state, State::TimeWait | State::Closing) {
            // The application has closed: there is no FIN to wait for.
            self.receiver.ack_soon();
        }
        if self.state == State::TimeWait && self.time_wait_until == Time::NEVER {
            self.time_wait_until = now + self.config.time_wait;
        }
    }
}

/// The time since this end sent the timestamp that came back; none when it has sent none like it since its SYN.
#[inline(never)]
pub(super) fn echoed_rtt(syn_sent: Option<Time>, now: Time, echo: u32) -> Option<Span> {
    let rtt = Span::from_millis(u64::from(timestamp_clock(now).wrapping_sub(echo)));
    // The clock's tick is what both of its readings may be off by.
    let open = now.since(syn_sent?) + Span::from_millis(1);
    (echo != 0 && rtt <= open).then_some(rtt)
}
