//! A gateway on packets as they are on the wire: IPv4 with TCP.

use bentpipe_units::Time;

use super::{Direction, FlowKey, Gateway, Header, LinkView};

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const TCP: u8 = 6;
/// More fragments, and the offset of this one.
const FRAGMENT: u16 = 0x3fff;
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;
/// Options of signed segments.
const TCP_MD5: u8 = 19;
const TCP_AO: u8 = 29;

impl Gateway {
    /// Shows the gateway an IPv4 packet, which may be followed by padding, and writes the window that it answers. Tells
    /// whether anything was written: two bytes of window, and the TCP checksum, changed by as much (RFC 1624, equation 3),
    /// so that a checksum that was wrong stays wrong.
    ///
    /// What cannot be read as a whole TCP segment (another protocol, a fragment, lengths that contradict each other, a SYN
    /// with options that do not parse) passes untouched and unseen.
    pub fn pass(&mut self, now: Time, way: Direction, packet: &mut [u8], link: &LinkView) -> bool {
        let Some((header, tcp)) = read(packet) else { return false };
        match way {
            Direction::Forward => {
                self.forward(now, &header, link);
                false
            }
            Direction::Backward => {
                let Some(window) = self.backward(now, &header, link) else { return false };
                write_window(&mut packet[tcp..], header.window, window);
                true
            }
        }
    }
}

/// What the gateway needs of a packet, and where its TCP header begins.
fn read(packet: &[u8]) -> Option<(Header, usize)> {
    let ip = packet.get(..IP_HEADER)?;
    let ip_len = usize::from(ip[0] & 0x0f) * 4;
    let total = usize::from(u16_at(ip, 2));
    let whole = u16_at(ip, 6) & FRAGMENT == 0;
    if ip[0] >> 4 != 4 || ip_len < IP_HEADER || !whole || ip[9] != TCP {
        return None;
    }
    let tcp = packet.get(..total)?.get(ip_len..)?;
    let fixed = tcp.get(..TCP_HEADER)?;
    let tcp_len = usize::from(fixed[12] >> 4) * 4;
    let options = tcp.get(TCP_HEADER..tcp_len)?;
    let flags = fixed[13];
    let Options { window_scale, mss, signed } =
        if flags & SYN != 0 { read_options(options)? } else { Options::default() };
    let header = Header {
        flow: FlowKey {
            source: u32_at(ip, 12),
            destination: u32_at(ip, 16),
            source_port: u16_at(fixed, 0),
            destination_port: u16_at(fixed, 2),
        },
        ttl: ip[8],
        syn: flags & SYN != 0,
        ack: flags & ACK != 0,
        fin: flags & FIN != 0,
        rst: flags & RST != 0,
        payload: (tcp.len() - tcp_len) as u32,
        packet: total as u32,
        window: u16_at(fixed, 14),
        window_scale,
        mss,
        signed,
    };
    Some((header, ip_len))
}

/// What the options of a SYN say.
#[derive(Default)]
struct Options {
    window_scale: Option<u8>,
    mss: Option<u16>,
    signed: bool,
}

/// `None` for options that do not parse.
fn read_options(mut options: &[u8]) -> Option<Options> {
    let mut said = Options::default();
    loop {
        match *options {
            [] | [0, ..] => return Some(said),
            [1, ref rest @ ..] => options = rest,
            [kind, len, ..] => {
                let option = options.get(..usize::from(len)).filter(|option| option.len() >= 2)?;
                match (kind, option) {
                    (2, [_, _, high, low]) => said.mss = Some(u16::from_be_bytes([*high, *low])),
                    (3, [_, _, shift]) => said.window_scale = Some(*shift),
                    (TCP_MD5 | TCP_AO, _) => said.signed = true,
                    _ => {}
                }
                options = &options[option.len()..];
            }
            [_] => return None,
        }
    }
}

/// `new` is below `old`.
fn write_window(tcp: &mut [u8], old: u16, new: u16) {
    let sum = u32::from(!u16_at(tcp, 16)) + u32::from(!old) + u32::from(new);
    // The window falls, so that the last two add up to less than 0xffff, and folding once takes every carry.
    let folded = (sum & 0xffff) + (sum >> 16);
    tcp[14..16].copy_from_slice(&new.to_be_bytes());
    tcp[16..18].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
