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
//! Where the request has `points`, the answer has `curves`, and `points` tells how many points there are: their curves (u32)
//! begin at `curves_start`, their times in seconds at `times_start` and their values at `values_start` (both f64).
//!
//! It imports one function, `bentpipe.seconds`: a clock, such as `() => performance.now() / 1000`.

// An exported name and a declared import are unsafe to state; no pointer is followed here.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::Answer;

thread_local! {
    /// The request, and then the answer to it. An instance has one thread.
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Answer> = RefCell::default();
}

#[link(wasm_import_module = "bentpipe")]
unsafe extern "C" {
    safe fn seconds() -> f64;
}

/// Makes room for a request of `length` bytes, and tells where.
#[unsafe(no_mangle)]
extern "C" fn request(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        *request = vec![0; length];
        request.as_mut_ptr()
    })
}

/// Answers the request, and tells the length of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> usize {
    // The last answer makes room first.
    ANSWER.take();
    let answer = REQUEST.with_borrow(|request| crate::answer(request, Box::new(|| seconds())));
    let length = answer.json.len();
    ANSWER.set(answer);
    length
}

/// Where the answer begins, until the next request is answered.
#[unsafe(no_mangle)]
extern "C" fn answer_start() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.json.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn points() -> usize {
    ANSWER.with_borrow(|answer| answer.points.curves.len())
}

#[unsafe(no_mangle)]
extern "C" fn curves_start() -> *const u32 {
    ANSWER.with_borrow(|answer| answer.points.curves.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn times_start() -> *const f64 {
    ANSWER.with_borrow(|answer| answer.points.times_s.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn values_start() -> *const f64 {
    ANSWER.with_borrow(|answer| answer.points.values.as_ptr())
}
