//! XFWA's rules in C (`bpf/window.h`) beside the simulator's gateway, with the same segments at the same times.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "the rules are C")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use bentpipe_bpf as _;
use bentpipe_path::gateway::{
    FlowKey, Gateway, GatewaySpec, Header, LastPacket, LinkView, RttSource, ShareOf, XfwaOptions,
};
use bentpipe_units::{Rate, Span, Time};
use proptest::prelude::*;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Config {
    rate: u64,
    buffer: u64,
    hop_ns: u64,
    told_ns: u64,
    source: u32,
    least: u32,
    link_header: u32,
    delta_factor: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    data_at: u64,
    seen_at: u64,
    rtt_ns: u64,
    shook_at: u64,
    hops: [u8; 2],
    scale: [u8; 2],
    fin: [u8; 2],
    handshake: u8,
    opener: u8,
    offered_at: u64,
    counted_ns: u64,
    epoch: u32,
    mss: u16,
    offered: u8,
    offerer: u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    payload: u32,
    window: u16,
    ttl: u8,
    syn: u8,
    ack: u8,
    fin: u8,
    rst: u8,
    shift: u8,
    pad: u8,
    mss: u16,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Snapshot {
    level: u64,
    mean_ns: u64,
    taken: u64,
    flows: u32,
    pad: u32,
}

unsafe extern "C" {
    fn host_xfwa_learn(f: *mut Flow, c: *const Config, now: u64, way: u32, s: *const Segment);
    fn host_xfwa_take(s: *mut Snapshot, c: *const Config, now: u64, flows: u32, known: u32, sum_ns: u64);
    fn host_xfwa_field(f: *const Flow, s: *const Snapshot, c: *const Config, seg: *const Segment) -> i32;
}

const NO_OPTION: u8 = 255;

/// The C rules with the flow table of a test around them: snapshots are taken when the simulator's gateway takes them.
struct InC {
    config: Config,
    flows: HashMap<FlowKey, Flow>,
    snapshot: Option<Snapshot>,
}

impl InC {
    fn advance(&mut self, now: u64, active: &mut HashMap<FlowKey, bool>) {
        let known: Vec<u64> =
            self.flows.iter().filter(|(key, _)| active[key]).map(|(_, f)| f.rtt_ns).collect();
        let known: Vec<u64> = known.into_iter().filter(|rtt| *rtt > 0).collect();
        let mean = match known.len() {
            0 => self.snapshot.map(|last| last.mean_ns as f64),
            n => Some(known.iter().sum::<u64>() as f64 / n as f64),
        };
        let due = self.snapshot.is_none_or(|last| (now - last.taken) as f64 >= last.mean_ns as f64);
        if let Some(mean) = mean {
            let delta = mean.ceil() as u64;
            for (key, flow) in &self.flows {
                if now - flow.data_at >= delta {
                    active.insert(*key, false);
                }
            }
        }
        if !due {
            return;
        }
        let mut sums = (0, 0, 0);
        for (key, flow) in &self.flows {
            if active[key] {
                sums.0 += 1;
                sums.1 += u32::from(flow.rtt_ns > 0);
                sums.2 += flow.rtt_ns;
            }
        }
        if sums.1 > 0 || self.snapshot.is_some() {
            let mut snapshot = self.snapshot.unwrap_or_default();
            // SAFETY: both are of the layout that bpf/window.h has.
            unsafe { host_xfwa_take(&mut snapshot, &self.config, now, sums.0, sums.1, sums.2) };
            self.snapshot = Some(snapshot);
        }
    }

    fn pass(
        &mut self,
        now: u64,
        forward: bool,
        header: &Header,
        active: &mut HashMap<FlowKey, bool>,
    ) -> Option<u16> {
        self.advance(now, active);
        let key = if forward { header.flow } else { header.flow.reversed() };
        if header.rst {
            return None;
        }
        let makes = header.syn || (forward && header.payload > 0);
        if let Entry::Vacant(room) = self.flows.entry(key) {
            if !makes {
                return None;
            }
            room.insert(Flow::default());
            active.insert(key, false);
        }
        let segment = Segment {
            payload: header.payload,
            window: header.window,
            ttl: header.ttl,
            syn: header.syn.into(),
            ack: header.ack.into(),
            fin: header.fin.into(),
            rst: header.rst.into(),
            shift: if header.syn { header.window_scale.unwrap_or(NO_OPTION) } else { NO_OPTION },
            mss: header.mss.unwrap_or(0),
            ..Segment::default()
        };
        let flow = self.flows.get_mut(&key).unwrap();
        flow.seen_at = now;
        if forward && header.payload > 0 {
            flow.data_at = now;
            active.insert(key, true);
        }
        // SAFETY: all are of the layout that bpf/window.h has.
        unsafe { host_xfwa_learn(flow, &self.config, now, u32::from(!forward), &segment) };
        let (flow, snapshot) = (*flow, self.snapshot.unwrap_or_default());
        let field = match forward {
            true => -1,
            // SAFETY: as above.
            false => unsafe { host_xfwa_field(&flow, &snapshot, &self.config, &segment) },
        };
        if flow.fin == [1, 1] {
            self.flows.remove(&key);
        }
        u16::try_from(field).ok()
    }
}

#[derive(Clone, Debug)]
struct Step {
    after_us: u64,
    flow: u32,
    forward: bool,
    kind: u8,
    ttl: u8,
    payload: u32,
    window: u16,
    scale: Option<u8>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        0..60_000_u64,
        0..5_u32,
        any::<bool>(),
        0..20_u8,
        56..=64_u8,
        0..3000_u32,
        any::<u16>(),
        proptest::option::of(0..20_u8),
    );
    let step = step.prop_map(|(after_us, flow, forward, kind, ttl, payload, window, scale)| Step {
        after_us,
        flow,
        forward,
        kind,
        ttl,
        payload,
        window,
        scale,
    });
    proptest::collection::vec(step, 1..120)
}

fn header(step: &Step) -> Header {
    let flow = FlowKey {
        source: 0x0a00_0001 + step.flow,
        destination: 0x0b00_0001,
        source_port: 5000,
        destination_port: 80,
    };
    let (syn, ack) = match step.kind {
        0 | 1 => (true, false),
        2 | 3 => (true, true),
        _ => (false, true),
    };
    Header {
        flow: if step.forward { flow } else { flow.reversed() },
        ttl: step.ttl,
        syn,
        ack,
        fin: step.kind == 4,
        rst: step.kind == 5,
        payload: if syn { 0 } else { step.payload },
        packet: 40 + step.payload,
        window: step.window,
        window_scale: if syn { step.scale } else { None },
        mss: syn.then_some(step.window % 9000),
        signed: false,
    }
}

fn options(source: RttSource) -> XfwaOptions {
    XfwaOptions {
        // The kernel sees what comes to the queue, and counts data.
        last_packet: LastPacket::Arrived,
        share_of: ShareOf::Data,
        rtt: source,
        isl_delay: Some(Span::from_millis(7)),
        told: Some(Span::from_millis(90)),
        ..XfwaOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The windows are the same, but for one unit where the share is within a tenth of a byte of a whole number.
    #[test]
    fn windows_are_those_of_the_simulator(steps in steps(), source in 0..3_usize, kbps in 100..100_000_u64) {
        let sources = [RttSource::Ttl, RttSource::Handshake, RttSource::Told];
        let options = options(sources[source]);
        let least = options.least.get() as u32;
        let mut ours = Gateway::new(&GatewaySpec::Xfwa(options)).unwrap();
        let link = LinkView { rate: Rate::from_bps(kbps * 1000), buffer_bytes: 60_000, queued_bytes: 0 };
        let config = Config {
            rate: kbps * 125,
            buffer: 60_000,
            hop_ns: 7_000_000,
            told_ns: 90_000_000,
            source: source as u32,
            least,
            ..Config::default()
        };
        let mut theirs = InC { config, flows: HashMap::new(), snapshot: None };
        let mut active = HashMap::new();
        let mut now = 1_000_000_000_u64;
        for step in &steps {
            now += step.after_us * 1000;
            let header = header(step);
            let expected = match step.forward {
                true => { ours.forward(Time::from_nanos(now), &header, &link); None }
                false => ours.backward(Time::from_nanos(now), &header, &link),
            };
            let found = theirs.pass(now, step.forward, &header, &mut active);
            match (expected, found) {
                (Some(a), Some(b)) => prop_assert!(a.abs_diff(b) <= 1, "{a} {b} {step:?}"),
                // A window of the segment's own size is left alone.
                (Some(a), None) => prop_assert!(a + 1 >= header.window, "{a} {step:?}"),
                (None, Some(b)) => prop_assert!(b + 1 >= header.window, "{b} {step:?}"),
                (None, None) => {}
            }
        }
    }
}

#[test]
fn bytes_of_the_example_in_the_document() {
    // 1.5 Mbit/s, 160 ms, 30 kB: four flows of one round trip have a quarter of pipe and buffer each.
    let config = Config {
        rate: 187_500,
        buffer: 30_000,
        told_ns: 160_000_000,
        source: 2,
        least: 1,
        ..Config::default()
    };
    let mut snapshot = Snapshot::default();
    // SAFETY: both are of the layout that bpf/window.h has.
    unsafe { host_xfwa_take(&mut snapshot, &config, 1, 4, 4, 640_000_000) };
    let flow = Flow { rtt_ns: 160_000_000, scale: [1, 1], ..Flow::default() };
    let segment = Segment { ack: 1, window: 65_535, shift: NO_OPTION, ..Segment::default() };
    // SAFETY: as above.
    let field = unsafe { host_xfwa_field(&flow, &snapshot, &config, &segment) };
    assert_eq!(field, (187_500 * 160 / 1000 + 30_000) / 4);
}

/// Who is a thousand times longer under way than those of whom the level was taken has a share beyond 4 GiB, and no small window by overflow.
#[test]
fn a_share_beyond_four_gibibytes_lowers_nothing() {
    let config = Config {
        rate: 1 << 30,
        buffer: 1 << 40,
        told_ns: 1_000_000,
        source: 2,
        least: 1,
        ..Config::default()
    };
    let mut snapshot = Snapshot::default();
    // SAFETY: both are of the layout that bpf/window.h has.
    unsafe { host_xfwa_take(&mut snapshot, &config, 1, 1, 1, 1_000_000) };
    let segment = Segment { ack: 1, window: 65_535, shift: NO_OPTION, ..Segment::default() };
    for rtt_ns in [1_000_000, 2_000_000, 600_000_000, 8_000_000_000] {
        let flow = Flow { rtt_ns, scale: [2, 16], ..Flow::default() };
        // SAFETY: as above.
        let field = unsafe { host_xfwa_field(&flow, &snapshot, &config, &segment) };
        assert_eq!(field, -1, "{rtt_ns} ns");
    }
}

/// A window below the sender's own segment would stall it.
#[test]
fn the_least_window_is_the_segment_that_the_syn_names() {
    let config =
        Config { rate: 1000, buffer: 1000, told_ns: 1_000_000, source: 2, least: 1460, ..Config::default() };
    let mut snapshot = Snapshot::default();
    // SAFETY: all are of the layout that bpf/window.h has.
    unsafe { host_xfwa_take(&mut snapshot, &config, 1, 10, 10, 10_000_000) };
    let mut flow = Flow::default();
    let syn = |ack, mss| Segment { syn: 1, ack, shift: NO_OPTION, mss, ttl: 64, ..Segment::default() };
    let ack = Segment { ack: 1, window: 65_535, shift: NO_OPTION, ttl: 64, ..Segment::default() };
    // SAFETY: as above.
    let field = unsafe {
        // That of the sender is about what comes back.
        host_xfwa_learn(&mut flow, &config, 1, 0, &syn(0, 1000));
        host_xfwa_learn(&mut flow, &config, 2, 1, &syn(1, 8960));
        host_xfwa_field(&flow, &snapshot, &config, &ack)
    };
    assert_eq!(field, 8960);
}
