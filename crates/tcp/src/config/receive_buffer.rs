//! A receive buffer that grows, as that of a kernel.

use schemars::JsonSchema;
use serde::Deserialize;

/// A kernel whose receive buffer grows in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Linux 6.12, the long-term one of 2024.
    #[serde(rename = "6.12")]
    Linux612,
    /// Linux 6.18, the one of 2025.
    #[serde(rename = "6.18")]
    Linux618,
}

impl Kernel {
    /// Every one that there is.
    pub const ALL: [Kernel; 2] = [Kernel::Linux612, Kernel::Linux618];

    /// The name used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Linux612 => "6.12",
            Kernel::Linux618 => "6.18",
        }
    }
}

/// `struct sk_buff`, in whole lines of the cache.
pub(crate) const SK_BUFF: u32 = 256;

/// A receive buffer that grows with what the application reads in a round trip, as Linux's does (`tcp_rmem`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// Whose growth it has.
    pub kernel: Kernel,
    /// At first, in bytes.
    pub initial: u32,
    /// At most, in bytes.
    pub max: u32,
    /// What a segment of 1448 bytes takes of it, in bytes (`truesize`).
    pub segment: u32,
}

impl ReceiveBuffer {
    /// That of Linux 6.18: `tcp_rmem` 4096 131072 33554432.
    pub const LINUX: ReceiveBuffer = ReceiveBuffer::of(Kernel::Linux618);

    /// That of a kernel: up to 6.15 the largest was 6 MiB.
    pub const fn of(kernel: Kernel) -> ReceiveBuffer {
        let max = match kernel {
            Kernel::Linux612 => 6 << 20,
            Kernel::Linux618 => 32 << 20,
        };
        // 2048 bytes for the packet and 256 for what describes it.
        ReceiveBuffer { kernel, initial: 131_072, max, segment: 2304 }
    }

    /// The share of it that is payload, in 256ths (`scaling_ratio`).
    const fn payload(self) -> u64 {
        1448 * 256 / self.segment as u64
    }

    /// The window that so many bytes of it have room for.
    pub const fn window_of(self, bytes: u32) -> u32 {
        (bytes as u64 * self.payload() / 256) as u32
    }

    /// The buffer that has room for a window of so many bytes.
    pub(crate) const fn for_window(self, bytes: u64) -> u64 {
        bytes * 256 / self.payload()
    }

    /// What so many bytes of payload take of it, in segments of 1448 bytes that lie in so many `runs`: of neighbours one of 18 keeps its
    /// `struct sk_buff` (`skb_try_coalesce`, `MAX_SKB_FRAGS`).
    pub(crate) const fn memory_of(self, bytes: u32, runs: usize) -> u32 {
        let segments = bytes.div_ceil(1448) as u64;
        let joined = segments.saturating_sub(runs as u64 + segments / 18);
        (bytes as u64 * self.segment as u64 / 1448 - joined * SK_BUFF as u64) as u32
    }
}
