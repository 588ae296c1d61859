//! The time series of what paces and goes through phases.

use bentpipe_sim::{Subjects, scenario};
use bentpipe_tcp::Catalogue;
use bentpipe_tcp::control::Extras;
use bentpipe_tcp::slow_start::SlowStartFactory;

use crate::relays::{Point, curves};
use crate::{one_flow, scenario as read};

const PATH: &str = "rate = \"10 Mbit/s\"\ndelay = \"25 ms\"\nqueue = \"100 packets\"";

/// Times and values of a kind of the only flow.
fn of(points: &[Point], kind: &str) -> Vec<(f64, f64)> {
    points.iter().filter(|point| (point.0, point.1) == (kind, 0)).map(|point| (point.2, point.3)).collect()
}

/// What a step curve holds at a time.
fn held(curve: &[(f64, f64)], time_s: f64) -> f64 {
    let behind = curve.partition_point(|point| point.0 <= time_s);
    curve[behind - 1].1
}

/// The names of the phases of the only flow, each with the time of its beginning.
fn phases(text: &str, points: &[Point]) -> Vec<(f64, &'static str)> {
    let names = Subjects::of(&read(text)).phases;
    let known = |value: f64| value.is_finite().then(|| names[value as usize]);
    of(points, "phase").into_iter().map(|(time_s, value)| (time_s, known(value).unwrap_or("none"))).collect()
}

#[test]
fn bbr3_tells_its_rates_and_its_phases() {
    let text = one_flow(PATH, "", "variant = \"bbr3\"\nduration = \"30 s\"");
    let (result, points) = curves(&text, 1);
    let phases = phases(&text, &points);
    let names: Vec<&str> = phases.iter().map(|(_, name)| *name).collect();
    // The first probing down is over with the ACK that it begins with.
    assert_eq!(names[..3], ["startup", "drain", "probe_bw_cruise"]);
    for name in ["probe_bw_down", "probe_bw_refill", "probe_bw_up", "probe_rtt"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    // What it paces by is its gain times 99 % of the bottleneck's rate, in packets.
    let (pacing, delivery) = (of(&points, "pacing_rate"), of(&points, "delivery_rate"));
    let bottleneck = 10e6 * 1460.0 / 1500.0;
    for (name, gain) in [("probe_bw_cruise", 1.0), ("probe_bw_refill", 1.0), ("probe_bw_up", 1.25)] {
        let shown = phases.iter().zip(&phases[1..]).filter(|((_, phase), _)| *phase == name);
        for ((began, _), (ended, _)) in shown {
            let rate = held(&pacing, 0.5 * (began + ended));
            let expected = 0.99 * gain * bottleneck;
            assert!((rate / expected - 1.0).abs() < 0.01, "{name} at {began} s: {rate} of {expected} bit/s");
        }
    }
    // Nothing is delivered faster than the link sends, and in the end what was delivered is what the rates say.
    assert!(delivery.iter().all(|(_, rate)| *rate <= bottleneck * 1.001));
    let cruise = delivery.iter().filter(|(time_s, _)| *time_s > 5.0).map(|(_, rate)| *rate);
    let rates: Vec<f64> = cruise.collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let goodput = result.flows[0].goodput_bps;
    assert!((mean / goodput - 1.0).abs() < 0.05, "{mean} of {goodput} bit/s");
}

#[test]
fn pacing_that_ends_is_a_rate_without_a_bound_and_a_phase_that_ends_has_no_number() {
    let tcp =
        "slow_start = \"careful-resume\"\ncareful-resume = { saved_cwnd = \"60 kB\", saved_rtt = \"50 ms\" }";
    let text = one_flow(PATH, tcp, "bytes = \"1 MB\"\nduration = \"30 s\"");
    let (_, points) = curves(&text, 1);
    let names: Vec<&str> = phases(&text, &points).iter().map(|(_, name)| *name).collect();
    assert_eq!(names, ["reconnaissance", "unvalidated", "validating", "normal", "normal"]);
    let pacing = of(&points, "pacing_rate");
    // Half of what was saved, a round trip: RFC 9959 section 3.2.
    let [(_, rate), (_, ended)] = pacing[..] else { panic!("{pacing:?}") };
    assert!(rate.is_finite() && ended == f64::INFINITY, "{pacing:?}");
    assert!(of(&points, "delivery_rate").is_empty());

    let text = one_flow(
        PATH,
        "slow_start = \"hystart++\"\nreceive_window = \"1 MB\"",
        "bytes = \"5 MB\"\nduration = \"30 s\"",
    );
    let (_, points) = curves(&text, 1);
    let names: Vec<&str> = phases(&text, &points).iter().map(|(_, name)| *name).collect();
    assert_eq!(names, ["conservative", "none"]);
}

#[test]
fn every_scheme_shows_the_phases_that_it_names_and_rates_where_it_has_them() {
    let catalogue = Catalogue::default();
    let mut seen = Vec::new();
    for (variant, _) in scenario::variants(&catalogue) {
        for start in catalogue.all::<dyn SlowStartFactory>() {
            let tcp = format!("slow_start = \"{}\"\nreceive_window = \"1 MB\"", start.name());
            let text = one_flow(
                PATH,
                &tcp,
                &format!("variant = \"{variant}\"\nbytes = \"2 MB\"\nduration = \"30 s\""),
            );
            let sender = &read(&text).flows[0].sender;
            let (control, slow_start) = (sender.control.factory(), sender.slow_start.factory());
            let (_, points) = curves(&text, 1);
            let named = if control.phases().is_empty() { slow_start.phases() } else { control.phases() };
            let shown = phases(&text, &points);
            let shown = shown.iter().map(|(_, name)| *name).filter(|name| *name != "none");
            for name in shown {
                assert!(named.contains(&name), "{name} in {text}");
                seen.push(name);
            }
            let mut made = control.make();
            let Extras { paces, reads_rates, .. } = made.extras();
            assert_eq!(of(&points, "delivery_rate").is_empty(), !reads_rates, "{text}");
            assert!(paces || slow_start.make().paces() || of(&points, "pacing_rate").is_empty(), "{text}");
            assert!(!paces || of(&points, "pacing_rate").len() > 1, "{text}");
        }
    }
    for name in ["startup", "drain", "probe_bw", "probe_bw_cruise", "conservative"] {
        assert!(seen.contains(&name), "nobody was in {name}");
    }
}
