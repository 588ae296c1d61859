//! What a flow carries, from the keys of its application.

use bentpipe_tcp::wire::MOST_DATAGRAM;
use bentpipe_units::{Bytes, Rate, Span};

use super::model::{AppSpec, CbrSpec, HttpSpec, MultimediaSpec, OnOffSpec};
use super::schema::FlowFile;
use super::written::Whole;

/// An application, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppKind {
    Ftp,
    Http,
    OnOff,
    Cbr,
    Multimedia,
}

use AppKind::{Cbr, Ftp, Http, Multimedia, OnOff};

impl AppKind {
    pub(crate) const ALL: [AppKind; 5] = [Ftp, Http, OnOff, Cbr, Multimedia];
    pub(crate) const OVER_TCP: [AppKind; 3] = [Ftp, Http, OnOff];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Ftp => "ftp",
            Http => "http",
            OnOff => "onoff",
            Cbr => "cbr",
            Multimedia => "multimedia",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Ftp => "a bulk transfer over TCP",
            Http => "web pages over persistent TCP connections",
            OnOff => "writes over TCP at a constant rate during Pareto-distributed on periods",
            Cbr => "UDP datagrams at a constant rate; does not react to loss",
            Multimedia => "audio and video over UDP, a burst of datagrams a frame; does not react to loss",
        }
    }
}

/// Name and summary of each application.
pub fn apps() -> Vec<(&'static str, &'static str)> {
    AppKind::ALL.map(|kind| (kind.name(), kind.summary())).to_vec()
}

/// The key below the flow's own, and what is wrong with it.
pub(crate) type Fault = (&'static [&'static str], String);

type Key = &'static [&'static str];

/// Larger than any object: sums of sizes keep their meaning.
const LARGEST: u64 = 1 << 40;

/// Mean of a video's frames in bytes: a frame leaves in one burst.
const LARGEST_FRAME: f64 = 16_777_216.0;

pub(super) const MOST_OBJECTS: u64 = 10_000;
pub(super) const MOST_CONNECTIONS: u64 = 1000;
pub(super) const MOST_GOP: u64 = 10_000;

pub(crate) fn app(flow: &FlowFile, run: Option<Span>) -> Result<AppSpec, Fault> {
    belongs(flow)?;
    if flow.duration == Some(Span::ZERO) {
        return Err((&["duration"], "expected a time above zero, found 0 s".to_owned()));
    }
    if flow.bytes.map(Bytes::get) == Some(0) {
        return Err((&["bytes"], "expected a size above zero, found 0 B".to_owned()));
    }
    let app = match kind(flow) {
        Ftp => AppSpec::Ftp { bytes: flow.bytes.map(Bytes::get), duration: flow.duration },
        Http => http(flow)?,
        OnOff => onoff(flow)?,
        Cbr => cbr(flow)?,
        Multimedia => multimedia(flow)?,
    };
    // What takes no notice of the others may last as long as they do.
    if run.is_none() && !app.over_udp() && !app.ends() {
        return Err((&[], nothing_ends(&app)));
    }
    Ok(app)
}

pub(crate) fn kind(flow: &FlowFile) -> AppKind {
    flow.app.as_ref().map_or(Ftp, |choice| choice.0)
}

/// What is told of a run that would never end.
pub(crate) fn nothing_ends(app: &AppSpec) -> String {
    let keys = match app {
        AppSpec::Ftp { .. } | AppSpec::Cbr(_) => "bytes or duration",
        AppSpec::Http(_) => "pages or duration",
        AppSpec::OnOff(_) | AppSpec::Multimedia(_) => "duration",
    };
    format!("expected {keys}, here or as the duration of the run, found nothing that ends it")
}

/// What is told of a key that only `kinds` have.
pub(crate) fn expected_app(kinds: &[AppKind], found: AppKind) -> String {
    let names: Vec<_> = kinds.iter().map(|kind| format!("{:?}", kind.name())).collect();
    format!("expected app = {} beside this key, found {:?}", names.join(" or "), found.name())
}

/// Whether no key is one of another application's.
fn belongs(flow: &FlowFile) -> Result<(), Fault> {
    let keys: [(Key, bool, &[AppKind]); 20] = [
        (&["bytes"], flow.bytes.is_some(), &[Ftp, Cbr]),
        (&["page_interval"], flow.page_interval.is_some(), &[Http]),
        (&["main_object"], flow.main_object.is_some(), &[Http]),
        (&["objects"], flow.objects.is_some(), &[Http]),
        (&["object"], flow.object.is_some(), &[Http]),
        (&["request"], flow.request.is_some(), &[Http]),
        (&["connections"], flow.connections.is_some(), &[Http]),
        (&["pipelining"], flow.pipelining.is_some(), &[Http]),
        (&["pages"], flow.pages.is_some(), &[Http]),
        (&["mean_on"], flow.mean_on.is_some(), &[OnOff]),
        (&["mean_off"], flow.mean_off.is_some(), &[OnOff]),
        (&["shape"], flow.shape.is_some(), &[OnOff]),
        (&["rate"], flow.rate.is_some(), &[OnOff, Cbr]),
        (&["packet"], flow.packet.is_some(), &[OnOff, Cbr, Multimedia]),
        (&["audio"], flow.audio.is_some(), &[Multimedia]),
        (&["video"], flow.video.is_some(), &[Multimedia]),
        (&["frame_rate"], flow.frame_rate.is_some(), &[Multimedia]),
        (&["gop"], flow.gop.is_some(), &[Multimedia]),
        (&["key_frame_ratio"], flow.key_frame_ratio.is_some(), &[Multimedia]),
        (&["frame_variation"], flow.frame_variation.is_some(), &[Multimedia]),
    ];
    let kind = kind(flow);
    match keys.iter().find(|(_, written, kinds)| *written && !kinds.contains(&kind)) {
        Some((key, _, kinds)) => Err((*key, expected_app(kinds, kind))),
        None => Ok(()),
    }
}

fn http(flow: &FlowFile) -> Result<AppSpec, Fault> {
    Ok(AppSpec::Http(HttpSpec {
        page_interval: flow.page_interval.unwrap_or(Span::from_millis(30_000)),
        main_object: size(flow.main_object, 10_710, &["main_object"])?,
        objects: flow.objects.map_or(15, Whole::get) as u32,
        object: size(flow.object, 7758, &["object"])?,
        request: size(flow.request, 350, &["request"])?,
        connections: flow.connections.map_or(1, Whole::get) as u32,
        pipelining: flow.pipelining.unwrap_or(true),
        pages: flow.pages.map(Whole::get),
        duration: flow.duration,
    }))
}

fn onoff(flow: &FlowFile) -> Result<AppSpec, Fault> {
    let mean = Span::from_millis(160);
    let mean_on = flow.mean_on.unwrap_or(mean);
    if mean_on == Span::ZERO {
        return Err((&["mean_on"], "expected a time above zero, found 0 s".to_owned()));
    }
    let shape = flow.shape.unwrap_or(1.5);
    if !(shape > 1.0 && shape <= 1000.0) {
        return Err((&["shape"], format!("expected a number above 1, at most 1000, found {shape}")));
    }
    Ok(AppSpec::OnOff(OnOffSpec {
        rate: rate(flow)?,
        packet: packet(flow, 1000)?,
        mean_on,
        mean_off: flow.mean_off.unwrap_or(mean),
        shape,
        duration: flow.duration,
    }))
}

fn rate(flow: &FlowFile) -> Result<Rate, Fault> {
    let missing = "expected a value, since this key has no default, found none";
    flow.rate.ok_or_else(|| (&["rate"] as Key, missing.to_owned()))
}

fn cbr(flow: &FlowFile) -> Result<AppSpec, Fault> {
    Ok(AppSpec::Cbr(CbrSpec {
        rate: rate(flow)?,
        packet: packet(flow, 1000)?,
        bytes: flow.bytes.map(Bytes::get),
        duration: flow.duration,
    }))
}

fn multimedia(flow: &FlowFile) -> Result<AppSpec, Fault> {
    let frame_rate = real(flow.frame_rate, 25.0, (1.0, 1000.0), &["frame_rate"])?;
    if let Some(video) = flow.video
        && video.as_bps() as f64 / 8.0 / frame_rate > LARGEST_FRAME
    {
        let message = format!("expected frames of at most 16 MiB at {frame_rate} a second, found {video}");
        return Err((&["video"], message));
    }
    Ok(AppSpec::Multimedia(MultimediaSpec {
        audio: flow.audio.unwrap_or(Rate::from_bps(64_000)),
        video: flow.video.unwrap_or(Rate::from_bps(512_000)),
        frame_rate,
        gop: flow.gop.map_or(12, Whole::get) as u32,
        key_frame_ratio: real(flow.key_frame_ratio, 4.0, (1.0, 1000.0), &["key_frame_ratio"])?,
        frame_variation: real(flow.frame_variation, 0.3, (0.0, 10.0), &["frame_variation"])?,
        // Seven packets of an MPEG transport stream, which fit in an Ethernet frame.
        packet: packet(flow, 7 * 188)?,
        duration: flow.duration,
    }))
}

/// Payload bytes of a datagram.
fn packet(flow: &FlowFile, default: u32) -> Result<u32, Fault> {
    match flow.packet.map_or(u64::from(default), Bytes::get) {
        bytes if (1..=u64::from(MOST_DATAGRAM)).contains(&bytes) => Ok(bytes as u32),
        bytes => {
            Err((&["packet"], format!("expected a size from 1 B to {MOST_DATAGRAM} B, found {bytes} B")))
        }
    }
}

fn size(written: Option<Bytes>, default: u64, key: Key) -> Result<u64, Fault> {
    match written.map_or(default, Bytes::get) {
        0 => Err((key, "expected a size above zero, found 0 B".to_owned())),
        bytes if bytes > LARGEST => {
            Err((key, format!("expected a size of at most 1024 GiB, found {bytes} B")))
        }
        bytes => Ok(bytes),
    }
}

fn real(written: Option<f64>, default: f64, (least, most): (f64, f64), key: Key) -> Result<f64, Fault> {
    match written.unwrap_or(default) {
        x if (least..=most).contains(&x) => Ok(x),
        x => Err((key, format!("expected a number from {least} to {most}, found {x}"))),
    }
}
