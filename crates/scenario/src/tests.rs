//! What a scenario must say, and what it is told when it does not.

mod arbitrary;
mod constellation;
mod errors;
mod files;
mod layers;
mod names;
mod places;
mod presets;
mod trace;
mod values;
mod whole;

use super::{Scenario, parse_str};

/// A scenario in which every kind of key occurs.
const BASE: &str = r#"title = "Base"
duration = "60 s"
seed = 7

[links.satellite]
from = "gateway"
to = "client"
rate = "2.048 Mbit/s"
delay = "250 ms"
efficiency = 0.8
queue = "100 packets"
loss = { model = "ber", ber = 1e-6, correctable_bits = 0 }

[links.satellite.reverse]
rate = "256 kbit/s"

[links.access]
from = "server{i}"
to = "gateway"
count = 3
rate = "10 Mbit/s"
delay = "10 ms"

[links.island]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"

[tcp]
profile = "rfc"
mss = "1460 B"
receive_window = "65535 B"
window_scaling = true
initial_window = "2 segments"
initial_ssthresh = "64 KiB"
growth = "bytes"
byte_counting_limit = 2
delayed_ack = { segments = 2, timeout = "200 ms" }
rto = { initial = "3 s", min = "1 s", max = "64 s", granularity = "500 ms" }
duplicate_threshold = 3
max_retransmissions = 6

[flows.download]
from = "server{i}"
to = "client"
count = 3
bytes = "50 MB"
start = "1 s"
start_step = "2 s"
variant = "reno"
tcp = { receive_window = "40 segments" }
receiver_tcp = { delayed_ack = false }

[flows.upload]
from = "client"
to = "server0"
duration = "30 s"
recovery = "newreno"
control = "standard"
"#;

fn good(text: &str) -> Scenario {
    parse_str("s.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The error of [`BASE`] with `old` replaced by `new`.
fn wrong(old: &str, new: &str) -> String {
    assert_eq!(BASE.matches(old).count(), 1, "{old:?} must occur once");
    match parse_str("s.toml", &BASE.replace(old, new), &[]) {
        Ok(_) => panic!("{new:?} was accepted"),
        Err(error) => error.to_string(),
    }
}

fn set(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    parse_str("s.toml", text, &overrides).map_err(|error| error.to_string())
}
