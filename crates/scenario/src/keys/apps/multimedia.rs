//! Audio and video as datagrams.

use super::prelude::*;

/// Mean of a video's frames in bytes: a frame leaves in one burst.
const LARGEST_FRAME: f64 = 16_777_216.0;

/// Audio and video as frames, cut into datagrams that leave together.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MultimediaSpec {
    /// Rate of the audio, in frames of one size; default "64 kbit/s".
    pub audio: Rate,
    /// Mean rate of the video; default "512 kbit/s".
    pub video: Rate,
    /// Video frames a second; default 25.
    #[serde(with = "Number::<1, 1000>")]
    pub frame_rate: f64,
    /// Frames from one key frame to the next; default 12.
    #[serde(with = "Whole::<1, 10_000>")]
    pub gop: u32,
    /// Mean size of a key frame over that of another; default 4.
    #[serde(with = "Number::<1, 1000>")]
    pub key_frame_ratio: f64,
    /// Coefficient of variation of the sizes of frames; default 0.3.
    #[serde(with = "Number::<0, 10>")]
    pub frame_variation: f64,
    /// Most that a datagram carries; default "1316 B".
    #[serde(with = "Size::<1, DATAGRAM>")]
    pub packet: u32,
    /// Stop so long after the start.
    #[serde(with = "AboveZero")]
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

impl App for MultimediaSpec {
    const NAME: &'static str = "multimedia";
    const SUMMARY: &'static str =
        "audio and video over UDP, a burst of datagrams a frame; does not react to loss";
    const OVER_UDP: bool = true;

    fn check(&self, _: &Node) -> Result<(), Fault> {
        let MultimediaSpec { video, frame_rate, .. } = self;
        let large = || fault!("frames of at most 16 MiB at {frame_rate} a second", "{video}");
        ensure!(video.as_bps() as f64 / 8.0 / frame_rate <= LARGEST_FRAME, large().under("video"));
        Ok(())
    }

    fn ends(&self) -> bool {
        self.duration.is_some()
    }

    fn draws(&self) -> bool {
        self.frame_variation > 0.0
    }
}
