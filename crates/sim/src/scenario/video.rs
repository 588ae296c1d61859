//! A film in segments, each at one of several bit rates.

use bentpipe_units::bounded::{above_zero, size};
use bentpipe_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::app::LARGEST;
use super::opener::usual_request;

/// A film that the receiving host asks for segment by segment, over one connection that it opens and that stays open. The bit
/// rate of a segment is chosen by the buffer of the player (BBA-0: Huang and others, SIGCOMM 2014, algorithm 1).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Bit rates of the film, each higher than the one before.
    #[schemars(length(min = 1, max = 64))]
    pub ladder: Vec<Rate>,
    /// Playing time of a segment; default "4 s".
    #[serde(default = "usual_segment", deserialize_with = "above_zero")]
    pub segment: Span,
    /// Playing time of the film, of which the last segment may be shorter.
    #[serde(default, deserialize_with = "above_zero")]
    pub length: Option<Span>,
    /// Playing begins, and goes on after a stall, when so much is in the buffer; default "8 s".
    #[serde(default = "usual_startup")]
    pub startup: Span,
    /// The most that the player's buffer holds; default "60 s".
    #[serde(default = "usual_buffer", deserialize_with = "above_zero")]
    pub player_buffer: Span,
    /// Up to so much in the buffer the lowest bit rate is asked for; default 3/8 of the buffer.
    #[serde(default)]
    pub reservoir: Option<Span>,
    /// From so much above the reservoir on the highest bit rate is asked for; default 21/40 of the buffer.
    #[serde(default, deserialize_with = "above_zero")]
    pub cushion: Option<Span>,
    /// Size of a request; default "350 B".
    #[serde(default = "usual_request", deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub request: u64,
    /// Stop so long after the start.
    #[serde(default, deserialize_with = "above_zero")]
    pub duration: Option<Span>,
}

impl VideoSpec {
    /// The reservoir and the cushion. Of a buffer of 240 s Huang and others take 90 s and 126 s.
    pub fn reservoir_and_cushion(&self) -> (Span, Span) {
        let cushion = self.cushion.unwrap_or(self.player_buffer * 21 / 40);
        (self.reservoir.unwrap_or(self.player_buffer * 3 / 8), cushion)
    }

    /// What is wrong with the film, and below which of the flow's keys.
    pub(super) fn wrong(&self) -> Option<(Vec<String>, String)> {
        let at = |key: &str, message| Some((vec![key.to_owned()], message));
        let found = self.ladder.len();
        if found == 0 || found > MOST_RATES {
            return at("ladder", format!("expected 1 to {MOST_RATES} bit rates, found {found}"));
        }
        if let Some(early) = self.ladder.windows(2).position(|pair| pair[1] <= pair[0]) {
            let (below, rate) = (self.ladder[early], self.ladder[early + 1]);
            let keys = vec!["ladder".to_owned(), format!("[{}]", early + 1)];
            return Some((keys, format!("expected a bit rate above the last one's ({below}), found {rate}")));
        }
        if self.segment > LONGEST_SEGMENT {
            return at("segment", format!("expected at most {LONGEST_SEGMENT}, found {}", self.segment));
        }
        for (key, span) in [("segment", self.segment), ("startup", self.startup)] {
            if span > self.player_buffer {
                return at(
                    key,
                    format!("expected at most the buffer ({}), found {span}", self.player_buffer),
                );
            }
        }
        let (reservoir, cushion) = self.reservoir_and_cushion();
        if reservoir + cushion > self.player_buffer {
            let key = if self.cushion.is_some() { "cushion" } else { "reservoir" };
            let message = format!(
                "expected reservoir and cushion of at most the buffer ({}) together, found {reservoir} and {cushion}",
                self.player_buffer
            );
            return at(key, message);
        }
        None
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
