// SPDX-License-Identifier: MIT OR Apache-2.0
//! One boot of the disk: a script runs when it is complete, and the machine switches itself off.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::super::image::Image;
use super::super::network::TAP;
use super::super::nic::Board;
use crate::process::{self, Server};

/// What the script printed. The same is in `NAME.output` of `directory`, the kernel's messages in `NAME.console`.
///
/// # Errors
/// The machine does not come to the end of the script.
pub(super) fn boot(
    image: &Image,
    name: &str,
    script: &str,
    kernel_words: &str,
    directory: &Path,
) -> Result<String, String> {
    let file = |kind: &str| directory.join(format!("{name}.{kind}"));
    // A disk has whole sectors.
    let mut sectors = script.to_owned();
    sectors.push_str(&"\n".repeat(script.len().next_multiple_of(512) - script.len()));
    fs::write(file("script"), sectors).map_err(|why| why.to_string())?;
    let log = fs::File::create(file("qemu")).map_err(|why| why.to_string())?;
    let child = Command::new(Board::Pc.emulator())
        .args(arguments(image, directory, name, kernel_words))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(|why| format!("start {}: {why}", Board::Pc.emulator()))?;
    let status = process::end_of(&mut Server(child), LIMIT);
    let said = fs::read(file("output")).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).replace('\r', "");
    match status {
        Some(_) if said.contains(END) => Ok(said),
        _ => Err(format!(
            "boot {name}: no end of its script; see {}",
            file("console").display()
        )),
    }
}

fn arguments(image: &Image, directory: &Path, name: &str, kernel_words: &str) -> Vec<String> {
    let file = |kind: &str| {
        directory
            .join(format!("{name}.{kind}"))
            .display()
            .to_string()
    };
    let disk = directory.join("disk").display().to_string();
    let kernel = format!(
        "console=ttyS1,115200 rdinit=/init quiet panic=-1 mitigations=off systemd.unit=proof.target {kernel_words}"
    );
    let card = |driver: &str, slot: u8, rest: &str| {
        format!("{driver},netdev=n{slot},addr={slot:#x},mac=52:54:00:00:00:{slot:02x}{rest}")
    };
    let drive = |path: &str, rest: &str| format!("file={path},format=raw,if=none{rest}");
    let disks = [
        "virtio-blk-pci,drive=d0,addr=0x2",
        "virtio-blk-pci,drive=d1,addr=0x3",
    ];
    let mut words: Vec<String> = Vec::new();
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    for (name, value) in [
        ("-accel", "tcg,thread=multi"),
        ("-M", "q35"),
        ("-cpu", "max"),
        ("-smp", "2"),
        ("-m", "768M"),
        ("-display", "none"),
        ("-monitor", "none"),
        ("-kernel", &image.kernel.display().to_string()),
        ("-initrd", &image.initramfs.display().to_string()),
        ("-append", &kernel),
        ("-serial", &format!("file:{}", file("output"))),
        ("-serial", &format!("file:{}", file("console"))),
        ("-drive", &drive(&disk, ",id=d0,cache=unsafe")),
        ("-drive", &drive(&file("script"), ",id=d1,readonly=on")),
        ("-device", disks[0]),
        ("-device", disks[1]),
    ] {
        option(name, value);
    }
    for slot in 5..8 {
        option("-netdev", &format!("hubport,id=n{slot},hubid={slot}"));
        option("-device", &card("e1000e", slot, ""));
    }
    option(
        "-netdev",
        &format!("tap,id=n8,ifname={TAP},script=no,downscript=no,queues=2"),
    );
    option("-device", &card("virtio-net-pci", 8, ",mq=on,vectors=6"));
    words.extend(["-nodefaults", "-no-reboot"].map(str::to_owned));
    words
}

/// The last line of a script.
pub(super) const END: &str = "end of the script";
/// A boot takes half a minute on an idle machine.
const LIMIT: Duration = Duration::from_secs(600);
