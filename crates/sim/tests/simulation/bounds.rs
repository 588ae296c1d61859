//! Bounds that need no simulation, over every variant: nobody is above what the link carries, above the window a round trip, or faster than
//! doubling from the initial window, and who answers losses is not far above the response function of Reno or CUBIC.

use std::collections::BTreeSet;

use bentpipe_sim::FlowResult;
use bentpipe_sim::bounds::PathBounds;
use bentpipe_sim::scenario::{self, FlowSpec};
use bentpipe_tcp::Catalogue;
use bentpipe_tcp::slow_start::SlowStartFactory;

use crate::{one_flow, run_of, scenario as read};

/// A bound that a scheme may be above by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    /// The finish time of doubling from the initial window.
    Doubling,
    /// Reno's response to losses, and half as much again.
    Reno,
    /// CUBIC's, and half as much again.
    Cubic,
}

/// Controls and slow starts that are above a bound by their own equations, and why. All others hold it, and these are above it somewhere
/// in the tests.
const ABOVE: [(&str, Bound, &str); 28] = [
    ("adalr", Bound::Doubling, "an ACK adds up to √60/4 segments, also one of a single segment"),
    ("adalr", Bound::Reno, "congestion avoidance adds √ρ/2 times as much, 3 times at 600 ms"),
    ("adalr+afc", Bound::Doubling, "as adalr"),
    ("adalr+afc", Bound::Reno, "as adalr and as afc"),
    ("adalr+afc", Bound::Cubic, "as afc"),
    ("afc", Bound::Reno, "one loss in a window reduces nothing"),
    ("afc", Bound::Cubic, "one loss in a window reduces nothing"),
    ("bbr1", Bound::Reno, "a loss reduces nothing for longer than a round trip"),
    ("bbr1", Bound::Cubic, "a loss reduces nothing for longer than a round trip"),
    ("bbr3", Bound::Reno, "less than 2 % lost in a round trip reduces nothing for long"),
    ("bbr3", Bound::Cubic, "less than 2 % lost in a round trip reduces nothing for long"),
    ("cubic", Bound::Reno, "its own response function is above Reno's over a long round trip"),
    ("hybla", Bound::Cubic, "it grows as over a round trip of 25 ms"),
    ("hybla", Bound::Doubling, "slow start adds 2^ρ - 1 segments an ACK, ρ = RTT / 25 ms"),
    ("hybla", Bound::Reno, "it grows as over a round trip of 25 ms"),
    (
        "illinois",
        Bound::Cubic,
        "without a queue it grows by 10 segments a round trip, and a loss takes an eighth",
    ),
    (
        "illinois",
        Bound::Reno,
        "without a queue it grows by 10 segments a round trip, and a loss takes an eighth",
    ),
    ("veno", Bound::Cubic, "a loss without a queue takes a fifth"),
    ("veno", Bound::Reno, "a loss without a queue takes a fifth"),
    ("westwood", Bound::Cubic, "a loss leaves what the ACKs have shown the path to carry"),
    ("westwood", Bound::Reno, "a loss leaves what the ACKs have shown the path to carry"),
    ("jersey", Bound::Cubic, "a loss leaves what the ACKs have shown the path to carry"),
    ("jersey", Bound::Reno, "a loss leaves what the ACKs have shown the path to carry"),
    ("peach", Bound::Cubic, "a rapid recovery gives back what a loss of the link took"),
    ("peach", Bound::Doubling, "a sudden start asks for the receiver's window in one round trip"),
    ("peach", Bound::Reno, "a rapid recovery gives back what a loss of the link took"),
    ("star", Bound::Cubic, "a loss leaves what the ACKs have shown the path to carry"),
    ("star", Bound::Reno, "a loss leaves what the ACKs have shown the path to carry"),
];

fn above(scheme: &str, bound: Bound) -> bool {
    ABOVE.iter().any(|(name, of, _)| *name == scheme && *of == bound)
}

/// A transfer that has come to its end on a path of this least delay there, round trip and highest rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer<'a> {
    pub(crate) spec: &'a FlowSpec,
    pub(crate) flow: &'a FlowResult,
    pub(crate) delay_s: f64,
    pub(crate) rtt_s: f64,
    pub(crate) rate_bps: f64,
    /// Share of the packets that the link damages.
    pub(crate) loss: f64,
}

impl Transfer<'_> {
    pub(crate) fn path(&self) -> PathBounds {
        let payload = f64::from(self.spec.sender.mss);
        let Transfer { rate_bps, loss, delay_s, rtt_s, .. } = *self;
        PathBounds { rate_bps, loss, delay_s, rtt_s, payload, packet: payload + 40.0 }
    }

    /// Whether the control may send beyond the advertised window.
    pub(crate) fn widens(&self) -> bool {
        self.spec.sender.control.factory().make().extras().receive_window.is_some()
    }

    /// What of its control and its slow start may be faster than doubling.
    fn fast(&self) -> Vec<String> {
        let sender = &self.spec.sender;
        let names = [sender.control.name(), sender.slow_start.name()].into_iter();
        names.filter(|name| above(name, Bound::Doubling)).map(str::to_owned).collect()
    }

    /// What it needs at least, in seconds.
    fn least_s(&self) -> f64 {
        let sender = &self.spec.sender;
        let initial = f64::from(sender.initial_window * sender.mss);
        self.path().doubling_s(self.flow.bytes_delivered as f64, initial)
    }

    /// The window over the round trip, in bits a second.
    fn window_bps(&self) -> f64 {
        self.path().window_bps(f64::from(self.spec.receiver.receive_window))
    }

    /// Fails when it is above a bound.
    pub(crate) fn hold(&self, text: &str) {
        let FlowResult { name, goodput_bps, duration_s, .. } = self.flow;
        let carried = self.path().carried_bps();
        assert!(*goodput_bps <= carried, "{name}: {goodput_bps} of {carried} bit/s\n{text}");
        let window = self.window_bps();
        assert!(
            self.widens() || *goodput_bps <= window,
            "{name}: {goodput_bps} bit/s by a window for {window}\n{text}"
        );
        let least = self.least_s();
        assert!(
            !self.fast().is_empty() || *duration_s >= least,
            "{name}: {duration_s} s, at least {least}\n{text}"
        );
    }
}

/// A flow of `variant` over one link, and what is true of it.
struct Case<'a> {
    variant: &'a str,
    rate_bps: f64,
    /// Propagation delay each way, in seconds.
    delay_s: f64,
    loss: f64,
    tcp: &'a str,
    /// How much it sends: lines for the flow, or none for all that goes within `DURATION_S`.
    bytes: &'a str,
}

const DURATION_S: u32 = 400;

impl Case<'_> {
    fn run<T>(&self, seed: u64, look: impl FnOnce(&Transfer<'_>) -> T) -> T {
        let Case { variant, rate_bps, delay_s, loss, tcp, bytes } = *self;
        let link = format!(
            "rate = \"{rate_bps} bit/s\"\ndelay = \"{delay_s} s\"\nqueue = \"400 packets\"\n\
             loss = {{ model = \"packet\", probability = {loss} }}"
        );
        let text = one_flow(&link, tcp, &format!("variant = \"{variant}\"\n{bytes}"));
        let text = if bytes.is_empty() { format!("duration = \"{DURATION_S} s\"\n{text}") } else { text };
        let scenario = read(&text);
        let result = run_of(&scenario, seed);
        let (spec, flow) = (&scenario.flows[0], &result.flows[0]);
        look(&Transfer { spec, flow, delay_s, rtt_s: 2.0 * delay_s, rate_bps, loss })
    }
}

fn variants() -> Vec<String> {
    scenario::variants(&Catalogue::default()).into_iter().map(|(name, _)| name).collect()
}

/// Some variant comes close to each bound, so that the bounds are no idle ones.
#[test]
fn nobody_is_above_what_the_link_and_the_window_let_through() {
    let (mut carried, mut window) = (0.0_f64, 0.0_f64);
    for variant in &variants() {
        let cases = [
            (0.0, "receive_window = \"8 MB\"", "bytes = \"100 MB\""),
            (1e-3, "receive_window = \"8 MB\"", "bytes = \"100 MB\""),
            (0.0, "receive_window = \"64 kB\"", "bytes = \"20 MB\""),
            (1e-4, "receive_window = \"64 kB\"", "bytes = \"20 MB\""),
        ];
        for (loss, tcp, bytes) in cases {
            let case = Case { variant, rate_bps: 10e6, delay_s: 0.25, loss, tcp, bytes };
            case.run(1, |transfer| {
                transfer.hold(&format!("{variant} {tcp} {loss}"));
                carried = carried.max(transfer.flow.goodput_bps / transfer.path().carried_bps());
                if !transfer.widens() {
                    window = window.max(transfer.flow.goodput_bps / transfer.window_bps());
                }
            });
        }
    }
    assert!(carried > 0.9 && window > 0.9, "{carried} {window}");
}

#[test]
fn nobody_is_faster_than_doubling_from_the_initial_window() {
    let mut closest = 0.0_f64;
    let mut faster = BTreeSet::new();
    for start in Catalogue::default().all::<dyn SlowStartFactory>() {
        for (window, acks) in [(3, "true"), (3, "false"), (10, "true"), (10, "false")] {
            for variant in &variants() {
                for bytes in ["bytes = \"50 kB\"", "bytes = \"500 kB\"", "bytes = \"5 MB\""] {
                    let tcp = format!(
                        "receive_window = \"64 MB\"\nslow_start = \"{}\"\ninitial_window = \"{window} segments\"\n\
                         delayed_ack = {acks}\nbyte_counting_limit = 2",
                        start.name()
                    );
                    let case = Case { variant, rate_bps: 50e6, delay_s: 0.25, loss: 0.0, tcp: &tcp, bytes };
                    case.run(1, |transfer| {
                        transfer.hold(&format!("{variant} {tcp} {bytes}"));
                        let share = transfer.least_s() / transfer.flow.duration_s;
                        if share > 1.0 {
                            faster.extend(transfer.fast());
                        } else {
                            closest = closest.max(share);
                        }
                    });
                }
            }
        }
    }
    assert!(closest > 0.99, "{closest}");
    assert_eq!(faster, listed(Bound::Doubling));
}

#[test]
fn who_answers_losses_is_not_far_above_the_response_functions() {
    let cases = [(1e-2, 0.05), (1e-2, 0.3), (1e-3, 0.05), (1e-3, 0.3)];
    let (mut reno, mut cubic) = (BTreeSet::new(), BTreeSet::new());
    for variant in &variants() {
        for (loss, delay_s) in cases {
            let tcp = "receive_window = \"8 MB\"\ndelayed_ack = false";
            let case = Case { variant, rate_bps: 20e6, delay_s, loss, tcp, bytes: "" };
            let shares = [1, 2, 3].map(|seed| {
                case.run(seed, |transfer| {
                    let (path, goodput) = (transfer.path(), transfer.flow.goodput_bps);
                    let control = transfer.spec.sender.control.name().to_owned();
                    (control, goodput / path.mathis_bps(), goodput / path.cubic_bps())
                })
            });
            let mean = |of: fn(&(String, f64, f64)) -> f64| shares.iter().map(of).sum::<f64>() / 3.0;
            let what = format!("{variant}, {loss} lost, {delay_s} s");
            for (bound, share, far) in [
                (Bound::Reno, mean(|share| share.1), &mut reno),
                (Bound::Cubic, mean(|share| share.2), &mut cubic),
            ] {
                if share > FAR {
                    let control = &shares[0].0;
                    assert!(above(control, bound), "{what}: {share:.2} times what {bound:?} comes to");
                    far.insert(control.clone());
                }
            }
        }
    }
    assert_eq!(reno, listed(Bound::Reno));
    assert_eq!(cubic, listed(Bound::Cubic));
}

/// What is far above a response function, which is for losses at equal distances: so much above it.
const FAR: f64 = 1.5;

/// Who is listed as being above `bound`.
fn listed(bound: Bound) -> BTreeSet<String> {
    ABOVE.iter().filter(|(_, of, _)| *of == bound).map(|(name, ..)| (*name).to_owned()).collect()
}
