//! The emulator's loop, and the hosts around it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use bentpipe_files::CaptureFile;
use bentpipe_net::{Lost, Network, Probe, Topology};
use bentpipe_sim::pcap::Capture;
use bentpipe_sim::scenario::Scenario;
use bentpipe_sim::{GatewayResult, HandoverResult, LinkResult};
use bentpipe_units::{Span, Time};
use rustix::event::{PollFd, PollFlags};

use super::EmulatorOptions;
use super::frame::Frame;
use super::lateness::Lateness;
use super::report::{EmulatorReport, EmulatorResult, HostResult, LinkNow, Snapshot};
use super::roads::Roads;
use crate::clock::Clock;
use crate::namespace::{Namespace, StackSettings};
use crate::{LiveError, sys};

/// Of the TUN devices, in bytes: Ethernet's.
const MTU: usize = 1500;
/// Hosts at most, each with a namespace.
const MOST_HOSTS: usize = 64;
/// Packets that are read from one host before what has arrived elsewhere is looked at.
const BATCH: usize = 16;
/// The loop wakes so long before a packet is due and looks at the clock from then on: a timer of the kernel is late by about
/// as much.
const EARLY: Span = Span::from_nanos(100_000);
/// It does so for at most one part in so many of the time, so that other programs are let run.
const SHARE: u64 = 4;
/// How often the caller's wish to stop is looked at.
const LOOK: Span = Span::from_millis(20);
/// How often the caller hears how things stand.
const TELL: Span = Span::from_millis(250);

/// A host's namespace; it lives as long as these descriptors, or a program in it.
struct Host {
    tun: File,
    namespace: File,
    devices: File,
    lost: u64,
    result: HostResult,
}

/// Counts what came out of links that its pair had left.
struct Left(Vec<u64>);

impl Probe<Frame> for Left {
    fn lost(&mut self, _: Time, _: Time, _: &Frame, why: Lost) {
        // A change of routing's has no handover.
        if let Lost::Left(number) = why
            && let Some(count) = self.0.get_mut(number as usize)
        {
            *count += 1;
        }
    }
}

pub(super) struct Machine<'a> {
    scenario: &'a Scenario,
    topology: Topology,
    hosts: Vec<Host>,
    /// A host's place by its address.
    places: HashMap<u32, usize>,
    net: Network<Frame, Left>,
    roads: Roads,
    clock: Clock,
    end: Time,
    capture: Option<Capture>,
    lateness: Lateness,
    /// Since when it has been waiting for a packet without sleeping.
    early: Option<Time>,
    /// When it may do so again.
    may_wait: Time,
    packets: u64,
    bytes: u64,
    unroutable: u64,
    realtime: bool,
}

fn failed(error: impl ToString) -> LiveError {
    LiveError::Failed(error.to_string())
}

/// The nodes between which flows go; without a flow, those with one link.
fn host_nodes(scenario: &Scenario) -> Result<Vec<usize>, LiveError> {
    let mut nodes: BTreeSet<usize> = scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    if nodes.is_empty() {
        let joined =
            |node: usize| scenario.links.iter().filter(move |link| [link.from, link.to].contains(&node));
        nodes = (0..scenario.nodes.len()).filter(|node| joined(*node).count() == 1).collect();
    }
    match nodes.len() {
        0 | 1 => {
            Err(LiveError::Scenario("links: expected two hosts at least, found none to emulate".to_owned()))
        }
        2..=MOST_HOSTS => Ok(nodes.into_iter().collect()),
        many => Err(LiveError::Scenario(format!(
            "flows: expected at most {MOST_HOSTS} hosts, each with a namespace of its own, found {many}"
        ))),
    }
}

impl<'a> Machine<'a> {
    /// Makes the hosts, in this thread, and the network between them.
    pub(super) fn set_up(
        scenario: &'a Scenario,
        options: &EmulatorOptions,
    ) -> Result<Machine<'a>, LiveError> {
        let nodes = host_nodes(scenario)?;
        let mut capture = match &options.pcap {
            Some(path) => {
                let file = CaptureFile::create(path).map_err(failed)?;
                Some(Capture::start(Box::new(file)).map_err(failed)?.whole())
            }
            None => None,
        };
        let mut hosts = Vec::with_capacity(nodes.len());
        for node in &nodes {
            let name = &scenario.nodes[*node];
            if let Some(capture) = &mut capture {
                capture.add_interface(name).map_err(failed)?;
            }
            hosts.push(host(name, Ipv4Addr::from(scenario.address(*node)))?);
        }
        let topology = scenario.topology();
        let left = Left(vec![0; scenario.handovers.len()]);
        let mut net = Network::new(&topology, scenario.seed, Time::NEVER, (), left);
        let roads = Roads::new(scenario, &topology, &nodes, &mut net);
        let realtime = sys::run_first().is_ok();
        sys::wake_on_time().map_err(|error| LiveError::while_doing("setting the timer slack", &error))?;
        Ok(Machine {
            scenario,
            topology,
            places: nodes.iter().map(|node| scenario.address(*node)).zip(0..).collect(),
            hosts,
            net,
            roads,
            clock: Clock::start(),
            end: options.time.map_or(Time::NEVER, |time| Time::ZERO + time),
            capture,
            lateness: Lateness::new()?,
            early: None,
            may_wait: Time::ZERO,
            packets: 0,
            bytes: 0,
            unroutable: 0,
            realtime,
        })
    }

    /// Tells that the hosts are ready, waits for `begin`, and runs until its end has come or `stop` is set.
    pub(super) fn run(
        mut self,
        stop: &AtomicBool,
        tell: &Sender<Snapshot>,
        begin: &Receiver<()>,
    ) -> Result<EmulatorReport, LiveError> {
        // Nobody hears it any more only when the run is over.
        let _ = tell.send(self.snapshot()?);
        let _ = begin.recv();
        self.clock = Clock::start();
        let (mut look, mut told) = (Time::ZERO, Time::ZERO + TELL);
        loop {
            self.deliver()?;
            let mut busy = false;
            for from in 0..self.hosts.len() {
                busy |= self.read(from)?;
            }
            let now = self.clock.now();
            if now >= look {
                look = now + LOOK;
                if now >= self.end || stop.load(Ordering::Relaxed) {
                    return self.finish();
                }
                if now >= told {
                    told = now + TELL;
                    let _ = tell.send(self.snapshot()?);
                }
            }
            if !busy {
                self.sleep(look)?;
            }
        }
    }

    /// Sleeps until a host sends something, or shortly before there is something else to do.
    fn sleep(&mut self, look: Time) -> Result<(), LiveError> {
        let now = self.clock.now();
        let due = self.net.next_time();
        let mut wake = look.min(self.end).min(self.roads.next_time()).min(due);
        if wake == due && now >= self.may_wait {
            if due > now + EARLY {
                wake = Time::ZERO + due.since(Time::ZERO + EARLY);
            } else if now <= *self.early.get_or_insert(now) + EARLY {
                return Ok(());
            }
        }
        if let Some(began) = self.early.take() {
            let spent = now.since(began).as_nanos();
            self.may_wait = now + Span::from_nanos((SHARE - 1) * spent);
        }
        let hosts = self.hosts.iter();
        let mut fds: Vec<_> =
            hosts.map(|host| PollFd::from_borrowed_fd(host.tun.as_fd(), PollFlags::IN)).collect();
        self.clock.wait(&mut fds, wake)
    }

    /// Carries all packets as far as they come by now, each at its own time, and hands over those that have arrived.
    fn deliver(&mut self) -> Result<(), LiveError> {
        let mut now = self.clock.now();
        loop {
            let due = self.net.next_time();
            if self.roads.next_time() <= due.min(now) {
                self.roads.turn(&mut self.net);
                continue;
            }
            if due > now {
                now = self.clock.now();
                if due > now {
                    return Ok(());
                }
            }
            let Some(arrived) = self.net.poll(due) else { continue };
            let Frame { bytes, to, .. } = self.net.packet(&arrived);
            let host = &mut self.hosts[*to];
            match host.tun.write(bytes) {
                Ok(_) => {
                    host.result.received_packets += 1;
                    host.result.received_bytes += bytes.len() as u64;
                }
                // The kernel has no room for it, or somebody has taken the device down: a packet lost.
                Err(error)
                    if matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN | libc::EIO)) =>
                {
                    host.lost += 1;
                }
                Err(error) => return Err(LiveError::while_doing("writing to the TUN device", &error)),
            }
            let released = self.clock.now();
            self.lateness.record(due, released);
            if let Some(capture) = &mut self.capture {
                capture.record_whole(*to as u32, released.as_nanos(), bytes).map_err(failed)?;
            }
            self.net.discard(arrived);
        }
    }

    /// Takes packets from a host into the network; whether there may be more.
    fn read(&mut self, from: usize) -> Result<bool, LiveError> {
        for _ in 0..BATCH {
            let Frame { bytes, to, class } = self.net.outgoing();
            bytes.resize(MTU, 0);
            let host = &mut self.hosts[from];
            let length = match host.tun.read(bytes) {
                Ok(length) => length,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    return Ok(false);
                }
                Err(error) => return Err(LiveError::while_doing("reading from the TUN device", &error)),
            };
            bytes.truncate(length);
            let destination = match bytes.get(16..20) {
                Some(&[a, b, c, d]) if bytes[0] >> 4 == 4 => u32::from_be_bytes([a, b, c, d]),
                _ => 0,
            };
            let way = self
                .places
                .get(&destination)
                .and_then(|place| Some((*place, self.roads.between(from, *place)?)));
            let now = self.clock.now();
            if let Some(capture) = &mut self.capture {
                capture.record_whole(from as u32, now.as_nanos(), bytes).map_err(failed)?;
            }
            let Some((place, (route, served_by))) = way else {
                self.unroutable += 1;
                continue;
            };
            (*to, *class) = (place, served_by);
            host.result.sent_packets += 1;
            host.result.sent_bytes += length as u64;
            self.packets += 1;
            self.bytes += length as u64;
            // What the links do by now comes first.
            if self.net.next_time().min(self.roads.next_time()) > now {
                self.net.advance(now);
                self.net.inject(route, length as u32);
            } else {
                let sent = std::mem::take(self.net.outgoing());
                self.deliver()?;
                let now = self.clock.now().max(self.net.now());
                let route = self.roads.between(from, place).map_or(route, |(route, _)| route);
                self.net.advance(now.min(self.net.next_time()));
                *self.net.outgoing() = sent;
                self.net.inject(route, length as u32);
            }
        }
        Ok(true)
    }

    fn finish(mut self) -> Result<EmulatorReport, LiveError> {
        if let Some(capture) = self.capture.take() {
            capture.finish().map_err(failed)?;
        }
        self.report()
    }

    fn snapshot(&mut self) -> Result<Snapshot, LiveError> {
        let report = self.report()?;
        let now = self.net.now();
        let links = self.net.links_mut().iter_mut();
        let links = links.map(|link| LinkNow {
            rate_bps: link.rate().as_bps() as f64,
            queue_packets: link.queue_packets(now),
        });
        let now = links.collect();
        let namespaces = self.hosts.iter().map(|host| host.namespace.as_raw_fd()).collect();
        Ok(Snapshot { report, now, namespaces })
    }

    fn report(&mut self) -> Result<EmulatorReport, LiveError> {
        // Everything due has been handed over: the links may be asked for this moment.
        self.deliver()?;
        let end = self.clock.now().min(self.net.next_time()).max(self.net.now());
        self.net.advance(end);
        let names =
            self.topology.links.iter().flat_map(|link| [link.name.clone(), format!("{}/reverse", link.name)]);
        let names: Vec<String> = names.collect();
        let links = names.iter().cloned().zip(self.net.links_mut());
        let links = links.map(|(name, link)| LinkResult { name, stats: link.stats(end) }).collect();
        let specs: Vec<_> =
            self.topology.directions().map(|(_, direction)| direction.gateway.as_ref()).collect();
        let gateways = self.net.gateways().filter_map(|(link, gateway)| {
            let scheme = specs[link.index()]?.name();
            Some(GatewayResult { name: names[link.index()].clone(), scheme, stats: gateway.stats() })
        });
        let gateways = gateways.collect();
        let handovers = self.scenario.handovers.iter().zip(&self.net.probe.0);
        let handovers = handovers.map(|(handover, lost)| HandoverResult {
            name: handover.name.clone(),
            at_s: handover.at.as_secs(),
            flows: handover.flows.len() as u64,
            lost_packets: *lost,
        });
        let handovers = handovers.collect();
        let mut device_lost_packets = 0;
        for host in &mut self.hosts {
            let lost = Namespace::lost(&mut host.devices);
            let lost = lost.map_err(|error| LiveError::while_doing("reading /proc/net/dev", &error))?;
            device_lost_packets += lost + host.lost;
        }
        let relayed = self.scenario.flows.iter().filter(|flow| flow.upstream.is_some());
        Ok(EmulatorReport {
            title: self.scenario.title.clone(),
            seed: self.scenario.seed,
            duration_s: end.as_secs(),
            hosts: self.hosts.iter().map(|host| host.result.clone()).collect(),
            links,
            gateways,
            handovers,
            not_relayed: relayed.map(|flow| flow.name.clone()).collect(),
            emulator: EmulatorResult {
                packets: self.packets,
                bytes: self.bytes,
                lateness: self.lateness.quantiles(),
                overload: self.lateness.overload(end),
                device_lost_packets,
                unroutable_packets: self.unroutable,
                realtime: self.realtime,
            },
        })
    }
}

/// Moves this thread into a new namespace, and gives what holds it.
fn host(name: &str, address: Ipv4Addr) -> Result<Host, LiveError> {
    let address = address.to_string();
    let stack =
        StackSettings { mtu: MTU as u32, quickack: false, route: BTreeMap::new(), sysctl: BTreeMap::new() };
    let tun = Namespace::enter(&address, &stack)?.into_device();
    Namespace::route_everything()?;
    let open = |path: &str| {
        File::open(format!("/proc/thread-self/{path}"))
            .map_err(|error| LiveError::while_doing("opening /proc/thread-self", &error))
    };
    let result = HostResult {
        name: name.to_owned(),
        address,
        sent_packets: 0,
        sent_bytes: 0,
        received_packets: 0,
        received_bytes: 0,
    };
    Ok(Host { tun, namespace: open("ns/net")?, devices: open("net/dev")?, lost: 0, result })
}
