//! What the kernel says of its TCP in one namespace.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek};

use crate::SocketInfo;

/// Counters of TCP by their names of nstat, such as `TcpRetransSegs`; those at zero are left out.
pub(crate) type Counters = BTreeMap<String, u64>;

/// What TCP_INFO said before the socket was closed, and what its namespace counted.
pub(crate) type Testimony = (SocketInfo, Counters);

/// The tables of /proc/net of the namespace in which they were opened, wherever the thread has moved since.
#[derive(Debug)]
pub(crate) struct Tables {
    sockets: File,
    counters: [File; 2],
}

impl Tables {
    /// Opens those of this thread's namespace.
    pub(crate) fn open() -> io::Result<Tables> {
        let file = |name: &str| File::open(format!("/proc/thread-self/net/{name}"));
        Ok(Tables { sockets: file("tcp")?, counters: [file("snmp")?, file("netstat")?] })
    }

    /// Reads the counters.
    pub(crate) fn counters(&mut self) -> io::Result<Counters> {
        let mut counters = Counters::new();
        for file in &mut self.counters {
            read_counters(&from_the_start(file)?, &mut counters);
        }
        Ok(counters)
    }

    /// Whether every connection is over: closed, or waiting for old segments to die out.
    pub(crate) fn is_quiet(&mut self) -> io::Result<bool> {
        Ok(all_over(&from_the_start(&mut self.sockets)?))
    }
}

fn from_the_start(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Two lines a group: names, and values, after the group's name and a colon.
fn read_counters(text: &str, counters: &mut Counters) {
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

/// States as in include/net/tcp_states.h.
const TIME_WAIT: &str = "06";
const LISTEN: &str = "0A";

fn all_over(text: &str) -> bool {
    let states = text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3));
    states.into_iter().all(|state| state == TIME_WAIT || state == LISTEN)
}

/// The congestion controls that the running kernel has loaded.
pub(crate) fn controls() -> io::Result<Vec<String>> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
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
        let mut counters = Counters::new();
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
