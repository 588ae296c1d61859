//! Each window of data with losses costs a reduction of its own (RFC 5681 section 4.3), also where its losses were found and sent again
//! before the recovery of the window before it is over.

use proptest::prelude::*;

use crate::harness::{CLIENT, Fate, Net, config, control};
use crate::script::Script;

#[test]
fn a_loss_of_the_next_window_that_went_again_before_the_recovery_ends_begins_another() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(40);
    script.wait(100);
    let sent: Vec<_> = (2..=10).flat_map(|held| script.ack(0, &[(2, held)])).collect();
    assert!(sent.contains(&(1, true)) && sent.contains(&(14, false)), "{sent:?}");
    assert_eq!(script.windows().1, 5.0);
    // Of what was sent since, segment 13 is lost and goes again; then the recovery ends.
    script.wait(100);
    let sent = script.ack(0, &[(14, 14), (2, 12)]);
    assert!(sent.contains(&(13, true)), "{sent:?}");
    let recovering = script.sender.recovery_phases();
    script.ack(12, &[(14, 14)]);
    assert_eq!((recovering, script.sender.recovery_phases()), (1, 2));
    assert!(script.sender.in_recovery());
    assert_eq!(script.windows().1, 2.5);
}

#[test]
fn an_ack_that_moves_the_cumulative_point_and_reports_beyond_it_shows_the_loss_between() {
    // RFC 8985 section 6.2 step 2: of segments sent at the same time the one with the higher sequence number was sent last.
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    let sent = script.ack(1, &[(3, 10)]);
    assert_eq!(sent.first(), Some(&(2, true)), "{sent:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_loss_lies_in_a_window_that_was_reduced_for(
        name in prop::sample::select(&["standard", "cubic", "adalr"][..]),
        // Sparse, so that no retransmission has to wait: what is reported before the recovery ends is no loss any more, in Linux too.
        gaps in prop::collection::vec(15_usize..60, 1..12),
    ) {
        let lost: Vec<usize> = gaps.iter().scan(10, |at, gap| { *at += gap; Some(*at) }).collect();
        let config = bentpipe_tcp::Config { control: control(name), initial_window: 10, ..config("rack") };
        // By the place of the original among all data: what goes again passes.
        let mut originals = 0;
        let net = Net::alike(config).through(move |passing| {
            originals += usize::from(passing.data_number > 0 && !passing.again);
            let original = passing.from == CLIENT && passing.data_number > 0 && !passing.again;
            if original && lost.contains(&originals) { Fate::drop() } else { Fate::pass() }
        });
        let mut net = net.transfer(800_000);
        let reductions = net.ends[CLIENT].take_reductions();
        for lost in net.data_by(CLIENT).iter().filter(|sent| sent.copies == 0) {
            let seq = lost.passing.segment.seq;
            let reduced = reductions.iter().any(|window| window.una <= seq && seq < window.below);
            prop_assert!(reduced, "{} in {reductions:?}", net.relative(CLIENT, seq));
        }
    }
}
