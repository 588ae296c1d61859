use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::rc::Rc;

use bentpipe_tcp::{Flags, Options, SackBlock, SackBlocks, Seq, Timestamps};

use super::*;

/// Memory that a test looks at when the capture is finished.
#[derive(Clone, Debug, Default)]
struct Memory {
    bytes: Rc<RefCell<Vec<u8>>>,
    /// As many bytes as there is room for.
    room: Option<usize>,
}

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Memory {
    fn has_room(&mut self) -> io::Result<bool> {
        Ok(self.room.is_none_or(|room| self.bytes.borrow().len() < room))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl Memory {
    fn capture(&self) -> Capture {
        Capture::start(Box::new(self.clone())).unwrap()
    }

    fn read(&self) -> (Vec<String>, Vec<Record>) {
        read(&self.bytes.borrow())
    }
}

/// A packet as read back.
#[derive(Debug)]
struct Record {
    interface: u32,
    time: u64,
    original: u32,
    data: Vec<u8>,
    comment: Option<String>,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The options at the end of a block: each code with its value. A list, if any, has to be ended.
fn options(mut bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (code, length) = (u16_at(bytes, 0), u16_at(bytes, 2) as usize);
        if code == 0 {
            assert_eq!(bytes, [0; 4]);
            return found;
        }
        found.push((code, &bytes[4..4 + length]));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
    }
    assert!(found.is_empty(), "options without an end");
    found
}

/// The names of the interfaces and the packets of a file, by the draft's text and no line of the writer.
fn read(bytes: &[u8]) -> (Vec<String>, Vec<Record>) {
    let (mut interfaces, mut records) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let (kind, length) = (u32_at(bytes, at), u32_at(bytes, at + 4) as usize);
        assert_eq!(length % 4, 0);
        assert_eq!(u32_at(bytes, at + length - 4) as usize, length);
        let body = &bytes[at + 8..at + length - 4];
        match kind {
            0x0a0d0d0a => {
                assert_eq!(at, 0, "a second section");
                assert_eq!(body[..16], *b"\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff");
                assert!(options(&body[16..])[0].1.starts_with(b"bentpipe "));
            }
            1 => {
                assert_eq!((u16_at(body, 0), u32_at(body, 4)), (101, 80));
                let options = options(&body[8..]);
                assert_eq!(options[1], (9, &[9][..]), "nanoseconds");
                interfaces.push(String::from_utf8(options[0].1.to_vec()).unwrap());
            }
            6 => {
                let captured = u32_at(body, 12) as usize;
                let comment = options(&body[20 + captured.next_multiple_of(4)..]);
                records.push(Record {
                    interface: u32_at(body, 0),
                    time: u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8)),
                    original: u32_at(body, 16),
                    data: body[20..20 + captured].to_vec(),
                    comment: comment.first().map(|(_, text)| String::from_utf8(text.to_vec()).unwrap()),
                });
            }
            _ => panic!("block type {kind}"),
        }
        at += length;
    }
    (interfaces, records)
}

fn addresses(from: u8, to: u8) -> Addresses {
    let port = |host| if host == 1 { 40_000 } else { 20 };
    Addresses {
        source: Ipv4Addr::new(10, 0, 0, from),
        destination: Ipv4Addr::new(10, 0, 0, to),
        source_port: port(from),
        destination_port: port(to),
        ttl: 64,
        ident: 0,
    }
}

fn syn() -> Segment {
    let options =
        Options { mss: Some(1460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
    Segment { seq: Seq(999), flags: Flags::SYN, window: 65_535, options, ..Segment::default() }
}

fn data() -> Segment {
    Segment { seq: Seq(1000), ack: Seq(1), len: 1460, flags: Flags::ACK, window: 100, ..Segment::default() }
}

fn sack() -> Segment {
    let mut sack = SackBlocks::NONE;
    sack.push(SackBlock { start: Seq(2460), end: Seq(3920) });
    let timestamps = Some(Timestamps { value: 5, echo: 4 });
    let options = Options { sack, timestamps, ..Options::default() };
    Segment { seq: Seq(1), ack: Seq(1000), flags: Flags::ACK, window: 100, options, ..Segment::default() }
}

/// A lost and an arriving packet between two hosts.
fn sample() -> Memory {
    let memory = Memory::default();
    let mut capture = memory.capture();
    assert_eq!(capture.add_interface("server").unwrap(), 0);
    assert_eq!(capture.add_interface("erdnaher Käfer").unwrap(), 1);
    let (there, back) = (addresses(1, 2), addresses(2, 1));
    capture.record(0, 0, &there, &syn(), None).unwrap();
    capture.record(1, 250_000_001, &there, &syn(), None).unwrap();
    capture.record(0, 500_000_000, &there, &data(), Some("dropped by the queue of satellite")).unwrap();
    capture.record(1, 5_000_000_000_123, &back, &sack(), None).unwrap();
    capture.finish().unwrap();
    memory
}

#[test]
fn what_is_recorded_is_read_back() {
    let (interfaces, records) = sample().read();
    assert_eq!(interfaces, ["server", "erdnaher Käfer"]);
    let views: Vec<_> = records.iter().map(|r| (r.interface, r.time, r.original, r.data.len())).collect();
    assert_eq!(
        views,
        [
            (0, 0, 52, 52),
            (1, 250_000_001, 52, 52),
            (0, 500_000_000, 1500, 40),
            (1, 5_000_000_000_123, 64, 64)
        ]
    );
    let comments: Vec<_> = records.iter().map(|record| record.comment.as_deref()).collect();
    assert_eq!(comments, [None, None, Some("dropped by the queue of satellite"), None]);

    for (record, (addresses, segment)) in records.into_iter().zip([
        (addresses(1, 2), syn()),
        (addresses(1, 2), syn()),
        (addresses(1, 2), data()),
        (addresses(2, 1), sack()),
    ]) {
        let mut packet = record.data;
        packet.resize(record.original as usize, 0);
        let packet = wire::decode(&packet).unwrap();
        assert_eq!((packet.addresses, packet.segment), (addresses, segment));
    }
}

#[test]
fn an_output_without_room_ends_the_recording() {
    let memory = Memory { room: Some(100_000), ..Memory::default() };
    let mut capture = memory.capture();
    capture.add_interface("server").unwrap();
    for _ in 0..10_000 {
        capture.record(0, 0, &addresses(1, 2), &data(), None).unwrap();
    }
    assert_eq!(capture.ended(), Some(Ended::Disk));
    let (bytes, packets) = (capture.bytes(), capture.packets());
    capture.finish().unwrap();
    // Asked every 64 KiB: at 128 KiB, and with the packet that passes them.
    assert!((128 << 10..(128 << 10) + 100).contains(&bytes), "{bytes}");
    assert_eq!((memory.bytes.borrow().len() as u64, memory.read().1.len() as u64), (bytes, packets));
}

#[test]
fn a_refused_packet_leaves_the_file_whole() {
    let memory = Memory::default();
    let mut capture = memory.capture();
    capture.add_interface("server").unwrap();
    let ends = addresses(1, 2);
    let long = "x".repeat(65_536);
    let error = capture.record(1, 0, &ends, &syn(), None).unwrap_err();
    assert_eq!(error.to_string(), "no interface 1 in a capture of 1");
    let huge = Segment { len: 70_000, ..data() };
    assert_eq!(capture.record(0, 0, &ends, &huge, None).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    let error = capture.record(0, 0, &ends, &syn(), Some(&long)).unwrap_err();
    assert_eq!(error.to_string(), "a text of 65536 bytes, but a capture takes 65535 bytes");
    assert!(capture.add_interface(&long).is_err());
    assert_eq!(capture.add_interface("client").unwrap(), 1);
    capture.record(1, u64::MAX, &ends, &syn(), Some(&long[1..])).unwrap();
    capture.finish().unwrap();
    let (interfaces, records) = memory.read();
    assert_eq!(interfaces, ["server", "client"]);
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].interface, records[0].time), (1, u64::MAX));
}

#[test]
fn a_packet_from_a_wire_is_recorded_by_its_own_headers() {
    let addresses = Addresses {
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
        source_port: 49_152,
        destination_port: 5001,
        ttl: 64,
        ident: 7,
    };
    let segment = Segment { len: 5, flags: Flags::ACK | Flags::PSH, ..Segment::default() };
    let mut packet = Vec::new();
    wire::encode(&segment, &addresses, Payload::Bytes(b"hello"), &mut packet).unwrap();

    let memory = Memory::default();
    let mut capture = memory.capture();
    capture.add_interface("host").unwrap();
    capture.record_packet(0, 9, &packet).unwrap();
    packet[44] ^= 1;
    assert_eq!(capture.record_packet(0, 9, &packet).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    capture.finish().unwrap();

    let (_, records) = memory.read();
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].time, records[0].original), (9, 45));
    assert_eq!(records[0].data, packet[..40]);
}
