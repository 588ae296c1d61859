//! Pages, as a scenario describes them.

use bentpipe_units::bounded::{Whole, above_zero, size, whole};
use bentpipe_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::app::LARGEST;
use super::transactions::Think;
use super::tree::Node;
use super::written::{Choice, Names, chosen};

/// Pages, one after the other, over HTTP/1.1 (RFC 9112) and connections that the receiving host opens and that stay open: a
/// main object, then embedded objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpSpec {
    /// From one page's request to the next page's, which a page that takes longer delays; default "30 s".
    pub page_interval: Span,
    /// In place of `page_interval`: from the last byte of a page to the next request.
    pub think: Option<Span>,
    /// How `think` is distributed: "constant" (the default), or "exponential" with that mean.
    #[serde(deserialize_with = "chosen")]
    #[schemars(with = "Choice<Think>")]
    pub think_distribution: Think,
    /// How pages are distributed: "constant" (the default), or "3gpp2", which draws sizes and the number of embedded objects.
    #[serde(deserialize_with = "chosen")]
    #[schemars(with = "Choice<Pages>")]
    pub size_distribution: Pages,
    /// Size of a page's main object; default "10710 B".
    #[serde(deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub main_object: u64,
    /// Embedded objects of a page; default 15.
    #[serde(deserialize_with = "whole::<_, _, 1, 10_000>")]
    #[schemars(with = "Whole<1, 10_000>")]
    pub objects: u32,
    /// Size of an embedded object; default "7758 B".
    #[serde(deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub object: u64,
    /// Size of a request; default "350 B".
    #[serde(deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub request: u64,
    /// Persistent connections for the embedded objects; the main object comes over the first; default 1.
    #[serde(deserialize_with = "whole::<_, _, 1, 1000>")]
    #[schemars(with = "Whole<1, 1000>")]
    pub connections: u32,
    /// Whether a connection carries the requests of all its objects together, and not one after the other; default true.
    pub pipelining: bool,
    /// The handshake of TLS on each connection: "none" (the default), "1.2" or "1.3".
    #[serde(deserialize_with = "chosen")]
    #[schemars(with = "Choice<Tls>")]
    pub tls: Tls,
    /// What the server sends first in that handshake, certificates most of it; default "3 kB".
    #[serde(deserialize_with = "size::<_, _, 1, LARGEST>")]
    #[schemars(with = "Bytes")]
    pub certificates: u64,
    /// How long it takes to look the server's name up, before the first connection is opened; default "0 s".
    pub dns: Span,
    /// Stop after so many pages.
    #[serde(deserialize_with = "whole::<_, _, 1, 9_007_199_254_740_991>")]
    #[schemars(with = "Whole<1, 9_007_199_254_740_991>")]
    pub pages: Option<u64>,
    /// Stop so long after the start.
    #[serde(deserialize_with = "above_zero")]
    pub duration: Option<Span>,
}

impl Default for HttpSpec {
    fn default() -> HttpSpec {
        HttpSpec {
            page_interval: Span::from_millis(30_000),
            think: None,
            think_distribution: Think::Constant,
            size_distribution: Pages::Constant,
            main_object: 10_710,
            objects: 15,
            object: 7758,
            request: 350,
            connections: 1,
            pipelining: true,
            tls: Tls::None,
            certificates: 3000,
            dns: Span::ZERO,
            pages: None,
            duration: None,
        }
    }
}

/// How pages are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// Each is the same.
    #[default]
    Constant,
    /// As 3GPP2 C.R1002 draws them, and 3GPP TR 25.892 and IEEE 802.16m after it.
    Gpp2,
}

/// The handshake before the first request on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// In clear.
    #[default]
    None,
    /// A full handshake of RFC 5246: two round trips.
    V12,
    /// A full handshake of RFC 8446: one round trip.
    V13,
}

impl Names for Pages {
    const WHAT: &'static str = "a distribution of pages";
    fn all() -> Vec<(&'static str, Self)> {
        vec![("constant", Pages::Constant), ("3gpp2", Pages::Gpp2)]
    }
}

impl Names for Tls {
    const WHAT: &'static str = "a version of TLS";
    fn all() -> Vec<(&'static str, Self)> {
        vec![("none", Tls::None), ("1.2", Tls::V12), ("1.3", Tls::V13)]
    }
}

impl HttpSpec {
    /// The key that says nothing beside what another one has, and what is told of it.
    pub(super) fn needless(&self, options: &Node) -> Option<(&'static str, &'static str)> {
        let rules = [
            ("page_interval", self.think.is_some(), "expected no page_interval beside think, found both"),
            ("think_distribution", self.think.is_none(), "expected think beside this key, found none"),
            (
                "certificates",
                self.tls == Tls::None,
                "expected tls = \"1.2\" or \"1.3\" beside this key, found \"none\"",
            ),
        ];
        let drawn = ["main_object", "object", "objects"].map(|key| {
            let message = "expected size_distribution = \"constant\" beside this key, found \"3gpp2\"";
            (key, self.size_distribution == Pages::Gpp2, message)
        });
        let mut needless = rules.into_iter().chain(drawn).filter(|(_, needless, _)| *needless);
        needless.find(|(key, ..)| options.get(key).is_some()).map(|(key, _, message)| (key, message))
    }
}
