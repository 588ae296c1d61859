//! The buffer of a player: what is in it, when it plays, and when it stalls.

use bentpipe_units::{Span, Time};

/// A player whose buffer fills by segments and empties as fast as time goes by.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    start: Time,
    /// What must be in the buffer for playing to begin, or to go on.
    startup: Span,
    /// Playing time in the buffer at `last`.
    level: Span,
    last: Time,
    /// Whether it plays; the level of one that plays falls, to zero, where a stall begins.
    playing: bool,
    /// From the request for the first segment to the first picture.
    pub(crate) startup_delay: Option<Span>,
    pub(crate) stalls: u64,
    /// How long the stalls that ended were.
    stalled: Span,
    /// When the stall began that is not over.
    stall: Option<Time>,
}

impl Player {
    pub(crate) fn new(start: Time, startup: Span) -> Player {
        Player {
            start,
            startup,
            level: Span::ZERO,
            last: start,
            playing: false,
            startup_delay: None,
            stalls: 0,
            stalled: Span::ZERO,
            stall: None,
        }
    }

    /// Playing time in the buffer.
    pub(crate) fn level(&self) -> Span {
        self.level
    }

    /// Time goes by until `now`, in which no segment came though more are to come.
    pub(crate) fn play(&mut self, now: Time) {
        let gone = now.since(self.last);
        self.last = now;
        if !self.playing {
            return;
        }
        if gone >= self.level {
            self.playing = false;
            self.stalls += 1;
            self.stall = Some(Time::from_nanos(now.as_nanos() - (gone - self.level).as_nanos()));
        }
        self.level = self.level - gone;
    }

    /// A segment of this playing time has come.
    pub(crate) fn segment(&mut self, now: Time, length: Span) {
        self.play(now);
        self.level += length;
    }

    /// Playing begins, or goes on, when there is enough in the buffer or no more can come: `last`.
    pub(crate) fn begin(&mut self, now: Time, last: bool) {
        if self.playing || (self.level < self.startup && !last) {
            return;
        }
        self.playing = true;
        self.startup_delay.get_or_insert(now.since(self.start));
        if let Some(began) = self.stall.take() {
            self.stalled += now.since(began);
        }
    }

    /// The user leaves, or the run ends, before the film has come whole.
    pub(crate) fn leave(&mut self, now: Time) {
        self.play(now);
        if let Some(began) = self.stall.take() {
            self.stalled += now.since(began);
        }
        self.playing = false;
    }

    /// How long it has stalled in all, up to `leave` or the last segment.
    pub(crate) fn stalled(&self) -> Span {
        self.stalled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: f64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    fn secs(s: f64) -> Span {
        Span::from_secs(s)
    }

    /// A segment of four seconds comes.
    fn comes(player: &mut Player, s: f64, last: bool) {
        player.segment(at(s), secs(4.0));
        player.begin(at(s), last);
    }

    #[test]
    fn playing_begins_with_so_much_in_the_buffer() {
        let mut player = Player::new(at(10.0), secs(8.0));
        comes(&mut player, 11.0, false);
        assert_eq!((player.startup_delay, player.level()), (None, secs(4.0)));
        comes(&mut player, 13.0, false);
        // Nothing was played until then.
        assert_eq!((player.startup_delay, player.level()), (Some(secs(3.0)), secs(8.0)));
        comes(&mut player, 14.5, false);
        assert_eq!((player.level(), player.stalls), (secs(10.5), 0));
    }

    #[test]
    fn a_stall_lasts_until_there_is_so_much_again() {
        let mut player = Player::new(at(0.0), secs(8.0));
        comes(&mut player, 1.0, false);
        comes(&mut player, 2.0, false);
        // Empty at 10 s; a segment is less than it takes to go on.
        comes(&mut player, 13.0, false);
        assert_eq!((player.stalls, player.stalled(), player.level()), (1, Span::ZERO, secs(4.0)));
        comes(&mut player, 15.0, false);
        assert_eq!((player.stalls, player.stalled(), player.level()), (1, secs(5.0), secs(8.0)));
        // The second one, which the user does not see the end of.
        player.leave(at(25.0));
        assert_eq!((player.stalls, player.stalled()), (2, secs(7.0)));
        assert_eq!(player.startup_delay, Some(secs(2.0)));
    }

    #[test]
    fn the_end_of_the_film_plays_without_a_full_buffer_and_is_no_stall() {
        let mut player = Player::new(at(0.0), secs(8.0));
        comes(&mut player, 1.0, true);
        assert_eq!(player.startup_delay, Some(secs(1.0)));
        assert_eq!((player.stalls, player.stalled()), (0, Span::ZERO));
    }

    #[test]
    fn a_segment_at_the_moment_of_the_last_picture_comes_after_a_stall_of_no_length() {
        let mut player = Player::new(at(0.0), secs(4.0));
        comes(&mut player, 1.0, false);
        comes(&mut player, 5.0, false);
        assert_eq!((player.stalls, player.stalled(), player.level()), (1, Span::ZERO, secs(4.0)));
    }
}
