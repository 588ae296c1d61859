//! The text of a script: what happens when.
//!
//! The language is packetdrill's (Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from Sockets to Packets",
//! USENIX ATC 2013): a line has a time and a packet that comes (`<`) or is expected (`>`), a system call, a command for the shell
//! between backquotes, or Python between `%{` and `}%`.

use crate::packet::{self, Packet};

/// A script.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// `--name=value`.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) events: Vec<Event>,
}

/// Something that happens, or is expected.
#[derive(Debug)]
pub(crate) struct Event {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) when: When,
    pub(crate) what: What,
}

/// When something happens, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct When {
    /// Counted from the event before, not from the beginning.
    pub(crate) relative: bool,
    pub(crate) from: i64,
    /// The latest; more than `from` where there is a range.
    pub(crate) to: i64,
    /// At any time.
    pub(crate) any: bool,
    /// A call that may wait.
    pub(crate) waits: bool,
}

/// What happens, or is expected; as text where it means nothing here.
#[derive(Debug)]
pub(crate) enum What {
    Shell(String),
    Code(String),
    In(Result<Packet, String>),
    Out(Result<Packet, String>),
    Call(Call),
    Unknown(String),
}

/// A system call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    /// What it returns, where that is a number.
    pub(crate) result: i64,
}

impl Call {
    /// The number between brackets in an argument, as `setsockopt` has them.
    pub(crate) fn option(&self, name: &str) -> Option<u32> {
        let at = self.args.iter().position(|arg| arg == name)?;
        self.args.get(at + 1)?.trim_matches(['[', ']']).parse().ok()
    }

    pub(crate) fn mentions(&self, word: &str) -> bool {
        self.args.iter().any(|arg| arg.contains(word))
    }
}

/// Stands in the text where a block was; its number follows.
const BLOCK: char = '\u{1}';

/// Reads a script; `defined` are the names that `#ifdef` knows.
pub(crate) fn parse(text: &str, defined: &[&str]) -> Result<Script, String> {
    let (text, blocks) = take_blocks(&choose_parts(text, defined))?;
    let mut script = Script::default();
    let mut open: Option<(usize, When, String)> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let alone = line.len() > 2 && line.starts_with(BLOCK) && line.matches(BLOCK).count() == 2;
        if line.is_empty() {
            continue;
        }
        if line.starts_with("--") {
            let words = line.split_whitespace().map(|word| word.trim_start_matches('-'));
            script.options.extend(
                words
                    .map(|word| word.split_once('=').unwrap_or((word, "")))
                    .map(|(name, value)| (name.to_owned(), value.to_owned())),
            );
            continue;
        }
        let timed = match alone && line.ends_with(BLOCK) {
            true => Some((When { relative: true, ..When::default() }, line)),
            false => time(line),
        };
        if let Some((when, rest)) = timed {
            close(&mut script, open.take(), &blocks);
            open = Some((number + 1, when, rest.to_owned()));
        } else if let Some((_, _, text)) = &mut open {
            text.push(' ');
            text.push_str(line);
        }
    }
    close(&mut script, open, &blocks);
    Ok(script)
}

/// Leaves what `#ifdef` leaves; each line stays where it is.
fn choose_parts(text: &str, defined: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut stack: Vec<bool> = Vec::new();
    for line in text.lines() {
        let mut words = line.strip_prefix('#').unwrap_or("").split_whitespace();
        match (words.next(), words.next()) {
            (Some("ifdef" | "if"), name) => stack.push(name.is_some_and(|name| defined.contains(&name))),
            (Some("ifndef"), name) => stack.push(name.is_some_and(|name| !defined.contains(&name))),
            (Some("else"), _) => {
                if let Some(last) = stack.last_mut() {
                    *last = !*last;
                }
            }
            (Some("endif"), _) => {
                stack.pop();
            }
            _ if stack.iter().all(|kept| *kept) => out.push_str(line),
            _ => {}
        }
        out.push('\n');
    }
    out
}

/// Takes comments away and blocks out: of the shell, and of Python (`true`).
fn take_blocks(text: &str) -> Result<(String, Vec<(bool, String)>), String> {
    let (mut out, mut blocks) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let line = || out.matches('\n').count() + 1;
        let until = |start: usize, end: &str| {
            let found = rest[start..].find(end);
            found.map(|at| start + at).ok_or_else(|| format!("line {}: {end:?} is missing", line()))
        };
        let new_line = out.rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
        let taken = if rest.starts_with("//") || (first == '#' && new_line) {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            until(2, "*/")? + 2
        } else if first == '"' {
            let end = until(1, "\"")? + 1;
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        } else if first == '`' || rest.starts_with("%{") {
            let (start, end) = if first == '`' { (1, "`") } else { (2, "}%") };
            let close = until(start, end)?;
            out.push_str(&format!("{BLOCK}{}{BLOCK}", blocks.len()));
            blocks.push((first == '%', rest[start..close].to_owned()));
            close + end.len()
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        out.extend(rest[..taken].matches('\n').map(|_| '\n'));
        rest = &rest[taken..];
    }
    Ok((out, blocks))
}

/// A number of seconds at the beginning, in microseconds, and whether it has a plus.
fn seconds(text: &str) -> Option<(bool, i64, &str)> {
    let (plus, digits) = text.strip_prefix('+').map_or((false, text), |rest| (true, rest));
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    let tail = &digits[whole..];
    let part = match tail.strip_prefix('.') {
        Some(part) if !tail.starts_with("..") => 1 + part.bytes().take_while(u8::is_ascii_digit).count(),
        _ => 0,
    };
    let number: f64 = digits[..whole + part].parse().ok()?;
    (number < 1e6).then(|| (plus, (number * 1e6).round() as i64, &digits[whole + part..]))
}

/// The time at the beginning of an event.
fn time(text: &str) -> Option<(When, &str)> {
    let ends = |rest: &str| rest.starts_with(|c: char| c.is_whitespace() || c == BLOCK);
    if let Some(rest) = text.strip_prefix('*') {
        return ends(rest).then(|| (When { relative: true, any: true, ..When::default() }, rest.trim()));
    }
    let (relative, from, mut rest) = seconds(text)?;
    let mut when = When { relative, from, to: from, ..When::default() };
    if let Some(range) = rest.trim_start().strip_prefix('~') {
        (_, when.to, rest) = seconds(range.trim_start())?;
    }
    if let Some(range) = rest.trim_start().strip_prefix("...") {
        (_, _, rest) = seconds(range.trim_start())?;
        when.waits = true;
    }
    ends(rest).then(|| (when, rest.trim()))
}

fn close(script: &mut Script, event: Option<(usize, When, String)>, blocks: &[(bool, String)]) {
    let Some((line, when, text)) = event else { return };
    let what = if let Some(packet) = text.strip_prefix('<') {
        What::In(packet::parse(packet.trim()))
    } else if let Some(packet) = text.strip_prefix('>') {
        What::Out(packet::parse(packet.trim()))
    } else if let Some(block) = text.strip_prefix(BLOCK) {
        let number = block.split(BLOCK).next().and_then(|number| number.parse::<usize>().ok());
        match number.and_then(|number| blocks.get(number)) {
            Some((true, code)) => What::Code(code.clone()),
            Some((false, command)) => What::Shell(command.clone()),
            None => What::Unknown(text),
        }
    } else {
        call(&text).map_or(What::Unknown(text), What::Call)
    };
    script.events.push(Event { line, when, what });
}

fn call(text: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let end = rest.rfind(") =").or_else(|| rest.rfind(")="))?;
    let result = rest[end + 1..].trim_start_matches([' ', '=']).split_whitespace().next()?;
    let result = match result.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).unwrap_or(0),
        None => result.parse().unwrap_or(0),
    };
    Some(Call { name: name.trim().to_owned(), args: arguments(&rest[..end]), result })
}

/// Cuts at the commas that no bracket encloses.
fn arguments(text: &str) -> Vec<String> {
    let (mut out, mut depth) = (vec![String::new()], 0_i32);
    for c in text.chars() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        match (c, depth) {
            (',', 0) => out.push(String::new()),
            _ => out.last_mut().expect("one at least").push(c),
        }
    }
    out.into_iter().map(|arg| arg.trim().to_owned()).collect()
}
