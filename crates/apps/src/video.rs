//! A film in segments, each at one of several bit rates: a client asks for one after the other, at the bit rate that its player's
//! buffer allows.

mod player;

use bentpipe_units::registry::Named;

use self::player::Player;
use crate::prelude::*;
use crate::users::VideoResult;
use crate::visit::Visit;

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

impl Named for VideoSpec {
    const NAME: &'static str = "video";
    const SUMMARY: &'static str = "a film in segments over TCP, whose bit rate follows the player's buffer";
    const ALSO: &'static [&'static str] = &["dash"];
}

impl App for VideoSpec {
    fn facts(&self) -> Facts {
        Facts {
            duration: self.duration,
            ends: self.length.is_some() || self.duration.is_some(),
            ends_by: "length or duration",
            is_asked_for: true,
            sets_no_delay: true,
            ..Facts::default()
        }
    }

    fn check(&self, _: &Written<'_>) -> Result<(), Fault> {
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

    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
        Running::connected(Video::new(self, beginning.start))
    }
}

struct Video {
    spec: VideoSpec,
    player: Player,
    visit: Visit,
    /// The place on the ladder of each segment that was asked for.
    rungs: Vec<usize>,
    /// Playing time that is still to be asked for.
    rest: Span,
}

impl Video {
    fn new(spec: &VideoSpec, start: Time) -> Video {
        Video {
            player: Player::new(start, spec.startup),
            visit: Visit::from(start),
            rungs: Vec::new(),
            rest: spec.length.unwrap_or(Span::from_nanos(u64::MAX)),
            spec: spec.clone(),
        }
    }

    /// Playing time of the segment that is asked for or under way.
    fn segment(&self) -> Span {
        self.spec.segment.min(self.rest)
    }

    /// The user leaves before the film is over.
    fn leave(&mut self, now: Time) {
        if self.visit.goes_on() {
            self.player.leave(now);
        }
    }

    /// Playing time and bit rate of each segment that came.
    fn came(&self) -> impl Iterator<Item = (Span, Rate)> {
        let came = self.visit.exchanges.iter().filter(|exchange| exchange.response.is_some()).count();
        // The last segment of a film is as long as what the others leave.
        let whole = self.spec.length.filter(|_| self.visit.is_done());
        let last = whole.map(|length| length - self.spec.segment * (came as u64 - 1));
        self.rungs[..came].iter().enumerate().map(move |(number, rung)| {
            let length = if number + 1 == came { last } else { None };
            (length.unwrap_or(self.spec.segment), self.spec.ladder[*rung])
        })
    }
}

impl<S: Socket> Program<S> for Video {
    /// Asks for the segment that is due.
    fn on_time(&mut self, now: Time, pairs: &mut [Pair<S>]) {
        if self.visit.is_due(now) {
            let before = self.rungs.last().copied();
            self.player.play(now);
            let rung = rung(&self.spec, before.unwrap_or_default(), self.player.level());
            let size = bytes(self.spec.ladder[rung], self.segment());
            self.rungs.push(rung);
            self.visit.ask(now, &mut pairs[0], self.spec.request, size);
        }
    }

    fn on_stop(&mut self, now: Time, pairs: &mut [Pair<S>]) {
        self.leave(now);
        self.visit.leave(&mut pairs[0][1]);
    }

    fn on_data(&mut self, now: Time, number: usize, side: Side, _: u64, pairs: &mut [Pair<S>]) -> Due {
        let [server, client] = &mut pairs[number];
        if side == Side::Data {
            self.visit.answer(server, self.spec.request);
            return Due::default();
        }
        if !self.visit.has_come(now, client) {
            return Due::default();
        }
        let length = self.segment();
        self.rest = self.rest - length;
        let all = self.rest == Span::ZERO;
        self.player.segment(now, length);
        let beyond = (self.player.level() + self.segment()) - self.spec.player_buffer;
        self.player.begin(now, all || beyond > Span::ZERO);
        // By then the player has played enough to make room.
        if all { self.visit.finish(client) } else { self.visit.pause(now + beyond) }
    }

    fn on_closed(&mut self, now: Time, _: usize, side: Side, failed: bool) -> bool {
        if failed {
            self.leave(now);
        }
        // A film that has come whole is whole, whatever becomes of its connection.
        self.visit.on_closed(side, failed && !self.visit.is_done()) || failed
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.visit.exchanges
    }

    /// The film at the end of the run, and its segments.
    fn tell(&self, users: &mut Users, flow: &str, [from, end]: [Time; 2]) {
        let mut player = self.player.clone();
        if self.visit.goes_on() {
            player.leave(end);
        }
        let came: Vec<(Span, Rate)> = self.came().collect();
        let length = came.iter().fold(Span::ZERO, |sum, (length, _)| sum + *length);
        let bits: f64 = came.iter().map(|(length, rate)| length.as_secs() * rate.as_bps() as f64).sum();
        users.videos.push(VideoResult {
            name: flow.to_owned(),
            segments: came.len() as u64,
            startup_s: player.startup_delay.map(Span::as_secs),
            stalls: player.stalls,
            stalled_s: player.stalled().as_secs(),
            bit_rate_mean_bps: (length > Span::ZERO).then(|| bits / length.as_secs()),
            bit_rate_switches: came.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as u64,
        });
        users.add_transactions(flow, &self.visit.exchanges, from);
    }

    fn complete(&self, _: &[Pair<S>]) -> bool {
        self.visit.complete()
    }
}

/// The place on the ladder of the next segment after one at `before`, with so much in the buffer (Huang and others, "A
/// buffer-based approach to rate adaptation", SIGCOMM 2014, algorithm 1): the lowest in the reservoir, the highest above the
/// cushion, and between them another than before only when the line from the one to the other has crossed the next rate.
fn rung(spec: &VideoSpec, before: usize, level: Span) -> usize {
    let (reservoir, cushion) = spec.reservoir_and_cushion();
    let highest = spec.ladder.len() - 1;
    if level <= reservoir {
        return 0;
    }
    if level >= reservoir + cushion {
        return highest;
    }
    let rate = |rung: usize| spec.ladder[rung].as_bps() as f64;
    let share = (level - reservoir).as_secs() / cushion.as_secs();
    let line = rate(0) + share * (rate(highest) - rate(0));
    if line >= rate((before + 1).min(highest)) {
        (0..=highest).rev().find(|rung| rate(*rung) < line).unwrap_or(0)
    } else if line <= rate(before.saturating_sub(1)) {
        (0..=highest).find(|rung| rate(*rung) > line).unwrap_or(highest)
    } else {
        before
    }
}

/// The size of a segment, at least a byte.
fn bytes(rate: Rate, length: Span) -> u64 {
    bytes_in(rate, length).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(ladder: &[u64]) -> VideoSpec {
        VideoSpec {
            ladder: ladder.iter().map(|kbps| Rate::from_bps(kbps * 1000)).collect(),
            segment: Span::from_millis(4000),
            length: None,
            startup: Span::from_millis(8000),
            player_buffer: Span::from_secs(240.0),
            reservoir: None,
            cushion: None,
            request: 350,
            duration: None,
        }
    }

    fn chosen(ladder: &[u64], before: usize, level_s: f64) -> usize {
        rung(&spec(ladder), before, Span::from_secs(level_s))
    }

    #[test]
    fn reservoir_and_cushion_are_those_of_the_paper() {
        let (reservoir, cushion) = spec(&[1]).reservoir_and_cushion();
        assert_eq!((reservoir, cushion), (Span::from_secs(90.0), Span::from_secs(126.0)));
    }

    #[test]
    fn the_ends_of_the_map_are_the_lowest_and_the_highest_rate() {
        let ladder = [200, 1000, 5000];
        assert_eq!([0.0, 89.9, 90.0].map(|level| chosen(&ladder, 2, level)), [0, 0, 0]);
        assert_eq!([216.0, 239.0].map(|level| chosen(&ladder, 0, level)), [2, 2]);
    }

    #[test]
    fn a_rate_is_left_only_when_the_line_crosses_the_next_one() {
        // The line is at 1000 kbit/s with 111 s in the buffer, at 3000 with 163.5 s, at 5000 with 216 s.
        let ladder = [200, 1000, 3000, 5000];
        // Up: at the crossing of the next rate, to the highest below the line.
        assert_eq!([110.9, 111.1, 163.4].map(|level| chosen(&ladder, 0, level)), [0, 1, 1]);
        assert_eq!([111.1, 163.4, 163.6].map(|level| chosen(&ladder, 1, level)), [1, 1, 2]);
        // Down: at the crossing of the rate below, to the lowest above the line.
        assert_eq!([163.6, 163.4, 111.1, 110.9].map(|level| chosen(&ladder, 3, level)), [3, 2, 2, 1]);
        // From the second only in the reservoir.
        assert_eq!([90.1, 90.0].map(|level| chosen(&ladder, 1, level)), [1, 0]);
    }

    #[test]
    fn a_ladder_of_one_rate_is_that_rate() {
        assert_eq!([0.0, 120.0, 230.0].map(|level| chosen(&[800], 0, level)), [0, 0, 0]);
    }

    #[test]
    fn sizes_are_rounded_and_never_nothing() {
        assert_eq!(bytes(Rate::from_bps(1_000_000), Span::from_millis(4000)), 500_000);
        assert_eq!(bytes(Rate::from_bps(1), Span::from_millis(4000)), 1);
        assert_eq!(bytes(Rate::from_bps(3), Span::from_secs(4.0)), 2);
        assert_eq!(bytes(Rate::from_bps(1_000_000_000_000), Span::from_secs(60.0)), 7_500_000_000_000);
    }
}
