//! The probe of the tail (RFC 8985 section 7).

use super::super::{Context, Next, Outstanding, Range};
use super::Rack;
use crate::Seq;
use crate::control::Exit;

/// A probe of the tail is under way (RFC 8985 section 7).
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    /// It has not been sent yet.
    pub(super) due: bool,
    /// What an ACK comes to that answers it (`TLP.end_seq`).
    pub(super) end: Seq,
    /// What it sent again; none when it was new data.
    pub(super) again: Option<Range>,
}

impl Tail {
    /// What probes the tail: new data if there is any, else the last segment again (RFC 8985 section 7.3, `TLP_send_probe`). New data for which
    /// the window has `room` goes with it where it is one packet (`tcp_send_loss_probe`).
    pub(super) fn probe(&mut self, o: &Outstanding<'_>, room: u32) -> Next {
        self.due = false;
        if o.new_data {
            self.end = o.max + 1;
            return Next::NewData { room: room.max(o.smss) };
        }
        // As it was sent, with FIN behind it or not.
        self.again = o.record.entries_at(o.max - 1, o.una).next().map(|(last, _)| last);
        self.again.map_or(Next::Nothing, Next::Again)
    }
}

impl Rack {
    /// What an ACK says of the probe under way (RFC 8985 section 7.4, `TLP_process_ack`).
    pub(super) fn process_tail_ack(&mut self, cx: &mut Context<'_>, acked: u32) {
        let Some(tail) = self.tail.filter(|tail| !tail.due && cx.una >= tail.end) else { return };
        match tail.again {
            Some(range) if cx.una > tail.end => {
                // It repaired a loss that nobody saw.
                self.tail = None;
                self.undo = None;
                cx.lose(range.start, range.start, tail.end, cx.whole_window() as u32);
                let cwnd = cx.window().cwnd;
                cx.exit(&Exit { flight: cx.flight(), acked: cx.una - range.start, cwnd });
            }
            // The original and the probe arrived.
            Some(_) if acked == 0 && !self.news => self.tail = None,
            Some(_) => {}
            None => self.tail = None,
        }
    }
}
