//! The handshake of TLS: how much each side says before the first request.

use crate::{HttpSpec, Side, Tls};

/// A ClientHello, which is padded to this (RFC 7685).
const HELLO: u64 = 512;

/// Bytes of the messages of a full handshake, by turns, the client's first; none without TLS. The small ones are those of AES-128-GCM,
/// SHA-256 and X25519, with the headers of their records.
pub(super) fn messages(spec: &HttpSpec) -> Vec<u64> {
    match spec.tls {
        Tls::None => vec![],
        // ClientKeyExchange (42), ChangeCipherSpec (6), Finished (45); of the server the latter two.
        Tls::V12 => vec![HELLO, spec.certificates, 93, 51],
        // ChangeCipherSpec (6), Finished (58).
        Tls::V13 => vec![HELLO, spec.certificates, 64],
    }
}

/// Bytes that a side says in a handshake of such messages.
pub(super) fn said(messages: &[u64], side: Side) -> u64 {
    let first = usize::from(side == Side::Data);
    messages.iter().skip(first).step_by(2).sum()
}
