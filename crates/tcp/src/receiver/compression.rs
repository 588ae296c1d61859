//! Several segments past a hole share an ACK: Linux's SACK compression (`__tcp_ack_snd_check`, `tcp_input.c`).

use bentpipe_units::{Span, Time};

use super::Receiver;
use crate::{Config, Host, SackBlock, Seq};

/// `tcp_comp_sack_delay_ns`: the longest that such an ACK waits.
const LONGEST: Span = Span::from_millis(1);
/// `tcp_comp_sack_nr`: how many segments share an ACK beside the one that it is sent for.
const MOST: u32 = 44;
/// `TCP_FASTRETRANS_THRESH`: so many duplicates go at once, for the sender to see the loss.
const AT_ONCE: u8 = 3;

/// What it goes by. The segments that wait are the receiver's own count, and its deadline that of their ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compression {
    /// RCV.NXT at the duplicates that went at once, and how many there were.
    nxt: Seq,
    at_once: u8,
    /// The round trip of this end's own data.
    pub(super) smoothed: Option<Span>,
}

impl Compression {
    /// None where each segment past a hole is answered at once.
    pub(super) fn of(config: &Config) -> Option<Box<Compression>> {
        (config.sack_compression && config.host == Host::Linux).then(Box::default)
    }
}

impl Receiver {
    /// A segment was taken while there is a hole: whether its ACK goes at once; if not, when it does.
    pub(super) fn answers_hole(&mut self, now: Time) -> bool {
        let rtt = self.tuning.as_ref().and_then(|tuning| tuning.rtt());
        let quick = self.quick.as_ref().is_some_and(|quick| quick.goes_at_once());
        let Some(compression) = self.compression.as_mut() else { return true };
        if quick || self.waiting_segments >= MOST {
            return true;
        }
        if compression.nxt != self.nxt {
            (compression.nxt, compression.at_once) = (self.nxt, 0);
        }
        if compression.at_once < AT_ONCE {
            compression.at_once += 1;
            return true;
        }
        // "5 % of rtt, but no more than tcp_comp_sack_delay_ns".
        let rtt = rtt.into_iter().chain(compression.smoothed).min().unwrap_or(Span::ZERO);
        self.waiting_segments += 1;
        self.deadline = self.deadline.min(now + (rtt / 20).min(LONGEST));
        false
    }

    /// Whether a segment past a hole is of neither of the two newest blocks (`TCP_SACK_BLOCKS_EXPECTED`): an ACK has room for
    /// three, so more of them must not share one (`tcp_sack_new_ofo_skb`).
    pub(super) fn begins_a_block(&self, block: SackBlock) -> bool {
        let mut newest =
            self.recent[..usize::from(self.recent_count)].iter().filter(|run| run.start >= self.nxt);
        let (Some(first), Some(second)) = (newest.next(), newest.next()) else { return false };
        ![first, second].iter().any(|run| block.start <= run.end && run.start <= block.end)
    }
}
