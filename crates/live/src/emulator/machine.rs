//! The emulator's loop, and the hosts around it.

use std::collections::{BTreeSet, HashMap};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use bentpipe_drive::pcap::Capture;
use bentpipe_drive::{HandoverResult, TURNS, addresses, network_rows};
use bentpipe_files::CaptureFile;
use bentpipe_net::{Lost, Network, Probe, Topology};
use bentpipe_scenario::Scenario;
use bentpipe_units::{Span, Time, fault};
use rustix::event::{PollFd, PollFlags};

use super::EmulatorOptions;
use super::frame::Frame;
use super::host_routes::HostRoutes;
use super::interface::Interface;
use super::lateness::Lateness;
use super::port::{Came, Port};
use super::report::{EmulatorReport, EmulatorResult, HostResult, LinkNow, Snapshot};
use crate::clock::Clock;
use crate::{LiveError, sys};

/// Hosts at most, each with a namespace.
const MOST_HOSTS: usize = 64;
/// What is read from one host before what has arrived elsewhere is looked at.
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

struct Host {
    name: String,
    address: Ipv4Addr,
    port: Port,
    sent_packets: u64,
    sent_bytes: u64,
}

impl Host {
    fn result(&self) -> HostResult {
        let interface = self.port.interface_name().map(str::to_owned);
        let (received_packets, received_bytes) = self.port.given;
        HostResult {
            name: self.name.clone(),
            address: interface.is_none().then(|| self.address.to_string()),
            interface,
            sent_packets: self.sent_packets,
            sent_bytes: self.sent_bytes,
            received_packets,
            received_bytes,
        }
    }
}

/// Counts what came out of links that its pair had left: by handover, and under satellites by pair of hosts.
struct Left {
    handovers: Vec<u64>,
    hosts: usize,
    strayed: Vec<[u64; TURNS]>,
}

impl Probe<Frame> for Left {
    fn lost(&mut self, _: Time, _: Time, frame: &Frame, why: Lost) {
        let Lost::Left(number) = why else { return };
        if let Some(strayed) = self.strayed.get_mut(frame.from * self.hosts + frame.to) {
            strayed[number as usize] += 1;
        } else if let Some(count) = self.handovers.get_mut(number as usize) {
            // A change of routing's has no handover.
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
    routes: HostRoutes,
    /// Hosts to which something has been handed that waits for more.
    holding: Vec<usize>,
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

/// The nodes between which flows go.
fn host_nodes(scenario: &Scenario) -> Result<Vec<usize>, LiveError> {
    crate::flow::carries(scenario)?;
    let nodes: BTreeSet<usize> = scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    match nodes.len() {
        ..=MOST_HOSTS => Ok(nodes.into_iter().collect()),
        many => {
            let fault = fault!("at most {MOST_HOSTS} hosts, each with a namespace of its own", "{many}");
            Err(fault.under("flows").into())
        }
    }
}

/// The interfaces at which the hosts are, in the order of `nodes`; none where no interface is named.
fn interfaces(
    scenario: &Scenario,
    nodes: &mut Vec<usize>,
    named: &[(String, String)],
) -> Result<Vec<Interface>, LiveError> {
    let name = |node: &usize| scenario.nodes[*node].as_str();
    let expected = |what: &str| {
        let hosts: Vec<_> = nodes.iter().map(name).collect();
        LiveError::Setting(format!("--interface: expected {what}, which are {}", hosts.join(", ")))
    };
    match named {
        [] => return Ok(Vec::new()),
        [one, other] if one.0 != other.0 => {}
        _ => return Err(expected("two hosts, each with an interface, of those of the scenario")),
    }
    let find = |host: &str| nodes.iter().copied().find(|node| name(node) == host);
    let found: Option<Vec<usize>> = named.iter().map(|(host, _)| find(host)).collect();
    let Some(found) = found else { return Err(expected("hosts of the scenario")) };
    let opened: Result<Vec<_>, _> = named.iter().map(|(_, name)| Interface::open(name)).collect();
    let opened = opened?;
    opened[0].fits(&opened[1])?;
    *nodes = found;
    Ok(opened)
}

impl<'a> Machine<'a> {
    /// Makes the hosts, in this thread, and the network between them.
    pub(super) fn set_up(
        scenario: &'a Scenario,
        options: &EmulatorOptions,
    ) -> Result<Machine<'a>, LiveError> {
        let mut nodes = host_nodes(scenario)?;
        let mut interfaces = interfaces(scenario, &mut nodes, &options.interfaces)?.into_iter();
        let mut capture = match &options.pcap {
            Some(path) => {
                let file = CaptureFile::create(path).map_err(failed)?;
                let capture = Capture::start(Box::new(file)).map_err(failed)?.whole();
                Some(if options.interfaces.is_empty() { capture } else { capture.of_ethernet() })
            }
            None => None,
        };
        let mut hosts = Vec::with_capacity(nodes.len());
        for node in &nodes {
            let name = scenario.nodes[*node].clone();
            if let Some(capture) = &mut capture {
                capture.add_interface(&name).map_err(failed)?;
            }
            let address = Ipv4Addr::from(addresses::address(*node));
            let port = match interfaces.next() {
                Some(interface) => Port::interface(interface, options.offloads),
                None => Port::namespace(address, options.offloads)?,
            };
            hosts.push(Host { name, address, port, sent_packets: 0, sent_bytes: 0 });
        }
        let topology = scenario.topology();
        let pairs = if scenario.constellation.is_some() { nodes.len() * nodes.len() } else { 0 };
        let left = Left {
            handovers: vec![0; scenario.handovers.len()],
            hosts: nodes.len(),
            strayed: vec![[0; TURNS]; pairs],
        };
        let mut net = Network::new(&topology, scenario.seed, Time::NEVER, (), left);
        let routes = HostRoutes::new(scenario, &topology, &nodes, &mut net);
        let realtime = sys::run_first().is_ok();
        sys::wake_on_time().map_err(|error| LiveError::while_doing("setting the timer slack", &error))?;
        Ok(Machine {
            scenario,
            topology,
            places: nodes.iter().map(|node| addresses::address(*node)).zip(0..).collect(),
            hosts,
            net,
            routes,
            holding: Vec::new(),
            clock: Clock::start(),
            end: options.time.map_or(Time::NEVER, |time| Time::ZERO + time),
            capture,
            lateness: Lateness::new()?,
            early: None,
            may_wait: if options.virtual_clock { Time::NEVER } else { Time::ZERO },
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
        let (mut look, mut next_report) = (Time::ZERO, Time::ZERO + TELL);
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
                if now >= next_report {
                    next_report = now + TELL;
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
        let mut wake = look.min(self.end).min(self.routes.next_time()).min(due);
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
            hosts.map(|host| PollFd::from_borrowed_fd(host.port.fd(), PollFlags::IN)).collect();
        self.clock.wait(&mut fds, wake)
    }

    /// Carries all packets as far as they come by now, each at its own time, and hands over those that have arrived.
    fn deliver(&mut self) -> Result<(), LiveError> {
        let mut now = self.clock.now();
        loop {
            let due = self.net.next_time();
            if self.routes.next_time() <= due.min(now) {
                self.routes.turn(&mut self.net);
                continue;
            }
            if due > now {
                self.flush()?;
                now = self.clock.now();
                if due > now {
                    return Ok(());
                }
            }
            let Some(arrived) = self.net.poll(due) else { continue };
            let Frame { bytes, to, trusted, .. } = self.net.packet(&arrived);
            let (clock, lateness) = (self.clock, &mut self.lateness);
            let mut sent = |due: &[Time]| lateness.record_all(due, clock.now());
            self.hosts[*to].port.hand_over(bytes, *trusted, due, &mut sent)?;
            if self.holding.last() != Some(to) {
                self.holding.push(*to);
            }
            if let Some(capture) = &mut self.capture {
                let released = self.clock.now().as_nanos();
                capture.record_whole(*to as u32, released, bytes).map_err(failed)?;
            }
            self.net.discard(arrived);
        }
    }

    /// Hands over what waits for more.
    fn flush(&mut self) -> Result<(), LiveError> {
        let (clock, lateness) = (self.clock, &mut self.lateness);
        let mut sent = |due: &[Time]| lateness.record_all(due, clock.now());
        for to in self.holding.drain(..) {
            self.hosts[to].port.flush(&mut sent)?;
        }
        Ok(())
    }

    /// Takes packets from a host into the network; whether there may be more.
    fn read(&mut self, from: usize) -> Result<bool, LiveError> {
        for _ in 0..BATCH {
            match self.hosts[from].port.read()? {
                Came::Nothing => return Ok(false),
                Came::Unreadable => self.unroutable += 1,
                Came::Packets(count) => {
                    let to = self.destination(from);
                    for number in 0..count {
                        self.send(from, to, number)?;
                    }
                }
            }
        }
        Ok(true)
    }

    /// The host, by its place, that what has been read from `from` is for.
    fn destination(&self, from: usize) -> Option<usize> {
        let port = &self.hosts[from].port;
        if port.interface_name().is_some() {
            return Some(1 - from);
        }
        match port.frame().get(..20) {
            Some(header) if header[0] >> 4 == 4 => {
                let address = u32::from_be_bytes([header[16], header[17], header[18], header[19]]);
                self.places.get(&address).copied()
            }
            _ => None,
        }
    }

    /// Takes the packet of the number `number` among those that were read from a host into the network.
    fn send(&mut self, from: usize, to: Option<usize>, number: usize) -> Result<(), LiveError> {
        let now = self.clock.now();
        if let Some(place) = to {
            self.routes.open(from, place, &mut self.net);
        }
        let frame = self.net.outgoing();
        let host = &mut self.hosts[from];
        frame.trusted = host.port.packet(number, &mut frame.bytes);
        frame.ip = host.port.ip(&frame.bytes);
        let length = host.port.length_on_links(&frame.bytes);
        if let Some(capture) = &mut self.capture {
            capture.record_whole(from as u32, now.as_nanos(), &frame.bytes).map_err(failed)?;
        }
        let way = to.and_then(|place| Some((place, self.routes.between(from, place)?)));
        let Some((place, (route, class))) = way else {
            self.unroutable += 1;
            return Ok(());
        };
        (frame.from, frame.to, frame.class) = (from, place, class);
        host.sent_packets += 1;
        host.sent_bytes += u64::from(length);
        self.packets += 1;
        self.bytes += u64::from(length);
        // What the links do by now comes first.
        if self.net.next_time().min(self.routes.next_time()) > now {
            self.net.advance(now);
            self.net.inject(route, length);
            return Ok(());
        }
        let sent = std::mem::take(self.net.outgoing());
        self.deliver()?;
        let now = self.clock.now().max(self.net.now());
        let route = self.routes.between(from, place).map_or(route, |(route, _)| route);
        self.net.advance(now.min(self.net.next_time()));
        *self.net.outgoing() = sent;
        self.net.inject(route, length);
        Ok(())
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
        let namespaces = self.hosts.iter().filter_map(|host| host.port.namespace_descriptor()).collect();
        Ok(Snapshot { report, now, namespaces })
    }

    fn report(&mut self) -> Result<EmulatorReport, LiveError> {
        // Everything due has been handed over: the links may be asked for this moment.
        self.deliver()?;
        let end = self.clock.now().min(self.net.next_time()).max(self.net.now());
        self.net.advance(end);
        let names = self.topology.links.iter().map(|link| &link.name).chain(self.routes.sky_link_names());
        let names: Vec<String> = names.cloned().collect();
        let guards = self.topology.directions().map(|(_, direction)| direction.gateway.as_ref());
        let aboard = self.scenario.constellation.as_ref().and_then(|spec| spec.laser.gateway.as_ref());
        let (links, gateways) = network_rows(&mut self.net, &names, guards, aboard, end);
        let lost = self.net.probe.handovers.iter().copied();
        let handovers = HandoverResult::of(&self.scenario.handovers, lost);
        let hosts: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        let paths = self.routes.paths(&hosts, &self.net.probe.strayed, end);
        let mut device_lost_packets = 0;
        for host in &mut self.hosts {
            device_lost_packets += host.port.lost()?;
        }
        let relayed = self.scenario.flows.iter().filter(|flow| flow.upstream.is_some());
        Ok(EmulatorReport {
            title: self.scenario.title.clone(),
            seed: self.scenario.seed,
            duration_s: end.as_secs(),
            hosts: self.hosts.iter().map(Host::result).collect(),
            links,
            gateways,
            handovers,
            paths,
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
