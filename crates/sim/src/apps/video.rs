//! A client that asks for a film segment by segment, at the bit rate that its player's buffer allows.

mod player;

use bentpipe_tcp::State;
use bentpipe_units::{Rate, Span, Time};

pub(crate) use self::player::Player;
use super::{Due, Exchange};
use crate::engine::End;
use crate::ids::Side;
use bentpipe_scenario::VideoSpec;

pub(crate) struct Video {
    spec: VideoSpec,
    pub(crate) player: Player,
    phase: Phase,
    /// When the next segment is asked for; `Time::NEVER` while one is on its way, and when none is to come.
    next: Time,
    /// The place on the ladder of each segment that was asked for.
    rungs: Vec<usize>,
    /// Playing time that is still to be asked for.
    rest: Span,
    /// Requests that the server has answered.
    answered: u64,
    /// Bytes of all segments that were asked for.
    asked_bytes: u64,
    pub(super) exchanges: Vec<Exchange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The buffer has no room.
    Full,
    Waiting,
    /// Every segment has come.
    Done,
    /// The user left; `clean` when the connection was closed in good order.
    Left {
        clean: bool,
    },
    /// The connection ended with an error.
    Failed,
}

impl Video {
    pub(crate) fn new(spec: &VideoSpec, start: Time) -> Video {
        Video {
            player: Player::new(start, spec.startup),
            phase: Phase::Full,
            next: start,
            rungs: Vec::new(),
            rest: spec.length.unwrap_or(Span::from_nanos(u64::MAX)),
            answered: 0,
            asked_bytes: 0,
            exchanges: Vec::new(),
            spec: spec.clone(),
        }
    }

    /// Asks for the segment that is due.
    pub(super) fn on_time(&mut self, now: Time, [server, client]: &mut [End; 2]) {
        if now < self.next {
            return;
        }
        if self.exchanges.is_empty() {
            server.listen();
            client.connect();
        }
        self.next = Time::NEVER;
        self.phase = Phase::Waiting;
        let before = self.rungs.last().copied();
        self.player.play(now);
        let rung = rung(&self.spec, before.unwrap_or_default(), self.player.level());
        let size = bytes(self.spec.ladder[rung], self.segment());
        self.rungs.push(rung);
        self.asked_bytes += size;
        self.exchanges.push(Exchange { start: now, response: None, size });
        client.write(self.spec.request);
    }

    /// The user leaves, and does not wait for the segment under way.
    pub(super) fn stop(&mut self, now: Time, [_, client]: &mut [End; 2]) {
        if matches!(self.phase, Phase::Full | Phase::Waiting) {
            self.player.leave(now);
            self.phase = Phase::Left { clean: false };
            self.next = Time::NEVER;
            client.close(true);
        }
    }

    /// New data was read at an end.
    pub(super) fn on_data(&mut self, now: Time, side: Side, [server, client]: &mut [End; 2]) -> Due {
        if side == Side::Data {
            let whole = server.delivered() / self.spec.request;
            // One at a time. Nobody waits for what is answered after the client's FIN.
            if whole > self.answered && server.state() == State::Established {
                server.write(self.exchanges.last().map_or(0, |exchange| exchange.size));
            }
            self.answered = whole;
            return Due::default();
        }
        if self.phase != Phase::Waiting || client.delivered() < self.asked_bytes {
            return Due::default();
        }
        if let Some(exchange) = self.exchanges.last_mut() {
            exchange.response = Some(now.since(exchange.start));
        }
        let length = self.segment();
        self.rest = self.rest - length;
        let all = self.rest == Span::ZERO;
        self.player.segment(now, length);
        let beyond = (self.player.level() + self.segment()) - self.spec.player_buffer;
        self.player.begin(now, all || beyond > Span::ZERO);
        if all {
            self.phase = Phase::Done;
            client.close(true);
            return Due::default();
        }
        self.phase = Phase::Full;
        // By then the player has played enough to make room.
        self.next = now + beyond;
        Due { at: self.next, others: false }
    }

    /// Playing time of the segment that is asked for or under way.
    fn segment(&self) -> Span {
        self.spec.segment.min(self.rest)
    }

    /// An end is closed or in TIME-WAIT: whether the flow is over.
    pub(super) fn on_closed(&mut self, now: Time, side: Side, failed: bool) -> bool {
        if failed && self.phase != Phase::Done {
            if matches!(self.phase, Phase::Full | Phase::Waiting) {
                self.player.leave(now);
            }
            self.phase = Phase::Failed;
            self.next = Time::NEVER;
        } else if side == Side::Back && self.phase == (Phase::Left { clean: false }) {
            self.phase = Phase::Left { clean: true };
        }
        failed || side == Side::Back
    }

    pub(super) fn complete(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Left { clean: true })
    }

    /// The player at the end of a run at `end`.
    pub(crate) fn player_at(&self, end: Time) -> Player {
        let mut player = self.player.clone();
        if matches!(self.phase, Phase::Full | Phase::Waiting) {
            player.leave(end);
        }
        player
    }

    /// Playing time and bit rate of each segment that came.
    pub(crate) fn came(&self) -> impl Iterator<Item = (Span, Rate)> {
        let came = self.exchanges.iter().filter(|exchange| exchange.response.is_some()).count();
        let last = match self.phase {
            // The last segment of a film is as long as what the others leave.
            Phase::Done => self.spec.length.map(|length| length - self.spec.segment * (came as u64 - 1)),
            _ => None,
        };
        self.rungs[..came].iter().enumerate().map(move |(number, rung)| {
            let length = if number + 1 == came { last } else { None };
            (length.unwrap_or(self.spec.segment), self.spec.ladder[*rung])
        })
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

/// The size of a segment, to the nearest byte and at least one.
fn bytes(rate: Rate, length: Span) -> u64 {
    let bits = u128::from(rate.as_bps()) * u128::from(length.as_nanos());
    u64::try_from((bits + 4_000_000_000) / 8_000_000_000).unwrap_or(u64::MAX).max(1)
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
