//! Pages, as a scenario describes them.

use super::prelude::*;
use super::transactions::Think;

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
    pub think_distribution: Think,
    /// How pages are distributed: "constant" (the default), or "3gpp2", which draws sizes and the number of embedded objects.
    pub size_distribution: Pages,
    /// Size of a page's main object; default "10710 B".
    #[serde(with = "Size::<1, LARGEST>")]
    pub main_object: u64,
    /// Embedded objects of a page; default 15.
    #[serde(with = "Whole::<1, 10_000>")]
    pub objects: u32,
    /// Size of an embedded object; default "7758 B".
    #[serde(with = "Size::<1, LARGEST>")]
    pub object: u64,
    /// Size of a request; default "350 B".
    #[serde(with = "Size::<1, LARGEST>")]
    pub request: u64,
    /// Persistent connections for the embedded objects; the main object comes over the first; default 1.
    #[serde(with = "Whole::<1, 1000>")]
    pub connections: u32,
    /// Whether a connection carries the requests of all its objects together, and not one after the other; default true.
    pub pipelining: bool,
    /// The handshake of TLS on each connection: "none" (the default), "1.2" or "1.3".
    pub tls: Tls,
    /// What the server sends first in that handshake, certificates most of it; default "3 kB".
    #[serde(with = "Size::<1, LARGEST>")]
    pub certificates: u64,
    /// How long it takes to look the server's name up, before the first connection is opened; default "0 s".
    pub dns: Span,
    /// Stop after so many pages.
    #[serde(with = "Whole::<1, 9_007_199_254_740_991>")]
    pub pages: Option<u64>,
    /// Stop so long after the start.
    #[serde(with = "AboveZero")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Each is the same.
    #[default]
    Constant,
    /// As 3GPP2 C.R1002 draws them, and 3GPP TR 25.892 and IEEE 802.16m after it.
    #[serde(rename = "3gpp2")]
    Gpp2,
}

/// The handshake before the first request on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tls {
    /// In clear.
    #[default]
    None,
    /// A full handshake of RFC 5246: two round trips.
    #[serde(rename = "1.2")]
    V12,
    /// A full handshake of RFC 8446: one round trip.
    #[serde(rename = "1.3")]
    V13,
}

impl App for HttpSpec {
    const NAME: &'static str = "http";
    const SUMMARY: &'static str = "web pages over persistent TCP connections";
    const ALSO: &'static [&'static str] = &["web"];
    const NO_DELAY: bool = true;
    const ENDS_BY: &'static str = "pages or duration";

    /// Whether a key says nothing beside what another one has.
    fn check(&self, written: &Node) -> Result<(), Fault> {
        let drawn = self.size_distribution == Pages::Gpp2;
        let rules = &[
            ("page_interval", self.think.is_some(), "cannot be combined with think"),
            ("think_distribution", self.think.is_none(), "needs think"),
            ("certificates", self.tls == Tls::None, "needs tls = \"1.2\" or \"1.3\""),
            ("main_object", drawn, "needs size_distribution = \"constant\""),
            ("object", drawn, "needs size_distribution = \"constant\""),
            ("objects", drawn, "needs size_distribution = \"constant\""),
        ];
        fitting(written, rules)
    }

    fn ends(&self) -> bool {
        self.pages.is_some() || self.duration.is_some()
    }

    fn connections(&self) -> usize {
        self.connections as usize
    }

    fn is_asked_for(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        self.think_distribution != Think::Constant || self.size_distribution != Pages::Constant
    }
}
