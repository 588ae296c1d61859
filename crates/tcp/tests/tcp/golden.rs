//! Short transfers, segment by segment, held against files under `tests/golden`.
//!
//! `UPDATE_EXPECT=1 cargo test -p bentpipe-tcp` writes them anew; what changed is then for a reader to judge.

use bentpipe_tcp::{Config, DelayedAck};
use bentpipe_units::Span;
use expect_test::expect_file;

use crate::adalr::{adalr, satellite};
use crate::harness::{Net, RECOVERIES, config, control};

fn compare(name: &str, net: &Net) {
    expect_file![format!("../golden/{name}.txt")].assert_eq(&net.trace());
}

#[test]
fn start_without_losses() {
    let mut config = config("reno");
    config.initial_window = 2;
    compare("start", &Net::alike(config.clone()).transfer(14_500));
    config.delayed_ack = DelayedAck::fixed(2, Span::from_millis(200));
    compare("start-delayed-ack", &Net::alike(config).transfer(14_500));
}

#[test]
fn losses_in_a_window_of_ten() {
    for recovery in RECOVERIES {
        for (losses, lost) in [("one-loss", &[3][..]), ("three-losses", &[3, 4, 7])] {
            let config = Config { initial_window: 10, ..config(recovery) };
            let net = Net::alike(config).dropping(lost).transfer(24_000);
            compare(&format!("{}-{losses}", recovery), &net);
        }
    }
}

#[test]
fn a_lost_tail_takes_a_timeout() {
    for recovery in RECOVERIES {
        let config = Config { initial_window: 8, limited_transmit: false, ..config(recovery) };
        let net = Net::alike(config).dropping(&[4, 5, 6, 8]).transfer(8000);
        compare(&format!("{}-timeout", recovery), &net);
    }
}

#[test]
fn adalr_over_a_satellite() {
    // A receiver of twelve segments, so that what goes beyond its window shows.
    for recovery in ["sack", "newreno"] {
        let config = Config {
            initial_window: 2,
            initial_ssthresh: Some(64_000),
            receive_window: 12_000,
            ..adalr(recovery)
        };
        let name = recovery;
        compare(&format!("adalr-{name}-start"), &satellite(config.clone()).transfer(60_000));
        compare(&format!("adalr-{name}-recovery"), &satellite(config).dropping(&[9, 11]).transfer(40_000));
    }
}

#[test]
fn afc_with_one_loss_and_with_two() {
    for (losses, lost) in [("one-loss", &[3][..]), ("near-losses", &[3, 4]), ("far-losses", &[1, 10])] {
        let config = Config { initial_window: 10, control: control("afc"), ..config("sack") };
        compare(&format!("afc-{losses}"), &Net::alike(config).dropping(lost).transfer(24_000));
    }
}
