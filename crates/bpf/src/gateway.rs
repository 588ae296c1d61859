//! XFWA at a network interface (`bpf/xfwa.bpf.c`): loaded, configured, attached by TCX, looked at.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::Path;
use std::ptr;

use libbpf_rs::libbpf_sys::{BPF_TCX_EGRESS, BPF_TCX_INGRESS, bpf_link_create};
use libbpf_rs::{MapCore as _, MapFlags, Object, ProgramInput, ProgramMut};

use crate::{BpfError, open, refused};

/// Where round-trip times come from, as in `bpf/window.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttFrom {
    /// The hops that packets have passed, by their time to live: so many nanoseconds each.
    Hops(u64),
    /// The handshakes that pass.
    Handshake,
    /// One value for all, ns.
    Told(u64),
}

/// A gateway's settings.
#[derive(Clone, Copy, Debug)]
pub struct GatewaySettings {
    /// Of the guarded link, bytes a second; below 2^31.
    pub rate: u64,
    /// Of the queue before it, bytes.
    pub buffer: u64,
    /// Where round-trip times come from.
    pub rtt: RttFrom,
    /// No window is lowered below this, bytes.
    pub least: u32,
    /// A flow is active until so many mean round-trip times after its last data; 1 to 6.
    pub delta_factor: u32,
    /// Bytes before the IP header: 14 on Ethernet, 0 on a device without a link layer.
    pub link_header: u32,
}

/// What a gateway did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatewayCounts {
    /// TCP segments that left by the interface.
    pub segments_forward: u64,
    /// TCP segments that came in by it.
    pub segments_backward: u64,
    /// Acknowledgments whose window was lowered.
    pub windows_lowered: u64,
    /// Bytes of these windows together.
    pub written_bytes: u64,
    /// Active flows at the last snapshot.
    pub flows: u32,
    /// Their mean round-trip time, ns.
    pub mean_rtt_ns: u64,
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Into the guarded link.
    Forward,
    /// Back.
    Backward,
}

/// XFWA in the kernel; it is gone with this, and with its process.
pub struct KernelGateway {
    object: Object,
    links: Vec<OwnedFd>,
}

impl std::fmt::Debug for KernelGateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KernelGateway({} links)", self.links.len())
    }
}

/// Lengths of `struct gateway` in `bpf/xfwa.bpf.c`: the timer, the configuration, the snapshot, the counters, the sums of the epochs,
/// and the epoch.
const TIMER: usize = 16;
const CONFIG: usize = 48;
const SNAPSHOT: usize = 32;
const COUNTERS: usize = 32;
const SUMS: usize = 8 * 16;
const GATEWAY: usize = TIMER + CONFIG + SNAPSHOT + COUNTERS + SUMS + 8;

impl KernelGateway {
    /// Loads the program in the file `object` and sets it up; it sees nothing yet.
    ///
    /// # Errors
    /// As of [`crate::hold`].
    pub fn load(object: &Path, settings: &GatewaySettings) -> Result<KernelGateway, BpfError> {
        let object = open(object)?.load().map_err(|error| refused(&error))?;
        let gateway = KernelGateway { object, links: Vec::new() };
        let mut value = vec![0; GATEWAY];
        let (source, hop, told) = match settings.rtt {
            RttFrom::Hops(ns) => (0_u32, ns, 0),
            RttFrom::Handshake => (1, 0, 0),
            RttFrom::Told(ns) => (2, 0, ns),
        };
        let long = [settings.rate, settings.buffer, hop, told];
        let short = [source, settings.least, settings.link_header, settings.delta_factor];
        let bytes = long.iter().flat_map(|word| word.to_ne_bytes());
        let bytes: Vec<u8> = bytes.chain(short.iter().flat_map(|word| word.to_ne_bytes())).collect();
        value[TIMER..TIMER + CONFIG].copy_from_slice(&bytes);
        value[GATEWAY - 8..GATEWAY - 4].copy_from_slice(&1_u32.to_ne_bytes());
        gateway.write(&value)?;
        Ok(gateway)
    }

    /// Has it take snapshots from now on, and see what passes the interface with this index.
    ///
    /// # Errors
    /// [`BpfError::Missing`] when the kernel has no TCX, which came with Linux 6.6, or the user may not.
    pub fn attach(&mut self, interface: i32) -> Result<(), BpfError> {
        for (name, place) in [("xfwa_forward", BPF_TCX_EGRESS), ("xfwa_backward", BPF_TCX_INGRESS)] {
            let program = self.program(name)?;
            // SAFETY: the descriptor is the program's and outlives the call; without options the pointer may be null.
            #[allow(unsafe_code, reason = "libbpf-rs has no TCX")]
            let link = unsafe { bpf_link_create(program.as_fd().as_raw_fd(), interface, place, ptr::null()) };
            if link < 0 {
                return Err(match -link {
                    1 => BpfError::Missing("a BPF program needs root (CAP_BPF and CAP_NET_ADMIN)".to_owned()),
                    22 => BpfError::Missing("this kernel has no TCX, which came with Linux 6.6".to_owned()),
                    error => BpfError::Refused(std::io::Error::from_raw_os_error(error).to_string()),
                });
            }
            // SAFETY: the descriptor was made above and is nobody else's.
            #[allow(unsafe_code, reason = "as above")]
            self.links.push(unsafe { OwnedFd::from_raw_fd(link) });
        }
        self.call("xfwa_start")
    }

    /// Takes a snapshot now, whatever the timer does.
    ///
    /// # Errors
    /// [`BpfError::Refused`] when the kernel does not run the program.
    pub fn take_snapshot(&self) -> Result<(), BpfError> {
        self.call("xfwa_snapshot")
    }

    /// Shows it a packet as it is on the wire, Ethernet header included, and gives what it makes of it, with the
    /// nanoseconds that it took, the mean of `repeat` times.
    ///
    /// # Errors
    /// [`BpfError::Refused`] when the kernel does not run the program.
    pub fn pass(&self, way: Way, packet: &[u8], repeat: u32) -> Result<(Vec<u8>, u64), BpfError> {
        let name = if way == Way::Forward { "xfwa_forward" } else { "xfwa_backward" };
        let mut out = vec![0; packet.len()];
        let input = ProgramInput {
            data_in: Some(packet),
            data_out: Some(&mut out),
            repeat,
            ..ProgramInput::default()
        };
        let ran = self.program(name)?.test_run(input).map_err(|error| refused(&error))?;
        let took = ran.duration.as_nanos() as u64;
        Ok((out, took))
    }

    /// What it did until now.
    ///
    /// # Errors
    /// [`BpfError::Refused`] when its maps cannot be read.
    pub fn counts(&self) -> Result<GatewayCounts, BpfError> {
        let value = self.read()?;
        let long = |at: usize| u64::from_ne_bytes(value[at..at + 8].try_into().unwrap_or_default());
        let snapshot = TIMER + CONFIG;
        let counters = snapshot + SNAPSHOT;
        Ok(GatewayCounts {
            segments_forward: long(counters),
            segments_backward: long(counters + 8),
            windows_lowered: long(counters + 16),
            written_bytes: long(counters + 24),
            flows: long(snapshot + 24) as u32,
            mean_rtt_ns: long(snapshot + 8),
        })
    }

    /// Flows in the table. It reads all keys; one that is found twice, as it may be while flows make way, counts once.
    ///
    /// # Errors
    /// [`BpfError::Refused`] when its maps cannot be read.
    pub fn flows_remembered(&self) -> Result<u32, BpfError> {
        Ok(self.map("flows")?.keys().collect::<HashSet<_>>().len() as u32)
    }

    fn call(&self, name: &str) -> Result<(), BpfError> {
        let ran = self.program(name)?.test_run(ProgramInput::default()).map_err(|error| refused(&error))?;
        match ran.return_value {
            0 => Ok(()),
            code => Err(BpfError::Refused(format!("{name} failed with {code}"))),
        }
    }

    fn program(&self, name: &str) -> Result<ProgramMut<'_>, BpfError> {
        let wanted = OsStr::new(name);
        let mut programs = self.object.progs_mut();
        programs.find(|program| program.name() == wanted).ok_or_else(|| missing(name))
    }

    fn map(&self, name: &str) -> Result<libbpf_rs::Map<'_>, BpfError> {
        let wanted = OsStr::new(name);
        self.object.maps().find(|map| map.name() == wanted).ok_or_else(|| missing(name))
    }

    fn read(&self) -> Result<Vec<u8>, BpfError> {
        let found = self.map("gateways")?.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY);
        let value = found.map_err(|error| refused(&error))?.ok_or_else(|| missing("gateways"))?;
        if value.len() == GATEWAY { Ok(value) } else { Err(missing("gateways")) }
    }

    fn write(&self, value: &[u8]) -> Result<(), BpfError> {
        let map = self.map("gateways")?;
        map.update(&0_u32.to_ne_bytes(), value, MapFlags::ANY).map_err(|error| refused(&error))
    }
}

fn missing(name: &str) -> BpfError {
    BpfError::Refused(format!("the object is another than this program's: {name}"))
}
