// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the machine stands on: three taps in the namespace of this run, and the emulator's words for what is at them.
//!
//! Test frames go straight to the taps: a veth and a bridge in between would drop in the bridge what the emulator does not
//! take in time, and the tester would not learn of it. A tap counts its drops at the tester's own port.

use std::process::Command;
use std::time::Duration;

use super::super::guest::Hardware;
use super::super::network::{HOST, TAP};
use super::super::nic::Nic;
use crate::process::{self, last_line};

/// The tester's ports.
pub(crate) const PORTS: [&str; 2] = [TAP, "tap1"];
/// For ssh and files.
const MANAGEMENT: &str = "manage0";
/// The guest's name of it, after its two ports.
const INSIDE: &str = "eth2";

/// Makes the taps in this namespace, and shows its interfaces below `/sys`.
pub(crate) fn open() -> Result<(), String> {
    done("mount -t sysfs sysfs /sys")?;
    done("ip link set lo up")?;
    for tap in [PORTS[0], PORTS[1], MANAGEMENT] {
        done(&format!("ip tuntap add {tap} mode tap"))?;
        done(&format!("ip link set {tap} up"))?;
    }
    done(&format!("ip address add {HOST}/24 dev {MANAGEMENT}"))
}

fn done(line: &str) -> Result<(), String> {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("true"));
    let ended = process::run(command.args(words), Duration::from_secs(10))?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(format!("{line}: {}", last_line(&ended.stderr))),
    }
}

/// The second NIC, and the one for management.
pub(crate) fn hardware(nic: &Nic) -> Hardware {
    let tap = |name: &str, id: &str| format!("tap,ifname={name},script=no,downscript=no,id={id}");
    let words = [
        "-netdev".to_owned(),
        tap(PORTS[1], "n1"),
        "-device".to_owned(),
        format!("{},netdev=n1", nic.name),
        "-netdev".to_owned(),
        tap(MANAGEMENT, "n2"),
        "-device".to_owned(),
        "virtio-net-pci,netdev=n2".to_owned(),
    ];
    Hardware {
        emulator_words: words.into(),
        // An emulator that waits for its processor loses ticks, which the kernel takes for a timer that does not work.
        kernel_words: format!(
            "ON={INSIDE} NICS=2 ALSO=virtio_pci,virtio_net,virtio_console no_timer_check"
        ),
        ..Hardware::default()
    }
}
