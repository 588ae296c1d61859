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
    /// The flags of a SYN, or of the `answer` to one. Whether a SYN that is sent `again` offers the same, RFC 3168 section
    /// 6.1.1.1 leaves open; in Linux it does not (`tcp_ecn_clear_syn`, `tcp_ecn_fallback` 1).
    pub(super) fn syn_flags(&self, answer: bool, again: bool) -> Flags {
        let offers = self.config.ecn && !(again && self.config.host == Host::Linux);
        match (answer, offers) {
            (true, _) if self.ecn => Flags::SYN | Flags::ACK | Flags::ECE,
            (true, _) => Flags::SYN | Flags::ACK,
            (false, true) => Flags::SYN | Flags::ECE | Flags::CWR,
            (false, false) => Flags::SYN,
        }
    }

    /// Lets the network mark a segment of new data, tells the receiver of a reduction, and echoes a mark.
    ///
    /// RFC 3168 section 6.1.5: "ECN-capable TCP implementations MUST NOT set either ECT codepoint (ECT(0) or ECT(1)) in the IP
    /// header for retransmitted data packets"; section 6.1.6 says the same, and of CWR too, of window probes, section 6.1.4 of
    /// "pure acknowledgement packets", as which a FIN without data goes here.
    #[inline(never)]
    pub(super) fn set_capable(&mut self, new_data: bool, segment: &mut Segment) {
        self.echo_mark(segment);
        if !new_data || self.sender.probing() {
            return;
        }
        segment.ecn = Ecn::Ect0;
        if self.sender.announce_reduction() {
            segment.flags |= Flags::CWR;
        }
    }

    /// Echoes a mark.
    ///
    /// RFC 3168 section 6.1.3: "that TCP receiver continues to set the ECN-Echo flag in all the ACK packets it sends (whether
    /// they acknowledge CE data packets or non-CE data packets) until it receives a CWR packet".
    #[inline(never)]
    pub(super) fn echo_mark(&self, segment: &mut Segment) {
        if self.echo {
            segment.flags |= Flags::ECE;
        }
    }

    /// Takes a segment and what it tells of marks: to the sender by ECE, to the receiver by CE and CWR.
    ///
    /// RFC 3168 section 6.1.5: the ECN field of packets "outside of the receiver's current window" is ignored; they do not come
    /// here.
    #[inline(never)]
    pub(super) fn accept_with_ecn(&mut self, now: Time, segment: &Segment) {
        if segment.len > 0 {
            self.echo &= !segment.flags.has(Flags::CWR);
            self.echo |= segment.ecn == Ecn::Ce;
        }
        if self.sender.una() <= segment.ack && segment.flags.has(Flags::ECE) {
            let flight = self.sender.flight();
            self.accept(now, segment);
            self.sender.on_mark_echo(now, flight);
        } else {
            self.accept(now, segment);
        }
    }
}
