//! Kernels in the event loop: their hosts' packets go through the network as ours do, and their sockets serve the same applications.
//!
//! A kernel has its turn at the timer of one of its ends: when it asked for it, and behind whatever it was given.

use bentpipe_net::Network;
use bentpipe_tcp::{Segment, State};
use bentpipe_units::{Span, Time};

use super::Engine;
use super::end::End;
use super::remote::Remote;
use crate::ids::{Call, ConnectionId, EndId, Side};
use crate::kernel::{Ask, Heard, Kernel, KernelSetup, Place, Socket, StartKernel};
use crate::packet::{Content, Packet};
use crate::progress::RunError;
use crate::watch::Watch;
use bentpipe_scenario::Scenario;

/// The kernels of a run.
#[derive(Default)]
pub(super) struct Kernels {
    all: Vec<Slot>,
    /// Why the run cannot go on.
    error: Option<String>,
}

struct Slot {
    /// None while it runs.
    kernel: Option<Box<dyn Kernel>>,
    /// Whose timer is the kernel's.
    timer: EndId,
}

fn place(id: EndId) -> Place {
    Place { connection: id.connection().index() as u32, host: id.side() as u8 }
}

fn end_at(place: Place) -> EndId {
    ConnectionId(place.connection).end(if place.host == 0 { Side::Data } else { Side::Back })
}

/// A kernel's host has sent a segment.
fn send(net: &mut Network<Packet, Watch>, id: EndId, end: &mut End, segment: Segment) {
    let Some(remote) = &mut end.remote else { return };
    let again = remote.sent.count(&segment);
    let sent = net.now();
    *net.outgoing() = Packet { content: Content::Foreign(segment), to: id.peer(), again, sent };
    net.inject(end.route, segment.packet_len());
}

impl Engine {
    /// Starts the kernels of the scenario's flows, one for all flows whose hosts are alike.
    pub(crate) fn start_kernels(
        &mut self,
        scenario: &Scenario,
        seed: u64,
        mut start: Option<&mut StartKernel>,
    ) -> Result<(), RunError> {
        let mut setups: Vec<KernelSetup> = Vec::new();
        for (flow, spec) in self.flows.iter().zip(&scenario.flows) {
            let Some(chosen) = spec.kernel.as_ref().filter(|_| !spec.app.over_udp()) else { continue };
            let cannot = |why: &str| {
                RunError::NoKernel(format!("flows.{}: variant: {}: {why}", spec.name, spec.variant))
            };
            if spec.upstream.is_some() || flow.relay.is_some() {
                return Err(cannot("expected a flow without a relay"));
            }
            let setup = KernelSetup::new(chosen.release.clone(), seed, [&spec.sender, &spec.receiver]);
            let number = match setups.iter().position(|known| *known == setup) {
                Some(number) => number,
                None => {
                    let start = start
                        .as_mut()
                        .ok_or_else(|| cannot("expected Linux on x86_64, where a kernel can run"))?;
                    let kernel = start(&setup).map_err(|why| cannot(&why))?;
                    let timer = ConnectionId(flow.connections.start as u32).end(Side::Data);
                    self.kernels.all.push(Slot { kernel: Some(kernel), timer });
                    setups.push(setup);
                    setups.len() - 1
                }
            };
            let kernel = self.kernels.all[number].kernel.as_ref();
            if let Some(kernel) = kernel.filter(|kernel| !kernel.controls().contains(&chosen.control)) {
                let known = kernel.controls().join(", ");
                return Err(cannot(&format!("expected a control of Linux {} ({known})", kernel.release())));
            }
            for connection in flow.connections.clone() {
                for (side, config) in [(Side::Data, &spec.sender), (Side::Back, &spec.receiver)] {
                    let end = &mut self.ends[ConnectionId(connection as u32).end(side).index()];
                    let socket = Socket::of(config, &chosen.control, false, end.attended);
                    let release = kernel.map_or("", |kernel| kernel.release());
                    end.remote = Some(Box::new(Remote::new(number, socket, release)));
                }
            }
        }
        Ok(())
    }

    /// Why a kernel has ended the run.
    pub(super) fn kernel_error(&mut self) -> Result<(), RunError> {
        self.kernels.error.take().map_or(Ok(()), |why| Err(RunError::Kernel(why)))
    }

    fn kernel_failed(&mut self, why: String) {
        self.kernels.error.get_or_insert(why);
        // The event loop ends.
        self.open_flows = 0;
    }

    /// Gives an end of a kernel something to do.
    fn ask(&mut self, id: EndId, what: Ask<'_>) {
        let now = self.net.now();
        let Some(remote) = &self.ends[id.index()].remote else { return };
        let slot = &mut self.kernels.all[remote.kernel];
        let Some(kernel) = &mut slot.kernel else { return };
        let (took, timer) = (kernel.take(now, place(id), what), slot.timer);
        match took {
            Ok(()) => self.arm_kernel(timer, now),
            Err(why) => self.kernel_failed(why),
        }
    }

    fn arm_kernel(&mut self, timer: EndId, due: Time) {
        let end = &mut self.ends[timer.index()];
        if due < end.armed {
            end.armed = due;
            self.net.probe.timers.push(due, Call::Timer(timer).into());
        }
    }

    /// A packet has come to a host of a kernel.
    #[cold]
    pub(super) fn arrives_at_kernel(&mut self, id: EndId, segment: &Segment) {
        let now = self.net.now();
        let end = &mut self.ends[id.index()];
        let Some(remote) = &mut end.remote else { return };
        remote.sent.acknowledged(segment);
        let new = remote.received.take(segment);
        if !end.attended {
            end.got.take(now, new);
        }
        self.ask(id, Ask::Packet(segment));
        if self.net.probe.observer.as_ref().is_some_and(|observer| observer.wants_state(id)) {
            self.ask(id, Ask::Tell);
        }
    }

    /// Asks for what the application wants of a kernel's socket.
    #[cold]
    pub(super) fn serve_remote(&mut self, id: EndId) {
        let Some(remote) = &mut self.ends[id.index()].remote else { return };
        if remote.state == State::CloseWait {
            // As with ours, the other end has no use for more.
            remote.close(true);
        }
        let opens = std::mem::take(&mut remote.opens).then(|| remote.socket.clone());
        let (writes, closes) = (std::mem::take(&mut remote.writes), remote.closes.take());
        if let Some(socket) = opens {
            self.ask(id, Ask::Open(&socket));
        }
        for bytes in writes {
            self.ask(id, Ask::Write(bytes));
        }
        if let Some(discard) = closes {
            self.ask(id, Ask::Close { discard });
        }
        if self.ends[id.index()].is_over() {
            self.closed(id);
        }
    }

    /// The kernel whose timer an end's is has its turn.
    #[cold]
    pub(super) fn turn_of_kernel(&mut self, id: EndId) {
        let now = self.net.now();
        let Some(number) = self.ends[id.index()].remote.as_ref().map(|remote| remote.kernel) else { return };
        let last = if self.end == Time::NEVER { self.end } else { self.end + Span::from_nanos(1) };
        let until = self.net.next_time().min(self.net.probe.timers.next_time()).min(last);
        self.run_kernel(number, now, until);
    }

    fn run_kernel(&mut self, number: usize, now: Time, until: Time) {
        let Some(mut kernel) = self.kernels.all[number].kernel.take() else { return };
        let mut heard = Vec::new();
        let (net, ends) = (&mut self.net, &mut self.ends);
        let ran = kernel.run(now, until, &mut |at, place, what| {
            net.advance(at);
            let id = end_at(place);
            match what {
                Heard::Sent(segment) => {
                    send(net, id, &mut ends[id.index()], segment);
                    until.min(net.next_time()).min(net.probe.timers.next_time())
                }
                other => {
                    heard.push((id, other));
                    at
                }
            }
        });
        let next = kernel.next_time();
        let slot = &mut self.kernels.all[number];
        slot.kernel = Some(kernel);
        let timer = slot.timer;
        if let Err(why) = ran {
            return self.kernel_failed(why);
        }
        for (id, what) in heard {
            self.hear(id, what);
        }
        self.arm_kernel(timer, next);
    }

    /// A program at a kernel's socket has something to say.
    fn hear(&mut self, id: EndId, what: Heard) {
        let now = self.net.now();
        let end = &mut self.ends[id.index()];
        let Some(remote) = &mut end.remote else { return };
        match what {
            Heard::Sent(_) => {}
            Heard::Read(bytes) => {
                remote.is_established();
                end.got.take(now, bytes as u32);
                self.converse(id, bytes as u32);
            }
            Heard::Ended => remote.ends(),
            Heard::Broke(error) => remote.breaks(error),
            Heard::Told(facts) => {
                remote.facts = facts;
                if let Some(observer) = &mut self.net.probe.observer {
                    observer.kernel_state(now, id, &facts, remote.sent.flight());
                }
                return;
            }
        }
        self.serve_remote(id);
    }

    /// Has the kernels tell of their connections.
    pub(crate) fn ask_kernels(&mut self, now: Time) -> Result<(), RunError> {
        if self.kernels.all.is_empty() {
            return Ok(());
        }
        self.net.advance(now);
        for connection in 0..self.ends.len() / 2 {
            let id = ConnectionId(connection as u32).end(Side::Data);
            if self.ends[id.index()]
                .remote
                .as_ref()
                .is_some_and(|remote| remote.state != State::Closed || remote.error.is_some())
            {
                self.ask(id, Ask::Tell);
            }
        }
        for number in 0..self.kernels.all.len() {
            self.run_kernel(number, now, now);
        }
        self.kernel_error()
    }
}
