//! Explicit congestion notification (RFC 3168): what both ends agree on, which packets may be marked, and the echo of a mark.

use super::*;

/// Whether a SYN or SYN-ACK offers ECN.
///
/// RFC 3168 section 6.1.1: the first has both flags, ECE and CWR; the second is "a SYN-ACK packet with only the ECE flag set but
/// the CWR flag not set", so that hosts which send back the bits that they do not know offer nothing.
pub(super) fn is_setup(flags: Flags) -> bool {
    flags.has(Flags::ECE) && flags.has(Flags::CWR) != flags.has(Flags::ACK)
}

impl Endpoint {
    /// The flags of a SYN, or of the `answer` to one. A SYN that is sent again offers the same: RFC 3168 section 6.1.1.1 leaves
    /// open whether it does.
    pub(super) fn syn_flags(&self, answer: bool) -> Flags {
        match (answer, self.config.ecn) {
            (true, _) if self.ecn => Flags::SYN | Flags::ACK | Flags::ECE,
            (true, _) => Flags::SYN | Flags::ACK,
            (false, true) => Flags::SYN | Flags::ECE | Flags::CWR,
            (false, false) => Flags::SYN,
        }
    }

    /// Lets the network mark a segment of new data, and tells the receiver of a reduction.
    ///
    /// RFC 3168 section 6.1.5: "ECN-capable TCP implementations MUST NOT set either ECT codepoint (ECT(0) or ECT(1)) in the IP
    /// header for retransmitted data packets"; section 6.1.6 says the same, and of CWR too, of window probes, section 6.1.4 of
    /// "pure acknowledgement packets", as which a FIN without data goes here.
    pub(super) fn set_capable(&mut self, data: Outgoing, segment: &mut Segment) {
        if data.len == 0 || data.again || self.sender.probing() {
            return;
        }
        segment.ecn = Ecn::Ect0;
        if self.sender.announce_reduction() {
            segment.flags |= Flags::CWR;
        }
    }

    /// Notes what a segment tells the receiver of the data: CWR ends the echo, CE begins it.
    ///
    /// RFC 3168 section 6.1.3: "that TCP receiver continues to set the ECN-Echo flag in all the ACK packets it sends (whether
    /// they acknowledge CE data packets or non-CE data packets) until it receives a CWR packet". Section 6.1.5: the ECN field
    /// of packets "outside of the receiver's current window" is ignored; they do not come here.
    pub(super) fn note_mark(&mut self, segment: &Segment) {
        if segment.len == 0 {
            return;
        }
        if segment.flags.has(Flags::CWR) {
            self.ack_flags = Flags::ACK;
        }
        if segment.ecn == Ecn::Ce {
            self.ack_flags = Flags::ACK | Flags::ECE;
        }
    }
}
