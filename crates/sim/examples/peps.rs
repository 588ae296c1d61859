//! The tables of `docs/explanation/peps.md`: elements inside the network, what they give, and what breaks them. Prints Markdown.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use bentpipe_sim::{RunOptions, RunResult, run, scenario};

const SEEDS: u64 = 10;
/// What stands before a lossy link, in a scenario with one connection.
const ELEMENTS: [(&str, &str); 3] = [("none", ""), ("snoop", "snoop"), ("spoof", "spoof")];

/// The run of a scenario of `docs/explanation/peps` with these settings.
fn simulate(file: &str, settings: &[(String, String)], seed: u64) -> Result<RunResult, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explanation/peps").join(file);
    let scenario = scenario::load(&path, settings)?;
    let options = RunOptions { seed: Some(seed), ..RunOptions::default() };
    Ok(run(&scenario, options, &mut |_| ControlFlow::Continue(()))?)
}

fn set(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// A gateway before a link.
fn guard(link: &str, scheme: &str) -> Vec<(String, String)> {
    match scheme {
        "" => Vec::new(),
        "xfwa" => vec![set(
            &format!("links.{link}.gateway"),
            "{ scheme = \"xfwa\", rtt = \"told\", told = \"260 ms\" }",
        )],
        scheme => vec![set(&format!("links.{link}.gateway"), &format!("{{ scheme = \"{scheme}\" }}"))],
    }
}

/// Means over the seeds: goodput at the last receiver in Mbit/s, segments that the senders sent again, timeouts, packets that the
/// element sent again.
fn means(file: &str, settings: &[(String, String)]) -> Result<[f64; 4], Box<dyn Error>> {
    let mut sums = [0.0; 4];
    for seed in 1..=SEEDS {
        let result = simulate(file, settings, seed)?;
        let last = result.flows.last().ok_or("no flow")?;
        let sum = |of: fn(&bentpipe_sim::FlowResult) -> u64| result.flows.iter().map(of).sum::<u64>() as f64;
        let local: u64 = result.gateways.iter().map(|gateway| gateway.stats.local_retransmissions).sum();
        let values = [
            last.goodput_bps / 1e6,
            sum(|flow| flow.retransmitted_segments),
            sum(|flow| flow.timeouts.unwrap_or(0)),
            local as f64,
        ];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / SEEDS as f64);
    }
    Ok(sums)
}

fn row(name: &str, file: &str, settings: &[(String, String)], flows: &[&str]) -> Result<(), Box<dyn Error>> {
    print!("| {name} |");
    for variant in ["newreno", "cubic"] {
        let mut settings = settings.to_vec();
        settings.extend(flows.iter().map(|flow| set(&format!("flows.{flow}.variant"), variant)));
        let [goodput, resent, timeouts, local] = means(file, &settings)?;
        print!(" {goodput:.3} | {resent:.0} | {timeouts:.1} | {local:.0} |");
    }
    println!();
    Ok(())
}

fn head(first: &str) {
    println!(
        "| {first} | newreno: Mbit/s | resent | timeouts | resent locally | cubic: Mbit/s | resent | timeouts | resent locally |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
}

fn main() -> Result<(), Box<dyn Error>> {
    head("20 MB over GEO, PER 1e-3");
    for (name, scheme) in ELEMENTS {
        row(name, "geo.toml", &guard("satellite", scheme), &["download"])?;
    }
    row("split PEP, the same TCP on both sides", "split.toml", &[], &["ground", "space"])?;
    row(
        "split PEP, bbr3 over the satellite",
        "split.toml",
        &[set("flows.space.variant", "bbr3")],
        &["ground"],
    )?;
    println!();
    head("20 MB over GEO, then PER 5e-3 on a short link");
    for (name, scheme) in ELEMENTS {
        row(name, "access.toml", &guard("access", scheme), &["download"])?;
    }
    println!();
    println!("| element | in clear | `ipsec = true` | asymmetric route | handover away |");
    println!("| --- | --- | --- | --- | --- |");
    for (name, scheme) in ELEMENTS.into_iter().chain([("xfwa", "xfwa")]) {
        print!("| {name} |");
        let encrypted = set("flows.download.ipsec", "true");
        let end = set("duration", "300 s");
        for (file, more) in [
            ("geo.toml", None),
            ("geo.toml", Some(encrypted)),
            ("asymmetric.toml", None),
            ("handover.toml", Some(end)),
        ] {
            let mut settings = guard("satellite", scheme);
            settings.extend(more);
            let result = simulate(file, &settings, 1)?;
            let flow = &result.flows[0];
            let acts: u64 = result
                .gateways
                .iter()
                .map(|gateway| &gateway.stats)
                .map(|stats| stats.local_retransmissions + stats.acks_made + stats.windows_lowered)
                .sum();
            let lost =
                result.gateways.iter().map(|gateway| gateway.stats.acknowledged_ahead_bytes).sum::<u64>();
            match flow.finish_s {
                Some(finish) => print!(" {finish:.1} s, acts {acts} times |"),
                None => print!(" never, {lost} B acknowledged and lost |"),
            }
        }
        println!();
    }
    println!();
    println!("| a split PEP | acknowledged to the sender | delivered | lost |");
    println!("| --- | --- | --- | --- |");
    for (name, crash, back) in [
        ("that stays", "", ""),
        ("that crashes at 20 s", "20 s", ""),
        ("that is back after 5 s", "20 s", "5 s"),
    ] {
        let mut settings = Vec::new();
        settings.extend((!crash.is_empty()).then(|| set("flows.space.crash", crash)));
        settings.extend((!back.is_empty()).then(|| set("flows.space.back", back)));
        let result = simulate("split.toml", &settings, 1)?;
        let relay = &result.relays[0];
        let (delivered, error) = (result.flows[1].bytes_delivered, result.flows[0].error.as_deref());
        let error = error.map_or(String::new(), |error| format!("; to the sender: {error}"));
        println!(
            "| {name}{error} | {} B | {delivered} B | {} B |",
            relay.acknowledged_bytes, relay.lost_bytes
        );
    }
    Ok(())
}
