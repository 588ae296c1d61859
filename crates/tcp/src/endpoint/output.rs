//! What goes out next, and its header.

use bentpipe_units::Time;

use super::*;
use crate::{IP_HEADER, TCP_HEADER};

impl Endpoint {
    /// The next segment for the wire, or none until something changes. Call it until it returns none.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let mut segment = Segment::default();
        self.poll_segment(now, &mut segment).map(|written| Transmit { segment, again: written.again })
    }

    /// [`Endpoint::poll_transmit`] into a segment of the caller's.
    #[inline(always)]
    pub fn poll_segment(&mut self, now: Time, segment: &mut Segment) -> Option<Written> {
        let written = self.poll_usual(now, segment);
        if self.has_extra_segments() {
            return self.poll_extra_segment(written, now, segment);
        }
        written
    }

    /// The next segment of data, or ACK.
    #[inline(always)]
    fn poll_usual(&mut self, now: Time, segment: &mut Segment) -> Option<Written> {
        if !self.is_synchronised() {
            return self.poll_opening(now, segment);
        }
        let alone = self.receiver.owes_ack_alone();
        if !alone && let Some(data) = self.sender.poll(now) {
            let bytes = self.data_segment(now, data, segment);
            return Some(Written { bytes, again: data.again, last: data.last });
        }
        if !self.receiver.owes_ack() {
            return None;
        }
        if alone {
            self.receiver.sends_alone();
        }
        let bytes = self.pure_ack(now, segment);
        Some(Written { bytes, again: false, last: !alone || self.sender.has_nothing_to_send() })
    }

    /// What opens a connection.
    #[cold]
    #[inline(never)]
    fn poll_opening(&mut self, now: Time, segment: &mut Segment) -> Option<Written> {
        if let Some(reset) = self.take_reset() {
            *segment = reset;
            if let Some(stamps) = &mut segment.options.timestamps {
                stamps.value = timestamp_clock(now);
            }
            return Some(Written { bytes: segment.packet_len(), again: false, last: false });
        }
        let again = match self.state {
            State::SynSent => self.poll_syn(now, segment)?,
            State::SynReceived => self.poll_syn(now, segment).or_else(|| {
                // What is not acceptable is answered here too, as is the peer's SYN-ACK when both opened at once.
                self.receiver.owes_ack().then(|| self.pure_ack(now, segment))?;
                Some(false)
            })?,
            _ => return None,
        };
        Some(Written { bytes: segment.packet_len(), again, last: false })
    }

    /// Writes a segment of data; returns the length of its packet.
    #[inline(always)]
    fn data_segment(&mut self, now: Time, data: Outgoing, segment: &mut Segment) -> u32 {
        if data.flags.has(Flags::FIN) {
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                state => state,
            };
        }
        let header = self.header(now, segment);
        segment.seq = data.seq;
        segment.len = data.len;
        segment.flags |= data.flags;
        if self.answers {
            self.receiver.on_reply(now);
        }
        if self.extended {
            return header + data.len + self.write_extended(data, segment);
        }
        header + data.len
    }

    /// Writes what a segment of data carries beside TCP's; returns the bytes that it takes.
    #[inline(never)]
    fn write_extended(&mut self, data: Outgoing, segment: &mut Segment) -> u32 {
        if self.ecn {
            self.set_capable(data.len > 0 && !data.again, segment);
        }
        self.put_congestion_header(data.len > 0, segment)
    }

    /// Writes an ACK without data; returns the length of its packet.
    #[inline(always)]
    pub(super) fn pure_ack(&mut self, now: Time, segment: &mut Segment) -> u32 {
        let header = self.header(now, segment);
        self.sender.sent_ack(now);
        if self.extended {
            return self.pure_ack_extended(header, segment);
        }
        self.finish_ack(header, segment)
    }

    /// Writes an ACK that carries more than TCP's; returns the length of its packet.
    #[inline(never)]
    fn pure_ack_extended(&mut self, header: u32, segment: &mut Segment) -> u32 {
        if self.ecn {
            self.echo_mark(segment);
        }
        self.put_congestion_header(false, segment) + self.finish_ack(header, segment)
    }

    #[inline(always)]
    fn finish_ack(&mut self, header: u32, segment: &mut Segment) -> u32 {
        // After going back, SND.NXT may lie below what the peer has; SND.MAX is in its window, or a probe's byte beyond.
        segment.seq = self.sender.max().min(self.sender.una() + self.sender.peer_window());
        if self.sack && self.receiver.has_report() {
            segment.options.sack = self.receiver.sack_blocks(if self.timestamps { 3 } else { 4 });
            return segment.bare_len();
        }
        header
    }

    /// Writes what every segment of an open connection has; returns the length of the headers.
    #[inline]
    pub(super) fn header(&mut self, now: Time, segment: &mut Segment) -> u32 {
        let window = self.receiver.acknowledge();
        self.last_ack_sent = self.receiver.nxt();
        segment.set_ack(self.receiver.nxt(), window);
        if self.timestamps {
            segment.options.timestamps = Some(self.timestamp_option(now));
            return segment.bare_len();
        }
        IP_HEADER + TCP_HEADER
    }

    // Out of line: the compiler would divide for the clock before it knows whether there are timestamps.
    #[inline(never)]
    pub(super) fn timestamp_option(&self, now: Time) -> Timestamps {
        Timestamps { value: timestamp_clock(now), echo: self.ts_recent }
    }
}
