//! Runs a scenario without Python and prints one JSON line: `bench SCENARIO [--repeat N] [--set key=value]…`.
//! `bench/run.py` times it and counts its instructions.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use bentpipe_sim::{RunOptions, run, scenario};

struct Arguments {
    scenario: PathBuf,
    repeat: u32,
    overrides: Vec<(String, String)>,
}

fn arguments() -> Result<Arguments, String> {
    let mut given = std::env::args().skip(1);
    let mut parsed = Arguments { scenario: PathBuf::new(), repeat: 1, overrides: Vec::new() };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--repeat" => {
                let text = value()?;
                parsed.repeat = text.parse().map_err(|_| format!("--repeat {text}: not a number of runs"))?;
            }
            "--set" => {
                let text = value()?;
                let (key, value) = text.split_once('=').ok_or(format!("--set {text}: not key=value"))?;
                parsed.overrides.push((key.to_owned(), value.to_owned()));
            }
            path => parsed.scenario = PathBuf::from(path),
        }
    }
    if parsed.scenario.as_os_str().is_empty() {
        return Err("usage: bench SCENARIO [--repeat N] [--set key=value]…".to_owned());
    }
    Ok(parsed)
}

/// The most memory that this process has held, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(kilobytes.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

fn measure(arguments: &Arguments) -> Result<String, String> {
    let scenario =
        scenario::load(&arguments.scenario, &arguments.overrides).map_err(|error| error.to_string())?;
    let mut line = String::new();
    for _ in 0..arguments.repeat {
        let started = Instant::now();
        let clock: Box<dyn Fn() -> f64> = Box::new(move || started.elapsed().as_secs_f64());
        let options = RunOptions { clock: Some(clock), ..RunOptions::default() };
        let result =
            run(&scenario, options, &mut |_| ControlFlow::Continue(())).map_err(|error| error.to_string())?;
        let sum = |of: fn(&bentpipe_sim::FlowResult) -> u64| result.flows.iter().map(of).sum::<u64>();
        let finish = result.flows.iter().filter_map(|flow| flow.finish_s).fold(0.0, f64::max);
        line = serde_json::json!({
            "simulator": "bentpipe",
            "scenario": result.scenario,
            "data_segments": result.engine.data_segments,
            "bytes_delivered": sum(|flow| flow.bytes_delivered),
            "finish_s": if finish > 0.0 { finish } else { result.duration_s },
            "wall_s": result.engine.wall_s,
            "retransmissions": sum(|flow| flow.retransmitted_segments),
            "timeouts": sum(|flow| flow.timeouts.unwrap_or(0)),
            "events": result.engine.events,
            "peak_bytes": peak_bytes(),
        })
        .to_string();
    }
    Ok(line)
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| measure(&arguments)) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::from(2)
        }
    }
}
