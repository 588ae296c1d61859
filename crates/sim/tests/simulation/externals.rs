//! A loss model, a queue, a gateway and an application of somebody else's: scenarios name them, and results are those of their twins here.

use std::ops::ControlFlow;
use std::sync::Arc;

use bentpipe_apps::{Application, ApplicationFactory, Opener, Side, Talk};
use bentpipe_path::gateway::{GatewayFactory, LinkView, WindowRule};
use bentpipe_path::{
    Drops, Loss, LossFactory, Packets, Queue, QueueFactory, Sent, ServerView, Stream, Verdict, Waiting,
};
use bentpipe_sim::scenario::{FileKind, Scenario, parse_str, parse_with};
use bentpipe_sim::{RunOptions, RunResult, run};
use bentpipe_tcp::{Catalogue, Scheme};
use bentpipe_units::{Rate, Time};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Independent {
    share: f64,
}

impl LossFactory for Independent {
    fn make(&self) -> Box<dyn Loss> {
        Box::new(*self)
    }
}

impl Loss for Independent {
    fn lost(&mut self, _: &Sent, stream: &mut Stream) -> bool {
        stream.uniform() < self.share
    }
}

/// Drop-tail with room for so many packets.
#[derive(Clone, Debug, Deserialize)]
struct Line {
    room: u32,
    #[serde(skip)]
    packets: std::collections::VecDeque<Waiting>,
}

impl QueueFactory for Line {
    fn limit(&self) -> Packets {
        Packets(self.room)
    }

    fn make(&self, _: Rate, _: Stream) -> Box<dyn Queue> {
        Box::new(self.clone())
    }
}

impl Queue for Line {
    fn enqueue(&mut self, _: Time, packet: Waiting, server: &ServerView, _: &mut Drops) -> Verdict {
        if server.idle_since.is_none() && self.packets() >= self.room {
            return Verdict::DropFull;
        }
        self.packets.push_back(packet);
        Verdict::Take
    }

    fn dequeue(&mut self, _: Time, _: &mut Drops) -> Option<Waiting> {
        self.packets.pop_front()
    }

    fn packets(&self) -> u32 {
        self.packets.len() as u32
    }

    fn bytes(&self) -> u64 {
        self.packets.iter().map(|packet| u64::from(packet.bytes)).sum()
    }
}

/// So many bytes, at once.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Heap {
    size: u64,
}

impl ApplicationFactory for Heap {
    fn make(&self) -> Box<dyn Application> {
        Box::new(*self)
    }

    fn opened_by(&self) -> Opener {
        Opener::Sender
    }

    fn ends(&self) -> bool {
        true
    }

    fn no_delay(&self) -> bool {
        false
    }
}

impl Application for Heap {
    fn on_start(&mut self, talk: &mut Talk<'_>) {
        (talk.wants.sends, talk.wants.closes) = (self.size, true);
    }

    fn on_time(&mut self, _: &mut Talk<'_>) {}

    fn on_data(&mut self, _: &mut Talk<'_>, _: Side, _: u64) {}
}

/// An equal part of the link's 500 ms for each flow.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Parts {}

impl GatewayFactory for Parts {
    fn make(&self) -> Box<dyn WindowRule> {
        Box::new(*self)
    }
}

impl WindowRule for Parts {
    fn window(&mut self, _: Time, flows: u32, link: &LinkView) -> Option<f64> {
        (flows > 0).then(|| link.rate.as_bps() as f64 / 16.0 / f64::from(flows))
    }
}

fn catalogue() -> Catalogue {
    let loss = Scheme::<dyn LossFactory>::from_outside("independent", "", ["share"], |table| {
        Ok(Arc::new(Independent::deserialize(table)?))
    });
    let queue = Scheme::<dyn QueueFactory>::from_outside("line", "", ["room"], |table| {
        Ok(Arc::new(Line::deserialize(table)?))
    });
    let application = Scheme::<dyn ApplicationFactory>::from_outside("heap", "", ["size"], |table| {
        Ok(Arc::new(Heap::deserialize(table)?))
    });
    let gateway = Scheme::<dyn GatewayFactory>::from_outside("parts", "", [""; 0], |table| {
        Ok(Arc::new(Parts::deserialize(table)?))
    });
    let all = Catalogue::default().with(loss).and_then(|all| all.with(queue));
    all.and_then(|all| all.with(application)).and_then(|all| all.with(gateway)).unwrap()
}

fn scenario(loss: &str, queue: &str, flow: &str, gateway: &str) -> String {
    format!(
        "tcp.receive_window = \"1 MiB\"\n\
         [links.satellite]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"250 ms\"\nloss = {loss}\nqueue = {queue}\n{gateway}\n\
         [flows.download]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}

fn read(text: &str) -> Result<Scenario, String> {
    let none = |_: &std::path::Path, _: FileKind| Err("expected no file, found one".into());
    parse_with("own.toml", text, &[], &none, &catalogue()).map_err(|error| error.to_string())
}

fn result(scenario: &Scenario) -> RunResult {
    run(scenario, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn rows(result: &RunResult) -> [serde_json::Value; 2] {
    let mut flows = serde_json::to_value(&result.flows).unwrap();
    // Of a size that an application decides the simulator does not know nine tenths.
    flows[0]["bytes_90_s"] = serde_json::Value::Null;
    [flows, serde_json::to_value(&result.links).unwrap()]
}

#[test]
fn a_loss_model_a_queue_and_an_application_do_what_ours_do() {
    let own = read(&scenario(
        "{ model = \"independent\", share = 0.01 }",
        "{ scheme = \"line\", room = 20 }",
        "app = \"heap\"\nsize = 1_000_000",
        "",
    ));
    let ours =
        scenario("{ model = \"packet\", probability = 0.01 }", "\"20 packets\"", "bytes = \"1 MB\"", "");
    let (own, ours) = (result(&own.unwrap()), result(&parse_str("ours.toml", &ours, &[]).unwrap()));
    assert_eq!(rows(&own), rows(&ours));
    assert!(own.links[0].stats.corrupted_packets > 0);
}

#[test]
fn a_gateway_lowers_the_windows_to_its_own() {
    let gateway = "gateway = { scheme = \"parts\" }";
    let own =
        read(&scenario("{ model = \"none\" }", "\"200 packets\"", "bytes = \"5 MB\"", gateway)).unwrap();
    let stats = &result(&own).gateways[0].stats;
    assert!(stats.windows_lowered > 100);
    assert!((stats.window_mean_bytes / 125_000.0 - 1.0).abs() < 0.01, "{}", stats.window_mean_bytes);
}

#[test]
fn what_is_not_known_says_what_is() {
    let none = "{ model = \"none\" }";
    for (text, message) in [
        (
            scenario("{ model = \"independant\" }", "\"9 packets\"", "bytes = \"1 MB\"", ""),
            "own.toml:7: links.satellite.loss.model: expected one of the known names (none, packet, ber, drop, gilbert-elliott, independent), found \"independant\"",
        ),
        (
            scenario("{ model = \"independent\", part = 1 }", "\"9 packets\"", "bytes = \"1 MB\"", ""),
            "own.toml:7: links.satellite.loss.part: expected one of the known keys (share), found \"part\"",
        ),
        (
            scenario(none, "{ scheme = \"line\", room = -1 }", "bytes = \"1 MB\"", ""),
            "own.toml:8: links.satellite.queue.room: expected a whole number from 0 to 4294967295, found -1",
        ),
        (
            scenario(none, "\"9 packets\"", "app = \"heep\"", ""),
            "own.toml:13: flows.download.app: expected an application",
        ),
        (
            scenario(none, "\"9 packets\"", "app = \"heap\"\nsize = 1\nsise = 2", ""),
            "own.toml:15: flows.download.sise: expected one of the known keys",
        ),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
    let text = scenario("{ model = \"independent\", share = 0.1 }", "\"9 packets\"", "bytes = \"1 MB\"", "");
    assert!(parse_str("own.toml", &text, &[]).unwrap_err().to_string().contains("found \"independent\""));
}

#[test]
fn a_name_that_is_taken_or_none_is_refused() {
    let with = |name: &str| {
        catalogue().with(Scheme::<dyn LossFactory>::from_outside(name.to_owned(), "", [""; 0], |_| {
            Ok(Arc::new(Independent { share: 0.0 }))
        }))
    };
    for name in ["packet", "independent", "", "Big", "two words"] {
        assert!(with(name).is_err(), "{name}");
    }
    // Another kind has names of its own.
    assert!(with("line").is_ok());
}
