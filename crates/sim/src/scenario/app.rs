//! What a flow carries: each application with its options, which are keys of the flow.

use bentpipe_tcp::wire::MOST_DATAGRAM;
use bentpipe_units::bounded::{Whole, above_zero, number, number_above, size, whole};
use bentpipe_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::error::ScenarioError;
use super::http::HttpSpec;
use super::opener::{Opener, usual_request};
use super::read::{keys_of, unknown_key};
use super::schema::FlowFile;
use super::transactions::{ShortFlowsSpec, TraceSpec, TransactionsSpec};
use super::tree::{Node, Place};
use super::video::VideoSpec;
use super::written::{Choice, Names, chosen};

/// An application, by name.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// Whether it sends datagrams, and takes no notice of what becomes of them.
    pub(crate) over_udp: bool,
    /// Its options.
    keys: fn() -> &'static [&'static str],
    read: fn(&Place<'_>, &Node) -> Result<AppSpec, ScenarioError>,
    pub(crate) schema: fn() -> Value,
}

macro_rules! apps {
    ($($variant:ident($options:ident): $name:literal, over_udp $over_udp:literal, $summary:literal;)*) => {
        /// What a flow carries.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AppSpec {
            $(#[doc = $summary] $variant($options),)*
        }

        impl AppSpec {
            /// Its name in a scenario file.
            pub fn name(&self) -> &'static str {
                match self {
                    $(AppSpec::$variant(_) => $name,)*
                }
            }

            /// Whether it sends datagrams, and takes no notice of what becomes of them.
            pub fn over_udp(&self) -> bool {
                match self {
                    $(AppSpec::$variant(_) => $over_udp,)*
                }
            }
        }

        /// Every application; the first is that of a flow that names none.
        pub(crate) const KINDS: &[Kind] = &[$(Kind {
            name: $name,
            summary: $summary,
            over_udp: $over_udp,
            keys: keys_of::<$options>,
            read: |at, options| at.read_from(options).map(AppSpec::$variant),
            schema: || schemars::schema_for!($options).to_value(),
        },)*];
    };
}

apps! {
    Ftp(FtpSpec): "ftp", over_udp false, "a bulk transfer over TCP";
    Http(HttpSpec): "http", over_udp false, "web pages over persistent TCP connections";
    OnOff(OnOffSpec): "onoff", over_udp false,
        "writes over TCP at a constant rate during Pareto-distributed on periods";
    Relay(RelaySpec): "relay", over_udp false,
        "what another flow brings to a node, carried on over a TCP connection of its own";
    Transactions(TransactionsSpec): "transactions", over_udp false,
        "requests and answers, one after the other over a persistent TCP connection";
    Video(VideoSpec): "video", over_udp false,
        "a film in segments over TCP, whose bit rate follows the player's buffer";
    ShortFlows(ShortFlowsSpec): "short-flows", over_udp false,
        "short TCP connections that come by a Poisson process";
    Trace(TraceSpec): "trace", over_udp false, "TCP connections at the times of a trace, each for one transfer";
    Cbr(CbrSpec): "cbr", over_udp true, "UDP datagrams at a constant rate; does not react to loss";
    Multimedia(MultimediaSpec): "multimedia", over_udp true,
        "audio and video over UDP, a burst of datagrams a frame; does not react to loss";
}

impl AppSpec {
    /// Whether programs of this kind send what is less than a segment at once (`TCP_NODELAY`): browsers and web servers, players, callers,
    /// proxies.
    pub(crate) fn sets_no_delay(&self) -> bool {
        matches!(self, AppSpec::Http(_) | AppSpec::Relay(_) | AppSpec::Transactions(_) | AppSpec::Video(_))
    }
}

/// Name and summary of each application.
pub fn apps() -> Vec<(&'static str, &'static str)> {
    KINDS.iter().map(|kind| (kind.name, kind.summary)).collect()
}

impl Names for &'static Kind {
    const WHAT: &'static str = "an application";
    fn all() -> Vec<(&'static str, Self)> {
        KINDS.iter().map(|kind| (kind.name, kind)).collect()
    }
}

/// Sums of sizes keep their meaning.
pub(super) const LARGEST: u64 = 1_000_000_000_000;
const ANY: u64 = u64::MAX;
const DATAGRAM: u64 = MOST_DATAGRAM as u64;

/// Mean of a video's frames in bytes: a frame leaves in one burst.
const LARGEST_FRAME: f64 = 16_777_216.0;

/// Bulk transfer: so many bytes, or as many as go in so long a time, or until the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtpSpec {
    /// Stop after so many bytes.
    #[serde(deserialize_with = "size::<_, _, 1, ANY>")]
    #[schemars(with = "Bytes")]
    pub bytes: Option<u64>,
    /// Stop so long after the start.
    #[serde(deserialize_with = "above_zero")]
    pub duration: Option<Span>,
    /// Which host opens the connection: "sender" (the default), or "receiver", with a request.
    #[serde(deserialize_with = "chosen")]
    #[schemars(with = "Choice<Opener>")]
    pub opened_by: Opener,
    /// Beside "receiver" the size of the request; default "350 B".
    #[serde(deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub request: u64,
}

impl Default for FtpSpec {
    fn default() -> FtpSpec {
        FtpSpec { bytes: None, duration: None, opened_by: Opener::Sender, request: usual_request() }
    }
}

/// Writes at a constant rate during on periods, and nothing during off periods: each of a Pareto-distributed length. Over
/// one connection.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Bytes written, over the time of on periods.
    pub rate: Rate,
    /// Bytes of a write; default "1000 B".
    #[serde(default = "usual_packet", deserialize_with = "size::<_, _, 1, DATAGRAM>")]
    #[schemars(with = "Bytes")]
    pub packet: u32,
    /// Mean length of an on period; default "160 ms".
    #[serde(default = "usual_period", deserialize_with = "above_zero")]
    pub mean_on: Span,
    /// Mean length of an off period; default "160 ms".
    #[serde(default = "usual_period")]
    pub mean_off: Span,
    /// Shape of the Pareto distributions of both, above 1; default 1.5.
    #[serde(default = "usual_shape", deserialize_with = "number_above::<_, _, 1, 1000>")]
    #[schemars(extend("exclusiveMinimum" = 1, "maximum" = 1000))]
    pub shape: f64,
    /// What it starts in: "equilibrium" (the default), some moment of a period, on or off, or "on", the beginning of an on period.
    #[serde(default, deserialize_with = "chosen")]
    #[schemars(with = "Choice<Begins>")]
    pub begins: Begins,
    /// Stop so long after the start.
    #[serde(default, deserialize_with = "above_zero")]
    pub duration: Option<Span>,
}

/// What periods of on and off start in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begins {
    /// Some moment of one that began long ago.
    #[default]
    Equilibrium,
    /// The beginning of an on period.
    On,
}

impl Names for Begins {
    const WHAT: &'static str = "what to start in";
    fn all() -> Vec<(&'static str, Self)> {
        vec![("equilibrium", Begins::Equilibrium), ("on", Begins::On)]
    }
}

/// A node that sends on what another flow brings to it: two TCP connections with a bounded buffer between them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelaySpec {
    /// The flow whose data it sends on, which goes to the node that this flow comes from; {i} is the copy's number.
    pub upstream: String,
    /// Most bytes that are at the relay between the two connections, at least one segment; default "256 KiB".
    #[serde(default = "usual_buffer", deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub buffer: u64,
    /// When the relay crashes, in the time of the run: it loses its buffer and forgets its connections; default never.
    #[serde(default, deserialize_with = "above_zero")]
    pub crash: Option<Span>,
    /// So long after the crash it is there again, and resets what is left of its connections; default never.
    #[serde(default)]
    pub back: Option<Span>,
    /// What the flows upstream have told it.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) carried: Carried,
}

/// What a relay carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// How many connections.
    pub(crate) connections: usize,
    /// Whether the receiving host opens them.
    pub(crate) asked: bool,
}

impl Default for Carried {
    fn default() -> Carried {
        Carried { connections: 1, asked: false }
    }
}

fn usual_buffer() -> u64 {
    256 << 10
}

/// Datagrams at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrSpec {
    /// Payload sent, over time.
    pub rate: Rate,
    /// Payload of a datagram, of which the last may be shorter; default "1000 B".
    #[serde(default = "usual_packet", deserialize_with = "size::<_, _, 1, DATAGRAM>")]
    #[schemars(with = "Bytes")]
    pub packet: u32,
    /// Stop after so many bytes.
    #[serde(default, deserialize_with = "size::<_, _, 1, ANY>")]
    #[schemars(with = "Bytes")]
    pub bytes: Option<u64>,
    /// Stop so long after the start.
    #[serde(default, deserialize_with = "above_zero")]
    pub duration: Option<Span>,
}

fn usual_packet() -> u32 {
    1000
}

fn usual_period() -> Span {
    Span::from_millis(160)
}

fn usual_shape() -> f64 {
    1.5
}

/// Audio and video as frames, cut into datagrams that leave together.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MultimediaSpec {
    /// Rate of the audio, in frames of one size; default "64 kbit/s".
    pub audio: Rate,
    /// Mean rate of the video; default "512 kbit/s".
    pub video: Rate,
    /// Video frames a second; default 25.
    #[serde(deserialize_with = "number::<_, _, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub frame_rate: f64,
    /// Frames from one key frame to the next; default 12.
    #[serde(deserialize_with = "whole::<_, _, 1, 10_000>")]
    #[schemars(with = "Whole<1, 10_000>")]
    pub gop: u32,
    /// Mean size of a key frame over that of another; default 4.
    #[serde(deserialize_with = "number::<_, _, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub key_frame_ratio: f64,
    /// Coefficient of variation of the sizes of frames; default 0.3.
    #[serde(deserialize_with = "number::<_, _, 0, 10>")]
    #[schemars(range(min = 0, max = 10))]
    pub frame_variation: f64,
    /// Most that a datagram carries; default "1316 B".
    #[serde(deserialize_with = "size::<_, _, 1, DATAGRAM>")]
    #[schemars(with = "Bytes")]
    pub packet: u32,
    /// Stop so long after the start.
    #[serde(deserialize_with = "above_zero")]
    pub duration: Option<Span>,
}

impl Default for MultimediaSpec {
    fn default() -> MultimediaSpec {
        MultimediaSpec {
            audio: Rate::from_bps(64_000),
            video: Rate::from_bps(512_000),
            frame_rate: 25.0,
            gop: 12,
            key_frame_ratio: 4.0,
            frame_variation: 0.3,
            // Seven packets of an MPEG transport stream, which fit in an Ethernet frame.
            packet: 7 * 188,
            duration: None,
        }
    }
}

impl AppSpec {
    /// Whether it has an end of its own, before that of the run.
    pub(crate) fn ends(&self) -> bool {
        match self {
            AppSpec::Ftp(ftp) => ftp.bytes.is_some() || ftp.duration.is_some(),
            AppSpec::Http(http) => http.pages.is_some() || http.duration.is_some(),
            AppSpec::OnOff(onoff) => onoff.duration.is_some(),
            AppSpec::Transactions(app) => app.transactions.is_some() || app.duration.is_some(),
            AppSpec::Video(video) => video.length.is_some() || video.duration.is_some(),
            AppSpec::ShortFlows(_) | AppSpec::Trace(_) => true,
            // With the flow whose data it is, of which the same is asked.
            AppSpec::Relay(_) => true,
            AppSpec::Cbr(cbr) => cbr.bytes.is_some() || cbr.duration.is_some(),
            AppSpec::Multimedia(multimedia) => multimedia.duration.is_some(),
        }
    }

    /// How many connections the application may open; none over UDP.
    pub fn connections(&self) -> usize {
        match self {
            AppSpec::Ftp(_) | AppSpec::OnOff(_) => 1,
            AppSpec::Relay(relay) => relay.carried.connections,
            AppSpec::Transactions(_) | AppSpec::Video(_) => 1,
            AppSpec::ShortFlows(short) => short.transfers as usize,
            AppSpec::Trace(trace) => trace.trace.len(),
            AppSpec::Http(http) => http.connections as usize,
            AppSpec::Cbr(_) | AppSpec::Multimedia(_) => 0,
        }
    }

    /// Whether the receiving host opens the connections, and asks for what the other one sends.
    pub(crate) fn is_asked_for(&self) -> bool {
        match self {
            AppSpec::Http(_) | AppSpec::Transactions(_) | AppSpec::Video(_) => true,
            AppSpec::Ftp(FtpSpec { opened_by, .. })
            | AppSpec::ShortFlows(ShortFlowsSpec { opened_by, .. })
            | AppSpec::Trace(TraceSpec { opened_by, .. }) => *opened_by == Opener::Receiver,
            AppSpec::Relay(relay) => relay.carried.asked,
            AppSpec::OnOff(_) | AppSpec::Cbr(_) | AppSpec::Multimedia(_) => false,
        }
    }

    /// What is told of a run that would never end.
    pub(crate) fn nothing_ends(&self) -> String {
        let keys = match self {
            AppSpec::Ftp(_) | AppSpec::Cbr(_) => "bytes or duration",
            AppSpec::Http(_) => "pages or duration",
            AppSpec::Transactions(_) => "transactions or duration",
            AppSpec::Video(_) => "length or duration",
            AppSpec::OnOff(_)
            | AppSpec::Relay(_)
            | AppSpec::ShortFlows(_)
            | AppSpec::Trace(_)
            | AppSpec::Multimedia(_) => "duration",
        };
        format!("expected {keys}, here or as the duration of the run, found nothing that ends it")
    }
}

/// Keys of a flow that one over UDP has not.
pub(crate) const ABOUT_TCP: [&str; 5] = ["variant", "recovery", "control", "tcp", "receiver_tcp"];

/// The flow at `at` and what it carries.
pub(crate) fn flow(at: &Place<'_>, flow: &Node) -> Result<(FlowFile, AppSpec), ScenarioError> {
    let kind = match flow.get("app") {
        Some(name) => at.below(&["app"]).read_from::<Choice<&Kind>>(name)?.0,
        None => &KINDS[0],
    };
    let (common, own) = (keys_of::<FlowFile>(), (kind.keys)());
    let mut options = flow.clone();
    let mut flow = flow.clone();
    if let (Some(all), Some(options)) = (flow.table_mut(), options.table_mut()) {
        options.retain(|key, _| own.contains(&key.as_str()));
        all.retain(|key, _| !options.contains_key(key));
        if let Some(key) = all.keys().find(|key| !common.contains(&key.as_str())) {
            return Err(at.error(&[key], foreign(key, kind, common)));
        }
    }
    let file: FlowFile = at.read_from(&flow)?;
    let app = (kind.read)(at, &options)?;
    if let AppSpec::Multimedia(MultimediaSpec { video, frame_rate, .. }) = app
        && video.as_bps() as f64 / 8.0 / frame_rate > LARGEST_FRAME
    {
        let message = format!("expected frames of at most 16 MiB at {frame_rate} a second, found {video}");
        return Err(at.error(&["video"], message));
    }
    if let AppSpec::ShortFlows(short) = &app
        && let Some((key, message)) = short.wrong()
    {
        return Err(at.error(&[key], message));
    }
    let opened_by = match &app {
        AppSpec::Ftp(ftp) => ftp.opened_by,
        AppSpec::ShortFlows(short) => short.opened_by,
        AppSpec::Trace(trace) => trace.opened_by,
        // The receiver always, or the sender, and then no request is a key.
        _ => Opener::Receiver,
    };
    if let AppSpec::Http(http) = &app
        && let Some((key, message)) = http.needless(&options)
    {
        return Err(at.error(&[key], message.to_owned()));
    }
    if let Some((key, message)) = opened_by.needless_request(&options) {
        return Err(at.error(&[key], message));
    }
    let wrong = match &app {
        AppSpec::Trace(trace) => trace.wrong(),
        AppSpec::Video(video) => video.wrong(),
        _ => None,
    };
    if let Some((keys, message)) = wrong {
        return Err(at.error(&keys.iter().map(String::as_str).collect::<Vec<_>>(), message));
    }
    if let Some(key) = ABOUT_TCP.iter().find(|key| kind.over_udp && flow.get(key).is_some()) {
        return Err(at.error(&[key], expected_app(|kind| !kind.over_udp, kind)));
    }
    if let AppSpec::Relay(_) = app
        && let Some(key) =
            ["start", "start_step", "start_spread"].into_iter().find(|key| flow.get(key).is_some())
    {
        let message =
            "expected no time beside app = \"relay\", which starts with its upstream flow, found one";
        return Err(at.error(&[key], message));
    }
    Ok((file, app))
}

/// What is told of a key that is not an option of `kind`.
fn foreign(key: &str, kind: &Kind, common: &[&str]) -> String {
    if KINDS.iter().any(|kind| (kind.keys)().contains(&key)) {
        return expected_app(|kind| (kind.keys)().contains(&key), kind);
    }
    let all: Vec<_> = common.iter().chain((kind.keys)()).copied().collect();
    unknown_key(key, &all)
}

/// What is told of a key that only some applications have.
fn expected_app(has: impl Fn(&Kind) -> bool, found: &Kind) -> String {
    let names: Vec<_> =
        KINDS.iter().filter(|kind| has(kind)).map(|kind| format!("{:?}", kind.name)).collect();
    format!("expected app = {} beside this key, found {:?}", names.join(" or "), found.name)
}
