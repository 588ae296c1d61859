//! A kernel that runs, between the simulator's times.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ChildStdout;
use std::sync::atomic::{AtomicUsize, Ordering};

use bentpipe_sim::kernel::{Ask, Hear, Heard, Kernel, KernelSetup, Place};
use bentpipe_tcp::wire;
use bentpipe_units::Time;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::calendar::{Calendar, Message, NEVER};
use crate::device::{Device, Sent};
use crate::folder::{Folder, Listeners};
use crate::found::{Found, find};
use crate::frames::{self, MOST_CONNECTIONS};
use crate::guest::{self, Said};

/// The kernel's time when the run begins: behind its start, and a multiple of all that its timers are rounded to below 4 s.
const BEGINNING: u64 = 8_192_000_000;
/// So many frames find room in a device's ring and in the program's socket.
const ORDERS_AT_ONCE: usize = 64;
/// After so long on the wall clock without a sign of it, a kernel is said to be stuck.
const STALL: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// Starts a kernel of a run.
///
/// # Errors
/// When there is none, or it does not start: a line that says so.
pub fn start(setup: &KernelSetup) -> Result<Box<dyn Kernel>, String> {
    let found = find(setup.release.as_deref())?;
    let settings = setup.settings.iter().enumerate().flat_map(|(host, settings)| {
        settings.iter().map(move |(name, value)| format!("{host} {name} {value}\n"))
    });
    let settings: String = settings.collect();
    let turn = Turn::take();
    let started = Folder::start(&found, setup.seed, &settings, turn.processor);
    let (folder, listeners, ended) =
        started.map_err(|error| format!("the virtual kernel does not start: {error}"))?;
    let mut machine = match Machine::connect(found, folder, listeners, ended, turn) {
        Ok(machine) => machine,
        Err((folder, error)) => return Err(stopped(&folder, &error)),
    };
    let booted = machine.boot();
    booted.map_err(|error| stopped(&machine.folder, &error))?;
    Ok(Box::new(machine))
}

fn stopped(folder: &Folder, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut => {
            "nothing has moved in the virtual kernel for 60 s: it loops without time passing".to_owned()
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => format!("the virtual kernel: {error}"),
        _ => format!("the virtual kernel stopped: {}", folder.last_words()),
    }
}

/// The processor that the kernel, its programs and this thread take turns on: on two they only wait for each other.
struct Turn {
    processor: usize,
    before: CpuSet,
}

impl Turn {
    fn take() -> Turn {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let before = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|number| before.is_set(*number)).collect();
        let turn = std::process::id() as usize + NEXT.fetch_add(1, Ordering::Relaxed);
        let processor = allowed.get(turn % allowed.len().max(1)).copied().unwrap_or(0);
        let mut one = CpuSet::new();
        one.set(processor);
        // Where it is forbidden, it is slower.
        let _ = sched_setaffinity(None, &one);
        Turn { processor, before }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before);
    }
}

struct Machine {
    found: Found,
    folder: Folder,
    ended: ChildStdout,
    calendar: Calendar,
    devices: [Device; 3],
    /// Devices with packets that the kernel has not been told of.
    called: [bool; 3],
    /// What its program is still to be asked for.
    orders: VecDeque<Vec<u8>>,
    frame: Vec<u8>,
    ready: bool,
    _turn: Turn,
}

/// What the kernel did last, for the one who polls.
enum Next {
    Clock,
    Device(usize),
    Called,
}

impl Machine {
    fn connect(
        found: Found,
        folder: Folder,
        listeners: Listeners,
        ended: ChildStdout,
        turn: Turn,
    ) -> Result<Machine, (Folder, io::Error)> {
        let connect = || {
            wait(&[listeners.clock.as_fd(), ended.as_fd()])?;
            let mut calendar = Calendar::new(listeners.clock.accept()?.0, BEGINNING)?;
            let mut devices = Vec::new();
            for listener in &listeners.devices {
                let device = connect_device(listener, &mut calendar, &mut devices, &ended)?;
                devices.push(device);
            }
            let devices = <[Device; 3]>::try_from(devices).map_err(|_| io::ErrorKind::NotConnected)?;
            io::Result::Ok((calendar, devices))
        };
        let (calendar, devices) = match connect() {
            Ok(connected) => connected,
            Err(error) => return Err((folder, error)),
        };
        let called = [false; 3];
        Ok(Machine {
            found,
            folder,
            ended,
            calendar,
            devices,
            called,
            orders: VecDeque::new(),
            frame: Vec::new(),
            ready: false,
            _turn: turn,
        })
    }

    /// Lets it start, until the time at which the run begins.
    fn boot(&mut self) -> io::Result<()> {
        let mut early = |_: Time, _: Place, _: Heard| Time::NEVER;
        loop {
            self.go_on(BEGINNING, &mut early)?;
            let request = self.calendar.request();
            if self.ready && request >= BEGINNING {
                break;
            }
            if request >= BEGINNING {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "its program does not start"));
            }
            self.calendar.run(request, BEGINNING, 0)?;
        }
        self.calendar.advance(BEGINNING);
        Ok(())
    }

    /// Handles what the kernel does until it waits, which it does at `until` at the latest, or at a time before it that is returned.
    fn go_on(&mut self, until: u64, hear: &mut Hear<'_>) -> io::Result<u64> {
        let mut until = until;
        while !self.calendar.waits {
            let by_clock = self.calendar.names_devices();
            let next = if by_clock && self.ready { Next::Clock } else { self.next(None)? };
            match next {
                Next::Clock => {
                    let message = self.message()?;
                    for number in 0..if by_clock { self.devices.len() } else { 0 } {
                        self.hear_device(number, Device::take_frames, &mut until, hear)?;
                    }
                    self.calendar.answer(message)?;
                }
                Next::Called => {}
                Next::Device(number) => self.hear_device(number, Device::handle, &mut until, hear)?,
            }
        }
        Ok(until)
    }

    fn hear_device(
        &mut self,
        number: usize,
        how: fn(&mut Device, Sent<'_>) -> io::Result<()>,
        until: &mut u64,
        hear: &mut Hear<'_>,
    ) -> io::Result<()> {
        let (calendar, ready) = (&mut self.calendar, &mut self.ready);
        how(&mut self.devices[number], &mut |frame| {
            let said = match number as u8 {
                guest::DEVICE => guest::said(frame),
                host => frames::read(frame)
                    .map(|(connection, segment)| Said::Of(Place { connection, host }, Heard::Sent(segment))),
            };
            match said {
                Some(Said::Ready) => *ready = true,
                Some(Said::Of(place, heard)) => {
                    let heard_until = hear(time(calendar.now()), place, heard);
                    *until = kernel_time(heard_until).min(*until);
                    calendar.run_until(*until)?;
                }
                None => {}
            }
            Ok(())
        })
    }

    /// The clock's next message; that the kernel is gone is seen a moment later.
    fn message(&mut self) -> io::Result<Message> {
        loop {
            match self.calendar.receive() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(&[self.calendar.stream.as_fd(), self.ended.as_fd()])?;
                }
                other => return other,
            }
        }
    }

    /// What comes next: of the clock, of a device, or of the device that was called.
    fn next(&self, called: Option<usize>) -> io::Result<Next> {
        let backend = called.and_then(|number| self.devices[number].backend());
        let [data, back, guest] = &self.devices;
        let all = [
            self.calendar.stream.as_fd(),
            data.stream.as_fd(),
            back.stream.as_fd(),
            guest.stream.as_fd(),
            backend.map_or(self.ended.as_fd(), |stream| stream.as_fd()),
            self.ended.as_fd(),
        ];
        Ok(match wait(&all)? {
            0 => Next::Clock,
            number @ 1..=3 => Next::Device(number - 1),
            _ => Next::Called,
        })
    }

    fn give(&mut self, place: Place, what: Ask<'_>) -> io::Result<()> {
        if place.connection >= MOST_CONNECTIONS {
            let fault = format!("expected fewer than {MOST_CONNECTIONS} connections");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, fault));
        }
        if let Ask::Packet(segment) = what {
            let wrong =
                |error: wire::EncodeError| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
            frames::write(&mut self.frame, place, segment).map_err(wrong)?;
            let host = usize::from(place.host);
            // A full ring drops a packet, as that of a card does.
            self.called[host] |= self.devices[host].deliver(&self.frame)?;
        } else {
            let mut order = Vec::new();
            guest::ask(&mut order, place, what);
            self.orders.push_back(order);
        }
        Ok(())
    }

    /// Gives the program what it is asked for, as much as the kernel has room for at once; whether that was something.
    fn hand_orders_over(&mut self) -> io::Result<bool> {
        let device = usize::from(guest::DEVICE);
        let mut any = false;
        for _ in 0..ORDERS_AT_ONCE {
            let Some(order) = self.orders.front() else { break };
            if !self.devices[device].deliver(order)? {
                break;
            }
            self.orders.pop_front();
            any = true;
        }
        self.called[device] |= any;
        Ok(any)
    }

    fn run_on(&mut self, now: u64, until: u64, hear: &mut Hear<'_>) -> io::Result<()> {
        self.calendar.advance(now);
        let (mut until, mut was_given) = (until, true);
        loop {
            let given = self.hand_orders_over()?;
            self.call_devices()?;
            let more = !self.orders.is_empty();
            // No time passes before it has all.
            let last = if given && more { now } else { until };
            let refused = !std::mem::replace(&mut was_given, given) && !given;
            if more && refused && self.calendar.request() < NEVER {
                // It needs time that is not there yet, and gets the rest then.
                return Ok(());
            }
            if more && refused {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "its program does not listen"));
            }
            // What it asked for when it had been called, and what it asks for anew, before the simulator has its turn.
            loop {
                let bound = last.min(until);
                let called = self.take_calls();
                let request = if called == 0 { self.calendar.request().max(now) } else { now };
                if request > now.max(bound.saturating_sub(1)) {
                    break;
                }
                self.calendar.run(request, bound, called)?;
                let heard = self.go_on(bound, hear)?;
                if heard < bound {
                    until = heard.max(now);
                }
            }
            if !more {
                return Ok(());
            }
        }
    }

    /// The devices that the kernel is to be told of when it runs, a bit for each.
    fn take_calls(&mut self) -> u32 {
        let called =
            self.called.iter().enumerate().map(|(number, called)| u32::from(*called) << number).sum();
        self.called = [false; 3];
        called
    }

    /// Tells a kernel of its devices to which the clock does not say it.
    fn call_devices(&mut self) -> io::Result<()> {
        if self.calendar.names_devices() {
            return Ok(());
        }
        for number in 0..self.called.len() {
            if std::mem::take(&mut self.called[number]) {
                self.devices[number].call()?;
                // Meanwhile it asks for the time.
                while !matches!(self.next(Some(number))?, Next::Called) {
                    self.calendar.handle()?;
                }
                self.devices[number].called()?;
            }
        }
        Ok(())
    }
}

impl Kernel for Machine {
    fn release(&self) -> &str {
        &self.found.release
    }

    fn controls(&self) -> &[String] {
        &self.found.controls
    }

    fn next_time(&self) -> Time {
        time(self.calendar.request())
    }

    fn take(&mut self, _: Time, place: Place, what: Ask<'_>) -> Result<(), String> {
        self.give(place, what).map_err(|error| stopped(&self.folder, &error))
    }

    fn run(&mut self, now: Time, until: Time, hear: &mut Hear<'_>) -> Result<(), String> {
        let (now, until) = (kernel_time(now), kernel_time(until));
        self.run_on(now, until, hear).map_err(|error| stopped(&self.folder, &error))
    }
}

/// Accepts the connection of a device while the kernel sets those before it up.
fn connect_device(
    listener: &std::os::unix::net::UnixListener,
    calendar: &mut Calendar,
    before: &mut [Device],
    ended: &ChildStdout,
) -> io::Result<Device> {
    loop {
        let mut all = vec![listener.as_fd(), calendar.stream.as_fd()];
        all.extend(before.iter().map(|device| device.stream.as_fd()));
        all.push(ended.as_fd());
        match wait(&all)? {
            0 => break,
            1 => {
                calendar.handle()?;
                if calendar.waits {
                    let request = calendar.request();
                    calendar.run(request, BEGINNING, 0)?;
                }
            }
            number => {
                let device = before.get_mut(number - 2).ok_or(io::ErrorKind::BrokenPipe)?;
                device.handle(&mut |_| Ok(()))?;
            }
        }
    }
    Device::new(listener.accept()?.0)
}

/// Waits until one can be read, the first of these; the last is there when the kernel has ended.
fn wait(all: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut fds: Vec<_> = all.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
    loop {
        match poll(&mut fds, Some(&STALL)) {
            Err(rustix::io::Errno::INTR) => continue,
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            other => other?,
        };
        let ready = fds.iter().position(|fd| !fd.revents().is_empty());
        return match ready {
            Some(number) if number + 1 < all.len() => Ok(number),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        };
    }
}

/// The simulator's time at the kernel's.
fn time(kernel: u64) -> Time {
    if kernel >= NEVER { Time::NEVER } else { Time::from_nanos(kernel.saturating_sub(BEGINNING)) }
}

/// The kernel's time at the simulator's.
fn kernel_time(time: Time) -> u64 {
    time.as_nanos().saturating_add(BEGINNING).min(NEVER)
}
