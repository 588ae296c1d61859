//! What a flow carries: each application with its options, which are keys of the flow.
//!
//! An application is a file here, with its options and what the scenario asks of it, and a word of the list below; what it does is a file
//! of the simulator's `apps`.

mod cbr;
mod external;
mod ftp;
mod http;
mod multimedia;
mod onoff;
mod opener;
mod relay;
mod short_flows;
mod trace;
mod transactions;
mod video;
mod voip;

use bentpipe_tcp::wire::MOST_DATAGRAM;
use bentpipe_units::registry::{Chosen, FromOutside, Kind, Scheme};
use bentpipe_units::{Fault, Span, conflict};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;

use crate::text::Node;

pub use cbr::CbrSpec;
pub use external::{Application, ApplicationFactory, Host, Talk, Wants};
pub use ftp::FtpSpec;
pub use http::{HttpSpec, Pages, Tls};
pub use multimedia::MultimediaSpec;
pub use onoff::{Begins, OnOffSpec};
pub use opener::Opener;
pub(crate) use relay::Carried;
pub use relay::RelaySpec;
pub use short_flows::{ShortFlowsSpec, Sizes};
pub use trace::{TraceSpec, Transfer};
pub use transactions::{Think, TransactionsSpec};
pub use video::VideoSpec;
pub use voip::{Codec, VoipSpec};

/// The options of an application, and what a scenario asks of it.
pub(crate) trait App: DeserializeOwned + JsonSchema + 'static {
    /// What `app` says.
    const NAME: &'static str;
    /// One line for people.
    const SUMMARY: &'static str;
    /// Names of the field that are answered with this one.
    const ALSO: &'static [&'static str] = &[];
    /// Whether it sends datagrams, whatever becomes of them.
    const OVER_UDP: bool = false;
    /// Whether programs of this kind send what is less than a segment at once (`TCP_NODELAY`): browsers and web servers, players,
    /// callers, proxies.
    const NO_DELAY: bool = false;
    /// Whether a relay can carry on what it brings.
    const RELAYED: bool = !Self::OVER_UDP;
    /// The keys that end it.
    const ENDS_BY: &'static str = "duration";

    /// Whether the options go together, which are `written`; those that do not, otherwise.
    fn check(&self, _written: &Node) -> Result<(), Fault> {
        Ok(())
    }

    /// Whether it has an end of its own, before that of the run.
    fn ends(&self) -> bool;

    /// How many connections it may open.
    fn connections(&self) -> usize {
        usize::from(!Self::OVER_UDP)
    }

    /// Whether the receiving host opens the connections, and asks for what the other one sends.
    fn is_asked_for(&self) -> bool {
        false
    }

    /// Whether it draws random numbers on which a result may depend.
    fn draws(&self) -> bool {
        false
    }
}

/// What is known of an application by its name alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppTraits {
    pub(crate) over_udp: bool,
    pub(crate) relayed: bool,
}

/// An application that a scenario can name.
pub(crate) type AppScheme = Scheme<dyn ApplicationFactory>;

macro_rules! apps {
    ($($variant:ident($options:ident)),+ $(,)?) => {
        /// What a flow carries.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AppSpec {
            $(#[doc = concat!("`", stringify!($options), "`.")] $variant($options),)+
            /// One from outside.
            External(Chosen<dyn ApplicationFactory>),
        }

        impl AppSpec {
            /// Whether its options go together, which are `written`.
            pub(crate) fn check(&self, written: &Node) -> Result<(), Fault> {
                match self {
                    $(AppSpec::$variant(app) => app.check(written),)+
                    AppSpec::External(_) => Ok(()),
                }
            }

            /// Its name in a scenario file.
            pub fn name(&self) -> &str {
                match self {
                    $(AppSpec::$variant(_) => $options::NAME,)+
                    AppSpec::External(app) => app.name(),
                }
            }

            /// Whether it sends datagrams, whatever becomes of them.
            pub fn over_udp(&self) -> bool {
                match self {
                    $(AppSpec::$variant(_) => $options::OVER_UDP,)+
                    AppSpec::External(_) => false,
                }
            }

            /// Whether a relay can carry on what it brings.
            pub(crate) fn relayed(&self) -> bool {
                match self {
                    $(AppSpec::$variant(_) => $options::RELAYED,)+
                    AppSpec::External(_) => false,
                }
            }

            /// Whether programs of this kind send what is less than a segment at once.
            pub(crate) fn sets_no_delay(&self) -> bool {
                match self {
                    $(AppSpec::$variant(_) => $options::NO_DELAY,)+
                    AppSpec::External(app) => app.factory().no_delay(),
                }
            }

            /// Whether it has an end of its own, before that of the run.
            pub fn ends(&self) -> bool {
                match self {
                    $(AppSpec::$variant(app) => app.ends(),)+
                    AppSpec::External(app) => app.factory().ends(),
                }
            }

            /// How many connections the application may open; none over UDP.
            pub fn connections(&self) -> usize {
                match self {
                    $(AppSpec::$variant(app) => app.connections(),)+
                    AppSpec::External(_) => 1,
                }
            }

            /// Whether the receiving host opens the connections, and asks for what the other one sends.
            pub fn is_asked_for(&self) -> bool {
                match self {
                    $(AppSpec::$variant(app) => app.is_asked_for(),)+
                    AppSpec::External(app) => app.factory().opened_by() == Opener::Receiver,
                }
            }

            /// Whether it draws random numbers on which a result may depend.
            pub(crate) fn draws(&self) -> bool {
                match self {
                    $(AppSpec::$variant(app) => app.draws(),)+
                    AppSpec::External(_) => true,
                }
            }

            /// The fault of a run that would never end.
            pub(crate) fn nothing_ends(&self) -> Fault {
                let keys = match self {
                    $(AppSpec::$variant(_) => $options::ENDS_BY,)+
                    AppSpec::External(_) => {
                        return conflict!("nothing ends the run: it needs a duration, as {:?} has no end", self.name());
                    }
                };
                conflict!("nothing ends the run: it needs {keys}, here or as its duration")
            }
        }

        impl Kind for dyn ApplicationFactory {
            type Known = AppTraits;
            type Value = AppSpec;
            const KEY: &'static str = "app";
            const WHAT: &'static str = "an application";
            // The first is that of a flow that names none.
            bentpipe_units::ours!(dyn ApplicationFactory; $({
                let traits = AppTraits { over_udp: $options::OVER_UDP, relayed: $options::RELAYED };
                Scheme::of(traits, AppSpec::$variant)
            }),+);
        }

        $(impl bentpipe_units::registry::Named for $options {
            const NAME: &'static str = <$options as App>::NAME;
            const SUMMARY: &'static str = <$options as App>::SUMMARY;
            const ALSO: &'static [&'static str] = <$options as App>::ALSO;
        })+
    };
}

apps! {
    Ftp(FtpSpec),
    Http(HttpSpec),
    OnOff(OnOffSpec),
    Relay(RelaySpec),
    Transactions(TransactionsSpec),
    Video(VideoSpec),
    ShortFlows(ShortFlowsSpec),
    Trace(TraceSpec),
    Cbr(CbrSpec),
    Multimedia(MultimediaSpec),
    Voip(VoipSpec),
}

impl FromOutside for dyn ApplicationFactory {
    fn value(chosen: Chosen<Self>) -> AppSpec {
        AppSpec::External(chosen)
    }
}

/// The names of the applications in the schema.
pub(crate) fn described(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": <dyn ApplicationFactory>::ours().names() })
}

/// What an application's file begins with.
mod prelude {
    pub(super) use bentpipe_units::bounded::{Above, AboveZero, Number, Size, Whole};
    pub(super) use bentpipe_units::{Bytes, Fault, Rate, Span, ensure, fault};
    pub(super) use schemars::JsonSchema;
    pub(super) use serde::Deserialize;

    pub(super) use super::opener::Opener;
    pub(super) use super::{ANY, App, DATAGRAM, LARGEST, fitting, ms, size, small};
    pub(super) use crate::text::Node;
}

/// Sums of sizes keep their meaning.
const LARGEST: u64 = 1_000_000_000_000;
const ANY: u64 = u64::MAX;
const DATAGRAM: u64 = MOST_DATAGRAM as u64;

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
fn fitting(written: &Node, rules: &[(&str, bool, &str)]) -> Result<(), Fault> {
    let wrong = rules.iter().find(|(key, needless, _)| *needless && written.get(key).is_some());
    wrong.map_or(Ok(()), |(key, _, text)| Err(Fault::conflict(*text).under(*key)))
}

/// Keys of a flow that one over UDP has not.
pub(crate) const ABOUT_TCP: [&str; 5] = ["variant", "recovery", "control", "tcp", "receiver_tcp"];
