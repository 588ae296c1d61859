//! What a link does in time, as a file that another can follow.

use std::fmt::Write;

use bentpipe_units::{Fault, Span, ensure, fault};

use crate::{InOutage, LinkConfig, LossSpec};

/// Bytes of the packet whose mean loss stands for a model that counts bits or has bursts.
const PACKET: u32 = 1500;

/// Bits of a packet that mahimahi delivers.
const BITS: u128 = 12_000;

/// Lines of a trace that is written: 80 MB, or two minutes at a gigabit a second.
const MOST_DELIVERIES: u128 = 10_000_000;

/// What a link is from a time on.
#[derive(Clone, Debug, PartialEq)]
struct State {
    at: Span,
    delay: Span,
    rate_bps: u64,
    loss: LossSpec,
    /// Nothing gets through.
    down: Option<InOutage>,
}

/// What a direction is when, in a round of a schedule that repeats; a standstill is a rate of zero.
fn states(direction: &LinkConfig) -> Vec<State> {
    let mut now = State {
        at: Span::ZERO,
        delay: direction.delay,
        rate_bps: direction.rate.scaled(direction.efficiency).as_bps(),
        loss: direction.loss.clone(),
        down: None,
    };
    let mut states = vec![now.clone()];
    let mut up_again: Option<Span> = None;
    let mut put = |state: &State| match states.last_mut() {
        Some(last) if last.at == state.at => *last = state.clone(),
        _ => states.push(state.clone()),
    };
    for change in direction.schedule.0.iter() {
        if let Some(at) = up_again.take_if(|up| *up <= change.at) {
            now = State { at, down: None, ..now };
            put(&now);
        }
        now.at = change.at;
        now.delay = change.delay.unwrap_or(now.delay);
        now.rate_bps = change.rate.map_or(now.rate_bps, |rate| rate.scaled(direction.efficiency).as_bps());
        now.loss = change.loss.clone().unwrap_or(now.loss);
        if let Some(outage) = change.outage {
            now.down = Some(change.waiting.unwrap_or_default());
            up_again = Some(change.at + outage);
        }
        if direction.schedule.period() != Some(change.at) {
            put(&now);
        }
    }
    if let Some(at) = up_again {
        put(&State { at, down: None, ..now });
    }
    states
}

/// A round of a schedule that repeats, otherwise what there is up to the last change, as CSV.
pub fn as_rows(direction: &LinkConfig) -> Result<String, Fault> {
    let mut states = states(direction);
    let period = direction.schedule.period();
    if let Some(period) = period {
        states.retain(|state| state.at < period);
        // In a later round the link is as the round before has left it.
        states.extend(states.first().cloned().map(|first| State { at: period, ..first }));
    }
    let bits = |loss: &LossSpec| match loss {
        LossSpec::None => Some(0.0),
        LossSpec::Ber { ber, correctable_bits: 0 } => Some(*ber),
        _ => None,
    };
    let by_bits = states.iter().any(|state| state.loss != LossSpec::None)
        && states.iter().all(|state| bits(&state.loss).is_some() && state.down != Some(InOutage::Lose));
    let mut text = format!("time_s,delay_s,rate_bps,{}\n", if by_bits { "ber" } else { "loss" });
    for state in states {
        let lost = match (by_bits, state.down) {
            (_, Some(InOutage::Lose)) => Some(1.0),
            (true, _) => bits(&state.loss),
            (false, _) => state.loss.mean_loss(PACKET),
        };
        let lost = lost.ok_or_else(|| fault!("losses with a mean", "a list of packets"))?;
        let rate_bps = if state.down == Some(InOutage::Hold) { 0 } else { state.rate_bps };
        let (at, delay) = (state.at.as_secs(), state.delay.as_secs());
        // Into a String.
        let _ = writeln!(text, "{at},{delay},{rate_bps},{lost}");
    }
    Ok(text)
}

/// The deliveries of 1500 bytes in a round of a schedule that repeats, otherwise in so long a time, as mahimahi has them.
pub fn as_deliveries(direction: &LinkConfig, duration: Option<Span>) -> Result<String, Fault> {
    let mut states = states(direction);
    let period = direction.schedule.period();
    let endless = || fault!("a duration of the scenario, which is the trace's", "\"mahimahi\"");
    let end = period.or(duration).ok_or_else(endless)?;
    states.retain(|state| state.at < end);
    states.push(State { at: end, ..states[states.len() - 1].clone() });
    let bits = |pair: &[State]| {
        let up = pair[0].down.is_none();
        u128::from(up) * u128::from((pair[1].at - pair[0].at).as_nanos()) * u128::from(pair[0].rate_bps)
    };
    let all = states.windows(2).map(bits).sum::<u128>() / (BITS * 1_000_000_000);
    ensure!(all <= MOST_DELIVERIES, fault!("at most {MOST_DELIVERIES} deliveries", "{all} within {end}"));
    let (mut text, mut sent, mut delivered) = (String::new(), 0_u128, 0);
    for pair in states.windows(2) {
        let (from, to) = (pair[0].at.as_nanos(), pair[1].at.as_nanos());
        let rate = if pair[0].down.is_some() { 0 } else { u128::from(pair[0].rate_bps) };
        let until = |at: u64| sent + u128::from(at - from) * rate;
        for ms in from / 1_000_000 + 1..=to / 1_000_000 {
            while until(ms * 1_000_000) >= (delivered + 1) * BITS * 1_000_000_000 {
                delivered += 1;
                let _ = writeln!(text, "{ms}");
            }
        }
        sent = until(to);
    }
    ensure!(!text.is_empty(), fault!("a rate that delivers 1500 bytes within {end}", "less"));
    Ok(text)
}
