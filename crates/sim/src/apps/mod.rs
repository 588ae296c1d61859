//! What flows carry: who opens connections, who writes what, and when a flow is over.

mod http;
mod onoff;
mod udp;

use std::ops::Range;

use bentpipe_path::Stream;
use bentpipe_tcp::Endpoint;
use bentpipe_units::{Span, Time};

pub(crate) use http::Http;
pub(crate) use onoff::OnOff;
pub(crate) use udp::{HEADERS, Udp};

use crate::engine::End;
use crate::scenario::{AppSpec, FlowSpec};

/// One flow: its application, and where its connections are.
pub(crate) struct Flow {
    pub(crate) start: Time,
    /// When the application stops; `Time::NEVER` while it has no end.
    pub(crate) stop: Time,
    pub(crate) app: App,
    /// Among all ends: two a connection, of which the first is at the host that the flow's data comes from.
    pub(crate) ends: Range<usize>,
    pub(crate) over: bool,
}

pub(crate) enum App {
    /// So many bytes, `u64::MAX` while they have no end. The sending host opens the connection and closes it.
    Bulk { bytes: u64 },
    /// Pages. The receiving host opens the connections and closes them.
    Http(Box<Http>),
    /// Bytes at times of its own. The sending host opens the connection and closes it.
    OnOff(Box<OnOff>),
    /// Datagrams, without a connection and so without ends.
    Udp(Box<Udp>),
}

impl Flow {
    /// A flow whose ends will be those from number `first` on.
    pub(crate) fn new(spec: &FlowSpec, seed: u64, first: usize) -> Flow {
        let start = Time::ZERO + spec.start;
        let stop = |duration: Option<Span>| duration.map_or(Time::NEVER, |duration| start + duration);
        let (app, duration) = match &spec.app {
            AppSpec::Ftp(ftp) => (App::Bulk { bytes: ftp.bytes.unwrap_or(u64::MAX) }, ftp.duration),
            AppSpec::Http(http) => (App::Http(Box::new(Http::new(http, start))), http.duration),
            AppSpec::OnOff(onoff) => {
                let stream = Stream::derive(seed, &format!("flow/{}/onoff", spec.name));
                (App::OnOff(Box::new(OnOff::new(onoff, start, stream))), onoff.duration)
            }
            AppSpec::Cbr(cbr) => {
                (App::Udp(Box::new(Udp::constant(cbr, start, stop(cbr.duration)))), cbr.duration)
            }
            AppSpec::Multimedia(media) => {
                let stream = Stream::derive(seed, &format!("flow/{}/video", spec.name));
                let udp = Udp::multimedia(media, start, stop(media.duration), stream);
                (App::Udp(Box::new(udp)), media.duration)
            }
        };
        Flow {
            start,
            stop: stop(duration),
            app,
            ends: first..first + 2 * spec.app.connections(),
            over: false,
        }
    }

    /// A time that the application waits for has come: it starts, or asks for the next page, or stops.
    pub(crate) fn on_time(&mut self, now: Time, ends: &mut [End]) {
        match &mut self.app {
            App::Http(http) if now >= self.stop => http.stop(ends),
            App::Http(http) => http.on_time(now, ends),
            App::Bulk { bytes } if now == self.start => {
                ends[1].tcp.listen();
                let tcp = &mut ends[0].tcp;
                tcp.connect();
                tcp.write(*bytes);
                if *bytes != u64::MAX {
                    tcp.close(false);
                }
            }
            App::Bulk { .. } => ends[0].tcp.close(true),
            // What was written by then is still delivered.
            App::OnOff(_) if now >= self.stop => ends[0].tcp.close(false),
            App::OnOff(onoff) => {
                if now == self.start {
                    ends[1].tcp.listen();
                    ends[0].tcp.connect();
                }
                ends[0].tcp.write(onoff.poll(now));
            }
            App::Udp(_) => {}
        }
    }

    /// When the application wants to be called again after `now`, which its stop does not count for.
    pub(crate) fn next_time(&self, now: Time) -> Time {
        match &self.app {
            App::OnOff(onoff) if now < self.stop => onoff.next_time(),
            _ => Time::NEVER,
        }
    }

    /// An end of the flow is closed, or only waits for old segments to die out: whether the flow is over.
    pub(crate) fn on_closed(&mut self, end: usize, tcp: &Endpoint) -> bool {
        match &mut self.app {
            App::Bulk { .. } | App::OnOff(_) => end == self.ends.start,
            App::Http(http) => http.on_closed(end - self.ends.start, tcp.error().is_some()),
            App::Udp(_) => false,
        }
    }

    /// Whether all of the flow's data was delivered.
    pub(crate) fn complete(&self, ends: &[End]) -> bool {
        match &self.app {
            // By duration: finished when the FIN behind the last byte has arrived.
            App::Bulk { bytes: u64::MAX } | App::OnOff(_) => ends[1].tcp.receiver().finished(),
            App::Bulk { bytes } => ends[1].tcp.receiver().delivered() == *bytes,
            App::Http(http) => http.complete(),
            App::Udp(udp) => udp.over(),
        }
    }

    /// From the flow's start to its last byte, or to the end of the run when bytes are missing.
    pub(crate) fn active(&self, end: Time, last_byte: Option<Time>) -> Span {
        last_byte.unwrap_or(end).since(self.start)
    }
}
