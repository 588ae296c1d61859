//! Whether anything of a scenario is left to chance, so that another seed may give another run.

use bentpipe_net::DirectionSetup;
use bentpipe_path::{ActiveSpec, LossSpec, QueueSpec};
use bentpipe_units::Span;

use super::Scenario;

impl Scenario {
    /// Whether any component draws random numbers on which a result may depend. Sequence numbers are drawn too, and nothing that
    /// is measured depends on them.
    pub fn is_random(&self) -> bool {
        let links = self.links.iter().flat_map(|link| [&*link.forward, &*link.reverse]);
        let hops = self.constellation.iter().flat_map(|sky| [&sky.uplink, &sky.downlink, &sky.laser]);
        let flows = self.flows.iter().any(|flow| flow.start_spread > Span::ZERO || flow.app.facts().draws);
        flows || links.chain(hops).any(draws)
    }
}

fn draws(DirectionSetup { link, .. }: &DirectionSetup) -> bool {
    let changes = link.schedule.0.iter().filter_map(|change| change.loss.as_ref());
    let queue = match &link.queue {
        QueueSpec::Unlimited | QueueSpec::Packets(_) | QueueSpec::Bytes(_) => false,
        QueueSpec::Active(ActiveSpec::External(_)) => true,
        // FQ-CoDel draws what its hash begins with.
        QueueSpec::Active(ActiveSpec::Red(_) | ActiveSpec::Rem(_) | ActiveSpec::FqCodel(_)) => true,
        QueueSpec::Active(ActiveSpec::Codel(_) | ActiveSpec::Drr(_) | ActiveSpec::Priority(_)) => false,
    };
    queue || changes.chain([&link.loss]).any(loses)
}

fn loses(loss: &LossSpec) -> bool {
    let may = |probability: f64| probability > 0.0 && probability < 1.0;
    match *loss {
        LossSpec::None | LossSpec::Drop { .. } => false,
        LossSpec::Packet { probability } => may(probability),
        LossSpec::Ber { ber, .. } => may(ber),
        LossSpec::External(_) => true,
        LossSpec::GilbertElliott { good_to_bad, loss_in_bad, loss_in_good, .. } => {
            may(loss_in_good) || (good_to_bad > 0.0 && (loss_in_bad > 0.0 || loss_in_good > 0.0))
        }
    }
}
