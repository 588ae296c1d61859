//! How a driver knows a packet.

/// How a driver knows a packet: an index into its own store.
pub type PacketId = u32;
