//! Time series as flat curves, which is how tables and plots want them.

use bentpipe_sim::{FlowSeries, RunResult};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Subject, kind, unit, and times and values as packed native 64-bit floats.
pub(crate) type Packed<'py> = (String, &'static str, &'static str, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// One quantity of one flow or link.
pub(crate) struct Curve {
    subject: String,
    kind: &'static str,
    unit: &'static str,
    time_s: Vec<f64>,
    values: Vec<f64>,
}

impl Curve {
    pub(crate) fn pack<'py>(&self, py: Python<'py>) -> Packed<'py> {
        let pack = |numbers: &[f64]| {
            PyBytes::new(py, &numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>())
        };
        (self.subject.clone(), self.kind, self.unit, pack(&self.time_s), pack(&self.values))
    }
}

/// Every curve of a run that kept series.
pub(crate) fn of(run: &RunResult) -> Vec<Curve> {
    let Some(series) = &run.series else { return Vec::new() };
    let flows = series.flows.iter().flat_map(of_flow);
    let links = run.links.iter().zip(&series.links).map(|(link, series)| {
        let values = series.queue_packets.iter().map(|&packets| packets as f64).collect();
        Curve {
            subject: link.name.clone(),
            kind: "queue",
            unit: "packets",
            time_s: series.time_s.clone(),
            values,
        }
    });
    flows.chain(links).collect()
}

fn of_flow(series: &FlowSeries) -> Vec<Curve> {
    let curve = |kind, unit, points: Points| {
        let (time_s, values) = points.into_iter().unzip();
        Curve { subject: series.name.clone(), kind, unit, time_s, values }
    };
    let (state, sent, acked) = (&series.state, &series.sent, &series.acked);
    let (sacked, lost) = (&series.sacked, &series.lost);
    vec![
        curve("cwnd", "B", changes(&state.time_s, &state.cwnd_bytes)),
        curve("ssthresh", "B", changes(&state.time_s, &state.ssthresh_bytes)),
        curve("flight", "B", changes(&state.time_s, &state.flight_bytes)),
        curve("rtt", "s", changes(&state.time_s, &state.rtt_s)),
        curve("rto", "s", changes(&state.time_s, &state.rto_s)),
        curve("sent", "B", rows(&sent.time_s, &sent.sequence_bytes, |row| sent.retransmission[row] == 0)),
        curve("resent", "B", rows(&sent.time_s, &sent.sequence_bytes, |row| sent.retransmission[row] == 1)),
        curve("acked", "B", rows(&acked.time_s, &acked.sequence_bytes, |_| true)),
        curve("sack_start", "B", rows(&sacked.time_s, &sacked.start_bytes, |_| true)),
        curve("sack_end", "B", rows(&sacked.time_s, &sacked.end_bytes, |_| true)),
        curve("dropped", "B", rows(&lost.time_s, &lost.sequence_bytes, |row| lost.by_queue[row] == 1)),
        curve("damaged", "B", rows(&lost.time_s, &lost.sequence_bytes, |row| lost.by_queue[row] == 0)),
    ]
}

type Points = Vec<(f64, f64)>;

/// The rows that `keep` takes.
fn rows(time_s: &[f64], values: &[u64], keep: impl Fn(usize) -> bool) -> Points {
    let kept = (0..time_s.len()).filter(|&row| keep(row));
    kept.map(|row| (time_s[row], values[row] as f64)).collect()
}

/// The rows with a value unlike the one before, and the last, so that a step curve ends where the run does. What is
/// not a number yet, or not bounded yet, has no row.
fn changes(time_s: &[f64], values: &[f64]) -> Points {
    let last = values.len().wrapping_sub(1);
    let kept = (0..values.len()).filter(|&row| {
        values[row].is_finite() && (row == 0 || row == last || values[row] != values[row - 1])
    });
    kept.map(|row| (time_s[row], values[row])).collect()
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn a_step_curve_keeps_its_changes_and_its_end() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let kept = changes(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[nan, inf, 2.0, 2.0, 3.0, 3.0, 3.0]);
        assert_eq!(kept, [(2.0, 2.0), (4.0, 3.0), (6.0, 3.0)]);
    }
}
