// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whatever happens on the path, the ledger's intervals contain it.

use linerate_diagnose::evidence::Evidence;
use linerate_diagnose::ledger;
use linerate_model::output::LedgerEntry;
use proptest::prelude::*;

use crate::world::{Losses, Nic, World};

/// What has to hold of every entry.
fn holds(entry: &LedgerEntry, world: &World) -> Result<(), TestCaseError> {
    let lost = world.losses.all();
    let least: u64 = entry.stages.iter().map(|stage| stage.lo).sum();
    prop_assert_eq!(entry.lost_packets, lost);
    prop_assert!(least <= lost, "{} > {}: {:?}", least, lost, entry);
    prop_assert_eq!(
        i128::from(least) + i128::from(entry.unattributed_hi),
        i128::from(lost)
    );
    for stage in &entry.stages {
        prop_assert!(stage.lo <= stage.hi && stage.hi <= lost);
        prop_assert!(!entry.blind.contains(&stage.stage));
    }
    Ok(())
}

/// Whether each stage that has counters contains what died there.
fn contains(entry: &LedgerEntry, world: &World, except: &[&str]) -> Result<(), TestCaseError> {
    for (name, died) in world.losses.by_stage() {
        let Some(stage) = entry.stages.iter().find(|stage| stage.stage == name) else {
            continue;
        };
        prop_assert!(stage.lo <= died, "{} {} below {:?}", name, died, stage);
        if !except.contains(&name) {
            prop_assert!(died <= stage.hi, "{} {} above {:?}", name, died, stage);
        }
    }
    Ok(())
}

fn losses() -> impl Strategy<Value = Losses> {
    let few = || prop_oneof![3 => Just(0), 1 => 1_u64..3000];
    let head = (few(), few(), few(), few(), few(), few());
    let tail = (few(), few(), few(), few(), few(), few(), few());
    (head, tail).prop_map(|(head, tail)| Losses {
        neighbour: head.0,
        qdisc: head.1,
        tx_ring: head.2,
        silent_wire: head.3,
        crc: head.4,
        checksum: head.5,
        mac_fifo: tail.0,
        rx_ring: tail.1,
        backlog: tail.2,
        filter: tail.3,
        address: tail.4,
        socket: tail.5,
        corrupt: tail.6,
    })
}

/// What a link without a MAC, or a driver without the counter, cannot lose or tell.
fn possible(nic: Nic, mut losses: Losses) -> Losses {
    if nic == Nic::Veth {
        (losses.crc, losses.mac_fifo) = (0, 0);
    }
    losses
}

pub(crate) fn world() -> impl Strategy<Value = World> {
    let nic = prop_oneof![
        Just(Nic::Igb),
        Just(Nic::Fec),
        Just(Nic::Veth),
        Just(Nic::Unknown)
    ];
    let quiet = prop_oneof![2 => Just(0), 1 => 3_u64..200];
    (nic, losses(), 0_u64..3000, quiet, 1_u64..1 << 15).prop_map(
        |(nic, losses, foreign_per_second, drops_per_second, before_the_end)| World {
            foreign_per_second,
            drops_per_second,
            before_the_end,
            ..World::new(nic, possible(nic, losses))
        },
    )
}

/// Stages of which the unknown driver, and igb at the sender, have no counter that tells everything.
fn uncounted(nic: Nic) -> &'static [&'static str] {
    match nic {
        Nic::Unknown => &["tx-ring", "wire", "rx-mac", "rx-ring"],
        Nic::Fec => &["tx-ring"],
        Nic::Igb | Nic::Veth => &[],
    }
}

proptest! {
    #[test]
    fn the_intervals_contain_the_truth(world in world()) {
        let entries = ledger::of(&Evidence::of(&world.record()));
        prop_assert_eq!(entries.len(), 1);
        holds(&entries[0], &world)?;
        contains(&entries[0], &world, uncounted(world.nic))?;
    }

    #[test]
    fn a_quiet_machine_leaves_almost_nothing_open(losses in losses()) {
        let world = World::new(Nic::Igb, losses);
        let entry = &ledger::of(&Evidence::of(&world.record()))[0];
        holds(entry, &world)?;
        contains(entry, &world, &[])?;
        for (name, died) in losses.by_stage() {
            let stage = entry.stages.iter().find(|stage| stage.stage == name);
            let Some(stage) = stage else {
                return Err(TestCaseError::fail(format!("{name} is blind")));
            };
            // TCP's own frames, and what ARP may have sent, blur the balances by so much.
            prop_assert!(died - stage.lo <= 60, "{} {}: {:?}", name, died, stage);
        }
    }

    #[test]
    fn a_reset_counter_is_not_believed(losses in losses(), reset in prop_oneof![
        Just("UdpInCsumErrors"), Just("rx_missed_errors"), Just("dropped"), Just("IpInReceives"),
        Just("tx_packets"), Just("unresolved_discards"), Just("rx_queue_0_drops"),
    ]) {
        let world = World { reset: Some(reset), ..World::new(Nic::Igb, losses) };
        let entry = &ledger::of(&Evidence::of(&world.record()))[0];
        holds(entry, &world)?;
        for (name, died) in losses.by_stage() {
            if let Some(stage) = entry.stages.iter().find(|stage| stage.stage == name) {
                let spoilt = reset == "UdpInCsumErrors" && name == "rx-socket";
                prop_assert!(stage.lo <= died || spoilt, "{} {}: {:?}", name, died, stage);
            }
        }
    }

    #[test]
    fn without_samples_only_the_account_speaks(losses in losses()) {
        let world = World::new(Nic::Igb, Losses { checksum: 0, ..losses });
        let mut record = world.record();
        record.samples.clear();
        let entry = &ledger::of(&Evidence::of(&record))[0];
        holds(entry, &world)?;
        for name in ["tx-qdisc", "wire", "rx-mac", "rx-softnet", "rx-ip"] {
            prop_assert!(entry.blind.iter().any(|blind| blind == name));
        }
        contains(entry, &world, &[])?;
    }
}
