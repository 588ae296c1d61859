//! Datagrams that nobody slows down: the models' rates and bursts, and what they do to each other and to TCP.

use bentpipe_sim::FlowResult;

use crate::{Row, Watched, simulate, watch};

/// A link of so many Mbit/s, what else it has, and what flows over it from a to b.
fn over(rate_mbps: f64, link: &str, run: &str, flows: &[(&str, &str)]) -> String {
    let mut text = format!(
        "title = \"test\"\n{run}\n[links.path]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate_mbps} Mbit/s\"\ndelay = \"50 ms\"\n{link}\n"
    );
    for (name, keys) in flows {
        text += &format!("[flows.{name}]\nfrom = \"a\"\nto = \"b\"\n{keys}\n");
    }
    text
}

fn stream<'a>(flows: &'a [Watched], name: &str) -> &'a Watched {
    flows.iter().find(|flow| flow.name == name).unwrap_or_else(|| panic!("no series of {name}"))
}

/// Times and sizes of the datagrams that left.
fn datagrams(result: &FlowResult, flow: &Watched) -> Vec<(f64, u64)> {
    let bytes = (result.throughput_bps * result.duration_s / 8.0).round() as u64;
    let ends = flow.sent.iter().skip(1).map(|row| row.sequence).chain([bytes]);
    flow.sent.iter().zip(ends).map(|(row, end)| (row.time_s, end - row.sequence)).collect()
}

/// Times and sizes of the frames that left, told apart by their times.
fn frames(datagrams: &[(f64, u64)]) -> Vec<(f64, Vec<u64>)> {
    let mut frames: Vec<(f64, Vec<u64>)> = Vec::new();
    for (time, bytes) in datagrams {
        match frames.last_mut() {
            Some((at, sizes)) if at == time => sizes.push(*bytes),
            _ => frames.push((*time, vec![*bytes])),
        }
    }
    frames
}

#[test]
fn a_constant_rate_is_exact_and_evenly_spaced() {
    // 1/3 of a nanosecond is left over at each datagram, and does not add up.
    let text = over(10.0, "", "", &[("u", "app = \"cbr\"\nrate = \"600 kbit/s\"\nduration = \"1000 s\"")]);
    let (result, flows) = watch(&text, 1);
    let flow = &result.flows[0];
    assert_eq!((flow.datagrams_sent, flow.datagrams_lost, flow.bytes_delivered), (75_000, 0, 75_000_000));
    let sent = &flows[0].sent;
    for (row, Row { time_s: time, .. }) in sent.iter().enumerate() {
        assert!((time - row as f64 * 8000.0 / 600e3).abs() < 2e-9, "{row}: {time}");
    }
    assert_eq!(sent.last().map(|row| row.sequence), Some(74_999_000));
    // The headers take their share of the link.
    let link = &result.links[0].stats;
    assert_eq!(link.delivered_packets, 75_000);
    assert!((link.utilization * 10e6 * result.duration_s - 75_000.0 * 1028.0 * 8.0).abs() < 1.0);
    assert!((flow.duration_s - (74_999.0 * 8000.0 / 600e3 + 1028.0 * 8.0 / 10e6 + 0.05)).abs() < 1e-8);
    assert_eq!(flow.finish_s, Some(result.duration_s));
}

#[test]
fn a_number_of_bytes_ends_with_a_shorter_datagram() {
    let keys = "app = \"cbr\"\nrate = \"1 Mbit/s\"\npacket = \"300 B\"\nbytes = \"1 kB\"\nstart = \"2 s\"";
    let (result, flows) = watch(&over(10.0, "", "", &[("u", keys)]), 1);
    let sizes: Vec<u64> = datagrams(&result.flows[0], &flows[0]).iter().map(|sent| sent.1).collect();
    assert_eq!(sizes, [300, 300, 300, 100]);
    assert_eq!(result.flows[0].bytes_delivered, 1000);
    let arrives = 2.0 + 900.0 * 8.0 / 1e6 + 128.0 * 8.0 / 10e6 + 0.05;
    assert!((result.duration_s - arrives).abs() < 1e-9, "{}", result.duration_s);
    assert_eq!(result.flows[0].variant, "udp");
}

#[test]
fn audio_and_video_have_their_mean_rates() {
    for (variation, tolerance) in [(0.0, 1e-4), (0.3, 0.004), (1.0, 0.012)] {
        let keys = format!(
            "app = \"multimedia\"\nframe_rate = 29.97\naudio = \"48 kbit/s\"\nvideo = \"1 Mbit/s\"\n\
             frame_variation = {variation}\nduration = \"6000 s\""
        );
        let (result, flows) = watch(&over(1000.0, "", "", &[("u", &keys)]), 4);
        // Audio frames of 120 B leave on multiples of 20 ms; a video frame leaves with one at 0 s, 100 s and so on.
        let audio: u64 = datagrams(&result.flows[0], &flows[0])
            .iter()
            .map(|(time, bytes)| {
                let on_tick = (time / 0.02 - (time / 0.02).round()).abs() < 1e-7;
                if on_tick && *bytes == 120 { 120 } else { 0 }
            })
            .sum();
        let audio_rate = audio as f64 * 8.0 / 6000.0;
        assert!((audio_rate / 48e3 - 1.0).abs() < 1e-5, "{audio_rate}");
        let video_rate = (result.flows[0].bytes_delivered - audio) as f64 * 8.0 / 6000.0;
        assert!((video_rate / 1e6 - 1.0).abs() < tolerance, "{video_rate} with variation {variation}");
    }
}

#[test]
fn a_frame_is_a_burst_and_a_key_frame_a_longer_one() {
    let keys = "app = \"multimedia\"\naudio = \"1 bit/s\"\nduration = \"1200 s\"";
    let (result, flows) = watch(&over(100.0, "", "", &[("u", keys)]), 2);
    let frames = frames(&datagrams(&result.flows[0], &flows[0]));
    assert!(frames.len().abs_diff(30_000) <= 8, "{}", frames.len());
    let (mut key, mut other) = (Vec::new(), Vec::new());
    for (at, sizes) in &frames {
        let number = (at * 25.0).round();
        if (at * 25.0 - number).abs() > 1e-6 {
            continue;
        }
        // Whole datagrams, and the rest of the frame. A byte of audio may have come before.
        let sizes = if sizes[0] == 1 { &sizes[1..] } else { &sizes[..] };
        let Some((last, whole)) = sizes.split_last() else { continue };
        assert!(whole.iter().all(|bytes| *bytes == 1316) && *last <= 1316, "{sizes:?}");
        let size = sizes.iter().sum::<u64>() as f64;
        if (number as u64).is_multiple_of(12) { key.push(size) } else { other.push(size) }
    }
    for (sizes, expected) in [(key, 8192.0), (other, 2048.0)] {
        let n = sizes.len() as f64;
        let mean = sizes.iter().sum::<f64>() / n;
        let deviation = (sizes.iter().map(|size| (size - mean) * (size - mean)).sum::<f64>() / n).sqrt();
        // Five standard deviations of the mean.
        assert!((mean / expected - 1.0).abs() < 5.0 * 0.3 / n.sqrt(), "{mean}, expected {expected}");
        assert!((deviation / mean - 0.3).abs() < 0.03, "{deviation} of {mean}");
    }
}

#[test]
fn the_stream_is_the_same_beside_any_tcp_and_another_with_another_seed_or_name() {
    let beside = |variant: &str, name: &str, seed| {
        let tcp = format!("bytes = \"2 MB\"\nvariant = \"{variant}\"");
        let loss = "loss = { model = \"packet\", probability = 0.01 }\nqueue = \"20 packets\"";
        let flows = [("t", tcp.as_str()), (name, "app = \"multimedia\"")];
        let (result, flows) = watch(&over(2.0, loss, "", &flows), seed);
        let mut sent = datagrams(&result.flows[1], stream(&flows, name));
        assert!(sent.last().is_some_and(|sent| sent.0 > 8.0), "{variant}");
        // The run lasts as long as the download, which depends on its TCP.
        sent.retain(|(time, _)| *time < 8.0);
        sent
    };
    let first = beside("sack", "u", 1);
    for variant in ["tahoe", "reno", "adalr-sack"] {
        assert_eq!(beside(variant, "u", 1), first, "{variant}");
    }
    assert_ne!(beside("sack", "u", 2), first);
    assert_ne!(beside("sack", "v", 1), first);
}

#[test]
fn a_link_slower_than_the_stream_delivers_its_rate_and_drops_the_rest() {
    let keys = "app = \"cbr\"\nrate = \"3 Mbit/s\"\npacket = \"972 B\"";
    let (result, flows) =
        watch(&over(1.0, "queue = \"10 packets\"", "duration = \"1000 s\"", &[("u", keys)]), 1);
    let flow = &result.flows[0];
    assert_eq!((flow.duration_s, flow.finish_s), (1000.0, None));
    let goodput = 1e6 * 972.0 / 1000.0;
    assert!((flow.goodput_bps / goodput - 1.0).abs() < 1e-4, "{}", flow.goodput_bps);
    assert!((flow.throughput_bps / 3e6 - 1.0).abs() < 1e-4, "{}", flow.throughput_bps);
    let lost = flow.datagrams_lost as f64 / flow.datagrams_sent as f64;
    assert!((lost - (1.0 - goodput / 3e6)).abs() < 1e-4, "{lost}");
    let link = &result.links[0].stats;
    assert_eq!((link.dropped_packets, link.queue_max_packets), (flow.datagrams_lost, 10));
    let by_queue = flows[0].lost.iter().filter(|row| row.which).count() as u64;
    assert_eq!(by_queue, flow.datagrams_lost);
}

#[test]
fn random_loss_takes_its_share_and_nobody_sends_again() {
    let keys = "app = \"cbr\"\nrate = \"1 Mbit/s\"\nbytes = \"20 MB\"";
    let loss = "loss = { model = \"packet\", probability = 0.05 }";
    let result = simulate(&over(10.0, loss, "", &[("u", keys)]), 3);
    let flow = &result.flows[0];
    assert_eq!(flow.datagrams_sent, 20_000);
    // Five standard deviations of a binomial.
    assert!(flow.datagrams_lost.abs_diff(1000) < 155, "{}", flow.datagrams_lost);
    assert_eq!(flow.bytes_delivered, 1000 * (20_000 - flow.datagrams_lost));
    assert_eq!(flow.datagrams_lost, result.links[0].stats.corrupted_packets);
    assert_eq!(result.engine.data_segments, 0);
}

#[test]
fn tcp_gets_what_a_stream_leaves() {
    let udp = "app = \"cbr\"\nrate = \"500 kbit/s\"";
    for variant in ["newreno", "sack"] {
        let tcp = format!("variant = \"{variant}\"");
        let text = over(1.0, "queue = \"60 packets\"", "duration = \"600 s\"", &[("t", &tcp), ("u", udp)]);
        let result = simulate(&text, 1);
        let [tcp, udp] = &result.flows[..] else { panic!("two flows") };
        // TCP fills the queue, and a few datagrams find it full.
        let lost = udp.datagrams_lost as f64 / udp.datagrams_sent as f64;
        assert!(lost < 0.01, "{lost}");
        let left = 1e6 - udp.goodput_bps * 1028.0 / 1000.0;
        let share = tcp.goodput_bps * 1500.0 / 1460.0;
        assert!((0.98..=1.0).contains(&(share / left)), "{share} of {left} bit/s");
        assert!(udp.goodput_bps > 495e3, "{}", udp.goodput_bps);
        assert!(result.links[0].stats.utilization > 0.985);
        assert_eq!(result.engine.data_segments, tcp.data_segments_sent);
        // The shares differ, but only one flow negotiates.
        assert_eq!(result.jain, Some(1.0));
    }
}

#[test]
fn jain_is_over_flows_that_ask_for_the_same() {
    let fast = ("f", "app = \"cbr\"\nrate = \"3 Mbit/s\"");
    let slow = ("s", "app = \"cbr\"\nrate = \"1 Mbit/s\"");
    let again = ("a", slow.1);
    let web = ("w", "app = \"http\"");
    let (one, other) = (("one", ""), ("other", "variant = \"reno\""));
    let jain = |flows: &[(&str, &str)]| {
        let result = simulate(&over(10.0, "", "duration = \"20 s\"", flows), 1);
        (result.jain, result.jain_flows)
    };
    assert_eq!(jain(&[fast, slow]), (None, 0), "each got what it asked for");
    assert_eq!(jain(&[web, slow]), (None, 0));
    let (streams, over) = jain(&[slow, again]);
    assert!(streams > Some(0.999) && over == 2, "{streams:?}");
    assert_eq!(jain(&[web, fast, one]), (Some(1.0), 1), "one download among idle users");
    let (downloads, over) = jain(&[web, fast, one, other]);
    assert!(downloads > Some(0.7) && over == 2, "{downloads:?}");
}

#[test]
fn the_run_ends_when_all_that_have_an_end_are_over() {
    let end = |run: &str, flows: &[(&str, &str)]| simulate(&over(10.0, "", run, flows), 1).duration_s;
    let endless = ("e", "app = \"multimedia\"");
    let tcp = ("t", "bytes = \"1 MB\"");
    let short = ("s", "app = \"cbr\"\nrate = \"1 Mbit/s\"\nduration = \"1 s\"");
    let long = ("l", "app = \"cbr\"\nrate = \"1 Mbit/s\"\nduration = \"30 s\"");
    let download = end("", &[tcp]);
    assert!((2.0..5.0).contains(&download));
    // The stream takes its share of the link, and does not keep the run alive.
    assert!((download..download + 1.0).contains(&end("", &[tcp, endless])));
    assert!((download..download + 1.0).contains(&end("duration = \"100 s\"", &[tcp, endless])));
    // The last datagram leaves 8 ms before the 30 s are over.
    let last = 29.992 + 1028.0 * 8.0 / 10e6 + 0.05;
    assert!((end("", &[tcp, long, short]) - last).abs() < 1e-9);
    assert!((end("", &[short]) - (0.992 + 1028.0 * 8.0 / 10e6 + 0.05)).abs() < 1e-9);
    assert_eq!(end("duration = \"20 s\"", &[tcp, long]), 20.0);
    assert_eq!(end("duration = \"20 s\"", &[endless]), 20.0);
    assert_eq!(end("duration = \"20 s\"", &[endless, ("f", "app = \"cbr\"\nrate = \"1 kbit/s\"")]), 20.0);
}

#[test]
fn a_stream_whose_datagrams_are_all_lost_is_over_too() {
    let loss = "loss = { model = \"packet\", probability = 1.0 }";
    let keys = "app = \"cbr\"\nrate = \"1 Mbit/s\"\nduration = \"1 s\"";
    let result = simulate(&over(10.0, loss, "", &[("u", keys)]), 1);
    let flow = &result.flows[0];
    assert_eq!((flow.datagrams_sent, flow.datagrams_lost, flow.finish_s), (125, 125, None));
    assert!((result.duration_s - (0.992 + 1028.0 * 8.0 / 10e6 + 0.05)).abs() < 1e-9);
}
