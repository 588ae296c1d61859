//! What few controls ask for beside the hooks of [`Control`](super::Control).

use bentpipe_units::{Span, Time};

use super::{Feedback, SendView, Supply, Window};
use crate::CongestionHeader;

/// What a control asks for beside the hooks of [`Control`](super::Control). The sender looks when the connection opens, and comes back
/// for no more than is there: a control without extras pays for none.
pub struct Extras<'a> {
    /// Whether data goes out by [`Window::pacing_rate`] and [`Window::send_quantum`].
    pub paces: bool,
    /// Whether [`Ack::rate`](super::Ack::rate) and [`Ack::losses`](super::Ack::losses) are there.
    pub reads_rates: bool,
    /// Added to "now" when the timer is scheduled after a timeout.
    pub timeout_slack: Span,
    /// Segments that one pass through the retransmission buffer may resend after a timeout.
    pub resend_limit: u32,
    /// A say in the window that the receiver advertised.
    pub receive_window: Option<&'a mut dyn ReceiveWindow>,
    /// Dummy segments beside the data.
    pub dummies: Option<&'a mut dyn Dummies>,
    /// A congestion header that routers answer.
    pub routers: Option<&'a mut dyn Routers>,
}

impl Default for Extras<'_> {
    fn default() -> Self {
        Extras {
            paces: false,
            reads_rates: false,
            timeout_slack: Span::ZERO,
            resend_limit: u32::MAX,
            receive_window: None,
            dummies: None,
            routers: None,
        }
    }
}

/// Sends by another window than the receiver advertised (TCP-ADaLR).
pub trait ReceiveWindow {
    /// The receiver advertised `rwnd` bytes, in the handshake or by an ACK; told after everything else that the ACK means.
    fn on_advertised_window(&mut self, rwnd: u32);

    /// The receive window to send by, asked once before each segment; cwnd limits beside it.
    fn receive_window(&mut self, w: &Window, view: &SendView) -> u32;
}

/// Sends dummy segments (TCP-Peach): copies of the newest data, of low priority, when nothing else goes out.
pub trait Dummies {
    /// The handshake told the window that the receiver begins with, in bytes.
    fn on_first_window(&mut self, rwnd: u32);

    /// Whether dummy segments are left to send, now or as ACKs come; asked after a loss, a timeout, and each of them.
    fn has_dummies(&self) -> bool;

    /// When the next dummy segment may go out.
    fn next_dummy(&self) -> Time;

    /// A dummy segment goes out.
    fn on_dummy_sent(&mut self, now: Time);

    /// A dummy segment was acknowledged.
    fn on_dummy_acked(&mut self, w: &mut Window, now: Time);
}

/// Goes by what routers allot (XCP).
pub trait Routers {
    /// Bytes of the congestion header before each segment, 1 at least.
    fn header_bytes(&self) -> u8;

    /// What the congestion header of a segment of data asks of the routers.
    fn asks_of_routers(&self, w: &Window, supply: &Supply) -> CongestionHeader;

    /// What routers allotted to the connection came back; told after everything else that the segment means.
    fn on_feedback(&mut self, w: &mut Window, feedback: &Feedback);
}
