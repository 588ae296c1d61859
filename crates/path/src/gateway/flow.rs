//! What a gateway knows of one flow.

use bentpipe_units::Time;

use super::Header;

/// RFC 7323 section 2.3: a larger shift counts as this one.
const MAX_SHIFT: u8 = 14;

/// Which way a segment goes: with the data that the guarded link carries, or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It is about to enter the guarded link.
    Forward,
    /// It came out of the opposite direction.
    Backward,
}

/// What the SYN of one side said of window scaling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scale {
    #[default]
    Unseen,
    Without,
    Shift(u8),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Handshake {
    /// The SYN was not seen, or the answers could not be told apart.
    #[default]
    Unseen,
    Syn {
        at: Time,
        way: Direction,
    },
    SynAck {
        at: Time,
        way: Direction,
    },
    /// SYN or SYN/ACK came more than once: which one was answered cannot be told (Karn's rule).
    Ambiguous,
    Took(u64),
}

/// State of one flow; the default knows nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    hops: [Option<u8>; 2],
    scale: [Scale; 2],
    fin: [bool; 2],
    handshake: Handshake,
    /// A SYN that nobody has answered yet, on a connection that is known: which way it went, its scale, and when it came, unless it
    /// came more than once.
    offered: Option<(Direction, Scale, Option<Time>)>,
    /// Window in bytes that the receiver advertised last, before it was lowered.
    pub(super) advertised: Option<u64>,
    /// Largest segment that the receiver's SYN says it takes; 0 before, and where it does not say.
    pub(super) mss: u16,
    /// Bytes of data and of the whole packet of its longest packet with data; none before the first.
    longest: Option<(u32, u32)>,
    /// Bytes of data in this interval.
    pub(super) sent: u64,
    /// The flow was not there for the whole interval.
    pub(super) fresh: bool,
}

impl Flow {
    /// Reads a segment; returns whether it may tell of another round-trip time.
    #[inline]
    pub(super) fn learn(&mut self, now: Time, way: Direction, header: &Header) -> bool {
        let side = way as usize;
        let settled = matches!(self.handshake, Handshake::Took(_) | Handshake::Unseen);
        if settled && !header.syn && self.hops[side] == Some(hops(header.ttl)) {
            self.fin[side] |= header.fin;
            return false;
        }
        self.learn_news(now, way, header);
        true
    }

    /// The SYN that opens a connection makes a flow new: ports are used again.
    #[cold]
    #[inline(never)]
    fn learn_news(&mut self, now: Time, way: Direction, header: &Header) {
        let scale = header.window_scale.map_or(Scale::Without, |shift| Scale::Shift(shift.min(MAX_SHIFT)));
        let stands = self.scale.iter().all(|scale| *scale != Scale::Unseen);
        if header.syn && stands && !matches!(self.handshake, Handshake::SynAck { .. }) {
            // Anybody could have written this SYN: the connection is a new one when the other side has answered it.
            if !header.ack {
                let at = if self.offered.is_some() { None } else { Some(now) };
                self.offered = Some((way, scale, at));
                return;
            }
            let Some((opener, offered, at)) = self.offered.filter(|(opener, ..)| *opener != way) else {
                return;
            };
            let handshake = at.map_or(Handshake::Ambiguous, |at| Handshake::Syn { at, way: opener });
            *self = Flow { handshake, fresh: true, ..Flow::default() };
            self.scale[opener as usize] = offered;
        } else if header.syn && !header.ack {
            let repeated = matches!(self.handshake, Handshake::Syn { .. } | Handshake::Ambiguous);
            let handshake = if repeated { Handshake::Ambiguous } else { Handshake::Syn { at: now, way } };
            *self = Flow { handshake, fresh: true, ..Flow::default() };
        }
        let side = way as usize;
        self.hops[side] = Some(hops(header.ttl));
        self.fin[side] |= header.fin;
        if header.syn {
            self.scale[side] = scale;
        }
        if header.syn && way == Direction::Backward {
            self.mss = header.mss.unwrap_or(0);
        }
        self.handshake = match self.handshake {
            Handshake::Syn { at, way: opener } if header.syn && header.ack && way != opener => {
                Handshake::SynAck { at, way: opener }
            }
            Handshake::SynAck { way: opener, .. } if header.syn && way != opener => Handshake::Ambiguous,
            Handshake::SynAck { at, way: opener } if !header.syn && header.ack && way == opener => {
                Handshake::Took(now.since(at).as_nanos())
            }
            Handshake::Ambiguous if !header.syn => Handshake::Unseen,
            same => same,
        };
    }

    /// It sends this over the guarded link.
    pub(super) fn carried(&mut self, header: &Header) {
        self.sent += u64::from(header.payload);
        if header.payload > self.longest.map_or(0, |(payload, _)| payload) {
            self.longest = Some((header.payload, header.packet));
        }
    }

    /// Bytes of whole packets a byte of data, by its longest packet; 1 before the first.
    pub(super) fn overhead(&self) -> f64 {
        self.longest.map_or(1.0, |(payload, packet)| f64::from(packet) / f64::from(payload))
    }

    pub(super) fn begin_interval(&mut self, fresh: bool) {
        self.sent = 0;
        self.fresh = fresh;
    }

    /// Both sides have closed.
    pub(super) fn closed(&self) -> bool {
        self.fin == [true; 2]
    }

    /// By how many bits the windows that come back are shifted. A SYN/ACK can only accept what the SYN offered, so one
    /// side without the option settles it; `None` if too little was seen.
    pub(super) fn shift(&self) -> Option<u8> {
        match self.scale {
            [Scale::Without, _] | [_, Scale::Without] => Some(0),
            [Scale::Shift(_), Scale::Shift(shift)] => Some(shift),
            _ => None,
        }
    }

    /// Hops that data (H_f) and acknowledgments (H_b) have passed before they come here, together; a direction that was
    /// not seen yet counts none.
    pub(super) fn hops(&self) -> u64 {
        self.hops.iter().flatten().map(|hops| u64::from(*hops)).sum()
    }

    /// Nanoseconds from the SYN to the acknowledgment that completed the handshake.
    pub(super) fn handshake_nanos(&self) -> Option<u64> {
        match self.handshake {
            Handshake::Took(nanos) => Some(nanos),
            _ => None,
        }
    }
}

/// Hops behind a packet: hosts start from 64, 128 or 255, and nothing passes so many routers as lie between.
fn hops(ttl: u8) -> u8 {
    match ttl {
        0..=64 => 64 - ttl,
        65..=128 => 128 - ttl,
        _ => 255 - ttl,
    }
}
