//! What a flow carries, from the keys of its application.

use bentpipe_units::{Bytes, Span};

use super::model::{AppSpec, HttpSpec};
use super::schema::FlowFile;

/// An application, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppKind {
    Ftp,
    Http,
}

/// The key below the flow's own, and what is wrong with it.
pub(crate) type Fault = (&'static [&'static str], String);

type Key = &'static [&'static str];

/// Larger than any object: sums of sizes keep their meaning.
const LARGEST: u64 = 1 << 40;

const MOST_OBJECTS: u64 = 10_000;
const MOST_CONNECTIONS: u64 = 1000;

pub(crate) fn app(flow: &FlowFile, run: Option<Span>) -> Result<AppSpec, Fault> {
    let kind = flow.app.as_ref().map_or(AppKind::Ftp, |choice| choice.0);
    belongs(flow, kind)?;
    if flow.duration == Some(Span::ZERO) {
        return Err((&["duration"], "expected a time above zero, found 0 s".to_owned()));
    }
    match kind {
        AppKind::Ftp => ftp(flow, run),
        AppKind::Http => http(flow, run),
    }
}

/// Whether no key is one of another application's.
fn belongs(flow: &FlowFile, kind: AppKind) -> Result<(), Fault> {
    let ftp: [(Key, bool); 1] = [(&["bytes"], flow.bytes.is_some())];
    let http: [(Key, bool); 8] = [
        (&["page_interval"], flow.page_interval.is_some()),
        (&["main_object"], flow.main_object.is_some()),
        (&["objects"], flow.objects.is_some()),
        (&["object"], flow.object.is_some()),
        (&["request"], flow.request.is_some()),
        (&["connections"], flow.connections.is_some()),
        (&["pipelining"], flow.pipelining.is_some()),
        (&["pages"], flow.pages.is_some()),
    ];
    let (others, expected, found) = match kind {
        AppKind::Ftp => (&http[..], "http", "ftp"),
        AppKind::Http => (&ftp[..], "ftp", "http"),
    };
    match others.iter().find(|(_, written)| *written) {
        Some((key, _)) => {
            Err((*key, format!("expected app = {expected:?} beside this key, found {found:?}")))
        }
        None => Ok(()),
    }
}

fn ftp(flow: &FlowFile, run: Option<Span>) -> Result<AppSpec, Fault> {
    if flow.bytes.map(Bytes::get) == Some(0) {
        return Err((&["bytes"], "expected a size above zero, found 0 B".to_owned()));
    }
    if run.is_none() && flow.bytes.is_none() && flow.duration.is_none() {
        let message =
            "expected bytes or duration, here or as the duration of the run, found nothing that ends it";
        return Err((&[], message.to_owned()));
    }
    Ok(AppSpec::Ftp { bytes: flow.bytes.map(Bytes::get), duration: flow.duration })
}

fn http(flow: &FlowFile, run: Option<Span>) -> Result<AppSpec, Fault> {
    if run.is_none() && flow.pages.is_none() && flow.duration.is_none() {
        let message =
            "expected pages or duration, here or as the duration of the run, found nothing that ends it";
        return Err((&[], message.to_owned()));
    }
    Ok(AppSpec::Http(HttpSpec {
        page_interval: flow.page_interval.unwrap_or(Span::from_millis(30_000)),
        main_object: size(flow.main_object, 10_710, &["main_object"])?,
        objects: number(flow.objects.map(u64::from), 15, MOST_OBJECTS, &["objects"])? as u32,
        object: size(flow.object, 7758, &["object"])?,
        request: size(flow.request, 350, &["request"])?,
        connections: number(flow.connections.map(u64::from), 1, MOST_CONNECTIONS, &["connections"])? as u32,
        pipelining: flow.pipelining.unwrap_or(true),
        pages: match flow.pages {
            Some(0) => return Err((&["pages"], "expected a whole number above zero, found 0".to_owned())),
            pages => pages,
        },
        duration: flow.duration,
    }))
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

fn number(written: Option<u64>, default: u64, most: u64, key: Key) -> Result<u64, Fault> {
    match written.unwrap_or(default) {
        n if (1..=most).contains(&n) => Ok(n),
        n => Err((key, format!("expected a whole number from 1 to {most}, found {n}"))),
    }
}
