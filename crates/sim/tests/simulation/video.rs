//! A film in segments: when it begins, what it stalls for, and which bit rates it comes in.

use bentpipe_sim::{RunResult, VideoResult};

use crate::{one_flow, simulate};

fn film(link: &str, flow: &str) -> RunResult {
    let flow = format!("app = \"video\"\n{flow}");
    simulate(
        &one_flow(
            link,
            "profile = \"ns2\"\ninitial_window = \"1000 segments\"\nreceive_window = \"8 MiB\"",
            &flow,
        ),
        1,
    )
}

fn video(result: &RunResult) -> &VideoResult {
    assert_eq!(result.users.videos.len(), 1);
    &result.users.videos[0]
}

fn assert_near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() < within, "{found}, expected {expected}");
}

/// So fast that only round trips count, of half a second.
const FAST: &str = "rate = \"1 Gbit/s\"\ndelay = \"250 ms\"";

#[test]
fn a_fast_link_fills_the_buffer_and_then_waits_for_room() {
    let flow = "ladder = [\"1 Mbit/s\"]\nlength = \"100 s\"\nplayer_buffer = \"20 s\"\nstart = \"1 s\"";
    let result = film(FAST, flow);
    let found = video(&result);
    assert_eq!((found.segments, found.stalls, found.bit_rate_switches), (25, 0, 0));
    assert_eq!((found.stalled_s, found.bit_rate_mean_bps), (0.0, Some(1e6)));
    // A handshake and a round trip for the first segment, a round trip for the second; then there are 8 s.
    assert_near(found.startup_s.unwrap_or_default(), 1.5, 0.02);
    assert!(result.users.transactions.iter().all(|it| it.size_bytes == 500_000 && it.response_s.is_some()));
    // 8 s at 2.5 s of the run; each later segment half a second. Full behind the sixth (22 s at 4.5 s would be beyond 20).
    let starts: Vec<f64> = result.users.transactions.iter().map(|it| it.start_s).collect();
    for pair in starts[8..].windows(2) {
        assert_near(pair[1] - pair[0], 4.0, 1e-6);
    }
    // The whole film has come once its last 16 s and a segment are in the buffer: it began at 2.5 s.
    let last = starts[24];
    assert_near(last, 2.5 + 100.0 - 20.0, 0.02);
    assert_near(result.flows[0].finish_s.unwrap_or_default(), last + 0.5, 0.02);
    assert_eq!(result.flows[0].bytes_delivered, 25 * 500_000);
}

#[test]
fn an_outage_longer_than_the_buffer_is_a_stall() {
    let link = format!("{FAST}\nschedule = [{{ at = \"20 s\", outage = \"30 s\", waiting = \"hold\" }}]");
    let flow = "ladder = [\"1 Mbit/s\"]\nlength = \"60 s\"\nplayer_buffer = \"12 s\"\nstartup = \"4 s\"";
    let result = film(&link, flow);
    let found = video(&result);
    assert_eq!((found.segments, found.stalls), (15, 1));
    // It began at 1 s. By 20 s segments for 28 s of film have come or are on their way, so that it stops at 29 s.
    let before =
        result.users.transactions.iter().filter(|it| it.start_s + it.response_s.unwrap_or(99.0) < 21.0);
    let empty_s = 1.0 + 4.0 * before.count() as f64;
    assert!((28.0..34.0).contains(&empty_s), "{empty_s}");
    let back = result.users.transactions.iter().find(|it| it.start_s + it.response_s.unwrap_or(0.0) > 40.0);
    let back_s = back.map_or(0.0, |it| it.start_s + it.response_s.unwrap_or(0.0));
    assert_near(found.stalled_s, back_s - empty_s, 0.02);
    assert!(found.stalled_s > 15.0, "{}", found.stalled_s);
}

#[test]
fn the_bit_rate_follows_what_the_link_carries() {
    let link = "rate = \"2 Mbit/s\"\ndelay = \"250 ms\"";
    let ladder =
        "ladder = [\"250 kbit/s\", \"500 kbit/s\", \"1 Mbit/s\", \"1.5 Mbit/s\", \"3 Mbit/s\", \"6 Mbit/s\"]";
    let result = film(link, &format!("{ladder}\nlength = \"600 s\""));
    let found = video(&result);
    assert_eq!((found.segments, found.stalls), (150, 0));
    let mean = found.bit_rate_mean_bps.unwrap_or_default();
    assert!((1.0e6..2.0e6).contains(&mean), "{mean}");
    assert!(found.bit_rate_switches >= 3, "{}", found.bit_rate_switches);
    // The reservoir fills at the lowest rate.
    assert!(result.users.transactions[..5].iter().all(|it| it.size_bytes == 125_000));
    let sizes: u64 = result.users.transactions.iter().map(|it| it.size_bytes).sum();
    assert_near(mean, sizes as f64 * 8.0 / 600.0, 1.0);
    assert_eq!(sizes, result.flows[0].bytes_delivered);
}

#[test]
fn a_link_below_the_lowest_rate_stalls_again_and_again() {
    let result =
        film("rate = \"500 kbit/s\"\ndelay = \"10 ms\"", "ladder = [\"1 Mbit/s\"]\nlength = \"60 s\"");
    let found = video(&result);
    assert!(found.stalls >= 3, "{}", found.stalls);
    // The film takes twice its time and is shown in its own: what is left is startup and stalls, but for what is shown after
    // the last segment has come.
    let finish = result.flows[0].finish_s.unwrap_or_default();
    let shown = finish - found.startup_s.unwrap_or_default() - found.stalled_s;
    assert!((50.0..60.0).contains(&shown), "{shown}");
}

#[test]
fn a_user_who_leaves_and_the_end_of_a_run_end_the_film() {
    let left = film(FAST, "ladder = [\"1 Mbit/s\"]\nduration = \"30 s\"\nplayer_buffer = \"20 s\"");
    assert_eq!((video(&left).stalls, left.flows[0].error.as_deref()), (0, None));
    assert_near(left.duration_s, 30.75, 0.3);
    // The link dies: what the user sees of the stall counts up to the end.
    let link = format!("{FAST}\nschedule = [{{ at = \"20 s\", outage = \"1000 s\", waiting = \"lose\" }}]");
    let text = one_flow(
        &link,
        "profile = \"ns2\"",
        "app = \"video\"\nladder = [\"1 Mbit/s\"]\nplayer_buffer = \"12 s\"",
    );
    let ended = simulate(&text.replace("[links", "duration = \"100 s\"\n[links"), 1);
    let found = video(&ended);
    assert_eq!(found.stalls, 1);
    assert!((60.0..80.0).contains(&found.stalled_s), "{}", found.stalled_s);
    assert_eq!(ended.flows[0].finish_s, None);
}

#[test]
fn the_last_segment_is_as_long_as_the_rest_of_the_film() {
    let result = film(FAST, "ladder = [\"1 Mbit/s\"]\nlength = \"9 s\"");
    let sizes: Vec<u64> = result.users.transactions.iter().map(|it| it.size_bytes).collect();
    assert_eq!(sizes, [500_000, 500_000, 125_000]);
    assert_eq!(video(&result).bit_rate_mean_bps, Some(1e6));
}

#[test]
fn a_short_film_and_a_small_buffer_begin_without_the_startup() {
    let short = film(FAST, "ladder = [\"1 Mbit/s\"]\nlength = \"4 s\"");
    assert_near(video(&short).startup_s.unwrap_or_default(), 1.0, 0.02);
    // Another segment of 5 s has no room beside the first one.
    let small =
        film(FAST, "ladder = [\"1 Mbit/s\"]\nlength = \"60 s\"\nplayer_buffer = \"8 s\"\nsegment = \"5 s\"");
    assert_near(video(&small).startup_s.unwrap_or_default(), 1.0, 0.02);
    assert_eq!(video(&small).segments, 12);
}

#[test]
fn a_connection_that_fails_ends_the_film() {
    let dead: Vec<String> = (400..1500).map(|number: u32| number.to_string()).collect();
    let link = format!("{FAST}\nloss = {{ model = \"drop\", packets = [{}] }}", dead.join(", "));
    let flow = "app = \"video\"\nladder = [\"1 Mbit/s\"]\nlength = \"600 s\"";
    let result = simulate(&one_flow(&link, "profile = \"ns2\"\nmax_retransmissions = 3", flow), 1);
    assert!(result.flows[0].error.is_some());
    assert!(video(&result).segments < 150);
    assert_eq!(result.flows[0].finish_s, None);
}
