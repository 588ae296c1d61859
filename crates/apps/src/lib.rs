//! What flows carry.
//!
//! An application is a file here and a word of the list below: its options, which are keys of the flow; what is asked of them before a
//! run ([`App`]); what it does ([`Program`], or a [`Source`] over UDP); and what its users see ([`Users`]).

mod cbr;
mod external;
mod ftp;
mod http;
mod multimedia;
mod onoff;
mod opener;
mod program;
mod relay;
mod short_flows;
mod trace;
mod transactions;
mod users;
mod video;
mod visit;
mod voip;

use std::ops::Deref;

use bentpipe_units::registry::{Chosen, FromOutside, Kind, Scheme};
use bentpipe_units::{Fault, Span, conflict};

pub use cbr::CbrSpec;
pub use external::{Application, ApplicationFactory, Talk, Wants};
pub use ftp::FtpSpec;
pub use http::{HttpSpec, Pages, Tls};
pub use multimedia::MultimediaSpec;
pub use onoff::{Begins, OnOffSpec};
pub use opener::Opener;
pub use program::{Beginning, Datagrams, Due, Exchange, Frame, Pair, Program, Running, Side, Socket, Source};
pub use relay::{Carried, RelaySpec};
pub use short_flows::{ShortFlowsSpec, Sizes};
pub use trace::{TraceSpec, Transfer};
pub use transactions::{Think, TransactionsSpec};
pub use users::{CallResult, PageResult, Responses, TransactionResult, Users, VideoResult};
pub use video::VideoSpec;
pub use voip::{Codec, VoipSpec};

/// Whether a key of a flow is written.
pub type Written<'a> = dyn Fn(&str) -> bool + 'a;

/// What is asked of an application's options.
pub trait App {
    /// Whether the options go together, some of which are `written`.
    ///
    /// # Errors
    /// Those that do not.
    fn check(&self, _written: &Written<'_>) -> Result<(), Fault> {
        Ok(())
    }

    /// What they say of the flow.
    fn facts(&self) -> Facts;

    /// What it sends at times of its own, whatever comes back: datagrams, or writes over a connection.
    fn sends(&self, _beginning: &Beginning<'_>) -> Option<Datagrams> {
        None
    }

    /// The application as it begins; one that only carries on what others send is a relay.
    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S>
    where
        Self: Sized,
    {
        self.sends(beginning).map_or(Running::Relay, Running::Datagrams)
    }
}

/// What the options of an application say of its flow.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// How long after its start it is told to stop.
    pub duration: Option<Span>,
    /// Whether it has an end of its own, before that of the run.
    pub ends: bool,
    /// The keys that end it.
    pub ends_by: &'static str,
    /// How many connections it may open.
    pub connections: usize,
    /// Whether the receiving host opens the connections, and asks for what the other one sends.
    pub is_asked_for: bool,
    /// Whether programs of this kind send what is less than a segment at once (`TCP_NODELAY`): browsers and web servers, players,
    /// callers, proxies.
    pub sets_no_delay: bool,
    /// Whether it draws random numbers on which a result may depend.
    pub draws: bool,
}

impl Default for Facts {
    fn default() -> Facts {
        Facts {
            duration: None,
            ends: false,
            ends_by: "duration",
            connections: 1,
            is_asked_for: false,
            sets_no_delay: false,
            draws: false,
        }
    }
}

/// What is known of an application by its name alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppTraits {
    /// Whether it sends datagrams, whatever becomes of them.
    pub over_udp: bool,
    /// Whether a relay can carry on what it brings.
    pub relayed: bool,
}

/// Bytes over connections that stay.
const STREAMS: AppTraits = AppTraits { over_udp: false, relayed: true };
/// A connection for each transfer.
const TRANSFERS: AppTraits = AppTraits { over_udp: false, relayed: false };
const DATAGRAMS: AppTraits = AppTraits { over_udp: true, relayed: false };

/// An application that a scenario can name.
pub type AppScheme = Scheme<dyn ApplicationFactory>;

macro_rules! apps {
    ($($variant:ident($options:ident): $traits:ident),+ $(,)?) => {
        /// What a flow carries.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AppSpec {
            $(#[doc = concat!("`", stringify!($options), "`.")] $variant($options),)+
            /// One from outside.
            External(Chosen<dyn ApplicationFactory>),
        }

        impl Deref for AppSpec {
            type Target = dyn App;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(AppSpec::$variant(app) => app,)+
                    AppSpec::External(app) => app,
                }
            }
        }

        impl AppSpec {
            /// Its name in a scenario, and what that alone tells.
            fn named(&self) -> (&str, AppTraits) {
                match self {
                    $(AppSpec::$variant(_) => (<$options as bentpipe_units::registry::Named>::NAME, $traits),)+
                    AppSpec::External(app) => (app.name(), AppTraits::default()),
                }
            }

            /// The application as it begins.
            pub fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
                match self {
                    $(AppSpec::$variant(app) => app.start(beginning),)+
                    AppSpec::External(app) => app.start(beginning),
                }
            }
        }

        impl Kind for dyn ApplicationFactory {
            type Known = AppTraits;
            type Value = AppSpec;
            const KEY: &'static str = "app";
            const WHAT: &'static str = "an application";
            // The first is that of a flow that names none.
            bentpipe_units::ours!(dyn ApplicationFactory; $(Scheme::of($traits, AppSpec::$variant)),+);
        }
    };
}

apps! {
    Ftp(FtpSpec): STREAMS,
    Http(HttpSpec): STREAMS,
    OnOff(OnOffSpec): STREAMS,
    Relay(RelaySpec): STREAMS,
    Transactions(TransactionsSpec): STREAMS,
    Video(VideoSpec): STREAMS,
    ShortFlows(ShortFlowsSpec): TRANSFERS,
    Trace(TraceSpec): TRANSFERS,
    Cbr(CbrSpec): DATAGRAMS,
    Multimedia(MultimediaSpec): DATAGRAMS,
    Voip(VoipSpec): DATAGRAMS,
}

impl AppSpec {
    /// Its name in a scenario file.
    pub fn name(&self) -> &str {
        self.named().0
    }

    /// Whether it sends datagrams, whatever becomes of them.
    pub fn over_udp(&self) -> bool {
        self.named().1.over_udp
    }

    /// Whether a relay can carry on what it brings.
    pub fn relayed(&self) -> bool {
        self.named().1.relayed
    }

    /// How many connections the application may open; none over UDP.
    pub fn connections(&self) -> usize {
        if self.over_udp() { 0 } else { self.facts().connections }
    }

    /// The fault of a run that would never end.
    pub fn nothing_ends(&self) -> Fault {
        match self {
            AppSpec::External(app) => {
                conflict!("nothing ends the run: it needs a duration, as {:?} has no end", app.name())
            }
            _ => {
                conflict!("nothing ends the run: it needs {}, here or as its duration", self.facts().ends_by)
            }
        }
    }
}

impl FromOutside for dyn ApplicationFactory {
    fn value(chosen: Chosen<Self>) -> AppSpec {
        AppSpec::External(chosen)
    }
}

/// What an application's file begins with.
mod prelude {
    pub(crate) use bentpipe_path::Stream;
    pub(crate) use bentpipe_tcp::State;
    pub(crate) use bentpipe_units::bounded::{Above, AboveZero, Number, Size, Whole};
    pub(crate) use bentpipe_units::{Bytes, Fault, Rate, Span, Time, ensure, fault, options};
    pub(crate) use schemars::JsonSchema;
    pub(crate) use serde::Deserialize;

    pub(crate) use crate::opener::{Opener, answer, ask, offer};
    pub(crate) use crate::program::*;
    pub(crate) use crate::{ANY, App, DATAGRAM, Facts, LARGEST, Users, Written, fitting, ms, size, small};
}

/// Sums of sizes keep their meaning.
const LARGEST: u64 = 1_000_000_000_000;
const ANY: u64 = u64::MAX;
const DATAGRAM: u64 = bentpipe_tcp::wire::MOST_DATAGRAM as u64;

/// Defaults of keys: a size, a small one, a time.
fn size<const N: u64>() -> u64 {
    N
}

fn small<const N: u32>() -> u32 {
    N
}

fn ms<const N: u64>() -> Span {
    Span::from_millis(N)
}

/// Whether no key is `written` that means nothing beside others: of each its name, whether that is so, and what it would need.
fn fitting(written: &Written<'_>, rules: &[(&str, bool, &str)]) -> Result<(), Fault> {
    let wrong = rules.iter().find(|(key, needless, _)| *needless && written(key));
    wrong.map_or(Ok(()), |(key, _, text)| Err(Fault::conflict(*text).under(*key)))
}
