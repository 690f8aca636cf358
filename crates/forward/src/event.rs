// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a measurement reports while it runs.

use linerate_model::output::{Benchmarks, Forward, ForwardResult, Trial};

/// A step of the measurement.
#[derive(Debug)]
pub enum Event<'a> {
    /// A note for the user.
    Note(String),
    /// The benchmark that begins: its name, frame size and way, with the estimated time left, seconds.
    Benchmarking(String, f64),
    /// What is being done now.
    Status(String),
    /// How it is measured; reported again when more is known.
    Setup(&'a Forward),
    /// A trial ended.
    Trial(&'a Trial),
    /// The estimated time left, seconds.
    Left(f64),
    /// A search ended.
    Result(&'a ForwardResult),
    /// Another benchmark of one size and way ended.
    Benchmark(&'a Benchmarks),
}

/// The callback that takes events.
pub type OnEvent<'a> = &'a mut dyn FnMut(Event<'_>);
