use std::net::Ipv4Addr;
use std::process::Command;

use bentpipe_drive::pcap::Capture;
use bentpipe_tcp::wire::Addresses;
use bentpipe_tcp::{Flags, Options, SackBlock, SackBlocks, Segment, Seq};

use super::*;

/// A folder of the test's own, removed with its content.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("bentpipe-files-{}-{number}", std::process::id()));
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

fn start(path: &Path) -> Capture {
    Capture::start(Box::new(CaptureFile::create(path).unwrap())).unwrap()
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

fn data() -> Segment {
    Segment { seq: Seq(1000), ack: Seq(1), len: 1460, flags: Flags::ACK, window: 100, ..Segment::default() }
}

#[test]
fn the_name_is_given_at_the_end_and_an_older_file_stays_until_then() {
    let folder = Folder::new();
    let path = folder.0.join("run.pcapng");
    fs::write(&path, "older").unwrap();
    let capture = start(&path);
    let other = start(&path);
    assert_eq!(fs::read(&path).unwrap(), b"older");
    assert_eq!(folder.names().len(), 3);
    drop(other);
    assert_eq!(folder.names().len(), 2);
    let bytes = capture.bytes();
    capture.finish().unwrap();
    assert_eq!(folder.names(), ["run.pcapng"]);
    assert_eq!(fs::metadata(&path).unwrap().len(), bytes);
}

#[test]
fn a_dropped_capture_leaves_nothing() {
    let folder = Folder::new();
    let mut capture = start(&folder.0.join("run.pcapng"));
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
    let error = CaptureFile::create(&missing).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().starts_with(&format!("{}: ", missing.display())), "{error}");
    let error = CaptureFile::create(&folder.0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    assert_eq!(CaptureFile::create("..").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    assert_eq!(CaptureFile::create("").unwrap_err().kind(), io::ErrorKind::InvalidInput);

    let path = folder.0.join("run.pcapng");
    let capture = start(&path);
    fs::create_dir(&path).unwrap();
    assert!(capture.finish().is_err());
    assert_eq!(folder.names(), ["run.pcapng"]);
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
    let mut capture = start(&path);
    capture.add_interface("server").unwrap();
    capture.add_interface("erdnaher Käfer").unwrap();
    let options =
        Options { mss: Some(1460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
    let syn = Segment { seq: Seq(999), flags: Flags::SYN, window: 65_535, options, ..Segment::default() };
    let mut blocks = SackBlocks::NONE;
    blocks.push(SackBlock { start: Seq(2460), end: Seq(3920) });
    let options = Options { sack: blocks, ..Options::default() };
    let sack = Segment { len: 0, options, ..data() };
    let (there, back) = (addresses(1, 2), addresses(2, 1));
    capture.record(0, 0, &there, &syn, None).unwrap();
    capture.record(0, 500_000_000, &there, &data(), Some("dropped by the queue of satellite")).unwrap();
    capture.record(1, 5_000_000_000_123, &back, &sack, None).unwrap();
    capture.finish().unwrap();
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
