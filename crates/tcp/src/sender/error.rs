//! Why a connection ended.

use std::fmt;

/// Why a connection ended before its data was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionError {
    /// The retransmission limit was reached (R2 of RFC 1122 section 4.2.3.5).
    TimedOut,
    /// The peer reset the connection.
    Reset,
    /// The peer refused the connection.
    Refused,
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConnectionError::TimedOut => "the retransmission limit was reached without an answer",
            ConnectionError::Reset => "the peer reset the connection",
            ConnectionError::Refused => "the peer refused the connection",
        })
    }
}
