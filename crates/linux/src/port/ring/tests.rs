// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both sides of a ring in one process, the kernel's played by another thread. Meant for Miri, too, which sees every access that is
//! outside, not aligned, or not ordered: `cargo +nightly miri test -p linerate-linux --lib port::ring port::xdp::frames`.

use super::*;

const SIZE: u32 = 4;
const LAYOUT: Layout = Layout {
    producer: 0,
    consumer: 64,
    entries: 192,
    flags: Some(128),
    size: SIZE,
};

/// The same memory twice, once for each side: what is mapped once lives as long as the test.
fn both_sides(start: u32) -> (Producer<Descriptor>, Consumer<Descriptor>) {
    let memory = Memory::own(4096).unwrap();
    let word = |offset| {
        let word = memory.at(offset, 4).unwrap();
        // SAFETY: inside and aligned; no other thread knows the memory yet.
        unsafe { word.cast::<u32>().write(start) };
    };
    word(LAYOUT.producer);
    word(LAYOUT.consumer);
    let (one, other) = (memory.share(), memory);
    (
        Producer::new(one, LAYOUT).unwrap(),
        Consumer::new(other, LAYOUT).unwrap(),
    )
}

fn entry(number: u32) -> Descriptor {
    Descriptor {
        address: u64::from(number) << 32 | 7,
        length: number,
        options: !number,
    }
}

#[test]
fn entries_cross_threads_in_order_around_the_end_of_the_numbers() {
    let count = if cfg!(miri) { 40 } else { 100_000 };
    for start in [0, u32::MAX - 9] {
        let (mut producer, mut consumer) = both_sides(start);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 0..count {
                    while !producer.push(entry(number)) {
                        producer.show();
                        producer.room(1);
                        std::thread::yield_now();
                    }
                    if number % 3 == 0 {
                        producer.show();
                    }
                }
                producer.show();
            });
            let mut next = 0;
            while next < count {
                if consumer.waiting() == 0 {
                    std::thread::yield_now();
                    continue;
                }
                while let Some(found) = consumer.pop() {
                    assert_eq!(found, entry(next));
                    next += 1;
                }
                consumer.release();
            }
            assert_eq!((consumer.waiting(), consumer.pop()), (0, None));
        });
    }
}

#[test]
fn a_full_ring_takes_nothing_until_something_was_released() {
    let (mut producer, mut consumer) = both_sides(u32::MAX - 1);
    assert!((0..SIZE).all(|number| producer.push(entry(number))));
    assert!(!producer.push(entry(9)));
    assert_eq!(consumer.waiting(), 0, "not shown yet");
    producer.show();
    assert_eq!((consumer.waiting(), producer.unread()), (SIZE, SIZE));
    assert_eq!(consumer.pop(), Some(entry(0)));
    assert_eq!(producer.room(1), 0, "not released yet");
    consumer.release();
    assert_eq!((producer.room(1), producer.unread()), (1, SIZE - 1));
}

#[test]
fn memory_that_is_too_small_or_askew_makes_no_ring() {
    let broken = [
        Layout {
            entries: 4096 - 63,
            ..LAYOUT
        },
        Layout {
            entries: 193,
            ..LAYOUT
        },
        Layout {
            producer: 2,
            ..LAYOUT
        },
        Layout {
            consumer: 4094,
            ..LAYOUT
        },
        Layout {
            flags: Some(usize::MAX),
            ..LAYOUT
        },
        Layout { size: 3, ..LAYOUT },
        Layout {
            size: 1 << 31,
            ..LAYOUT
        },
    ];
    for layout in broken {
        let ring = Producer::<Descriptor>::new(Memory::own(4096).unwrap(), layout);
        assert!(ring.is_none(), "{layout:?}");
    }
}

#[test]
fn the_kernel_is_called_when_it_asks_or_cannot_ask() {
    let silent = Layout {
        flags: None,
        ..LAYOUT
    };
    let ring = Producer::<u64>::new(Memory::own(4096).unwrap(), silent).unwrap();
    assert!(ring.needs_wakeup());
    let ring = Producer::<u64>::new(Memory::own(4096).unwrap(), LAYOUT).unwrap();
    assert!(!ring.needs_wakeup());
    ring.shared.word(128).store(NEED_WAKEUP, Ordering::Relaxed);
    assert!(ring.needs_wakeup());
}
