//! When an application reads: at once, at a rate, with a pause.

use bentpipe_units::{Span, Time};

use crate::Reading;

/// How often a slow application comes to read.
const TURN: Span = Span::from_millis(10);

/// The reading application of our end.
#[derive(Debug)]
pub(crate) struct Reader {
    plan: Reading,
    began: Option<Time>,
    read: u64,
    pause_ends: Option<Time>,
    next: Time,
}

impl Reader {
    pub(crate) fn new(plan: Reading) -> Reader {
        Reader { plan, began: None, read: 0, pause_ends: None, next: Time::NEVER }
    }

    /// How much of `unread` bytes the application takes now.
    pub(crate) fn take(&mut self, now: Time, unread: u32) -> u32 {
        if unread == 0 {
            self.next = Time::NEVER;
            return 0;
        }
        let began = *self.began.get_or_insert(now);
        let mut most = u64::from(unread);
        self.next = Time::NEVER;
        if let Some(rate) = self.plan.bytes_per_s {
            let allowed = (now.since(began).as_secs() * rate as f64) as u64;
            most = most.min(allowed.saturating_sub(self.read));
            self.next = now + TURN;
        }
        if let Some(at) = self.plan.pause_after {
            let left = at.get().saturating_sub(self.read);
            let ends = match self.pause_ends {
                None if left == 0 => *self.pause_ends.insert(now + self.plan.pause),
                Some(ends) => ends,
                None => Time::ZERO,
            };
            if now < ends {
                self.next = ends;
                return 0;
            }
            if self.pause_ends.is_none() {
                most = most.min(left);
            }
        }
        self.read += most;
        if most < u64::from(unread) {
            self.next = self.next.min(now + TURN);
        }
        most as u32
    }

    /// When the application comes next by itself.
    pub(crate) fn next_time(&self) -> Time {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use bentpipe_units::Bytes;

    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn without_a_plan_everything_is_read_at_once() {
        let mut reader = Reader::new(Reading::default());
        assert_eq!((reader.take(ms(1), 5000), reader.next_time()), (5000, Time::NEVER));
    }

    #[test]
    fn a_rate_is_kept() {
        let mut reader = Reader::new(Reading { bytes_per_s: Some(100_000), ..Reading::default() });
        assert_eq!(reader.take(ms(0), 5000), 0);
        assert_eq!((reader.take(ms(10), 5000), reader.next_time()), (1000, ms(20)));
        assert_eq!(reader.take(ms(100), 5000), 5000);
    }

    #[test]
    fn a_pause_begins_at_its_byte_and_ends_in_time() {
        let plan =
            Reading { pause_after: Some(Bytes::new(1000)), pause: Span::from_millis(50), bytes_per_s: None };
        let mut reader = Reader::new(plan);
        assert_eq!(reader.take(ms(0), 1500), 1000);
        assert_eq!(reader.take(ms(10), 500), 0);
        assert_eq!(reader.next_time(), ms(60));
        assert_eq!(reader.take(ms(60), 500), 500);
        assert_eq!(reader.take(ms(61), 700), 700);
    }
}
