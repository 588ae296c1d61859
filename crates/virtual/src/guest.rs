//! What the program in the kernel is told and tells: `struct message` of virtual-kernel/endpoint.c.

use bentpipe_sim::kernel::{Ask, Heard, Place, SocketFacts};

use crate::frames::{self, ETHERNET};

/// For local experiments.
const PROTOCOL: [u8; 2] = [0x88, 0xb5];
/// The number of the device that it is told by.
pub(crate) const DEVICE: u8 = 2;
/// Bytes of a message without what a socket tells.
const PLAIN: usize = 56;

const OPEN: u8 = 1;
const WRITE: u8 = 2;
const CLOSE: u8 = 3;
const TELL: u8 = 4;

const READY: u8 = 1;
const READ: u8 = 2;
const ENDED: u8 = 3;
const BROKE: u8 = 4;
const TOLD: u8 = 5;

const CONNECTS: u32 = 1;
const IS_READ: u32 = 2;
const NO_DELAY: u32 = 4;
const DISCARDS: u32 = 8;

/// What the program says.
pub(crate) enum Said {
    /// It can be asked.
    Ready,
    /// Something of an end.
    Of(Place, Heard),
}

/// Writes the frame that asks for something that is no packet.
pub(crate) fn ask(frame: &mut Vec<u8>, place: Place, what: Ask<'_>) {
    frames::begin(frame, DEVICE, PROTOCOL);
    let (kind, flags, value, socket) = match what {
        Ask::Open(socket) => {
            let flags =
                [(socket.connects, CONNECTS), (socket.attended, IS_READ), (socket.no_delay, NO_DELAY)];
            (OPEN, flags.into_iter().map(|(on, flag)| if on { flag } else { 0 }).sum(), 0, Some(socket))
        }
        Ask::Write(bytes) => (WRITE, 0, bytes, None),
        Ask::Close { discard } => (CLOSE, if discard { DISCARDS } else { 0 }, 0, None),
        Ask::Tell | Ask::Packet(_) => (TELL, 0, 0, None),
    };
    frame.extend([kind, place.host]);
    frame.extend((place.connection as u16).to_le_bytes());
    frame.extend(flags.to_le_bytes());
    frame.extend(value.to_le_bytes());
    let numbers = socket.map_or([0; 2], |socket| [socket.mss, socket.receive_window.unwrap_or(0)]);
    frame.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
    let mut control = [0; 16];
    if let Some(socket) = socket {
        let name = socket.control.as_bytes();
        let length = name.len().min(15);
        control[..length].copy_from_slice(&name[..length]);
    }
    frame.extend(control);
    frame.extend([0; 2]);
}

/// What a frame says that the program has sent; none where another has sent it.
pub(crate) fn said(frame: &[u8]) -> Option<Said> {
    let message = frame.get(..PLAIN).filter(|frame| frame[12..ETHERNET] == PROTOCOL)?;
    let place =
        Place { host: message[15], connection: u16::from_le_bytes([message[16], message[17]]).into() };
    let mut value = [0; 8];
    value.copy_from_slice(&message[22..30]);
    let value = u64::from_le_bytes(value);
    let length = usize::from(u16::from_le_bytes([message[PLAIN - 2], message[PLAIN - 1]]));
    let heard = match message[14] {
        READY => return Some(Said::Ready),
        READ => Heard::Read(value),
        ENDED => Heard::Ended,
        BROKE => Heard::Broke(error(value)),
        TOLD => Heard::Told(facts(frame.get(PLAIN..PLAIN + length).unwrap_or_default())),
        _ => return None,
    };
    Some(Said::Of(place, heard))
}

/// An error by its number in Linux, as our own connections say it where they have the same.
fn error(number: u64) -> String {
    match number {
        104 => "connection reset by the peer".to_owned(),
        110 => "connection timed out".to_owned(),
        111 => "connection refused".to_owned(),
        other => std::io::Error::from_raw_os_error(other as i32).to_string(),
    }
}

/// What TCP_INFO says: `struct tcp_info` of linux/tcp.h, as long as the kernel knows it.
fn facts(info: &[u8]) -> SocketFacts {
    let word =
        |at: usize| info.get(at..at + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let number = |at: usize| word(at).map_or(f64::NAN, f64::from);
    // The kernel's sign for none at all has all bits set.
    let rate = |at: usize| match (word(at), word(at + 4)) {
        (Some(u32::MAX), Some(u32::MAX)) => f64::INFINITY,
        (Some(low), Some(high)) => 8.0 * (u64::from(high) << 32 | u64::from(low)) as f64,
        _ => f64::NAN,
    };
    let mss = number(16);
    SocketFacts {
        timeouts: info.get(240..242).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]).into()),
        cwnd: number(80) * mss,
        ssthresh: if word(76) >= Some(i32::MAX as u32) { f64::INFINITY } else { number(76) * mss },
        srtt_s: if word(68) == Some(0) { f64::NAN } else { number(68) / 1e6 },
        rto_s: number(8) / 1e6,
        pacing_bps: rate(104),
        delivery_bps: if rate(160) > 0.0 { rate(160) } else { f64::NAN },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_the_length_of_a_message() {
        let mut frame = Vec::new();
        ask(&mut frame, Place { connection: 7, host: 1 }, Ask::Write(5));
        assert_eq!(frame.len(), crate::device::NET_HEADER + PLAIN);
    }
}
