//! What links are tried with.

use bentpipe_path::{ActiveSpec, LossSpec, Packets, QueueSpec, RedOptions, RemOptions};
use bentpipe_units::Span;
use proptest::prelude::*;

pub(crate) fn queues() -> impl Strategy<Value = QueueSpec> {
    prop_oneof![
        Just(QueueSpec::Unlimited),
        (0_u32..12).prop_map(QueueSpec::Packets),
        (0_u64..20_000).prop_map(QueueSpec::Bytes),
    ]
}

pub(crate) fn losses() -> impl Strategy<Value = LossSpec> {
    prop_oneof![
        Just(LossSpec::None),
        (0.0..1.0).prop_map(|probability| LossSpec::Packet { probability }),
        (0.0..1e-3, 0_u32..4).prop_map(|(ber, correctable_bits)| LossSpec::Ber { ber, correctable_bits }),
        prop::collection::vec(1_u64..50, 0..20)
            .prop_map(|packets| LossSpec::Drop { packets, at_least: Default::default() }),
        (0.0..1.0, 0.01..1.0).prop_map(|(good_to_bad, bad_to_good)| LossSpec::GilbertElliott {
            good_to_bad,
            bad_to_good,
            loss_in_bad: 0.9,
            loss_in_good: 0.1,
        }),
    ]
}

pub(crate) fn managed_queues() -> impl Strategy<Value = QueueSpec> {
    let red = (1_u32..5, 1_u32..10, 0.01..1.0, 0.01..1.0, any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(min, more, max_p, weight, gentle, ns2, ecn)| {
            let (limit, min, max) = (Packets(20), Packets(min), Packets(min + more));
            ActiveSpec::Red(RedOptions { limit, min, max, max_p, weight, gentle, ns2, ecn })
        });
    let rem = (0_u32..10, 0.001..1.0, 1.001..2.0, 1_u64..40, any::<bool>()).prop_map(
        |(target, gamma, phi, interval, ecn)| {
            let interval = Span::from_millis(interval);
            let (limit, target) = (Packets(20), Packets(target));
            ActiveSpec::Rem(RemOptions { limit, gamma, alpha: 0.1, phi, target, interval, ecn })
        },
    );
    prop_oneof![
        (0u32..20).prop_map(QueueSpec::Packets),
        red.prop_map(QueueSpec::Active),
        rem.prop_map(QueueSpec::Active)
    ]
}

/// A packet for a link: when it comes and how long it is.
pub(crate) fn packets() -> impl Strategy<Value = Vec<(u64, u32)>> {
    proptest::collection::vec((0u64..3_000_000, 40u32..1500), 1..200)
}
