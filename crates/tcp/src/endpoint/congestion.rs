//! The congestion header of XCP (draft-falk-xcp-spec-03 section 4.1): what a segment asks of the routers on its way, and what they
//! allotted to the peer.

use super::*;
use crate::CongestionHeader;

/// The longest congestion header.
const MOST: u8 = 40;

/// What an end of a connection keeps whose segments carry congestion headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Congestion {
    /// The changes that arrived and were not handed back yet.
    ///
    /// Section 4.1.2: "The receiver is responsible for calculating the sum of the arriving Delta_Throughput fields for placement in
    /// outgoing Reverse_Feedback fields."
    owed: f32,
    /// Routers that the last of them had passed.
    routers: u8,
    /// Bytes of the header.
    pub(super) bytes: u8,
}

impl Endpoint {
    /// A SYN or SYN-ACK came: headers are sent where both ends have one on it. Whoever is asked answers; whoever asks has a control
    /// that goes by them.
    pub(super) fn agree_on_congestion_headers(&mut self, segment: &Segment) {
        let offered = !segment.flags.has(Flags::ACK) || self.sender.header_bytes() > 0;
        self.congestion = segment.congestion().filter(|_| offered).map(|header| {
            Box::new(Congestion { owed: 0.0, routers: header.routers, bytes: header.bytes.min(MOST) })
        });
        self.extended = self.ecn || self.congestion.is_some();
        if let Some(header) = segment.congestion().filter(|_| segment.flags.has(Flags::ACK)) {
            self.sender.on_feedback(0.0, header.reverse_routers);
        }
    }

    /// Puts a congestion header before a SYN, or the `answer` to one.
    pub(super) fn offer_congestion_header(&mut self, answer: bool, segment: &mut Segment) {
        let asked = self.sender.header_bytes();
        let header = match (&self.congestion, answer) {
            (Some(agreed), true) => CongestionHeader {
                reverse_routers: agreed.routers,
                bytes: agreed.bytes,
                ..Default::default()
            },
            (_, false) if asked > 0 => CongestionHeader { bytes: asked, ..Default::default() },
            _ => return,
        };
        segment.flags |= Flags::CONGESTION;
        segment.congestion = header;
    }

    /// Puts a congestion header before a segment, of data or not; returns its length.
    ///
    /// Section 3.2: an ACK without data has the minimal format, of which "a router MUST not perform any processing".
    pub(super) fn put_congestion_header(&mut self, data: bool, segment: &mut Segment) -> u32 {
        let Some(congestion) = &mut self.congestion else { return 0 };
        let asks = if data { self.sender.asks_of_routers() } else { CongestionHeader::default() };
        let reverse = std::mem::take(&mut congestion.owed);
        let (reverse_routers, bytes) = (congestion.routers, congestion.bytes);
        segment.flags |= Flags::CONGESTION;
        segment.congestion = CongestionHeader { reverse, reverse_routers, bytes, ..asks };
        u32::from(bytes)
    }

    /// A segment that passed the checks was taken: what it brought goes back, and what it brings back changes the window.
    pub(super) fn take_congestion_header(&mut self, segment: &Segment) {
        let (Some(congestion), Some(header)) = (&mut self.congestion, segment.congestion()) else { return };
        if segment.len > 0 {
            congestion.owed += header.delta;
            congestion.routers = header.routers;
        }
        self.sender.on_feedback(f64::from(header.reverse), header.reverse_routers);
    }
}
