// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs before any interface: assembled, and passed by the verifier.

use super::exits::{Place, Port};
use super::{NAME, Verdict, bridge, route};
use crate::bpf::{Map, MapKind, Program, ProgramKind};

fn place(counts: i32, ports: i32) -> Place {
    let port = |index| Port {
        mac: [0x02, 0, 0, 0, 0xff, index as u8],
        index,
    };
    Place {
        own: port(100),
        other: port(u32::MAX),
        other_slot: 1,
        counts,
        ports,
    }
}

#[test]
fn every_program_can_be_assembled() {
    let place = place(3, 4);
    for assemble in [bridge::program, bridge::copier, route::program] {
        assert!(assemble(&place).is_some());
    }
}

#[test]
fn the_verifier_takes_every_program() {
    let counters = Verdict::ALL.len() as u32;
    let (Ok(counts), Ok(ports)) = (
        Map::<4, 8>::create(MapKind::PerCpuArray, NAME, counters),
        Map::<4, 4>::create(MapKind::Devices, NAME, 2),
    ) else {
        println!("skipped: this process may not make BPF maps");
        return;
    };
    let place = place(counts.number(), ports.number());
    for (kind, code) in [
        (ProgramKind::Xdp, bridge::program(&place)),
        (ProgramKind::Classifier, bridge::copier(&place)),
        (ProgramKind::Xdp, route::program(&place)),
    ] {
        let loaded = Program::load(kind, NAME, &code.unwrap());
        assert!(loaded.is_ok(), "{}", loaded.unwrap_err());
    }
}
