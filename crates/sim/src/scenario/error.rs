use std::fmt;

use bentpipe_path::ActiveSpec;
use bentpipe_path::gateway::GatewaySpec;

/// Why a scenario cannot be run; prints as one line, `FILE:LINE: KEY: expected …, found …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    file: String,
    line: Option<usize>,
    key: String,
    message: String,
}

impl ScenarioError {
    pub(crate) fn new(file: &str, line: Option<usize>, key: String, message: String) -> ScenarioError {
        ScenarioError { file: file.to_owned(), line, key, message }
    }

    /// The file at fault; `--set` for an override given beside the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line at fault, counted from 1, where there is one.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The dotted key at fault; empty when it is the file as a whole.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What was expected, and what was found.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.file, 400))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if !self.key.is_empty() {
            write!(f, "{}: ", one_line(&self.key, 200))?;
        }
        f.write_str(&one_line(&self.message, 800))
    }
}

impl std::error::Error for ScenarioError {}

/// `text` without anything that could break or disguise a line, cut after `most` characters.
fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == most {
            line.push('…');
            break;
        }
        // Line and paragraph separators, and the marks that reorder text on a terminal.
        let disguise = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if c.is_control() || disguise {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line
}

/// `text` in quotes, escaped, and cut when it is long.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{:?}…", &text[..cut]),
        None => format!("{text:?}"),
    }
}

/// A list for people: all of a short one, the beginning of a long one.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let mut list = names.by_ref().take(40).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 if list.is_empty() => list.push_str("none"),
        0 => {}
        more => list.push_str(&format!(" and {more} more")),
    }
    list
}

/// The one of `names` that `text` is probably meant to be.
pub(crate) fn closest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = text.chars().count();
    let allowed = (length / 3).clamp(1, 4);
    names
        .into_iter()
        .take(10_000)
        .filter(|name| name.chars().count().abs_diff(length) <= allowed)
        .map(|name| (strsim::osa_distance(&text.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `expected …` for a name that is none of `names`: the one that was probably meant, and the list.
pub(crate) fn expected_one_of(what: &str, text: &str, names: &[&str]) -> String {
    let found = quoted(text);
    if let Some(hint) = of_the_field(what, text, names) {
        return format!("expected {what} ({}), found {found}, {hint}", listed(names.iter().copied()));
    }
    match closest(text, names.iter().copied()) {
        Some(close) if names.len() > 12 => format!("expected {what}, found {found}; did you mean {close:?}?"),
        Some(close) => {
            let list = listed(names.iter().copied());
            format!("expected {what} ({list}), found {found}; did you mean {close:?}?")
        }
        None => format!("expected {what} ({}), found {found}", listed(names.iter().copied())),
    }
}

/// Names of the field beside what of it is here, in the words that name it in a scenario.
pub(crate) const NEAR: &[(&str, &str)] = &[
    ("ack-spoofing", r#"gateway "spoof""#),
    ("bbr", r#"variant "bbr1" or "bbr3""#),
    ("bbr2", r#"variant "bbr1" or "bbr3""#),
    ("bbrv1", r#"variant "bbr1""#),
    ("bbrv2", r#"variant "bbr1" or "bbr3""#),
    ("bbrv3", r#"variant "bbr3""#),
    ("dash", r#"app "video""#),
    ("fading", r#"loss "gilbert-elliott", or a link with a trace"#),
    ("fq", r#"queue "fq-codel" or "drr""#),
    ("iperf", r#"app "ftp""#),
    ("jumpstart", r#"slow_start "careful-resume""#),
    ("markov", r#"loss "gilbert-elliott""#),
    ("pep", r#"gateway "spoof" or "snoop", or a flow with app "relay""#),
    ("prr", r#"recovery "rack", of which it is a part"#),
    ("rack-tlp", r#"recovery "rack", which has TLP"#),
    ("rain", "a link with a trace, which bentpipe fade writes"),
    ("replay", r#"app "trace""#),
    ("sfq", r#"queue "fq-codel" or "drr""#),
    ("split", r#"a flow with app "relay""#),
    ("split-tcp", r#"a flow with app "relay""#),
    ("spoofing", r#"gateway "spoof""#),
    ("telnet", r#"app "transactions""#),
    ("tlp", r#"recovery "rack", which has it"#),
    ("voip", r#"app "cbr" or "onoff""#),
    ("web", r#"app "http""#),
    ("westwood+", r#"variant "westwood""#),
];

/// Names of the field for which nothing is here yet, in small letters: of TCP, and of queues.
const ELSEWHERE: &str = "bic cdg compound copa ctcp dctcp fast highspeed hstcp htcp l4s ledbat lp noordwijk nv prague \
    quic scalable yeah ared blue cake dualpi2 fq_pie pi2 pie";

/// What to say of a name of the field that is none of `names`.
fn of_the_field(what: &str, text: &str, names: &[&str]) -> Option<String> {
    let among = |schemes: &[(&str, &str)]| schemes.iter().all(|(name, _)| names.contains(name));
    let kind = match what {
        "a variant" => "variants",
        "a recovery" => "recoveries",
        "a control" => "controls",
        "a slow start" => "starts",
        "an application" => "applications",
        "a profile" => "profiles",
        "one of the known names" if among(GatewaySpec::SCHEMES) => "gateways",
        "one of the known names" if among(ActiveSpec::SCHEMES) => "queues",
        "one of the known names" => "losses",
        _ => return None,
    };
    let name = text.to_lowercase();
    if kind == "queues" && ["drop-tail", "droptail", "fifo", "tail-drop"].contains(&name.as_str()) {
        return Some("which is written without a scheme, as queue = \"100 packets\"".to_owned());
    }
    if names.contains(&name.as_str()) {
        return None;
    }
    let near = |name: &str| NEAR.iter().find(|(other, _)| *other == name).map(|(_, near)| *near);
    if let Some(near) = near(&name).or_else(|| name.split('-').find_map(near)) {
        return Some(format!("near it is {near}"));
    }
    let elsewhere = |name: &str| ELSEWHERE.split_whitespace().any(|other| other == name);
    if !(elsewhere(&name) || name.split(['+', '-']).any(elsewhere)) {
        return None;
    }
    Some(match kind {
        "losses" => "which is not there yet".to_owned(),
        kind => format!("which is not there yet; bentpipe list {kind} says what there is"),
    })
}
