//! A packet as a script writes it: `[ect0] P. 1:1001(1000) ack 1 win 257 <sack 2001:3001,nop,nop>`.

use bentpipe_tcp::{Ecn, Flags, SackBlock, Segment, Seq, Timestamps};

/// A packet, and what is said of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packet {
    pub(crate) text: String,
    pub(crate) segment: Segment,
    pub(crate) window: Option<u16>,
    pub(crate) ecn: Option<Ecn>,
    /// `<...>`: whatever options.
    pub(crate) any_options: bool,
}

/// Reads a packet, or says what in it has no meaning here.
pub(crate) fn parse(text: &str) -> Result<Packet, String> {
    let mut packet =
        Packet { text: text.split_whitespace().collect::<Vec<_>>().join(" "), ..Packet::default() };
    let form = || format!("a packet of this form: {}", text.chars().take(60).collect::<String>());
    let mut rest = text;
    if let Some(inner) = rest.strip_prefix('[') {
        let (header, after) = inner.split_once(']').ok_or_else(form)?;
        packet.ecn = ecn(header)?;
        rest = after.trim_start();
    }
    let (flags, after) = rest.split_once(char::is_whitespace).ok_or_else(form)?;
    packet.segment.flags = read_flags(flags).ok_or_else(form)??;
    rest = after.trim_start();
    let (numbers, after) = rest.split_once('(').ok_or_else(form)?;
    let seq = numbers.trim().split(':').next().and_then(sequence).ok_or_else(form)?;
    let (len, after) = after.split_once(')').ok_or_else(form)?;
    packet.segment.seq = seq;
    packet.segment.len = len.trim().parse().ok().filter(|len| *len <= 1 << 30).ok_or_else(form)?;
    let (header, options) = after.split_once('<').unwrap_or((after, ""));
    let mut words = header.split_whitespace();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(form)?;
        match word {
            "ack" => packet.segment.ack = sequence(value).ok_or_else(form)?,
            "win" => packet.window = Some(value.parse::<u32>().map_err(|_| form())?.min(65_535) as u16),
            "urg" => return Err("urgent data".to_owned()),
            _ => return Err(form()),
        }
    }
    packet.segment.window = packet.window.unwrap_or(0);
    packet.segment.ecn = packet.ecn.unwrap_or_default();
    let (options, beyond) = options.split_once('>').unwrap_or((options, ""));
    if !beyond.trim().is_empty() {
        return Err(form());
    }
    match options.trim() {
        "..." => packet.any_options = true,
        options => {
            for option in options.split(',') {
                read_option(option.trim(), &mut packet.segment)?;
            }
        }
    }
    Ok(packet)
}

/// A sequence number, relative to the first.
fn sequence(text: &str) -> Option<Seq> {
    text.trim().parse::<i64>().ok().map(|number| Seq(number as u32))
}

fn ecn(header: &str) -> Result<Option<Ecn>, String> {
    let mut ecn = None;
    for word in header.split([',', ' ', '\t']).map(str::to_lowercase) {
        match word.as_str() {
            "noecn" | "nonect" => ecn = Some(Ecn::NotEct),
            "ect0" => ecn = Some(Ecn::Ect0),
            "ect1" => ecn = Some(Ecn::Ect1),
            "ce" => ecn = Some(Ecn::Ce),
            "" | "tos" | "ttl" | "flowlabel" => {}
            other if other.starts_with("0x") || other.bytes().all(|b| b.is_ascii_digit()) => {}
            other => return Err(format!("{other} in an IP header")),
        }
    }
    Ok(ecn)
}

/// None where these are no flags.
fn read_flags(text: &str) -> Option<Result<Flags, String>> {
    let mut flags = Flags::default();
    for c in text.chars().filter(|c| *c != '-') {
        flags |= match c {
            'F' => Flags::FIN,
            'S' => Flags::SYN,
            'R' => Flags::RST,
            'P' => Flags::PSH,
            '.' => Flags::ACK,
            'U' => Flags::URG,
            'E' => Flags::ECE,
            'W' => Flags::CWR,
            'A' | 'C' | '0'..='9' => return Some(Err("AccECN".to_owned())),
            _ => return None,
        };
    }
    Some(Ok(flags))
}

fn read_option(text: &str, segment: &mut Segment) -> Result<(), String> {
    let options = &mut segment.options;
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u32>().ok());
    let wrong = || format!("the option {}", text.chars().take(40).collect::<String>());
    match words.first().copied().unwrap_or("nop") {
        "nop" | "eol" => {}
        "mss" => options.mss = Some(number(1).ok_or_else(wrong)?.min(65_535) as u16),
        "wscale" => options.window_scale = Some(number(1).ok_or_else(wrong)?.min(255) as u8),
        "sackOK" => options.sack_permitted = true,
        "TS" => {
            let (value, echo) = (number(2).ok_or_else(wrong)?, number(4).ok_or_else(wrong)?);
            options.timestamps = Some(Timestamps { value, echo });
        }
        "sack" => {
            for block in &words[1..] {
                let (start, end) = block.split_once(':').ok_or_else(wrong)?;
                let (start, end) = (sequence(start).ok_or_else(wrong)?, sequence(end).ok_or_else(wrong)?);
                options.sack.push(SackBlock { start, end });
            }
        }
        "FO" | "FOEXP" => return Err("TCP Fast Open".to_owned()),
        _ => return Err(wrong()),
    }
    Ok(())
}
