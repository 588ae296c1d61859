//! Audio and video as datagrams.

use crate::prelude::*;

/// Mean of a video's frames in bytes: a frame leaves in one burst.
const LARGEST_FRAME: f64 = 16_777_216.0;

/// From one audio frame to the next.
const AUDIO_FRAME: Span = Span::from_millis(20);

options! {
    "multimedia", "audio and video over UDP, a burst of datagrams a frame; does not react to loss";
    /// Audio and video as frames, cut into datagrams that leave together.
    pub struct MultimediaSpec {
        /// Rate of the audio, in frames of one size; default "64 kbit/s".
        pub audio: Rate = Rate::from_bps(64_000),
        /// Mean rate of the video; default "512 kbit/s".
        pub video: Rate = Rate::from_bps(512_000),
        /// Video frames a second; default 25.
        #[serde(with = "Number::<1, 1000>")]
        pub frame_rate: f64 = 25.0,
        /// Frames from one key frame to the next; default 12.
        #[serde(with = "Whole::<1, 10_000>")]
        pub gop: u32 = 12,
        /// Mean size of a key frame over that of another; default 4.
        #[serde(with = "Number::<1, 1000>")]
        pub key_frame_ratio: f64 = 4.0,
        /// Coefficient of variation of the sizes of frames; default 0.3.
        #[serde(with = "Number::<0, 10>")]
        pub frame_variation: f64 = 0.3,
        /// Most that a datagram carries; default "1316 B".
        // Seven packets of an MPEG transport stream, which fit in an Ethernet frame.
        #[serde(with = "Size::<1, DATAGRAM>")]
        pub packet: u32 = 7 * 188,
        /// Stop so long after the start.
        #[serde(with = "AboveZero")]
        pub duration: Option<Span> = None,
    }
}

impl App for MultimediaSpec {
    fn facts(&self) -> Facts {
        Facts {
            duration: self.duration,
            ends: self.duration.is_some(),
            draws: self.frame_variation > 0.0,
            ..Facts::default()
        }
    }

    fn check(&self, _: &Written<'_>) -> Result<(), Fault> {
        let MultimediaSpec { video, frame_rate, .. } = self;
        let large = || fault!("frames of at most 16 MiB at {frame_rate} a second", "{video}");
        ensure!(video.as_bps() as f64 / 8.0 / frame_rate <= LARGEST_FRAME, large().under("video"));
        Ok(())
    }

    fn sends(&self, beginning: &Beginning<'_>) -> Option<Datagrams> {
        let frames = Multimedia::new(self, beginning.start, beginning.stream("video"));
        Some(Datagrams::new(frames, self.packet, beginning.stop))
    }
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
    fn next_frame(&mut self) -> Option<Frame> {
        let audio = self.start + AUDIO_FRAME * self.audio_frames;
        let video = self.start + Span::from_secs(self.video_frames as f64 / self.frame_rate);
        if audio <= video {
            self.audio_frames += 1;
            return Some(Frame { at: audio, bytes: whole(self.audio_frame, &mut self.audio_rest) });
        }
        let key = self.video_frames.is_multiple_of(self.gop);
        self.video_frames += 1;
        let mean = if key { self.key_frame } else { self.other_frame };
        let size = mean * self.stream.log_normal(self.variation);
        Some(Frame { at: video, bytes: whole(size, &mut self.video_rest) })
    }
}

/// Whole bytes of `size` and of the fraction that earlier frames left; the next frame gets the rest.
fn whole(size: f64, rest: &mut f64) -> u64 {
    let bytes = (size + std::mem::take(rest)).max(0.0);
    *rest = bytes - bytes.floor();
    bytes.floor() as u64
}
