use std::net::Ipv4Addr;
use std::process::Command;

use bentpipe_tcp::{Flags, Options, SackBlock, SackBlocks, Seq, Timestamps};

use super::*;

/// A folder of the test's own, removed with its content.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("bentpipe-pcap-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
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
fn sample(path: &Path) {
    let mut capture = Capture::create(path).unwrap();
    assert_eq!(capture.add_interface("server").unwrap(), 0);
    assert_eq!(capture.add_interface("erdnaher Käfer").unwrap(), 1);
    let (there, back) = (addresses(1, 2), addresses(2, 1));
    capture.record(0, 0, &there, &syn(), None).unwrap();
    capture.record(1, 250_000_001, &there, &syn(), None).unwrap();
    capture.record(0, 500_000_000, &there, &data(), Some("dropped by the queue of satellite")).unwrap();
    capture.record(1, 5_000_000_000_123, &back, &sack(), None).unwrap();
    capture.finish().unwrap();
}

#[test]
fn what_is_recorded_is_read_back() {
    let folder = Folder::new();
    let path = folder.0.join("run.pcapng");
    sample(&path);
    let (interfaces, records) = read(&fs::read(&path).unwrap());
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
fn the_name_is_given_at_the_end_and_an_older_file_stays_until_then() {
    let folder = Folder::new();
    let path = folder.0.join("run.pcapng");
    fs::write(&path, "older").unwrap();
    let capture = Capture::create(&path).unwrap();
    let other = Capture::create(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"older");
    assert_eq!(folder.names().len(), 3);
    drop(other);
    assert_eq!(folder.names().len(), 2);
    capture.finish().unwrap();
    assert_eq!(folder.names(), ["run.pcapng"]);
    assert_eq!(read(&fs::read(&path).unwrap()).0.len(), 0);
}

#[test]
fn a_dropped_capture_leaves_nothing() {
    let folder = Folder::new();
    let mut capture = Capture::create(folder.0.join("run.pcapng")).unwrap();
    capture.add_interface("server").unwrap();
    for _ in 0..1000 {
        capture.record(0, 0, &addresses(1, 2), &data(), None).unwrap();
    }
    assert_eq!(folder.names().len(), 1);
    drop(capture);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn errors_name_the_file_and_leave_nothing() {
    let folder = Folder::new();
    let missing = folder.0.join("missing").join("run.pcapng");
    let error = Capture::create(&missing).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().starts_with(&format!("{}: ", missing.display())), "{error}");
    let error = Capture::create(&folder.0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    assert_eq!(Capture::create("..").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    assert_eq!(Capture::create("").unwrap_err().kind(), io::ErrorKind::InvalidInput);

    let path = folder.0.join("run.pcapng");
    let capture = Capture::create(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(capture.finish().is_err());
    assert_eq!(folder.names(), ["run.pcapng"]);
}

#[test]
fn a_refused_packet_leaves_the_file_whole() {
    let folder = Folder::new();
    let path = folder.0.join("run.pcapng");
    let mut capture = Capture::create(&path).unwrap();
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
    let (interfaces, records) = read(&fs::read(&path).unwrap());
    assert_eq!(interfaces, ["server", "client"]);
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].interface, records[0].time), (1, u64::MAX));
}

/// The fields that tshark sees, a line for each packet that `filter` lets through; `None` without tshark.
fn tshark(path: &Path, filter: &str, fields: &[&str]) -> Option<String> {
    let mut command = Command::new("tshark");
    command.args(["-o", "ip.check_checksum:TRUE", "-Y", filter, "-T", "fields"]).arg("-r").arg(path);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn wireshark_reads_it() {
    let folder = Folder::new();
    let path = folder.0.join("run.pcapng");
    sample(&path);
    let Some(bad) = tshark(&path, "_ws.malformed || ip.checksum.status == 0", &["frame.number"]) else {
        println!("skipped: tshark is not installed");
        return;
    };
    assert_eq!(bad, "");
    let fields = ["frame.time_epoch", "frame.len", "tcp.len", "tcp.options.mss_val", "frame.comment"];
    let sender = tshark(&path, "frame.interface_id == 0", &fields).unwrap();
    let expected = "0.000000000\t52\t0\t1460\t\n\
                    0.500000000\t1500\t1460\t\tdropped by the queue of satellite\n";
    assert_eq!(sender, expected);
    let fields = ["frame.time_epoch", "frame.interface_name", "tcp.options.sack_le"];
    let receiver = tshark(&path, "frame.interface_id == 1 && tcp.options.sack", &fields).unwrap();
    assert!(receiver.starts_with("5000.000000123\terdnaher Käfer\t"), "{receiver}");
}

#[test]
fn a_packet_from_a_wire_is_recorded_by_its_own_headers() {
    let folder = Folder::new();
    let path = folder.0.join("wire.pcapng");
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

    let mut capture = Capture::create(&path).unwrap();
    capture.add_interface("host").unwrap();
    capture.record_packet(0, 9, &packet).unwrap();
    packet[44] ^= 1;
    assert_eq!(capture.record_packet(0, 9, &packet).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    capture.finish().unwrap();

    let (_, records) = read(&fs::read(&path).unwrap());
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].time, records[0].original), (9, 45));
    assert_eq!(records[0].data, packet[..40]);
}
