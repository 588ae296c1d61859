//! Plays a script: an endpoint is given its incoming packets, and must send its expected ones.

use std::collections::BTreeMap;

use bentpipe_tcp::{Flags, Profile, Segment, Seq, State};

use crate::asserts;
use crate::host::Host;
use crate::packet::Packet;
use crate::script::{self, Call, Script, What, When};
use crate::settings::Settings;

/// How a script ends early.
#[derive(Debug)]
pub(crate) enum End {
    /// The endpoint does something else.
    Differs(String),
    /// The script asks for what has no meaning here.
    Skipped(String),
}

/// What is held against a script beside the numbers of its packets.
#[derive(Clone, Copy, Default)]
pub(crate) struct Strictness {
    /// The window field, and PSH.
    pub(crate) windows_and_push: bool,
}

type Played<T> = Result<T, End>;

fn skip<T>(why: impl Into<String>) -> Played<T> {
    Err(End::Skipped(why.into()))
}

/// Plays a script; returns how many packets and asserts held.
pub(crate) fn play(text: &str, strictness: Strictness) -> Played<usize> {
    let profile = match text.lines().find_map(|line| line.strip_prefix("// profile ")) {
        Some(name) => Profile::ALL.into_iter().find(|profile| profile.name() == name.trim()),
        // What sets FreeBSD's sysctls is of a host that keeps to the RFCs.
        None if text.contains("net.inet.tcp.") => Some(Profile::Rfc),
        None => Some(Profile::Linux),
    };
    let profile = profile.ok_or_else(|| End::Skipped("a profile that there is not".to_owned()))?;
    let script = script::parse(text, &["STANDARD", "LINUX"]).map_err(End::Skipped)?;
    Player::new(&script, profile, strictness).play()
}

struct Player<'a> {
    script: &'a Script,
    settings: Settings,
    strictness: Strictness,
    /// None before the connection opens.
    host: Option<Host>,
    now: i64,
    /// What times count from.
    base: i64,
    tolerance: i64,
    percent: f64,
    /// Ours by the timestamp that the script has for it.
    stamps: BTreeMap<u32, u32>,
    listener: String,
    accepted: bool,
    linger: bool,
    /// A read that waits for so many bytes.
    waiting: u32,
    timeouts: u64,
    checked: usize,
}

impl<'a> Player<'a> {
    fn new(script: &'a Script, profile: Profile, strictness: Strictness) -> Player<'a> {
        let option =
            |name: &str| script.options.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        Player {
            script,
            settings: Settings::new(profile),
            strictness,
            host: None,
            now: 0,
            base: 0,
            tolerance: option("tolerance_usecs").and_then(|value| value.parse().ok()).unwrap_or(4000),
            percent: option("tolerance_percent").and_then(|value| value.parse().ok()).unwrap_or(12.5),
            stamps: BTreeMap::new(),
            listener: String::new(),
            accepted: false,
            linger: false,
            waiting: 0,
            timeouts: 0,
            checked: 0,
        }
    }

    fn play(mut self) -> Played<usize> {
        if self.script.options.iter().any(|(name, value)| name == "ip_version" && value != "ipv4") {
            return skip("IPv6");
        }
        let mut before = 0;
        for event in &self.script.events {
            let When { relative, from, to, any, .. } = event.when;
            let base = if relative { self.base } else { 0 };
            let (from, to) = (base + from, if any { base + 60_000_000 } else { base + to });
            let tolerance = self.tolerance.max((self.percent / 100.0 * (from - before).max(0) as f64) as i64);
            let mut actual = from;
            let done = match &event.what {
                What::Out(packet) => {
                    let packet = packet.as_ref().map_err(|why| End::Skipped(why.clone()));
                    packet.and_then(|packet| {
                        actual = self.expect(packet, from, to, if any { i64::MAX / 4 } else { tolerance })?;
                        Ok(())
                    })
                }
                what => {
                    // What runs out at this moment does so after what happens. A kernel gets a packet later than its time, if by
                    // little: what was sent a millisecond before was sent more than a millisecond ago.
                    self.pass(from - 1);
                    self.now = self.now.max(from + i64::from(matches!(what, What::In(_))));
                    if let Some(host) = &mut self.host {
                        host.now = self.now;
                    }
                    self.happen(what, event.when.waits)
                }
            };
            if let Err(end) = done {
                return Err(match end {
                    End::Differs(what) => End::Differs(format!("line {}: {what}", event.line)),
                    skipped => skipped,
                });
            }
            let loose = any || to != from;
            before = if loose { actual } else { from };
            self.base = if loose { actual.max(self.now) } else { from };
        }
        Ok(self.checked)
    }

    fn pass(&mut self, until: i64) {
        if let Some(host) = &mut self.host {
            host.run(until);
        }
        self.now = self.now.max(until);
    }

    fn open(&mut self, connects: bool) -> Played<()> {
        let config = self.settings.config(self.script, connects).map_err(End::Skipped)?;
        let mut host = Host::new(config, self.now);
        match connects {
            true => host.tcp.connect(),
            false => host.tcp.listen(),
        }
        host.poll();
        self.host = Some(host);
        Ok(())
    }

    fn happen(&mut self, what: &What, waits: bool) -> Played<()> {
        match what {
            What::Shell(command) => self.settings.command(command, self.host.is_some()).map_err(End::Skipped),
            What::Code(code) => self.assert(code),
            What::In(packet) => match packet {
                Ok(packet) => self.arrive(packet, self.edge(packet.segment.seq)),
                Err(why) => skip(why.clone()),
            },
            What::Call(call) => self.call(call, waits),
            What::Unknown(text) if text.starts_with("sleep") => Ok(()),
            What::Unknown(text) => skip(format!("the event {}", text.chars().take(60).collect::<String>())),
            What::Out(_) => Ok(()),
        }
    }

    fn assert(&mut self, code: &str) -> Played<()> {
        let Some(host) = &mut self.host else { return Ok(()) };
        host.poll();
        if !host.tcp.sender().in_recovery() {
            self.timeouts = host.tcp.sender().stats().timeouts;
        }
        let (host, timeouts) = (&*host, self.timeouts);
        let (wrong, _, checked) = asserts::check(code, &|name| host.info(name, timeouts));
        self.checked += checked;
        // A reduction by marks has no name here.
        match wrong.filter(|claim| !claim.contains("TCP_CA_CWR")) {
            None => Ok(()),
            Some(claim) => {
                let words = claim.split(|c: char| !c.is_alphanumeric() && c != '_');
                let told: Vec<String> = words
                    .filter(|word| word.starts_with("tcpi_"))
                    .filter_map(|name| Some(format!("{name} is {}", host.info(name, timeouts)?)))
                    .collect();
                Err(End::Differs(format!("assert {claim}: {}", told.join(", "))))
            }
        }
    }

    /// FreeBSD takes up to 45 segments of 1460 bytes, where 16 bits of window end at 65,535: its scripts go by its edge.
    fn edge(&self, seq: Seq) -> Seq {
        let beyond = self.settings.bsd && (65_700..65_710).contains(&seq.0);
        if beyond { seq - 165 } else { seq }
    }

    fn arrive(&mut self, packet: &Packet, seq: Seq) -> Played<()> {
        if self.host.is_none() {
            let config = self.settings.config(self.script, false).map_err(End::Skipped)?;
            self.host = Some(Host::new(config, self.now));
        }
        let Some(host) = &mut self.host else { return Ok(()) };
        let mut segment = Segment { seq, ..packet.segment };
        if let Some(stamps) = &mut segment.options.timestamps {
            stamps.echo = self.stamps.get(&stamps.echo).copied().unwrap_or(stamps.echo);
        }
        host.arrive(&segment);
        if self.waiting > 0 {
            self.waiting -= host.tcp.read(self.waiting);
            host.poll();
        }
        Ok(())
    }

    fn expect(&mut self, packet: &Packet, from: i64, to: i64, tolerance: i64) -> Played<i64> {
        let want = &packet.segment;
        if want.flags.has(Flags::SYN) && want.seq.0 != 0 {
            return skip("a first sequence number other than 0");
        }
        self.pass(from);
        let Some(host) = &mut self.host else { return skip("a packet of a closed port") };
        host.poll();
        let limit = to.saturating_add(tolerance);
        host.wait(limit);
        let Some((at, got)) = host.sent.pop_front() else {
            host.wait(self.now + 300_000_000);
            let then = host.sent.front().map(|(at, late)| format!("; at {} {}", seconds(*at), show(late)));
            let then = then.unwrap_or_default();
            return Err(End::Differs(format!("{} at {}: nothing goes{then}", packet.text, seconds(from))));
        };
        let differs = |what: String| {
            Err(End::Differs(format!("{}: {} {}: {what}", packet.text, seconds(at), show(&got))))
        };
        // What goes at once counts as one, as behind segmentation offload.
        let (mut len, mut flags) = (got.len, got.flags);
        while len < want.len && !flags.has(Flags::FIN) {
            host.wait(limit);
            let Some((_, more)) = host.sent.front() else { break };
            if more.seq != got.seq + len || more.ack != got.ack || more.len == 0 {
                break;
            }
            (len, flags) = (len + more.len, flags | more.flags);
            host.sent.pop_front();
        }
        self.now = self.now.max(host.now);
        self.checked += 1;
        let push = if self.strictness.windows_and_push { 0 } else { Flags::PSH.0 };
        if flags.0 & !push != want.flags.0 & !push {
            return differs(format!("other flags, {}", letters(flags)));
        }
        if got.seq != want.seq || len != want.len {
            return differs(format!("{} bytes from {}", len, got.seq.0));
        }
        if want.flags.has(Flags::ACK) && got.ack != want.ack {
            return differs("another acknowledgment".to_owned());
        }
        if packet.ecn.is_some_and(|ecn| ecn != got.ecn) {
            return differs(format!("marked {:?}", got.ecn));
        }
        if !packet.any_options
            && let Err(what) = self.compare_options(&got, want)
        {
            return differs(what);
        }
        if self.strictness.windows_and_push && packet.window.is_some_and(|window| window != got.window) {
            return differs("another window".to_owned());
        }
        if tolerance < i64::MAX / 4 && !(from - tolerance..=limit).contains(&at) {
            return differs(format!("not at {}, within {} ms", seconds(from), tolerance as f64 / 1e3));
        }
        Ok(at)
    }

    fn compare_options(&mut self, got: &Segment, want: &Segment) -> Result<(), String> {
        let (ours, theirs) = (&got.options, &want.options);
        if ours.sack != theirs.sack {
            return Err("another SACK option".to_owned());
        }
        let scale = match self.settings.bsd {
            // Its scale is of its largest buffer.
            true => ours.window_scale.is_some() == theirs.window_scale.is_some(),
            false => ours.window_scale == theirs.window_scale,
        };
        if ours.mss != theirs.mss || !scale || ours.sack_permitted != theirs.sack_permitted {
            return Err(format!("other options, {ours:?}"));
        }
        match (ours.timestamps, theirs.timestamps) {
            (None, None) => Ok(()),
            (Some(ours), Some(theirs)) if ours.echo == theirs.echo => {
                self.stamps.insert(theirs.value, ours.value);
                Ok(())
            }
            (ours, _) => Err(format!("other timestamps, {ours:?}")),
        }
    }

    fn call(&mut self, call: &Call, waits: bool) -> Played<()> {
        let number = u32::try_from(call.result).unwrap_or(0);
        if call.mentions("FASTOPEN") {
            return skip("TCP Fast Open");
        }
        match call.name.as_str() {
            "connect" => return self.open(true),
            "listen" => {
                self.listener.clone_from(&call.args[0]);
                return self.open(false);
            }
            "accept" => self.accepted = true,
            "setsockopt" => return self.set_option(call),
            _ => {}
        }
        let Some(host) = &mut self.host else { return Ok(()) };
        match call.name.as_str() {
            "write" | "send" | "sendto" | "writev" | "sendmsg" | "sendfile" | "splice" | "vmsplice"
            | "sendmmsg" => {
                if call.mentions("MSG_MORE") || call.mentions("MSG_EOR") {
                    return skip("MSG_MORE or MSG_EOR");
                }
                if !(call.name == "splice" && call.mentions("pipe")) {
                    host.tcp.write(number.into());
                }
            }
            "read" | "recv" | "recvfrom" | "recvmsg" | "readv"
                if number > 0 && !call.mentions("MSG_ERRQUEUE") && !call.mentions("MSG_PEEK") =>
            {
                let got = host.tcp.read(number);
                if got < number && !waits {
                    return Err(End::Differs(format!("{} bytes are read: {got}", number)));
                }
                self.waiting = number - got;
            }
            "close" if call.args[0] != self.listener || !self.accepted => {
                let breaks = self.linger || host.tcp.receiver().unread() > 0;
                self.finish(breaks);
            }
            "shutdown" if call.result == 0 && !call.mentions("SHUT_RD") || call.mentions("SHUT_RDWR") => {
                self.finish(false);
            }
            _ => {}
        }
        if let Some(host) = &mut self.host {
            host.poll();
        }
        Ok(())
    }

    /// The application closes; or `breaks` the connection off.
    fn finish(&mut self, breaks: bool) {
        let Some(host) = &mut self.host else { return };
        // close() in SYN-SENT deletes the connection (RFC 9293 section 3.10.4).
        match breaks || host.tcp.state() == State::SynSent {
            true => host.tcp.abort(),
            false => host.tcp.close(false),
        }
    }

    fn set_option(&mut self, call: &Call) -> Played<()> {
        let unknown = [
            "TCP_CORK",
            "TCP_USER_TIMEOUT",
            "TCP_KEEPIDLE",
            "TCP_KEEPINTVL",
            "TCP_NOTSENT_LOWAT",
            "TCP_REPAIR",
            "TCP_MD5SIG",
            "SO_KEEPALIVE",
            "TCP_DEFER_ACCEPT",
            "TCP_ULP",
            "TCP_WINDOW_CLAMP",
            "TCP_RTO_MAX_MS",
            "SO_MAX_PACING_RATE",
        ];
        let name = call.args.get(2).map_or("", String::as_str);
        if unknown.contains(&name) {
            return skip(name);
        }
        self.linger |= name == "SO_LINGER" && call.mentions("onoff=1") && call.mentions("linger=0");
        Ok(())
    }
}

fn seconds(micros: i64) -> String {
    format!("{:.6}", micros as f64 / 1e6)
}

fn letters(flags: Flags) -> String {
    let all = [
        (Flags::FIN, 'F'),
        (Flags::SYN, 'S'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ACK, '.'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
    ];
    all.into_iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| letter).collect()
}

/// A segment as a script would write it.
fn show(segment: &Segment) -> String {
    let Segment { seq, ack, len, window, flags, options, .. } = segment;
    let mut text =
        format!("{} {}:{}({len}) ack {} win {window}", letters(*flags), seq.0, (*seq + *len).0, ack.0);
    for block in options.sack.as_slice() {
        text += &format!(" sack {}:{}", block.start.0, block.end.0);
    }
    if let Some(stamps) = options.timestamps {
        text += &format!(" TS val {} ecr {}", stamps.value, stamps.echo);
    }
    text
}
