//! What is chosen by name: ours by the names that scenarios know, and factories from outside the crate.

use std::sync::Arc;

use bentpipe_tcp::control::{
    Ack, AdalrOptions, AfcOptions, Composition, Control, ControlFactory, NoSuch, StandardOptions, Window,
};
use bentpipe_tcp::recovery::{RecoveryFactory, SackOptions};
use bentpipe_tcp::slow_start::{SlowStart, SlowStartFactory};
use bentpipe_tcp::{Catalogue, Chosen, Config, Profile, Scheme};
use bentpipe_units::registry::Kind;

use crate::harness::{CLIENT, CONTROLS, Net, RECOVERIES, SERVER, config, control};

/// So many segments outstanding, whatever happens.
#[derive(Debug)]
struct Fixed {
    segments: f64,
}

impl ControlFactory for Fixed {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Fixed { segments: self.segments })
    }
}

impl Control for Fixed {
    fn on_ack(&mut self, w: &mut Window, _: &Ack<'_>, _: &mut dyn SlowStart) {
        w.cwnd = self.segments * w.smss;
    }
}

fn fixed(segments: f64) -> Chosen<dyn ControlFactory> {
    Chosen::new("fixed", Arc::new(Fixed { segments }))
}

#[test]
fn a_connection_uses_a_control_from_outside() {
    let own = Config { control: fixed(7.0), ..config("sack") };
    assert_eq!(own.control.name(), "fixed");
    let net = Net::new([own, config("sack")], [0, 0], 50).transfer(60_000);
    assert_eq!(net.ends[CLIENT].sender().window().cwnd, 7000.0);
    assert_ne!(net.ends[SERVER].sender().window().cwnd, 7000.0);
}

#[test]
fn it_stands_in_a_catalogue_beside_ours() {
    let scheme = Scheme::<dyn ControlFactory>::new("fixed", "so many segments", fixed_factory());
    let catalogue = Catalogue::default().with(scheme).unwrap();
    let names: Vec<_> = Composition::all(&catalogue).iter().map(Composition::name).collect();
    assert_eq!(names, [&CONTROLS[..], &["fixed"]].concat());
    let net = Net::alike(Config { control: catalogue.usual("fixed").unwrap(), ..config("reno") });
    assert_eq!(net.transfer(60_000).ends[CLIENT].sender().window().cwnd, 5000.0);
    assert_eq!(control_of("fixed").unwrap_err(), NoSuch::Name);
}

fn control_of(name: &str) -> Result<Chosen<dyn ControlFactory>, NoSuch> {
    Composition::find(&Catalogue::default(), name).and_then(|found| found.usual())
}

fn fixed_factory() -> Arc<dyn ControlFactory> {
    Arc::new(Fixed { segments: 5.0 })
}

#[test]
fn ours_are_known_by_the_names_that_scenarios_have() {
    let ours = Catalogue::default();
    assert_eq!(ours.names::<dyn RecoveryFactory>(), RECOVERIES);
    assert_eq!(Composition::all(&ours).iter().map(Composition::name).collect::<Vec<_>>(), CONTROLS);
    assert_eq!(
        ours.names::<dyn SlowStartFactory>(),
        ["standard", "hystart", "hystart++", "limited", "search", "careful-resume", "shared"]
    );
    fn options<K: Kind + ?Sized>() -> impl Iterator<Item = &'static str> {
        K::ours().schemes().iter().filter(|scheme| scheme.has_options()).map(Scheme::name)
    }
    let tables = options::<dyn ControlFactory>().chain(options::<dyn RecoveryFactory>());
    let tables: Vec<_> = tables.chain(options::<dyn SlowStartFactory>()).collect();
    assert_eq!(
        tables,
        [
            "standard",
            "adalr",
            "afc",
            "cubic",
            "bbr1",
            "hybla",
            "westwood",
            "veno",
            "vegas",
            "illinois",
            "highspeed",
            "xcp",
            "jersey",
            "star",
            "new-vegas",
            "peach",
            "tahoe",
            "reno",
            "newreno-1999",
            "sack-1996",
            "hystart",
            "limited",
            "search",
            "careful-resume",
            "shared"
        ]
    );
    for name in RECOVERIES {
        let recovery = ours.usual::<dyn RecoveryFactory>(name).unwrap();
        let config = Profile::Rfc.config(recovery, StandardOptions::default());
        assert_eq!((config.recovery.name(), config.sack), (name, name.starts_with("sack") || name == "rack"));
    }
    assert!(ours.find::<dyn RecoveryFactory>("standard").is_none());
    assert!(ours.find::<dyn SlowStartFactory>("sack").is_none());
    assert_eq!(Config::clone(&config("sack")).slow_start.name(), "standard");
}

#[test]
fn a_composition_is_what_its_parts_make() {
    let by_name = |name: &str| Net::alike(Config { control: control(name), ..config("sack") });
    let around = AfcOptions::default().around(&AdalrOptions::default()).unwrap();
    let by_parts = Config { control: Chosen::new("both", around), ..config("sack") };
    let lost = [4, 9, 30];
    let trace = Net::alike(by_parts).dropping(&lost).transfer(60_000).trace();
    assert_eq!(by_name("adalr+afc").dropping(&lost).transfer(60_000).trace(), trace);
    assert_ne!(by_name("adalr").dropping(&lost).transfer(60_000).trace(), trace);
    assert!(AfcOptions::default().around(&StandardOptions::default()).is_none());
    assert!(AdalrOptions::default().around(&StandardOptions::default()).is_none());
}

#[test]
fn parts_that_do_not_go_together_are_told_from_unknown_names() {
    for (name, expected) in [
        ("reno+afc", "expected a control that afc goes around (adalr), found \"reno\""),
        ("standard+afc", "expected a control that afc goes around (adalr), found \"standard\""),
        ("afc+adalr", "expected a control that goes around another (afc) behind the +, found \"adalr\""),
    ] {
        let NoSuch::Composition(fault) = control_of(name).unwrap_err() else { panic!("{name}") };
        assert_eq!(fault.to_string(), expected);
    }
    for name in ["", "+", "reno", "adalr+", "adalr+bic", "adalrafc"] {
        assert_eq!(control_of(name).unwrap_err(), NoSuch::Name, "{name}");
    }
}

/// Adds half of the growth.
#[derive(Debug)]
struct Half;

impl SlowStartFactory for Half {
    fn make(&self) -> Box<dyn SlowStart> {
        Box::new(Half)
    }
}

impl SlowStart for Half {
    fn on_ack(&mut self, w: &mut Window, _: &Ack<'_>, growth: f64) {
        w.cwnd += growth / 2.0;
    }
}

#[test]
fn a_slow_start_from_outside_goes_under_every_control() {
    let half = || Chosen::new("half", Arc::new(Half) as Arc<dyn SlowStartFactory>);
    // BBR and Peach have a startup of their own; Vegas grows every other round trip, New Vegas judges each, and another window makes others.
    let others = |name: &&str| !name.starts_with("bbr") && !["vegas", "new-vegas", "peach"].contains(name);
    for name in CONTROLS.into_iter().filter(others) {
        let usual = Config {
            control: control(name),
            grow_only_when_limited: bentpipe_tcp::GrowthGate::Off,
            ..config("sack")
        };
        let grown = |config: Config| {
            let net = Net::alike(config).transfer(20_000);
            net.ends[CLIENT].sender().window().cwnd - net.data_by(CLIENT)[0].cwnd
        };
        let usually = grown(usual.clone());
        assert_eq!(grown(Config { slow_start: half(), ..usual }), usually / 2.0, "{name}");
    }
    assert_eq!(Profile::Rfc.config(SackOptions, StandardOptions::default()).slow_start.name(), "standard");
}
