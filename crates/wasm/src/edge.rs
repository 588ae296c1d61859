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
//! It imports four functions of `bentpipe`:
//!
//! - `seconds()`: a clock, such as `() => performance.now() / 1000`;
//! - `curves(start, length)`: where a request has `points`, is told once before the run, as JSON, whose curves they are;
//! - `points(count, curves, times, values)`: takes points while the run goes on, from their curves (u32), their times in seconds
//!   and their values (both f64);
//! - `progress(simulated_s)`: is told every 65,536 events how far a run has come.

// An exported name and a declared import are unsafe to state; no pointer is followed here.
#![allow(unsafe_code)]

use std::cell::RefCell;

use bentpipe_sim::Points;

use crate::Caller;

thread_local! {
    /// The request, and then the answer to it. An instance has one thread.
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[link(wasm_import_module = "bentpipe")]
unsafe extern "C" {
    safe fn seconds() -> f64;
    safe fn curves(start: *const u8, length: usize);
    safe fn progress(simulated_s: f64);
    safe fn points(count: usize, curves: *const u32, times: *const f64, values: *const f64);
}

#[derive(Clone, Copy)]
struct Outside;

impl Caller for Outside {
    fn seconds(self) -> f64 {
        seconds()
    }

    fn curves(self, json: &[u8]) {
        curves(json.as_ptr(), json.len());
    }

    fn progress(self, simulated_s: f64) {
        progress(simulated_s);
    }

    fn points(self, more: &Points) {
        points(more.curves.len(), more.curves.as_ptr(), more.times_s.as_ptr(), more.values.as_ptr());
    }
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
    let answer = REQUEST.with_borrow(|request| crate::answer(request, Outside));
    let length = answer.len();
    ANSWER.set(answer);
    length
}

/// Where the answer begins, until the next request is answered.
#[unsafe(no_mangle)]
extern "C" fn answer_start() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}
