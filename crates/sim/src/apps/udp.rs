//! What is sent over UDP, whatever becomes of it: a constant rate, or audio and video.

use std::any::Any;
use std::mem;

use bentpipe_net::RouteId;
use bentpipe_path::Stream;
use bentpipe_units::{Rate, Span, Time};

use super::{App, Deliveries, Flow};
use crate::ids::{ConnectionId, EndId, Side};
use crate::packet::Datagram;
use bentpipe_scenario::{CbrSpec, MultimediaSpec, Scenario};

/// From one audio frame to the next.
const AUDIO_FRAME: Span = Span::from_millis(20);

/// An unresponsive stream of datagrams, and what became of them.
pub(crate) struct Udp {
    pub(crate) source: Box<dyn Source>,
    /// Most payload bytes of a datagram.
    packet: u32,
    /// No frame leaves at this time or later.
    stop: Time,
    /// What leaves next.
    frame: Frame,
    /// The end that it comes from.
    pub(crate) end: EndId,
    /// The way that it takes.
    pub(crate) route: RouteId,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) got: Deliveries,
}

/// When the datagrams or the writes of the flow with this index leave, counted from the start of the run, and the payload bytes of each, until
/// `end`; none where the flow is over TCP.
pub fn datagrams(scenario: &Scenario, flow: usize, end: Time) -> Option<Vec<(Time, u32)>> {
    let start = Time::ZERO + scenario.start_of(flow, scenario.seed);
    let flow = Flow::new(&scenario.flows[flow], start, scenario.seed, 0);
    let mut datagrams = Vec::new();
    match flow.app {
        App::Udp(mut udp) => {
            while udp.next_time() < end {
                let at = udp.next_time();
                datagrams.extend(udp.poll(at).map(|bytes| (at, bytes)));
            }
        }
        App::OnOff(mut onoff) => {
            while onoff.next_time() < end.min(flow.stop) {
                let at = onoff.next_time();
                datagrams.push((at, onoff.poll(at) as u32));
            }
        }
        _ => return None,
    }
    Some(datagrams)
}

/// What an application over UDP sends, and what it does with that.
pub(crate) trait Source: Any {
    /// The next frame, [`NO_FRAME`] when there is none: each leaves at its time, unless the flow has stopped.
    fn next_frame(&mut self) -> Frame;

    /// The datagram has arrived before which so many payload bytes were sent.
    fn on_delivery(&mut self, _now: Time, _offset: u64) {}
}

/// Bytes that leave together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(super) at: Time,
    pub(super) bytes: u64,
}

/// Behind the last frame.
pub(super) const NO_FRAME: Frame = Frame { at: Time::NEVER, bytes: 0 };

impl Udp {
    pub(crate) fn constant(spec: &CbrSpec, start: Time, stop: Time) -> Udp {
        let bytes = spec.bytes.unwrap_or(u64::MAX);
        let source = Constant { start, rate: spec.rate, packet: u64::from(spec.packet), sent: 0, bytes };
        Udp::new(source, spec.packet, stop)
    }

    /// `stream` decides the sizes of the video's frames.
    pub(crate) fn multimedia(spec: &MultimediaSpec, start: Time, stop: Time, stream: Stream) -> Udp {
        Udp::new(Multimedia::new(spec, start, stream), spec.packet, stop)
    }

    /// Datagrams of at most `packet` bytes, until `stop`.
    pub(super) fn new(source: impl Source, packet: u32, stop: Time) -> Udp {
        let mut udp = Udp {
            source: Box::new(source),
            packet,
            stop,
            frame: NO_FRAME,
            end: ConnectionId(0).end(Side::Data),
            route: RouteId::default(),
            sent: 0,
            sent_bytes: 0,
            delivered: 0,
            lost: 0,
            got: Deliveries::of(u64::MAX),
        };
        udp.turn_to_next_frame();
        udp
    }

    /// Payload bytes of the next datagram that is due by `now`.
    pub(crate) fn poll(&mut self, now: Time) -> Option<u32> {
        while self.frame.at <= now {
            let bytes = self.frame.bytes.min(u64::from(self.packet));
            self.frame.bytes -= bytes;
            if self.frame.bytes == 0 {
                self.turn_to_next_frame();
            }
            if bytes > 0 {
                self.sent += 1;
                self.sent_bytes += bytes;
                return Some(bytes as u32);
            }
        }
        None
    }

    /// When datagrams leave next; `Time::NEVER` when no more will.
    pub(crate) fn next_time(&self) -> Time {
        self.frame.at
    }

    fn turn_to_next_frame(&mut self) {
        let next = self.source.next_frame();
        self.frame = if next.at < self.stop { next } else { NO_FRAME };
    }

    pub(crate) fn on_delivery(&mut self, now: Time, datagram: Datagram) {
        self.delivered += 1;
        self.got.take(now, datagram.len);
        self.source.on_delivery(now, datagram.offset);
    }

    /// Whether all was sent, and each datagram has arrived or was lost.
    pub(crate) fn over(&self) -> bool {
        self.frame == NO_FRAME && self.sent == self.delivered + self.lost
    }
}

/// A datagram whenever the rate has made up one.
struct Constant {
    start: Time,
    rate: Rate,
    packet: u64,
    sent: u64,
    /// Stop after so many.
    bytes: u64,
}

impl Source for Constant {
    fn next_frame(&mut self) -> Frame {
        if self.sent == self.bytes {
            return NO_FRAME;
        }
        let at = self.start + elapsed(self.sent, self.rate);
        let bytes = self.packet.min(self.bytes - self.sent);
        self.sent += bytes;
        Frame { at, bytes }
    }
}

/// How long the rate takes for so many bytes: always from the start, so that roundings do not add up.
pub(super) fn elapsed(bytes: u64, rate: Rate) -> Span {
    let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(rate.as_bps());
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Audio frames of one size, and video frames of random sizes about two means: one for key frames, one for the others.
struct Multimedia {
    start: Time,
    audio_frame: f64,
    audio_rest: f64,
    audio_frames: u64,
    frame_rate: f64,
    gop: u64,
    key_frame: f64,
    other_frame: f64,
    variation: f64,
    video_rest: f64,
    video_frames: u64,
    stream: Stream,
}

impl Multimedia {
    fn new(spec: &MultimediaSpec, start: Time, stream: Stream) -> Multimedia {
        // A group of pictures is one key frame, as large as `ratio` others, and gop − 1 others.
        let gop = f64::from(spec.gop);
        let mean = spec.video.as_bps() as f64 / 8.0 / spec.frame_rate;
        let other_frame = mean * gop / (spec.key_frame_ratio + gop - 1.0);
        Multimedia {
            start,
            audio_frame: spec.audio.as_bps() as f64 / 8.0 * AUDIO_FRAME.as_secs(),
            audio_rest: 0.0,
            audio_frames: 0,
            frame_rate: spec.frame_rate,
            gop: u64::from(spec.gop),
            key_frame: other_frame * spec.key_frame_ratio,
            other_frame,
            variation: spec.frame_variation,
            video_rest: 0.0,
            video_frames: 0,
            stream,
        }
    }
}

impl Source for Multimedia {
    /// The next frame of audio or video, audio first when both are due.
    fn next_frame(&mut self) -> Frame {
        let audio = self.start + AUDIO_FRAME * self.audio_frames;
        let video = self.start + Span::from_secs(self.video_frames as f64 / self.frame_rate);
        if audio <= video {
            self.audio_frames += 1;
            return Frame { at: audio, bytes: whole(self.audio_frame, &mut self.audio_rest) };
        }
        let key = self.video_frames.is_multiple_of(self.gop);
        self.video_frames += 1;
        let mean = if key { self.key_frame } else { self.other_frame };
        let size = mean * self.stream.log_normal(self.variation);
        Frame { at: video, bytes: whole(size, &mut self.video_rest) }
    }
}

/// The whole bytes of `size` and of what earlier frames left over; the fraction is left to the next frame.
fn whole(size: f64, rest: &mut f64) -> u64 {
    let bytes = (size + mem::take(rest)).max(0.0);
    *rest = bytes - bytes.floor();
    bytes.floor() as u64
}
