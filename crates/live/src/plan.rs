//! What programs on real kernels need to know of a scenario's flows to carry them.

use bentpipe_apps::{AppSpec, FtpSpec, HttpSpec, Opener, Pages, Tls};
use bentpipe_scenario::Scenario;
use bentpipe_tcp::{Config, Nagle};
use bentpipe_units::{Fault, Span, Time, fault};
use serde::Serialize;

use crate::LiveError;

/// A flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// The name of its group of copies.
    pub group: Option<String>,
    /// The host that its data comes from.
    pub from: String,
    /// The host that its data goes to.
    pub to: String,
    /// When it begins, s.
    pub start_s: f64,
    /// When its user stops, s; none where it ends by itself or with the run.
    pub stop_s: Option<f64>,
    /// The control of its sender, by the name that the scenario gives it.
    pub control: String,
    /// What it carries.
    #[serde(flatten)]
    pub app: AppPlan,
    /// Its TCP; none over UDP.
    pub tcp: Option<TcpPlan>,
}

/// What a flow carries.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "app", rename_all = "kebab-case")]
pub enum AppPlan {
    /// A bulk transfer.
    Ftp {
        /// How much; none for as much as goes.
        bytes: Option<u64>,
    },
    /// Pages.
    Http {
        /// From one request for a page to the next, s.
        page_interval_s: f64,
        /// Bytes of the main object.
        main_object: u64,
        /// Embedded objects.
        objects: u32,
        /// Bytes of one of these.
        object: u64,
        /// Bytes of a request.
        request: u64,
        /// Connections.
        connections: u32,
        /// Whether a connection carries all its requests together.
        pipelining: bool,
        /// Pages; none for as many as come.
        pages: Option<u64>,
    },
    /// Writes over one connection.
    #[serde(rename = "onoff")]
    OnOff {
        /// When each comes, s, and its bytes.
        writes: Vec<(f64, u32)>,
    },
    /// Datagrams.
    Udp {
        /// When each leaves, s, and its payload in bytes.
        datagrams: Vec<(f64, u32)>,
    },
}

/// What a kernel's socket or a namespace can be told of a flow's TCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TcpPlan {
    /// Payload of a segment without options, bytes.
    pub mss: u32,
    /// The receive window where it is fixed, bytes.
    pub receive_window: Option<u32>,
    /// Memory for what the sender has not acknowledged, bytes, where it has a bound.
    pub send_buffer: Option<u32>,
    /// Whether timestamps are offered.
    pub timestamps: bool,
    /// Whether SACK is offered.
    pub sack: bool,
    /// Whether window scaling is offered.
    pub window_scaling: bool,
    /// Whether ECN is offered.
    pub ecn: bool,
    /// Whether less than a segment goes at once, which programs here ask for but where an application writes bit by bit.
    pub no_delay: bool,
}

/// Nobody waits longer for a flow of datagrams that has no end.
const LONGEST: Span = Span::from_millis(3_600_000);

/// The flows of `scenario` as programs carry them.
///
/// # Errors
/// When a flow is something that no program here carries.
pub fn plan(scenario: &Scenario) -> Result<Vec<FlowPlan>, LiveError> {
    (0..scenario.flows.len()).map(|flow| of_flow(scenario, flow)).collect()
}

fn of_flow(scenario: &Scenario, flow: usize) -> Result<FlowPlan, LiveError> {
    let spec = &scenario.flows[flow];
    let beginning = scenario.beginning(flow, scenario.seed);
    if let AppSpec::Ftp(FtpSpec { opened_by: Opener::Receiver, .. }) = *spec.app {
        let fault = fault!("\"sender\", which live testbed carries", "\"receiver\"");
        return Err(fault.under("opened_by").under(&spec.name).under("flows").into());
    }
    let sends = || {
        let end = Time::ZERO + scenario.duration.unwrap_or(LONGEST);
        let sends = spec.app.sends(&beginning).map_or_else(Vec::new, |sends| sends.until(end));
        sends.into_iter().map(|(at, bytes)| (at.as_secs(), bytes)).collect()
    };
    let app = match &*spec.app {
        AppSpec::Ftp(ftp) => AppPlan::Ftp { bytes: ftp.bytes },
        AppSpec::Http(http) if let Some(key) = only_simulated(http) => {
            let fault = fault!("its default, which is all that live testbed carries", "another value");
            return Err(fault.under(key).under(&spec.name).under("flows").into());
        }
        AppSpec::Http(http) => AppPlan::Http {
            page_interval_s: http.page_interval.as_secs(),
            main_object: http.main_object,
            objects: http.objects,
            object: http.object,
            request: http.request,
            connections: http.connections,
            pipelining: http.pipelining,
            pages: http.pages,
        },
        AppSpec::OnOff(_) => AppPlan::OnOff { writes: sends() },
        app if app.over_udp() => AppPlan::Udp { datagrams: sends() },
        app => {
            let expected = "\"ftp\", \"http\", \"onoff\" or one over UDP, which live testbed carries";
            let fault = Fault::value(expected, format!("{:?}", app.name()));
            return Err(fault.under("app").under(&spec.name).under("flows").into());
        }
    };
    let over_udp = spec.app.over_udp();
    Ok(FlowPlan {
        name: spec.name.clone(),
        group: spec.group.clone(),
        from: scenario.nodes[spec.from].clone(),
        to: scenario.nodes[spec.to].clone(),
        start_s: beginning.start.as_secs(),
        stop_s: (!over_udp && beginning.stop < Time::NEVER).then(|| beginning.stop.as_secs()),
        control: spec.sender.control.name().to_owned(),
        app,
        tcp: (!over_udp).then(|| of_tcp(&spec.receiver, &spec.sender)),
    })
}

/// The key of pages that no program here reads as the simulator does.
fn only_simulated(http: &HttpSpec) -> Option<&'static str> {
    let keys = [
        (http.think.is_some(), "think"),
        (http.size_distribution != Pages::Constant, "size_distribution"),
        (http.tls != Tls::None, "tls"),
        (http.dns > Span::ZERO, "dns"),
    ];
    keys.into_iter().find_map(|(there, key)| there.then_some(key))
}

fn of_tcp(config: &Config, sender: &Config) -> TcpPlan {
    TcpPlan {
        mss: config.mss,
        receive_window: config.receive_buffer.is_none().then_some(config.receive_window),
        send_buffer: sender.send_buffer,
        timestamps: config.timestamps,
        sack: config.sack,
        window_scaling: config.window_scaling,
        ecn: config.ecn,
        no_delay: sender.nagle == Nagle::Off,
    }
}
