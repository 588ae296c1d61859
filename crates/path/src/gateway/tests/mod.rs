mod ewa;
mod flows;
mod share;
mod spec;
mod tracking;
mod wintrac;
mod xcp;
mod xfwa;

use bentpipe_units::{Rate, Span, Time};

use super::*;

/// The bottleneck of the document: 1.5 Mbit/s, and a buffer of one bandwidth-delay product at 160 ms.
const T1: LinkView = LinkView { rate: Rate::from_bps(1_500_000), buffer_bytes: 30_000, queued_bytes: 0 };

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn key(n: u32) -> FlowKey {
    FlowKey { source: 0x0a00_0000 + n, destination: 0x0b00_0000, source_port: 5000, destination_port: 80 }
}

fn told(ms: u64) -> XfwaOptions {
    XfwaOptions { rtt: RttSource::Told, told: Some(Span::from_millis(ms)), ..XfwaOptions::default() }
}

fn by_ttl() -> XfwaOptions {
    XfwaOptions { isl_delay: Some(Span::from_millis(20)), ..XfwaOptions::default() }
}

fn gateway(spec: GatewaySpec) -> Gateway {
    assert_eq!(spec.validate(), Ok(()));
    Gateway::new(&spec).unwrap()
}

/// A segment with data, three hops from a host that starts at 64; headers of no length, so that shares of packets are whole numbers.
fn data(n: u32) -> Header {
    Header {
        flow: key(n),
        ttl: 64,
        syn: false,
        ack: true,
        fin: false,
        rst: false,
        payload: 1460,
        packet: 1460,
        window: 65_535,
        window_scale: None,
        mss: None,
        signed: false,
    }
}

/// The acknowledgment that comes back for it.
fn ack(n: u32, window: u16) -> Header {
    Header { flow: key(n).reversed(), payload: 0, window, ..data(n) }
}

fn syn(n: u32, window_scale: Option<u8>) -> Header {
    Header { syn: true, ack: false, payload: 0, window_scale, ..data(n) }
}

fn syn_ack(n: u32, window_scale: Option<u8>) -> Header {
    Header { syn: true, window_scale, ..ack(n, 65_535) }
}

/// A handshake at `now` and a byte, without time between the segments.
fn open(gateway: &mut Gateway, now: Time, n: u32, scales: [Option<u8>; 2]) {
    gateway.forward(now, &syn(n, scales[0]), &T1);
    gateway.backward(now, &syn_ack(n, scales[1]), &T1);
    gateway.forward(now, &byte(n), &T1);
}

/// A segment with a byte, which takes hardly any time on the link.
fn byte(n: u32) -> Header {
    Header { payload: 1, packet: 1, ..data(n) }
}
