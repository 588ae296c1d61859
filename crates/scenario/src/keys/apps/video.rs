//! A film in segments, each at one of several bit rates.

use bentpipe_units::bounded::{AboveZero, Size};
use bentpipe_units::{Fault, Rate, Span, fault};
use schemars::JsonSchema;
use serde::Deserialize;

use super::opener::usual_request;
use super::{App, LARGEST};
use crate::text::Node;

/// A film that the receiving host asks for segment by segment, over one connection that it opens and that stays open. The bit
/// rate of a segment is chosen by the buffer of the player (BBA-0: Huang and others, SIGCOMM 2014, algorithm 1).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Bit rates of the film, each higher than the one before.
    #[schemars(length(min = 1, max = 64))]
    pub ladder: Vec<Rate>,
    /// Playing time of a segment; default "4 s".
    #[serde(default = "usual_segment", with = "AboveZero")]
    pub segment: Span,
    /// Playing time of the film, of which the last segment may be shorter.
    #[serde(default, with = "AboveZero")]
    pub length: Option<Span>,
    /// Playing begins, and goes on after a stall, when so much is in the buffer; default "8 s".
    #[serde(default = "usual_startup")]
    pub startup: Span,
    /// The most that the player's buffer holds; default "60 s".
    #[serde(default = "usual_buffer", with = "AboveZero")]
    pub player_buffer: Span,
    /// Up to so much in the buffer the lowest bit rate is asked for; default 3/8 of the buffer.
    #[serde(default)]
    pub reservoir: Option<Span>,
    /// From so much above the reservoir on the highest bit rate is asked for; default 21/40 of the buffer.
    #[serde(default, with = "AboveZero")]
    pub cushion: Option<Span>,
    /// Size of a request; default "350 B".
    #[serde(default = "usual_request", with = "Size::<1, LARGEST>")]
    pub request: u64,
    /// Stop so long after the start.
    #[serde(default, with = "AboveZero")]
    pub duration: Option<Span>,
}

impl VideoSpec {
    /// The reservoir and the cushion. Of a buffer of 240 s Huang and others take 90 s and 126 s.
    pub fn reservoir_and_cushion(&self) -> (Span, Span) {
        let cushion = self.cushion.unwrap_or(self.player_buffer * 21 / 40);
        (self.reservoir.unwrap_or(self.player_buffer * 3 / 8), cushion)
    }
}

const MOST_RATES: usize = 64;

/// A segment at the highest rate of a link is no more than the largest transfer.
const LONGEST_SEGMENT: Span = Span::from_millis(60_000);

fn usual_segment() -> Span {
    Span::from_millis(4000)
}

fn usual_startup() -> Span {
    Span::from_millis(8000)
}

fn usual_buffer() -> Span {
    Span::from_millis(60_000)
}

impl App for VideoSpec {
    const NAME: &'static str = "video";
    const SUMMARY: &'static str = "a film in segments over TCP, whose bit rate follows the player's buffer";
    const ALSO: &'static [&'static str] = &["dash"];
    const NO_DELAY: bool = true;
    const ENDS_BY: &'static str = "length or duration";

    fn check(&self, _: &Node) -> Result<(), Fault> {
        let (found, buffer) = (self.ladder.len(), self.player_buffer);
        if found == 0 || found > MOST_RATES {
            return Err(fault!("1 to {MOST_RATES} bit rates", "{found}").under("ladder"));
        }
        if let Some(early) = self.ladder.windows(2).position(|pair| pair[1] <= pair[0]) {
            let (below, rate) = (self.ladder[early], self.ladder[early + 1]);
            let fault = fault!("a bit rate above the last one's ({below})", "{rate}");
            return Err(fault.under(format!("[{}]", early + 1)).under("ladder"));
        }
        let (segment, startup) = (self.segment, self.startup);
        if segment > LONGEST_SEGMENT {
            return Err(fault!("at most {LONGEST_SEGMENT}", "{segment}").under("segment"));
        }
        for (key, span) in [("segment", segment), ("startup", startup)] {
            if span > buffer {
                return Err(fault!("at most the buffer ({buffer})", "{span}").under(key));
            }
        }
        let (reservoir, cushion) = self.reservoir_and_cushion();
        if reservoir + cushion > buffer {
            let key = if self.cushion.is_some() { "cushion" } else { "reservoir" };
            let expected = format!("reservoir and cushion of at most the buffer ({buffer}) together");
            return Err(Fault::value(expected, format!("{reservoir} and {cushion}")).under(key));
        }
        Ok(())
    }

    fn ends(&self) -> bool {
        self.length.is_some() || self.duration.is_some()
    }

    fn is_asked_for(&self) -> bool {
        true
    }
}
