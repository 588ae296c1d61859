//! Scripts of packetdrill's language, played against an endpoint in virtual time: those in `scripts`, and with `SUITE=FOLDER` others.

mod asserts;
mod host;
mod packet;
mod play;
mod script;
mod settings;
mod transfers;

use std::path::{Path, PathBuf};

use play::{End, Strictness, play};

/// Every script below a folder, in the order of their names.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "pkt") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).expect("a script")).into_owned()
}

#[test]
fn every_script_of_ours_is_played_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packetdrill/scripts");
    let mut wrong = Vec::new();
    let all = scripts(&folder);
    assert!(all.len() > 20, "{} scripts", all.len());
    for path in all {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        match play(&read(&path), Strictness { windows_and_push: true }) {
            Ok(0) => wrong.push(format!("{name}: nothing is checked")),
            Ok(_) => {}
            Err(end) => wrong.push(format!("{name}: {end:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_script_that_expects_another_packet_is_not_played() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packetdrill/scripts");
    let mut tried = 0;
    for path in scripts(&folder) {
        let text = read(&path);
        for (at, _) in text.match_indices(" > ") {
            // Another flag, another length.
            let (before, line) = text.split_at(at);
            let (line, after) = line.split_once('\n').expect("a line");
            for (from, to) in [(" > ", " > U"), ("(", "(1")] {
                if from == " > " && line.contains('[') {
                    continue;
                }
                let changed = format!("{before}{}\n{after}", line.replacen(from, to, 1));
                let played = play(&changed, Strictness { windows_and_push: true });
                assert!(matches!(played, Err(End::Differs(_))), "{}: {played:?}\n{changed}", path.display());
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn what_has_no_meaning_here_is_skipped_and_a_text_without_end_is_an_error() {
    let skipped = |text: &str| match play(text, Strictness::default()) {
        Err(End::Skipped(why)) => why,
        other => panic!("{text}: {other:?}"),
    };
    let open = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1\n";
    for (line, why) in [
        ("+0 > S 0:0(0) <FO 1234>", "TCP Fast Open"),
        ("+0 < SEWA 0:0(0)", "AccECN"),
        ("+0 < icmp unreachable [0:0(0)]", "a packet of this form"),
        ("+0 setsockopt(3, SOL_TCP, TCP_MD5SIG, ...) = 0", "TCP_MD5SIG"),
        ("+0 write(3, ..., 10) = 10 /* ", "is missing"),
        ("+0 `sleep 1", "is missing"),
    ] {
        let said = skipped(&format!("{open}{line}"));
        assert!(said.contains(why), "{line}: {said}");
    }
    assert!(skipped(&format!("--ip_version=ipv6\n{open}")).contains("IPv6"));
    assert!(skipped(&format!("`sysctl -q net.ipv4.tcp_recovery=0`\n{open}")).contains("recovery = 0"));
}

#[test]
fn asserts_are_counted_and_read_as_python_reads_them() {
    let names = |name: &str| (name == "six").then_some(6);
    for (code, holds) in [
        ("assert six == 6, six", true),
        ("assert 5 <= six <= 6 and six != 7", true),
        ("assert (six & 2) != 0 or six == 0", true),
        ("assert six + 2 * 3 - 1 == 0xb\nassert six > 6", false),
        ("assert 1 < six < 6", false),
    ] {
        let (wrong, unknown, checked) = asserts::check(code, &names);
        assert_eq!((wrong.is_none(), unknown.len()), (holds, 0), "{code}");
        assert!(checked > 0);
    }
    assert_eq!(asserts::check("assert seven == 7", &names).1, ["seven"]);
}

/// Writes random transfers as scripts, for `tests/witness/drill.py`: `SEEDS` of them from 0 into the folder `INTO`.
#[test]
#[ignore = "writes files: tests/witness/drill.py asks for them"]
fn transfers_of_ours_are_written_as_scripts() {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let seeds: u64 = variable("SEEDS").parse().expect("a number");
    for seed in 0..seeds {
        let file = Path::new(&variable("INTO")).join(format!("{seed}.pkt"));
        std::fs::write(file, transfers::script(seed, variable("LATE_ROUNDS") == "1")).expect("a folder");
    }
}

#[test]
fn a_transfer_that_was_written_as_a_script_is_played_as_written() {
    for seed in 0..20 {
        let text = transfers::script(seed, false);
        assert!(play(&text, Strictness::default()).is_ok_and(|checked| checked > 8), "{text}");
    }
}

/// Plays a suite of somebody else's: `make packetdrill SUITE=FOLDER`. `expected.txt` names those that fail, each with its reason; one that
/// fails and is not listed is an error, and so is one that is listed and passes.
#[test]
#[ignore = "asks for a folder: make packetdrill SUITE=FOLDER"]
fn a_suite_is_played_but_for_what_is_expected_to_fail() {
    let folder = PathBuf::from(std::env::var_os("SUITE").expect("SUITE names a folder"));
    let expected: Vec<(&str, &str)> =
        include_str!("expected.txt").lines().filter_map(|line| line.split_once('\t')).collect();
    let (mut passed, mut failed, mut skipped, mut wrong) = (0, 0, 0, Vec::new());
    for path in scripts(&folder) {
        let name = path.strip_prefix(&folder).expect("below the folder").display().to_string();
        let listed = expected.iter().find(|(known, _)| path.ends_with(known));
        match (play(&read(&path), Strictness::default()), listed) {
            (Err(End::Skipped(why)), _) => {
                skipped += 1;
                println!("skipped  {name}: {why}");
            }
            (Ok(_), None) => passed += 1,
            (Ok(_), Some(_)) => {
                passed += 1;
                wrong.push(format!("{name} passes: its line in expected.txt goes"));
            }
            (Err(End::Differs(what)), Some((_, reason))) => {
                failed += 1;
                println!("expected {name}: {reason} ({what})");
            }
            (Err(End::Differs(what)), None) => {
                failed += 1;
                wrong.push(format!("{name}: {what}"));
            }
        }
    }
    println!("{passed} of {} pass, {failed} fail; {skipped} skipped", passed + failed);
    assert!(passed + failed > 0, "no script below {} can be played", folder.display());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
