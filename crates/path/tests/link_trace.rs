//! A small trace of a lossy link, pinned: published results depend on every line of it.

use std::fmt::Write;

use bentpipe_path::{Fate, Label, Link, LinkConfig, LossSpec, QueueSpec, Repair, Schedule, Stream};
use bentpipe_units::{Rate, Span, Time};
use expect_test::expect_file;

fn drain(link: &mut Link, until: Time, trace: &mut String) {
    while link.next_time() <= until {
        let now = link.next_time();
        while let Some(delivery) = link.poll(now) {
            let state = if delivery.fate == Fate::Damaged { "damaged" } else { "whole" };
            writeln!(trace, "{:>9} us  {} arrives {state}", now.as_nanos() / 1000, delivery.id).unwrap();
        }
    }
}

#[test]
fn a_satellite_link_with_bursts() {
    let config = LinkConfig {
        rate: Rate::from_bps(2_048_000),
        delay: Span::from_millis(250),
        efficiency: 0.8,
        queue: QueueSpec::Packets(3),
        loss: LossSpec::GilbertElliott {
            good_to_bad: 0.4,
            bad_to_good: 0.5,
            loss_in_bad: 1.0,
            loss_in_good: 0.0,
        },
        schedule: Schedule::default(),
        repair: Repair::None,
    };
    let mut link = Link::new(&config, Stream::derive(1, "link:satellite"));
    let mut trace = String::new();
    let sizes = [1500, 1500, 40, 1500, 1500, 576, 1500, 40, 40, 1500, 1500, 1500];
    for (id, bytes) in (0_u32..).zip(sizes) {
        let now = Time::from_nanos(3_000_000 * u64::from(id));
        drain(&mut link, now, &mut trace);
        let outcome = link.offer(now, id, bytes, Label::default);
        let waiting = link.queue_packets(now);
        writeln!(trace, "{:>9} us  {id} ({bytes} B) {outcome:?}, {waiting} waiting", now.as_nanos() / 1000)
            .unwrap();
    }
    let end = Time::from_nanos(300_000_000);
    drain(&mut link, end, &mut trace);
    writeln!(trace, "{:#?}", link.stats(end)).unwrap();
    expect_file!["link_trace.txt"].assert_eq(&trace);
}
