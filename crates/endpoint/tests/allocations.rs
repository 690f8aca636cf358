// SPDX-License-Identifier: MIT OR Apache-2.0
//! What carries the load of a whole test allocates nothing for its packets: a test of a hundred times as many packets has no
//! more allocations in the threads of its streams. (`linerate_linux` has the same for its sockets.)

use std::cell::Cell;
use std::error::Error;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use linerate_endpoint::{NoObserver, ServeOptions, TestPlan, run, serve};
use linerate_linux::observed_heap::ObservedHeap;
use linerate_linux::signal::Interrupt;
use linerate_model::output::IoMode;

#[test]
fn threads_of_streams_allocate_nothing_for_a_packet() {
    let plain = TestPlan {
        tx_mode: IoMode::Plain,
        rx_mode: IoMode::Plain,
        ..udp()
    };
    for (name, plan) in [("UDP", udp()), ("UDP, one a call", plain), ("TCP", tcp())] {
        let [few, many] = [FEW, MANY].map(|blocks| carried(&plan, blocks).unwrap());
        let more = many.blocks - few.blocks;
        // Its buffers and its account: their threads are recognised.
        assert!(few.allocations > 0, "{name}: {few:?}");
        assert!(more > MANY / 2, "{name}: {few:?}, {many:?}");
        let allocations = many.allocations.saturating_sub(few.allocations);
        assert!(allocations * 100 < more, "{name}: {few:?}, {many:?}");
    }
}

const FEW: u64 = 500;
const MANY: u64 = 50_000;

fn udp() -> TestPlan {
    TestPlan {
        payload_bytes: Some(200),
        bits_per_second: None,
        ..TestPlan::udp("127.0.0.1")
    }
}

fn tcp() -> TestPlan {
    TestPlan {
        payload_bytes: Some(2000),
        ..TestPlan::tcp("127.0.0.1")
    }
}

#[derive(Debug)]
struct Carried {
    blocks: u64,
    /// Of the threads of streams, of both ends.
    allocations: u64,
}

/// A test of this many blocks, both ends in this process.
fn carried(plan: &TestPlan, blocks: u64) -> Result<Carried, Box<dyn Error>> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let options = ServeOptions {
        port,
        quiet: true,
        ..ServeOptions::default()
    };
    let plan = TestPlan {
        port,
        blocks: Some(blocks),
        ..plan.clone()
    };
    let (interrupt, (ready, listening)) = (Interrupt::default(), mpsc::channel());
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let (options, interrupt) = (&options, &interrupt);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            // Nobody waits any more if this process ends.
            serve(
                options,
                &mut || ready.send(()).unwrap_or_default(),
                interrupt,
            )
        });
        let listens = listening.recv();
        let outcome = run(&plan, &mut NoObserver, &Interrupt::default());
        interrupt.request(15);
        listens.map(|()| outcome)
    })??;
    let test = outcome.tests.first().ok_or("no test")?;
    let block_bytes = u64::from(plan.payload_bytes.ok_or("no size")?);
    Ok(Carried {
        blocks: test.sent_bytes.ok_or("nothing was sent")? / block_bytes,
        allocations: ALLOCATIONS.load(Ordering::Relaxed) - before,
    })
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this thread sends or receives a stream; none while that is found out.
    static IS_OF_A_STREAM: Cell<Option<bool>> = const { Cell::new(Some(false)) };
}

/// Counts an allocation of this thread, if it is a stream's. A thread has its name a little later than its first allocation.
fn count(_bytes: usize) {
    if IS_OF_A_STREAM.get() == Some(false) {
        IS_OF_A_STREAM.set(None);
        IS_OF_A_STREAM.set(Some(is_of_a_stream()));
    }
    if IS_OF_A_STREAM.get() == Some(true) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

/// `tx1`, `rx3`.
fn is_of_a_stream() -> bool {
    let name = rustix::thread::name().unwrap_or_default();
    matches!(name.to_bytes(), [b't' | b'r', b'x', b'0'..=b'9', ..])
}

#[global_allocator]
static ALLOCATOR: ObservedHeap = ObservedHeap {
    allocated: count,
    freed: |_| {},
};
