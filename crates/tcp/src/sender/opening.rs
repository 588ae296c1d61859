//! How a sender begins, and what it is made of.

use super::*;
use crate::{Config, RtoEstimator, Spacing};

impl Sender {
    /// A sender whose first byte has sequence number `first`.
    pub fn new(config: &Config, first: Seq) -> Sender {
        let agreed = Agreed::all(config);
        let recovery = config.recovery.factory().make(config, agreed);
        let slow_start = config.slow_start.factory().make();
        let probes_tail = recovery.probes_tail();
        let mut control = config.control.factory().make();
        Sender {
            una: first,
            max: first,
            smss: agreed.smss,
            peer: PeerWindow::default(),
            app: Application::new(config, first),
            queue: WriteQueue::new(config, first),
            timers: Timers::new(config),
            send_path: if slow_start.listens() { SendPath::ByRecovery } else { SendPath::Plain },
            start_listens: slow_start.listens(),
            asked: Asked::by(&mut *control),
            dummies: DummiesLeft::None,
            usage: Usage::new(config.grow_only_when_limited, config.burst, first),
            window: agreed.first_window(config),
            control,
            recovery,
            record: Record::default(),
            rtt: RttEstimator::new(config.rto).probing(probes_tail),
            round_trips: RoundTrips::new(first - 1),
            stats: SenderStats::default(),
            came_twice: 0,
            echoed: None,
            resent_this_pass: 0,
            groups: Groups::new(config),
            paced: false,
            slow_start,
            pacing: Pacing::new(config.rto.estimator == RtoEstimator::Linux),
            restart: Restart::new(config, &agreed),
            reductions: Reductions::default(),
        }
    }

    /// The connection opens, with what the handshake left of `config`.
    pub fn open(&mut self, config: &Config, agreed: Agreed) {
        self.smss = agreed.smss;
        self.window = agreed.first_window(config);
        self.restart = Restart::new(config, &agreed);
        self.set_recovery(config.recovery.factory().make(config, agreed));
        self.ask_control();
    }

    fn ask_control(&mut self) {
        self.asked = Asked::by(&mut *self.control);
        if self.asked.reads_rates {
            self.record.stamp_entries(self.una);
        }
        if self.asked.paces {
            // It has a rate of its own.
            self.window.spacing = Spacing::Off;
        }
        self.hear_start();
        self.settle();
    }

    /// Replaces the control, before any data is sent.
    pub fn set_control(&mut self, control: Box<dyn Control>) {
        self.control = control;
        self.ask_control();
    }

    /// Replaces the slow start, before any data is sent.
    pub fn set_slow_start(&mut self, slow_start: Box<dyn SlowStart>) {
        self.slow_start = slow_start;
        self.hear_start();
        self.settle();
    }

    /// Replaces the recovery, before any data is sent.
    pub fn set_recovery(&mut self, recovery: Box<dyn Recovery>) {
        self.rtt = self.rtt.probing(recovery.probes_tail());
        self.recovery = recovery;
    }
}
