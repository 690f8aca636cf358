// SPDX-License-Identifier: MIT OR Apache-2.0
//! What only AF_XDP does: a program on the interface, which goes with the process; several queues.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use linerate_linux::cpu;
use linerate_linux::port::{Backend, Chosen, OpenError, Wanted, open};
use linerate_linux::rtnl::Rtnl;

use crate::cable::{Cable, FRAME_BYTES, PATIENCE, frame, send_all, settle, with};
use crate::killed;

/// An ARP request is answered by the kernel, and the answer comes to the port.
pub(crate) fn the_kernel_sees_what_is_no_test_frame() {
    for backend in Backend::ALL {
        let cable = Cable::new();
        let address = |_: &str| {
            Rtnl::open()
                .unwrap()
                .add_address("far", "198.18.0.2".parse().unwrap(), 24)
        };
        cable.host("far").run(|| address("far")).unwrap().unwrap();
        let Some(((mut sender, mut receiver), far)) = cable.ends(backend) else {
            continue;
        };
        let sent = sender.send(1, ARP_REQUEST.len(), |_, bytes| {
            bytes.copy_from_slice(&ARP_REQUEST)
        });
        assert_eq!(sent.unwrap(), 1);
        let mut answers = Vec::new();
        settle(&mut receiver, 1, |bytes| answers.push(bytes.to_vec()));
        assert_eq!(answers[0][12..14], [8, 6], "{backend}");
        assert_eq!(answers[0][28..32], [198, 18, 0, 2], "{backend}");
        drop(far);
    }
}

pub(crate) fn what_is_faster_is_tried_first() {
    let cable = Cable::new();
    let chosen = chosen(&cable, &Wanted::default()).unwrap();
    let program = chosen.refused.iter().find(|one| one.receiving);
    match chosen.send {
        Backend::AfXdpCopy => {
            assert_eq!(chosen.receive, Backend::AfPacketRing, "faster on a veth");
            let refused = program.unwrap().to_string();
            assert!(
                refused.contains("af_xdp") && refused.contains("on a veth"),
                "{refused}"
            );
        }
        other => assert!(chosen.refused.len() >= 2, "{other}: {:?}", chosen.refused),
    }
    let zero_copy = |one: &&linerate_linux::port::Refused| {
        one.backend == Backend::AfXdpZeroCopy && !one.receiving
    };
    assert!(
        chosen.refused.iter().any(|one| zero_copy(&one)),
        "a veth always copies"
    );
}

/// On request it is used where programs may be loaded; else frames are received by AF_PACKET, and the reason is reported.
pub(crate) fn without_the_right_to_load_programs() {
    let cable = Cable::new();
    let chosen = match chosen(&cable, &with(Backend::AfXdpCopy)) {
        Ok(chosen) => chosen,
        Err(refused) => {
            println!("skipped: {refused}");
            return;
        }
    };
    assert_eq!(chosen.send, Backend::AfXdpCopy);
    match chosen.receive {
        Backend::AfXdpCopy => assert!(chosen.refused.is_empty(), "{:?}", chosen.refused),
        other => {
            assert_eq!(other, Backend::AfPacketRing);
            assert!(chosen.refused[0].receiving, "{:?}", chosen.refused);
            println!("{}", chosen.refused[0]);
        }
    }
}

pub(crate) fn a_killed_process_leaves_no_program() {
    let cable = Cable::new();
    let wanted = with(Backend::AfXdpCopy);
    let receives = |cable: &Cable| {
        chosen(cable, &wanted).is_ok_and(|chosen| chosen.receive == Backend::AfXdpCopy)
    };
    if !receives(&cable) {
        println!("skipped: no program may be attached here");
        return;
    }
    let mut child = killed::start_in(cable.host("far"));
    assert!(!receives(&cable), "there is a program already");
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !receives(&cable) {
        assert!(Instant::now() < deadline, "the program is still there");
        std::thread::yield_now();
    }
}

/// Holds a port until the end.
pub(crate) fn to_be_killed() -> ExitCode {
    let (sender, receiver, chosen) = open("far", &with(Backend::AfXdpCopy)).unwrap();
    assert_eq!(chosen.receive, Backend::AfXdpCopy);
    killed::with((sender, receiver))
}

/// The kernel frees a queue a little after its socket was closed.
pub(crate) fn a_port_can_be_opened_again_at_once() {
    let cable = Cable::new();
    let wanted = with(Backend::AfXdpCopy);
    let Ok(first) = chosen(&cable, &wanted) else {
        println!("skipped: no AF_XDP here");
        return;
    };
    for _ in 0..5 {
        assert_eq!(chosen(&cable, &wanted).unwrap().receive, first.receive);
    }
}

pub(crate) fn several_queues_carry_frames() {
    let cable = Cable::new();
    for name in ["near", "far"] {
        let mut ethtool = Command::new("ethtool");
        ethtool
            .args(["-L", name, "rx", "2", "tx", "2"])
            .stderr(Stdio::null());
        cable.host(name).start_inside(&mut ethtool).unwrap();
        if !ethtool.status().is_ok_and(|status| status.success()) {
            println!("skipped: ethtool cannot give a veth two queues here");
            return;
        }
    }
    let Some((_, (_, mut receiver))) = cable.ends(Backend::AfXdpCopy) else {
        return;
    };
    // AF_PACKET sends over the queue of the processor.
    let (mut sender, _) = cable.near(&with(Backend::AfPacketMmsg)).unwrap();
    let processors: Vec<_> = cpu::allowed().into_iter().take(2).collect();
    for (piece, processor) in processors.iter().enumerate() {
        cpu::pin(*processor).unwrap();
        send_all(&mut sender, 100, FRAME_BYTES, 100 * piece);
    }
    let deadline = Instant::now() + PATIENCE;
    let count = 100 * processors.len();
    let mut seen = Vec::new();
    while seen.len() < count && Instant::now() < deadline {
        let received = receiver.receive(Duration::from_millis(1), |bytes, _| {
            seen.push(bytes.to_vec())
        });
        received.unwrap();
    }
    seen.sort_by_key(|bytes| bytes[42..50].to_vec());
    let all: Vec<_> = (0..count)
        .map(|number| frame(number, FRAME_BYTES))
        .collect();
    assert_eq!(seen, all);
}

fn chosen(cable: &Cable, wanted: &Wanted) -> Result<Chosen, OpenError> {
    let opened = cable.host("far").run(|| open("far", wanted)).unwrap();
    opened.map(|(_, _, chosen)| chosen)
}

/// Who has 198.18.0.2? Tell 198.18.0.1.
const ARP_REQUEST: [u8; 60] = {
    let mut bytes = [0; 60];
    let parts: [(usize, &[u8]); 4] = [
        (0, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 8]),
        (12, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]),
        (22, &[2, 0, 0, 0, 0, 8, 198, 18, 0, 1]),
        (38, &[198, 18, 0, 2]),
    ];
    let mut part = 0;
    while part < parts.len() {
        let mut byte = 0;
        while byte < parts[part].1.len() {
            bytes[parts[part].0 + byte] = parts[part].1[byte];
            byte += 1;
        }
        part += 1;
    }
    bytes
};
