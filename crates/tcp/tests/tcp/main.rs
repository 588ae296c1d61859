//! The endpoint through its public interface: two ends joined by a line that delays, drops, reorders and duplicates.

mod acks;
mod adalr;
mod afc;
mod buffers;
mod carried;
mod choices;
mod chosen;
mod closing;
mod control;
mod cubic;
mod cubic_traces;
mod ecn;
mod golden;
mod handshake;
mod harness;
mod hooks;
mod hostile;
mod linux;
mod losses;
mod rack;
mod slow_starts;
mod starts;
mod then;
mod timers;
mod transfers;
mod windows;
