//! What the kernel says of its TCP in this thread's namespace.

use std::collections::BTreeMap;
use std::fs;
use std::io;

/// Counters of TCP and IP by their names of nstat, such as `TcpRetransSegs`; those at zero are left out.
pub(crate) fn counters() -> io::Result<BTreeMap<String, u64>> {
    let mut counters = BTreeMap::new();
    for file in ["snmp", "netstat"] {
        read_counters(&fs::read_to_string(format!("/proc/thread-self/net/{file}"))?, &mut counters);
    }
    Ok(counters)
}

/// Two lines a group: names, and values, after the group's name and a colon.
fn read_counters(text: &str, counters: &mut BTreeMap<String, u64>) {
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let Some((group, names)) = names.split_once(':') else { continue };
        let Some((_, values)) = values.split_once(':') else { continue };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse::<u64>()
                && value > 0
                && group.starts_with("Tcp")
            {
                counters.insert(format!("{group}{name}"), value);
            }
        }
    }
}

/// Whether every connection is over: closed, or waiting for old segments to die out.
pub(crate) fn is_quiet() -> io::Result<bool> {
    Ok(all_over(&fs::read_to_string("/proc/thread-self/net/tcp")?))
}

/// States as in include/net/tcp_states.h.
const TIME_WAIT: &str = "06";
const LISTEN: &str = "0A";

fn all_over(text: &str) -> bool {
    let states = text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3));
    states.into_iter().all(|state| state == TIME_WAIT || state == LISTEN)
}

/// The release of the running kernel, as `uname -r` gives it.
pub(crate) fn release() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_named_as_nstat_names_them() {
        let text = "Ip: Forwarding InReceives\nIp: 2 99\nTcp: MaxConn RetransSegs InCsumErrors\nTcp: -1 7 0\n\
                    TcpExt: TCPTimeouts\nTcpExt: 3\n";
        let mut counters = BTreeMap::new();
        read_counters(text, &mut counters);
        let expected = [("TcpRetransSegs".to_owned(), 7), ("TcpExtTCPTimeouts".to_owned(), 3)];
        assert_eq!(counters, BTreeMap::from(expected));
    }

    #[test]
    fn a_connection_that_waits_for_an_ack_is_not_over() {
        let line = |state: &str| format!("   0: 0100000A:1389 0200000A:C000 {state} 00000000:00000000\n");
        assert!(all_over(&format!("  sl  local_address rem_address   st\n{}{}", line("06"), line("0A"))));
        assert!(!all_over(&format!("  sl  local_address rem_address   st\n{}", line("09"))));
    }
}
