//! The endpoint through its public interface: two ends joined by a line that delays, drops, reorders and duplicates.

mod closing;
mod handshake;
mod harness;
mod transfers;
