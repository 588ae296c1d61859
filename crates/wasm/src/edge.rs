//! What the module exports and imports. A caller writes its request to the memory that `request` gives, calls `answer`, and
//! reads as many bytes at `answer_start`:
//!
//! ```js
//! const { exports } = instance;
//! const bytes = new TextEncoder().encode(JSON.stringify({ scenario: "extends = 'preset:geo' …" }));
//! const start = exports.request(bytes.length);
//! new Uint8Array(exports.memory.buffer, start, bytes.length).set(bytes);
//! const length = exports.answer();
//! const answer = new Uint8Array(exports.memory.buffer, exports.answer_start(), length);
//! JSON.parse(new TextDecoder().decode(answer)); // { result: … } or { error: "…" }
//! ```
//!
//! It imports one function, `bentpipe.seconds`: a clock, such as `() => performance.now() / 1000`.

// An exported name and a declared import are unsafe to state; no pointer is followed here.
#![allow(unsafe_code)]

use std::cell::RefCell;

thread_local! {
    /// What goes in and what comes out, one after the other. An instance has one thread.
    static EXCHANGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[link(wasm_import_module = "bentpipe")]
unsafe extern "C" {
    safe fn seconds() -> f64;
}

/// Makes room for a request of `length` bytes, and tells where.
#[unsafe(no_mangle)]
extern "C" fn request(length: usize) -> *mut u8 {
    EXCHANGE.with_borrow_mut(|exchange| {
        *exchange = vec![0; length];
        exchange.as_mut_ptr()
    })
}

/// Answers the request, and tells the length of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> usize {
    EXCHANGE.with_borrow_mut(|exchange| {
        *exchange = crate::answer(exchange, Box::new(|| seconds()));
        exchange.len()
    })
}

/// Where the answer begins, until the next request.
#[unsafe(no_mangle)]
extern "C" fn answer_start() -> *const u8 {
    EXCHANGE.with_borrow(|exchange| exchange.as_ptr())
}
