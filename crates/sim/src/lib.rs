//! The virtual clock: events, topology, applications, scenarios, measurements.

mod addresses;
mod apps;
mod causes;
mod engine;
mod events;
mod observe;
mod packets;
pub mod pcap;
mod result;
mod routes;
mod run;
pub mod scenario;
mod series;

pub use causes::LossCauses;
pub use result::{
    EngineResult, FlowResult, GatewayResult, HandoverResult, LinkResult, PageResult, RunResult,
};
pub use run::{Progress, RunError, RunOptions, run};
pub use series::{
    AckColumns, FlowSeries, LinkSeries, LostColumns, SackColumns, SentColumns, Series, StateColumns,
};
