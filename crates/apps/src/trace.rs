//! Transfers of a trace.

use bentpipe_units::registry::Named;
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::prelude::*;
use crate::short_flows::ShortFlows;

/// Connections at the times of a trace, each for one transfer of a size that it says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// The transfers, at least one and at most 100,000, by their times; or the name of a CSV file beside the scenario's, with
    /// the columns start_s, in seconds, and bytes.
    #[schemars(schema_with = "trace_or_file")]
    pub trace: Vec<Transfer>,
    /// Which host opens the connection: "sender" (the default), or "receiver", with a request.
    #[serde(default)]
    pub opened_by: Opener,
    /// Beside "receiver" the size of the request; default "350 B".
    #[serde(default = "size::<350>", with = "Size::<1, LARGEST>")]
    pub request: u64,
}

/// A transfer of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// When its connection is opened, after the start of the flow.
    pub at: Span,
    /// Its size.
    #[serde(with = "Size::<1, LARGEST>")]
    pub bytes: u64,
}

const MOST_TRANSFERS: usize = 100_000;

fn trace_or_file(generator: &mut SchemaGenerator) -> Schema {
    let transfer = generator.subschema_for::<Transfer>();
    json_schema!({
        "type": ["array", "string"],
        "items": transfer,
        "minItems": 1,
        "maxItems": MOST_TRANSFERS,
        "minLength": 1,
    })
}

impl Named for TraceSpec {
    const NAME: &'static str = "trace";
    const SUMMARY: &'static str = "TCP connections at the times of a trace, each for one transfer";
    const ALSO: &'static [&'static str] = &["replay"];
}

impl App for TraceSpec {
    fn facts(&self) -> Facts {
        Facts {
            ends: true,
            connections: self.trace.len(),
            is_asked_for: self.opened_by == Opener::Receiver,
            ..Facts::default()
        }
    }

    fn check(&self, written: &Written<'_>) -> Result<(), Fault> {
        self.opened_by.check(written)?;
        let found = self.trace.len();
        let many = || fault!("1 to {MOST_TRANSFERS} transfers", "{found}").under("trace");
        ensure!((1..=MOST_TRANSFERS).contains(&found), many());
        for (i, pair) in self.trace.windows(2).enumerate() {
            let [before, at] = [pair[0].at, pair[1].at];
            let early = || fault!("a time that is not before the last transfer's ({before})", "{at}");
            ensure!(at >= before, early().under("at").under(format!("[{}]", i + 1)).under("trace"));
        }
        Ok(())
    }

    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
        Running::connected(ShortFlows::replay(self, beginning.start))
    }
}
