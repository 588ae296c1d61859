//! A film in segments, each at one of several bit rates.

use super::prelude::*;

/// A film that the receiving host asks for segment by segment, over one connection that it opens and that stays open. The bit
/// rate of a segment is chosen by the buffer of the player (BBA-0: Huang and others, SIGCOMM 2014, algorithm 1).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Bit rates of the film, each higher than the one before.
    #[schemars(length(min = 1, max = 64))]
    pub ladder: Vec<Rate>,
    /// Playing time of a segment; default "4 s".
    #[serde(default = "ms::<4000>", with = "AboveZero")]
    pub segment: Span,
    /// Playing time of the film, of which the last segment may be shorter.
    #[serde(default, with = "AboveZero")]
    pub length: Option<Span>,
    /// Playing begins, and goes on after a stall, when so much is in the buffer; default "8 s".
    #[serde(default = "ms::<8000>")]
    pub startup: Span,
    /// The most that the player's buffer holds; default "60 s".
    #[serde(default = "ms::<60_000>", with = "AboveZero")]
    pub player_buffer: Span,
    /// Up to so much in the buffer the lowest bit rate is asked for; default 3/8 of the buffer.
    #[serde(default)]
    pub reservoir: Option<Span>,
    /// From so much above the reservoir on the highest bit rate is asked for; default 21/40 of the buffer.
    #[serde(default, with = "AboveZero")]
    pub cushion: Option<Span>,
    /// Size of a request; default "350 B".
    #[serde(default = "size::<350>", with = "Size::<1, LARGEST>")]
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

impl App for VideoSpec {
    const NAME: &'static str = "video";
    const SUMMARY: &'static str = "a film in segments over TCP, whose bit rate follows the player's buffer";
    const ALSO: &'static [&'static str] = &["dash"];
    const NO_DELAY: bool = true;
    const ENDS_BY: &'static str = "length or duration";

    fn check(&self, _: &Node) -> Result<(), Fault> {
        let (found, buffer) = (self.ladder.len(), self.player_buffer);
        let many = || fault!("1 to {MOST_RATES} bit rates", "{found}").under("ladder");
        ensure!((1..=MOST_RATES).contains(&found), many());
        for (i, pair) in self.ladder.windows(2).enumerate() {
            let [below, rate] = [pair[0], pair[1]];
            let low = || fault!("a bit rate above the last one's ({below})", "{rate}");
            ensure!(rate > below, low().under(format!("[{}]", i + 1)).under("ladder"));
        }
        let segment = self.segment;
        let long = || fault!("at most {LONGEST_SEGMENT}", "{segment}").under("segment");
        ensure!(segment <= LONGEST_SEGMENT, long());
        for (key, span) in [("segment", segment), ("startup", self.startup)] {
            ensure!(span <= buffer, fault!("at most the buffer ({buffer})", "{span}").under(key));
        }
        let (reservoir, cushion) = self.reservoir_and_cushion();
        let together = "reservoir and cushion of at most the buffer";
        let much = || fault!("{together} ({buffer}) together", "{reservoir} and {cushion}");
        let key = if self.cushion.is_some() { "cushion" } else { "reservoir" };
        ensure!(reservoir + cushion <= buffer, much().under(key));
        Ok(())
    }

    fn ends(&self) -> bool {
        self.length.is_some() || self.duration.is_some()
    }

    fn is_asked_for(&self) -> bool {
        true
    }
}
