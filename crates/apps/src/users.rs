//! What users waited for or saw: pages, answers, films, short transfers, calls.

use bentpipe_units::{Span, Time};

use crate::Exchange;

bentpipe_units::numbers! {
    /// What the users of flows saw, a table for each kind of application.
    #[derive(Debug, Default)]
    pub struct Users {
        /// The pages of HTTP flows: one flow after the other, in the order in which they were asked for.
        pub pages: Vec<PageResult>;
        /// One entry a film, in the scenario's order of flows.
        pub videos: Vec<VideoResult>;
        /// One entry a telephone call, in the scenario's order of flows.
        pub calls: Vec<CallResult>;
        /// The transactions, the segments of films, and the transfers of short flows: one flow after the other, in the order of their starts.
        pub transactions: Vec<TransactionResult>;
    }

    /// One page of an HTTP flow.
    #[derive(Debug)]
    pub struct PageResult {
        /// The flow's name.
        pub flow: String;
        /// Its number, from 1.
        pub page: u64 = "", "page", runs one;
        /// When the user asked for it, in seconds.
        pub start_s: f64 = "s", "start", runs given;
        /// From the moment the user asks, before the SYN for the first page, to the last byte of the last object, in seconds;
        /// null when that did not come.
        pub response_s: Option<f64> = "s", "response", better less;
    }

    /// One transaction, one segment of a film, or the transfer of one short connection.
    #[derive(Debug)]
    pub struct TransactionResult {
        /// The flow's name.
        pub flow: String;
        /// Its number, from 1.
        pub transaction: u64 = "", "transaction", runs one;
        /// Size of the answer or of the transfer.
        pub size_bytes: u64 = "B", "size", runs given;
        /// When the client asked, or the connection was opened, in seconds.
        pub start_s: f64 = "s", "start", runs given;
        /// From the start, before the SYN where there is one, to the last byte, in seconds; null when that did not come.
        pub response_s: Option<f64> = "s", "response", better less;
    }

    /// A film, as its user saw it.
    #[derive(Debug)]
    pub struct VideoResult {
        /// The flow's name.
        pub name: String;
        /// Segments that came whole.
        pub segments: u64 = "", "segments", flows sum;
        /// From the request for the first segment, before the SYN, to the first picture, in seconds; null when nothing was shown.
        pub startup_s: Option<f64> = "s", "startup", flows mean, better less;
        /// Times that the buffer ran empty while the film was shown.
        pub stalls: u64 = "", "stalls", flows sum, runs events;
        /// How long the picture stood still for that, in seconds: until the film went on, the user left, or the run ended.
        pub stalled_s: f64 = "s", "stalled", flows sum, better less;
        /// Mean bit rate of the segments that came, by their playing time, in bits a second; null without one.
        pub bit_rate_mean_bps: Option<f64> = "bit/s", "bit rate", flows mean, better more;
        /// Segments whose bit rate is not that of the one before.
        pub bit_rate_switches: u64 = "", "switches", flows sum;
    }

    /// One direction of a telephone call, as its listener heard it: of the packets that were sent from the end of the warm-up on
    /// and have arrived or were lost.
    #[derive(Debug)]
    pub struct CallResult {
        /// The flow's name.
        pub name: String;
        /// Packets sent.
        pub packets_sent: u64 = "packet", "sent", flows sum;
        /// Packets that were lost on the way.
        pub packets_lost: u64 = "packet", "lost", flows sum, runs packets;
        /// Packets that came too late to be played.
        pub packets_late: u64 = "packet", "late", flows sum, runs packets;
        /// Share of the packets that were not played, lost or late, from 0 to 1; null when none was sent.
        pub loss: Option<f64> = "share", "loss", flows mean;
        /// Mean number of packets in a row that were not played, times 1 − `loss`: 1 where each is lost by itself, more where losses come
        /// in bursts (ITU-T G.107); null without a loss.
        pub burst_ratio: Option<f64> = "", "burst ratio", flows mean;
        /// From mouth to ear, in seconds: a frame and what the coder looks ahead, the way of the packet that came first, and the jitter
        /// buffer; null when none came.
        pub mouth_to_ear_s: Option<f64> = "s", "mouth to ear", flows mean;
        /// Transmission rating R by ITU-T G.107, at most 93.2; null when no packet came.
        pub rating: Option<f64> = "", "R", flows spread;
        /// Mean opinion score that goes with it, from 1 to 4.5; null when no packet came.
        pub mos: Option<f64> = "", "MOS", flows spread;
    }

    /// Quantiles of the response times of a flow's pages, transactions or short transfers, of those that came: each interpolated
    /// between the two nearest (definition 7 of Hyndman and Fan 1996). Null when there are none.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Responses {
        /// Median of the response times of its pages, transactions or short transfers that came, in seconds, interpolated between the two
        /// nearest (definition 7 of Hyndman and Fan 1996, NumPy's default); null without one. Over replications that of all runs together.
        pub response_p50_s: Option<f64> = "s", "response, p50", flows spread, runs p50, better less;
        /// The response time that 95 % of those that came are within, in seconds.
        pub response_p95_s: Option<f64> = "s", "response, p95", flows spread, runs p95, better less;
        /// The response time that 99 % of those that came are within, in seconds.
        pub response_p99_s: Option<f64> = "s", "response, p99", flows spread, runs p99, better less;
    }
}

impl Users {
    /// Adds the exchanges of a flow that began at `from` or later, as transactions.
    pub(crate) fn add_transactions(&mut self, flow: &str, exchanges: &[Exchange], from: Time) {
        self.transactions.extend(numbered(exchanges, from).map(|(transaction, exchange)| {
            TransactionResult {
                flow: flow.to_owned(),
                transaction,
                size_bytes: exchange.size,
                start_s: exchange.start.as_secs(),
                response_s: exchange.response.map(Span::as_secs),
            }
        }));
    }

    /// Adds them as pages.
    pub(crate) fn add_pages(&mut self, flow: &str, exchanges: &[Exchange], from: Time) {
        self.pages.extend(numbered(exchanges, from).map(|(page, exchange)| PageResult {
            flow: flow.to_owned(),
            page,
            start_s: exchange.start.as_secs(),
            response_s: exchange.response.map(Span::as_secs),
        }));
    }
}

/// The exchanges that began at `from` or later, each with its number among all.
fn numbered(exchanges: &[Exchange], from: Time) -> impl Iterator<Item = (u64, &Exchange)> {
    (1..).zip(exchanges).filter(move |(_, exchange)| exchange.start >= from)
}

impl Responses {
    /// Of these, what came.
    pub fn of<'a>(exchanges: impl Iterator<Item = &'a Exchange>) -> Responses {
        let mut sorted: Vec<Span> = exchanges.filter_map(|exchange| exchange.response).collect();
        sorted.sort_unstable();
        Responses {
            response_p50_s: quantile(&sorted, 0.5),
            response_p95_s: quantile(&sorted, 0.95),
            response_p99_s: quantile(&sorted, 0.99),
        }
    }
}

/// What the share `share` of the values is within: at the place (n − 1) `share` from the least, between two values in
/// proportion.
fn quantile(sorted: &[Span], share: f64) -> Option<f64> {
    let place = sorted.len().checked_sub(1)? as f64 * share;
    let (below, above) = (place.floor(), place.ceil());
    let value = |place: f64| sorted[place as usize].as_secs();
    Some(value(below) + (place - below) * (value(above) - value(below)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seconds: &[Option<f64>]) -> Responses {
        let exchange = |response: &Option<f64>| Exchange {
            start: Time::ZERO,
            response: response.map(Span::from_secs),
            size: 1,
        };
        Responses::of(seconds.iter().map(exchange).collect::<Vec<_>>().iter())
    }

    fn assert_quantiles(found: Responses, expected: [f64; 3]) {
        let found = [found.response_p50_s, found.response_p95_s, found.response_p99_s].map(Option::unwrap);
        assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn quantiles_are_those_of_definition_7_over_what_came() {
        // As numpy.quantile has them.
        assert_quantiles(of(&[Some(4.0), None, Some(1.0), Some(2.0), Some(3.0)]), [2.5, 3.85, 3.97]);
        assert_quantiles(of(&[Some(0.5)]), [0.5; 3]);
        let hundred_and_one: Vec<_> = (0..=100).rev().map(|n| Some(f64::from(n))).collect();
        assert_quantiles(of(&hundred_and_one), [50.0, 95.0, 99.0]);
        assert_eq!(of(&[None]), Responses::default());
    }
}
