//! Controls, a recovery and a slow start of somebody else's, put beside ours: scenarios choose them by name.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bentpipe_sim::{RunOptions, RunResult, run, scenario};
use bentpipe_tcp::control::{
    Ack, AdalrOptions, Control, ControlFactory, Loss, Response, Standard, StandardOptions, Window,
};
use bentpipe_tcp::recovery::{Recovery, RecoveryFactory, SackOptions};
use bentpipe_tcp::slow_start::{SlowStart, SlowStartFactory};
use bentpipe_tcp::{Agreed, Catalogue, Config, Named, Scheme};
use bentpipe_units::tree::Node;
use schemars::JsonSchema;
use serde::Deserialize;

/// A window that grows by so much an ACK, and that no loss reduces below a floor.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mine {
    /// Bytes an ACK.
    step: f64,
    #[serde(default)]
    floor: Option<f64>,
}

impl Default for Mine {
    fn default() -> Mine {
        Mine { step: 100.0, floor: None }
    }
}

impl Named for Mine {
    const NAME: &'static str = "mine";
    const SUMMARY: &'static str = "so many bytes an ACK";
}

impl ControlFactory for Mine {
    fn make(&self) -> Box<dyn Control> {
        Box::new(*self)
    }
}

impl Control for Mine {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, _: &mut dyn SlowStart) {
        if ack.opens_window() {
            w.cwnd += self.step;
        }
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        let response = Standard.on_loss(w, loss);
        w.cwnd = w.cwnd.max(self.floor.unwrap_or(0.0));
        response
    }
}

/// Goes around TCP-ADaLR, counts its connections, and is no other control than the one that it goes around.
#[derive(Clone, Debug, Default)]
struct Counting(Arc<AtomicU32>);

impl ControlFactory for Counting {
    fn make(&self) -> Box<dyn Control> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::new(Standard)
    }

    fn wraps(&self) -> &[&str] {
        &["adalr"]
    }

    fn around(&self, inner: &dyn ControlFactory) -> Option<Arc<dyn ControlFactory>> {
        let adalr = *(inner as &dyn Any).downcast_ref::<AdalrOptions>()?;
        Some(Arc::new(CountingAdalr { counted: Arc::clone(&self.0), adalr }))
    }
}

#[derive(Debug)]
struct CountingAdalr {
    counted: Arc<AtomicU32>,
    adalr: AdalrOptions,
}

impl ControlFactory for CountingAdalr {
    fn make(&self) -> Box<dyn Control> {
        self.counted.fetch_add(1, Ordering::Relaxed);
        self.adalr.make()
    }
}

/// Slow start that ends when cwnd reaches so many bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Capped {
    bytes: f64,
}

impl Named for Capped {
    const NAME: &'static str = "capped++";
    const SUMMARY: &'static str = "ends at so many bytes";
}

impl SlowStartFactory for Capped {
    fn make(&self) -> Box<dyn SlowStart> {
        Box::new(*self)
    }
}

impl SlowStart for Capped {
    fn on_ack(&mut self, w: &mut Window, _: &Ack<'_>, growth: f64) {
        w.cwnd += growth;
        if w.cwnd >= self.bytes {
            w.ssthresh = w.cwnd;
        }
    }
}

/// The SACK recovery under another name.
#[derive(Debug)]
struct Other;

impl RecoveryFactory for Other {
    fn make(&self, config: &Config, agreed: Agreed) -> Box<dyn Recovery> {
        SackOptions.make(config, agreed)
    }

    fn offers_sack(&self) -> bool {
        true
    }
}

fn named<T: Named + Default + ControlFactory>() -> Scheme<dyn ControlFactory> {
    Scheme::<dyn ControlFactory>::named::<T>()
}

fn catalogue(counting: &Counting) -> Catalogue {
    let counting: Arc<dyn ControlFactory> = Arc::new(counting.clone());
    Catalogue::default()
        .with(named::<Mine>())
        .and_then(|ours| ours.with(Scheme::<dyn ControlFactory>::new("counting", "counts", counting)))
        .and_then(|ours| ours.with(Scheme::<dyn SlowStartFactory>::named::<Capped>()))
        .and_then(|ours| {
            ours.with(Scheme::<dyn RecoveryFactory>::new("other", "as sack", Arc::new(Other) as _))
        })
        .unwrap_or_else(|error| panic!("{error}"))
}

fn text(keys: &str) -> String {
    format!(
        "[links.hop]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"50 ms\"\nqueue = \"20 packets\"\n\
         loss = {{ model = \"packet\", probability = 0.005 }}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nbytes = \"1 MB\"\n{keys}\n"
    )
}

fn parse(text: &str, catalogue: &Catalogue) -> Result<scenario::Scenario, String> {
    let none = |_: &std::path::Path, _: scenario::FileKind| Err("expected no file, found one".into());
    scenario::parse_with("s.toml", text, &[], &none, catalogue).map_err(|error| error.to_string())
}

fn read(keys: &str, catalogue: &Catalogue) -> Result<scenario::Scenario, String> {
    parse(&text(keys), catalogue)
}

fn finished(scenario: &scenario::Scenario) -> RunResult {
    run(scenario, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn simulate(keys: &str, catalogue: &Catalogue) -> RunResult {
    finished(&read(keys, catalogue).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_control_from_outside_runs_by_its_name_with_its_options() {
    let catalogue = catalogue(&Counting::default());
    let finish = |keys: &str| {
        let result = simulate(keys, &catalogue);
        let flow = &result.flows[0];
        assert_eq!((flow.bytes_delivered, flow.error.as_deref()), (1_000_000, None), "{keys}");
        (flow.variant.clone(), flow.finish_s.unwrap())
    };
    let (variant, slow) = finish("control = \"mine\"\ntcp = { mine = { step = 20.0 } }");
    assert_eq!(variant, "mine");
    let (_, fast) = finish("variant = \"mine\"\ntcp = { mine = { step = 1500.0, floor = 30_000.0 } }");
    assert!(fast < slow, "{fast} s and {slow} s");
    assert_eq!(finish("control = \"mine\"\nrecovery = \"newreno\"").0, "mine+newreno");
    // Beside it, ours are what they were.
    let ours = |keys: &str| {
        let with = simulate(keys, &catalogue);
        let without = simulate(keys, &Catalogue::default());
        assert_eq!(
            serde_json::to_string(&with.flows).unwrap(),
            serde_json::to_string(&without.flows).unwrap(),
            "{keys}"
        );
    };
    ours("variant = \"adalr+afc\"");
    ours("recovery = \"newreno\"");
}

#[test]
fn each_connection_has_its_own_control_and_the_factory_outlives_them() {
    let counting = Counting::default();
    let catalogue = catalogue(&counting);
    let adalr = simulate("control = \"adalr\"\ncount = 3", &catalogue);
    assert_eq!(counting.0.load(Ordering::Relaxed), 0);
    let counted = simulate("control = \"adalr+counting\"\ncount = 3", &catalogue);
    // Both ends of each connection.
    assert_eq!(counting.0.load(Ordering::Relaxed), 6);
    assert_eq!(counted.flows[0].variant, "adalr+counting");
    for (one, other) in adalr.flows.iter().zip(&counted.flows) {
        assert_eq!((one.finish_s, one.timeouts), (other.finish_s, other.timeouts));
    }
}

#[test]
fn a_slow_start_and_a_recovery_from_outside_compose_with_any_control() {
    let catalogue = catalogue(&Counting::default());
    let sack = simulate("", &catalogue).flows[0].finish_s;
    assert_eq!(simulate("recovery = \"other\"", &catalogue).flows[0].finish_s, sack);
    for control in ["standard", "adalr", "afc", "adalr+afc", "cubic"] {
        let finish = |slow_start: &str| {
            let keys = format!("control = \"{control}\"\ntcp = {{ {slow_start} }}");
            let calm = [("probability = 0.005", "probability = 0"), ("20 packets", "unlimited")];
            let text = calm.iter().fold(text(&keys), |text, (from, to)| text.replace(from, to));
            finished(&parse(&text, &catalogue).unwrap()).flows[0].finish_s.unwrap()
        };
        let capped = finish("slow_start = \"capped++\", 'capped++' = { bytes = 3000.0 }");
        assert!(finish("slow_start = \"standard\"") < capped, "{control}");
    }
}

#[test]
fn what_is_wrong_with_an_option_or_a_composition_is_told_like_our_own() {
    let catalogue = catalogue(&Counting::default());
    for (keys, expected) in [
        (
            "control = \"min\"",
            "s.toml:12: flows.f.control: expected a control, found \"min\"; did you mean \"mine\"?",
        ),
        (
            "tcp = { mine = { step = \"1\" } }",
            "s.toml:12: flows.f.tcp.mine.step: expected a number, found \"1\"",
        ),
        (
            "tcp = { mine = { stride = 1.0 } }",
            "s.toml:12: flows.f.tcp.mine.stride: expected one of the known keys (step, floor), found \"stride\"",
        ),
        (
            "tcp = { mine = { floor = 1.0 } }",
            "s.toml:12: flows.f.tcp.mine.step: missing, and there is no default",
        ),
        (
            "control = \"mine+afc\"",
            "s.toml:12: flows.f.control: expected a control that afc goes around (adalr), found \"mine\"",
        ),
        (
            "control = \"adalr+mine\"",
            "s.toml:12: flows.f.control: expected a control that goes around another (afc, counting) behind the +, found \"mine\"",
        ),
        ("tcp = { counting = {} }", "s.toml:12: flows.f.tcp.counting: expected one of the known keys"),
        ("variant = \"mine-sack\"", "s.toml:12: flows.f.variant: expected a variant"),
    ] {
        let error = read(keys, &catalogue).map(|_| ()).unwrap_err();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let unknown = read("control = \"mine\"", &Catalogue::default()).map(|_| ()).unwrap_err();
    assert!(
        unknown.ends_with(
            "expected a control (standard, adalr, afc, adalr+afc, cubic, bbr1, bbr3, hybla, westwood, veno, vegas, illinois, highspeed, xcp, jersey, star, new-vegas, peach), found \"mine\""
        ),
        "{unknown}"
    );
}

#[test]
fn lists_and_schema_have_what_is_registered() {
    let catalogue = catalogue(&Counting::default());
    let variants: Vec<_> = scenario::variants(&catalogue).into_iter().map(|(name, _)| name).collect();
    let first_of_a_control = variants.iter().position(|name| name == "adalr-sack").unwrap();
    assert_eq!(variants[first_of_a_control - 1], "other");
    assert_eq!(variants[variants.len() - 3..], ["mine", "counting", "adalr+counting"]);
    let schema = scenario::schema(&catalogue);
    let tcp = &schema["$defs"]["TcpFile"]["properties"];
    assert_eq!(
        tcp["slow_start"]["enum"],
        serde_json::json!([
            "standard",
            "hystart",
            "hystart++",
            "limited",
            "search",
            "careful-resume",
            "shared",
            "capped++"
        ])
    );
    assert_eq!(schema["$defs"]["Mine"]["properties"]["step"]["description"], "Bytes an ACK.");
    assert_eq!(tcp["mine"]["$ref"], "#/$defs/Mine");
    assert_eq!(tcp["adalr"]["$ref"], "#/$defs/AdalrOptions");
    assert!(tcp.get("counting").is_none());
}

#[test]
fn a_name_is_taken_once() {
    let mine = || Catalogue::default().with(named::<Mine>()).unwrap();
    let taken = |name: &'static str| {
        let scheme = Scheme::<dyn ControlFactory>::new(name, "", Arc::new(StandardOptions::default()));
        mine().with(scheme).map(|_| ()).unwrap_err().to_string()
    };
    for name in ["mine", "adalr", "adalr+afc", "standard"] {
        assert_eq!(
            taken(name),
            format!("expected a control of a name of its own, found {name:?}, which is taken")
        );
    }
    for name in ["", "Mine", "+afc", "my control"] {
        assert!(taken(name).ends_with(&format!("found {name:?}")), "{}", taken(name));
    }
    // The options of a slow start stand where those of a control do.
    let scheme = Scheme::<dyn SlowStartFactory>::named::<Capped>();
    let table = move || scheme.schema().unwrap();
    let read_capped = |_: &Node| Ok(Arc::new(Capped::default()) as _);
    let same = Scheme::<dyn SlowStartFactory>::new("mine", "", Arc::new(Capped::default())).with_options(
        ["bytes"],
        table,
        read_capped,
    );
    assert!(mine().with(same).is_err());
    let cubic = Scheme::<dyn SlowStartFactory>::new("cubic", "", Arc::new(Capped::default()));
    let table = move || Scheme::<dyn SlowStartFactory>::named::<Capped>().schema().unwrap();
    let beside = Catalogue::default().with(cubic.with_options(["bytes"], table, read_capped)).unwrap();
    let error = read("", &beside).map(|_| ()).unwrap_err();
    assert!(error.starts_with("s.toml: tcp.cubic: is the name of two"), "{error}");
    // Nor may they stand where a setting does.
    let mss = Scheme::<dyn ControlFactory>::new("mss", "", Arc::new(Mine::default()));
    let read_mine = |_: &Node| Ok(Arc::new(Mine::default()) as _);
    let schema = || named::<Mine>().schema().unwrap();
    let catalogue = mine().with(mss.with_options(["step"], schema, read_mine)).unwrap();
    let error = read("", &catalogue).map(|_| ()).unwrap_err();
    assert_eq!(
        error,
        "s.toml: tcp.mss: is a setting, and the name of a control, recovery or slow start with options too"
    );
}

#[test]
fn the_first_control_of_the_docs_has_forty_lines() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/own-scheme.md");
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("```rust\n").nth(1).unwrap();
    let control = code.split("// What an event does").next().unwrap();
    assert!(control.contains("impl Control for"));
    let lines = control.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 40, "{lines}");
}
