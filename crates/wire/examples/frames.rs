// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stamping and reading a test frame costs: `cargo run --release -p linerate-wire --example frames`. Arguments, for
//! `valgrind --tool=callgrind`: the number of frames, the one size.
#![expect(clippy::print_stdout, reason = "an example reports on stdout")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use linerate_wire::frame::{self, Arrived, Family, Flow, Side, Signature, Template};

fn main() -> Result<(), Box<dyn Error>> {
    let frames = argument(1).unwrap_or(1_000_000);
    let only = argument(2);
    println!("size  family  copy+stamp ns  stamp ns  read ns");
    for (family, sizes) in [
        (Family::Ipv4, [64, 512, 1518, 9216]),
        (Family::Ipv6, [84, 512, 1518, 9216]),
    ] {
        for size in sizes
            .into_iter()
            .filter(|size| only.is_none_or(|only| only == u64::from(*size)))
        {
            row(family, size, frames)?;
        }
    }
    Ok(())
}

fn argument(number: usize) -> Option<u64> {
    std::env::args().nth(number)?.parse().ok()
}

fn row(family: Family, size_bytes: u16, frames: u64) -> Result<(), Box<dyn Error>> {
    let flow = Flow::first(Side::A, family, [2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let template = Template::new(&flow, size_bytes)?;
    let mut bytes = template.bytes().to_vec();
    let copy = per_frame(frames, |sequence| {
        black_box(&mut bytes).copy_from_slice(template.bytes());
        template.stamp(black_box(&mut bytes), &signature(sequence));
    });
    let stamp = per_frame(frames, |sequence| {
        template.stamp(black_box(&mut bytes), &signature(sequence));
    });
    let mut intact = 0;
    let read = per_frame(frames, |_| {
        if let Arrived::Ours(ours) = frame::read(black_box(&bytes)) {
            intact += u64::from(black_box(&ours).is_intact());
        }
    });
    assert_eq!(intact, frames, "every frame is intact");
    println!("{size_bytes:>4}  {family:?}  {copy:>13.1}  {stamp:>8.1}  {read:>7.1}");
    Ok(())
}

const fn signature(sequence: u64) -> Signature {
    Signature {
        run: 1,
        stream: 0,
        sequence,
        sent_ns: sequence * 672,
    }
}

/// The quickest batch: others are interrupted.
fn per_frame(frames: u64, mut work: impl FnMut(u64)) -> f64 {
    let mut quickest_ns = f64::INFINITY;
    for first in (0..frames).step_by(BATCH_FRAMES as usize) {
        let end = frames.min(first + BATCH_FRAMES);
        let start = Instant::now();
        (first..end).for_each(&mut work);
        let batch_ns = start.elapsed().as_nanos() as f64 / (end - first) as f64;
        quickest_ns = quickest_ns.min(batch_ns);
    }
    quickest_ns
}

const BATCH_FRAMES: u64 = 1000;
