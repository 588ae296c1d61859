//! Bulk transfer.

use crate::prelude::*;

options! {
    "ftp", "a bulk transfer over TCP", also ["iperf"];
    /// Bulk transfer: so many bytes, or as many as go in so long a time, or until the run ends.
    pub struct FtpSpec {
        /// Stop after so many bytes.
        #[serde(with = "Size::<1, ANY>")]
        pub bytes: Option<u64> = None,
        /// Stop so long after the start.
        #[serde(with = "AboveZero")]
        pub duration: Option<Span> = None,
        /// Which host opens the connection: "sender" (the default), or "receiver", with a request.
        pub opened_by: Opener = Opener::Sender,
        /// Beside "receiver" the size of the request; default "350 B".
        #[serde(with = "Size::<1, LARGEST>")]
        pub request: u64 = 350,
    }
}

impl App for FtpSpec {
    fn facts(&self) -> Facts {
        Facts {
            duration: self.duration,
            ends: self.bytes.is_some() || self.duration.is_some(),
            ends_by: "bytes or duration",
            is_asked_for: self.opened_by == Opener::Receiver,
            ..Facts::default()
        }
    }

    fn check(&self, written: &Written<'_>) -> Result<(), Fault> {
        self.opened_by.check(written)
    }

    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
        let (bytes, request) = (self.bytes.unwrap_or(u64::MAX), self.opened_by.asks(self.request));
        let Beginning { start, stop, .. } = *beginning;
        Running::connected(Bulk { bytes, request, start, stop })
    }
}

/// So many bytes, `u64::MAX` while they have no end. The sending host opens the connection, or with a `request` of so many bytes the
/// receiving one; the sending host closes it.
struct Bulk {
    bytes: u64,
    request: Option<u64>,
    start: Time,
    stop: Time,
}

impl<S: Socket> Program<S> for Bulk {
    fn on_time(&mut self, now: Time, pairs: &mut [Pair<S>]) {
        let [pair] = pairs else { return };
        if now == self.start {
            match (self.request, &mut *pair) {
                (Some(request), pair) => ask(pair, request),
                (None, [data, back]) => {
                    back.listen();
                    data.connect();
                    offer(data, self.bytes);
                }
            }
        }
    }

    fn on_stop(&mut self, _: Time, pairs: &mut [Pair<S>]) {
        match pairs {
            // Nobody has asked yet: the one who would does not any more.
            [[data, back]] if data.state() == State::Listen => back.close(true),
            [[data, _]] => data.close(true),
            _ => {}
        }
    }

    fn on_data(&mut self, now: Time, number: usize, _: Side, _: u64, pairs: &mut [Pair<S>]) -> Due {
        // From the stop on nothing is offered.
        if let Some(request) = self.request.filter(|_| now < self.stop) {
            answer(&mut pairs[number][0], request, self.bytes);
        }
        Due::default()
    }

    fn attends(&self, side: Side) -> bool {
        self.request.is_some() && side == Side::Data
    }

    fn on_closed(&mut self, _: Time, _: usize, side: Side, broken: bool) -> bool {
        side == Side::Data || (self.request.is_some() && broken)
    }

    fn complete(&self, pairs: &[Pair<S>]) -> bool {
        pairs.first().is_some_and(|[_, back]| match self.bytes {
            // By duration: finished when the FIN behind the last byte has arrived.
            u64::MAX => back.finished(),
            bytes => back.delivered() == bytes,
        })
    }
}
