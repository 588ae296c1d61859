//! Queues written in Python: the packets wait here, in the order of their ranks, and Python decides on them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use bentpipe_path::{Drops, Packets, Queue, QueueFactory, ServerView, Stream, Verdict, Waiting};
use bentpipe_units::{Fault, Rate, Time, conflict};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::{Maker, PyRandom, Raised, shown};
use crate::hooks::PyQueued;

/// What a queue knows of itself when it decides.
#[pyclass(frozen, get_all, name = "QueueView", module = "bentpipe._core")]
#[derive(Clone, Copy)]
pub(crate) struct PyQueueView {
    time_s: f64,
    packets: usize,
    bytes: u64,
    limit: u32,
    rate_bps: u64,
    idle_s: Option<f64>,
    is_full: bool,
}

/// Makes a queue for each direction of a link.
#[derive(Debug)]
pub(super) struct Queues {
    maker: Maker,
    limit: u32,
}

impl Queues {
    /// What `maker` makes, and how many packets it says may wait.
    pub(super) fn of(maker: Maker) -> Result<Queues, Fault> {
        let limit = maker.attribute::<u32>("limit");
        let limit = limit.ok_or_else(|| {
            let most = u32::MAX;
            conflict!(
                "expected a whole number of packets from 0 to {most} as limit of the queue, found another"
            )
        })?;
        Ok(Queues { maker, limit })
    }
}

impl QueueFactory for Queues {
    fn limit(&self) -> Packets {
        Packets(self.limit)
    }

    fn make(&self, rate: Rate, stream: Stream) -> Box<dyn Queue> {
        let called = self.maker.made(|py, object| {
            let hook = |name| self.maker.hook(&object, name);
            let (enqueue, dequeue, rank) = (hook("enqueue")?, hook("dequeue")?, hook("rank")?);
            Ok(Called { enqueue, dequeue, rank, random: PyRandom::of(py)? })
        });
        Box::new(Ranked {
            packets: BTreeMap::new(),
            bytes: 0,
            count: 0,
            limit: self.limit,
            rate,
            stream,
            called,
            raised: self.maker.raised.clone(),
        })
    }
}

/// The hooks that a class has of its own.
struct Called {
    enqueue: Option<Py<PyAny>>,
    dequeue: Option<Py<PyAny>>,
    rank: Option<Py<PyAny>>,
    random: Py<PyRandom>,
}

/// A packet's place: the lowest rank leaves first, and of one rank the packet that came first.
#[derive(Clone, Copy, Debug)]
struct Place(f64, u64);

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Place {}

/// A queue in the order of ranks. Once Python has raised, it is drop-tail until the run ends.
struct Ranked {
    packets: BTreeMap<Place, Waiting>,
    bytes: u64,
    /// Packets that were taken.
    count: u64,
    limit: u32,
    rate: Rate,
    stream: Stream,
    called: Option<Called>,
    raised: Raised,
}

impl fmt::Debug for Ranked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets before Python", self.packets.len())
    }
}

impl Ranked {
    fn view(&self, now: Time, idle_since: Option<Time>) -> PyQueueView {
        PyQueueView {
            time_s: now.as_secs(),
            packets: self.packets.len(),
            bytes: self.bytes,
            limit: self.limit,
            rate_bps: self.rate.as_bps(),
            idle_s: idle_since.map(|since| now.since(since).as_secs()),
            is_full: idle_since.is_none() && self.packets.len() >= self.limit as usize,
        }
    }

    /// What a hook says of a packet, one of `answers`; the first of them where there is no such hook.
    fn ask(
        &mut self,
        name: &str,
        hook: impl Fn(&Called) -> Option<&Py<PyAny>>,
        answers: [&'static str; 3],
        packet: &Waiting,
        view: PyQueueView,
    ) -> &'static str {
        let Some(called) = &self.called else { return answers[0] };
        let Some(hook) = hook(called) else { return answers[0] };
        let stream = &mut self.stream;
        let given = Python::attach(|py| {
            let random = called.random.bind(py);
            let arguments = (Bound::new(py, PyQueued::of(packet))?, Bound::new(py, view)?, random);
            let given = PyRandom::lend(random, stream, || hook.bind(py).call1(arguments))?;
            let found =
                given.extract::<&str>().ok().and_then(|text| answers.into_iter().find(|one| *one == text));
            found.ok_or_else(|| {
                let ([one, other, last], found) = (answers, shown(&given));
                PyValueError::new_err(format!(
                    "{name}: expected \"{one}\", \"{other}\" or \"{last}\", found {found}"
                ))
            })
        });
        given.unwrap_or_else(|error| {
            self.fail(error);
            answers[0]
        })
    }

    fn rank(&mut self, packet: &Waiting, view: PyQueueView) -> f64 {
        let Some(hook) = self.called.as_ref().and_then(|called| called.rank.as_ref()) else { return 0.0 };
        let given = Python::attach(|py| {
            let given =
                hook.bind(py).call1((Bound::new(py, PyQueued::of(packet))?, Bound::new(py, view)?))?;
            given.extract::<f64>().ok().filter(|rank| !rank.is_nan()).ok_or_else(|| {
                PyTypeError::new_err(format!("rank: expected a number, found {}", shown(&given)))
            })
        });
        given.unwrap_or_else(|error| {
            self.fail(error);
            0.0
        })
    }

    fn fail(&mut self, error: PyErr) {
        self.raised.put(error);
        self.called = None;
    }
}

impl Queue for Ranked {
    fn enqueue(&mut self, now: Time, packet: Waiting, server: &ServerView, drops: &mut Drops) -> Verdict {
        let view = self.view(now, server.idle_since);
        let answer = self.ask("enqueue", |c| c.enqueue.as_ref(), ["take", "mark", "drop"], &packet, view);
        if answer == "drop" || (answer == "mark" && !packet.label.ecn_capable) {
            return Verdict::DropEarly;
        }
        let place = Place(self.rank(&packet, view), self.count);
        if view.is_full {
            match self.packets.last_entry() {
                // What would leave last gives way.
                Some(last) if *last.key() > place => {
                    let last = last.remove();
                    self.bytes -= u64::from(last.bytes);
                    drops.full(last);
                }
                _ => return Verdict::DropFull,
            }
        }
        self.count += 1;
        self.bytes += u64::from(packet.bytes);
        self.packets.insert(place, packet);
        if answer == "mark" { Verdict::Mark } else { Verdict::Take }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Waiting> {
        loop {
            let (_, packet) = self.packets.pop_first()?;
            self.bytes -= u64::from(packet.bytes);
            let view = self.view(now, None);
            match self.ask("dequeue", |c| c.dequeue.as_ref(), ["send", "mark", "drop"], &packet, view) {
                "mark" if packet.label.ecn_capable => return Some(Waiting { marked: true, ..packet }),
                "send" => return Some(packet),
                _ => drops.early(packet),
            }
        }
    }

    fn packets(&self) -> u32 {
        self.packets.len() as u32
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn on_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }
}
