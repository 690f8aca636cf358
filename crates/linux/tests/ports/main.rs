// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports at both ends of a veth pair: every backend sends, and every frame arrives as it was. Runs as what it is, and
//! once more in a user namespace, where programs may not be loaded and the backends that need one are refused.
//!
//! Its own harness, because a process with threads cannot enter a namespace.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cable;
mod fallback;
#[path = "../sandboxed/killed.rs"]
mod killed;
#[path = "../sandboxed/mod.rs"]
mod sandboxed;
#[path = "../sandboxed/twice.rs"]
mod twice;
mod xdp;

use std::process::ExitCode;
use std::time::Duration;

use linerate_linux::clock;
use linerate_linux::port::{Backend, Wanted, open};
use linerate_linux::rtnl::Rtnl;

use cable::{Cable, FRAME_BYTES, frame, lost, numbers, send_all, settle, with};
use twice::enter_twice;

const TESTS: &[(&str, fn())] = &[
    (
        "every_frame_arrives_as_it_was",
        every_frame_arrives_as_it_was,
    ),
    ("a_vlan_tag_arrives", a_vlan_tag_arrives),
    ("own_frames_are_not_received", own_frames_are_not_received),
    (
        "frames_of_others_are_received",
        frames_of_others_are_received,
    ),
    ("an_overrun_is_counted", an_overrun_is_counted),
    ("a_frame_too_long_is_refused", a_frame_too_long_is_refused),
    ("a_lost_interface_is_said", a_lost_interface_is_said),
    (
        "times_are_of_the_monotonic_clock",
        times_are_of_the_monotonic_clock,
    ),
    (
        "the_kernel_sees_what_is_no_test_frame",
        xdp::the_kernel_sees_what_is_no_test_frame,
    ),
    (
        "what_is_faster_is_tried_first_and_reported",
        xdp::what_is_faster_is_tried_first,
    ),
    (
        "without_the_right_to_load_programs_it_receives_by_af_packet",
        xdp::without_the_right_to_load_programs,
    ),
    (
        "what_is_withheld_is_done_without_and_reported",
        fallback::what_is_withheld_is_done_without,
    ),
    (
        "what_may_not_be_locked_is_done_without",
        fallback::what_may_not_be_locked,
    ),
    (
        "where_tags_are_taken_out_af_packet_receives",
        fallback::where_tags_are_taken_out,
    ),
    (
        "a_killed_process_leaves_no_program",
        xdp::a_killed_process_leaves_no_program,
    ),
    (
        "a_port_can_be_opened_again_at_once",
        xdp::a_port_can_be_opened_again_at_once,
    ),
    (
        "several_queues_carry_frames",
        xdp::several_queues_carry_frames,
    ),
    (
        "an_interface_that_is_not_there_is_refused",
        an_interface_that_is_not_there,
    ),
];

fn main() -> ExitCode {
    if killed::is_this() {
        return xdp::to_be_killed();
    }
    if let Ok(backend) = std::env::var(fallback::POOR) {
        return fallback::tell_what_is_had(&backend);
    }
    enter_twice(TESTS, |privilege| sandboxed::run(TESTS, privilege))
}

fn every_frame_arrives_as_it_was() {
    for backend in Backend::ALL {
        let cable = Cable::new();
        let Some(((mut sender, _), (_, mut receiver))) = cable.ends(backend) else {
            continue;
        };
        // More than any ring has places, and in pieces that end elsewhere in it each time.
        for (round, count) in [1, 7, 64, 1000, 300, 3000].into_iter().enumerate() {
            let length = FRAME_BYTES + 100 * round;
            let mut sent = 0;
            while sent < count {
                let piece = (count - sent).min(100);
                send_all(&mut sender, piece, length, sent);
                sent += piece;
                let mut next = sent - piece;
                settle(&mut receiver, piece, |bytes| {
                    assert_eq!(bytes, frame(next, length), "{backend} {length}");
                    next += 1;
                });
            }
        }
        assert_eq!(receiver.kernel_drops(), 0, "{backend}");
    }
}

fn a_vlan_tag_arrives() {
    for backend in Backend::ALL {
        let cable = Cable::new();
        let Some(((mut sender, _), (_, mut receiver))) = cable.ends(backend) else {
            continue;
        };
        let tagged = |number| {
            let mut bytes = frame(number, FRAME_BYTES);
            bytes.splice(12..12, [0x81, 0x00, 0x20, 0x07]);
            bytes
        };
        let length = FRAME_BYTES + 4;
        let sent = sender.send(10, length, |number, bytes| {
            bytes.copy_from_slice(&tagged(number))
        });
        assert_eq!(sent.unwrap(), 10);
        let mut next = 0;
        settle(&mut receiver, 10, |bytes| {
            assert_eq!(bytes, tagged(next), "{backend}");
            next += 1;
        });
    }
}

fn own_frames_are_not_received() {
    for backend in Backend::ALL {
        let cable = Cable::new();
        let Some(((mut near, mut own), (mut far, mut receiver))) = cable.ends(backend) else {
            continue;
        };
        send_all(&mut near, 50, FRAME_BYTES, 0);
        settle(&mut receiver, 50, |_| {});
        send_all(&mut far, 1, FRAME_BYTES, 99);
        let mut seen = Vec::new();
        settle(&mut own, 1, |bytes| seen.push(bytes.to_vec()));
        assert_eq!(seen, [frame(99, FRAME_BYTES)], "{backend}");
    }
}

fn frames_of_others_are_received() {
    // ARP, LLDP, an unknown protocol, TCP: what is no test frame, but may be an answer.
    let kinds = [[0x08, 0x06], [0x88, 0xcc], [0x88, 0xb5], [0x08, 0x00]];
    for backend in Backend::ALL {
        let cable = Cable::new();
        let Some(((mut sender, _), (_, mut receiver))) = cable.ends(backend) else {
            continue;
        };
        let other = |number: usize| {
            let mut bytes = frame(number, FRAME_BYTES);
            bytes[12..14].copy_from_slice(&kinds[number]);
            bytes[23] = 6;
            bytes
        };
        let sent = sender.send(kinds.len(), FRAME_BYTES, |number, bytes| {
            bytes.copy_from_slice(&other(number))
        });
        assert_eq!(sent.unwrap(), kinds.len());
        let mut seen = Vec::new();
        settle(&mut receiver, kinds.len(), |bytes| {
            seen.push(bytes.to_vec())
        });
        let all: Vec<_> = (0..kinds.len()).map(other).collect();
        assert_eq!(seen, all, "{backend}");
    }
}

fn an_overrun_is_counted() {
    for backend in Backend::ALL {
        let cable = Cable::new();
        let small = Wanted {
            receive_bytes: Some(4 * 65_536),
            ..with(backend)
        };
        let Some(((mut sender, _), (_, mut receiver))) = cable.ends_as(&small) else {
            continue;
        };
        let sent = 20_000;
        (0..sent / 100).for_each(|piece| send_all(&mut sender, 100, FRAME_BYTES, 100 * piece));
        let mut received = Vec::new();
        let came = numbers(&mut receiver, &mut received, |all, drops| {
            all + drops >= sent
        });
        assert!(came.drops > 0, "{backend}: {came:?}");
        assert_eq!(came.frames + came.drops, sent, "{backend}");
        assert!(received.is_sorted(), "{backend}");
    }
}

fn a_frame_too_long_is_refused() {
    for backend in Backend::ALL {
        let cable = Cable::new();
        let Some(((mut sender, _), (_, mut receiver))) = cable.ends(backend) else {
            continue;
        };
        assert!(sender.send(1, 10_000, |_, _| {}).is_err(), "{backend}");
        // And nothing is stuck behind it.
        send_all(&mut sender, 3, FRAME_BYTES, 0);
        settle(&mut receiver, 3, |_| {});
    }
}

fn a_lost_interface_is_said() {
    for backend in Backend::ALL {
        for (end, word) in [("far", "no carrier"), ("near", "down")] {
            let cable = Cable::new();
            let Some(((mut sender, _), (_, mut receiver))) = cable.ends(backend) else {
                continue;
            };
            send_all(&mut sender, 3, FRAME_BYTES, 0);
            settle(&mut receiver, 3, |_| {});
            cable.set_up(end, false);
            let error = lost(|| sender.send(3, FRAME_BYTES, |_, _| {}));
            assert!(error.to_string().contains(word), "{backend}: {error}");
            if end == "far" {
                let error = lost(|| receiver.receive(Duration::from_millis(100), |_, _| {}));
                assert!(error.to_string().contains("down"), "{backend}: {error}");
            }
            cable.set_up(end, true);
            cable.wait_for_carrier();
            send_all(&mut sender, 3, FRAME_BYTES, 0);
        }
    }
}

fn times_are_of_the_monotonic_clock() {
    for backend in Backend::ALL {
        let cable = Cable::new();
        let Some(((mut sender, _), (_, mut receiver))) = cable.ends(backend) else {
            continue;
        };
        let before = clock::monotonic_ns();
        send_all(&mut sender, 1, FRAME_BYTES, 0);
        let mut at = 0;
        while receiver
            .receive(Duration::from_secs(20), |_, ns| at = ns)
            .unwrap()
            == 0
        {}
        // The wall clock's stamp is brought over with an error of some µs.
        let (first, last) = (before - 50_000, clock::monotonic_ns() + 50_000);
        assert!(
            (first..last).contains(&at),
            "{backend}: {before} {at} {last}"
        );
    }
}

fn an_interface_that_is_not_there() {
    let refused = open("nowhere", &Wanted::default()).unwrap_err();
    assert!(
        refused
            .refused
            .iter()
            .any(|one| one.source.raw_os_error() == Some(libc::ENODEV)),
        "{refused}"
    );
    let mut rtnl = Rtnl::open().unwrap();
    rtnl.set_up("lo", false).unwrap();
    let refused = open("lo", &Wanted::default()).unwrap_err();
    assert!(refused.to_string().contains("lo is down"), "{refused}");
}
