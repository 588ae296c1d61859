//! Any text as a script of packetdrill's language: what reads it never panics.
#![no_main]
#![allow(dead_code)]

#[path = "../../crates/tcp/tests/packetdrill/asserts.rs"]
mod asserts;
#[path = "../../crates/tcp/tests/packetdrill/packet.rs"]
mod packet;
#[path = "../../crates/tcp/tests/packetdrill/script.rs"]
mod script;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(script) = script::parse(&text, &["LINUX"]) else { return };
    for event in &script.events {
        if let script::What::Code(code) = &event.what {
            let _ = asserts::check(code, &|name| (name == "six").then_some(6));
        }
    }
});
