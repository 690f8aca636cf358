// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines --small [--write] [--kept] [--kernel FILE] [--binary PATH]... [MACHINE...]`: machines with little memory, a clock
//! that was never set, a root that cannot be written, an old kernel, one of big endian. Each measures in both roles; how much
//! memory both took is checked, how long a start takes is printed.
//!
//! `--kernel` is another kernel for a PC, with the drivers built in.

mod report;
mod steps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::guest::{Guest, Hardware};
use super::image::{self, Image};
use super::nic::{Board, NICS, Nic, OTHERS};
use super::steps::Action;
use super::{Options, network, page, place, session};
use crate::Outcome;
use crate::tally::Tally;
use report::Report;
use steps::{BARE, MEASURE, START};

/// One small machine.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) name: &'static str,
    /// What it is, for people.
    pub(super) what: &'static str,
    nic: &'static str,
    /// In a machine that is booted here only.
    is_other: bool,
    memory_mib: u32,
    kernel_words: &'static str,
    emulator_words: &'static [&'static str],
    actions: &'static [Action],
}

impl Machine {
    const fn new(
        name: &'static str,
        what: &'static str,
        nic: &'static str,
        memory_mib: u32,
    ) -> Self {
        Self {
            name,
            what,
            nic,
            is_other: false,
            memory_mib,
            kernel_words: "",
            emulator_words: &[],
            actions: &MEASURE,
        }
    }

    fn named(name: &str) -> Result<&'static Self, String> {
        let named = MACHINES.iter().chain(&OLD).find(|one| one.name == name);
        named.ok_or_else(|| {
            let names: Vec<&str> = MACHINES.iter().map(|one| one.name).collect();
            format!(
                "machines --small: no {name} (there are {})",
                names.join(", ")
            )
        })
    }

    fn nic(&self) -> Result<&'static Nic, String> {
        let nics = if self.is_other { &OTHERS[..] } else { &NICS };
        let named = nics.iter().find(|nic| nic.name == self.nic);
        named.ok_or_else(|| format!("no NIC {}", self.nic))
    }

    fn hardware(&self) -> Hardware {
        let words = self.emulator_words.iter();
        Hardware {
            memory_mib: self.memory_mib,
            kernel_words: self.kernel_words.to_owned(),
            emulator_words: words.map(|word| (*word).to_owned()).collect(),
            ..Hardware::default()
        }
    }

    pub(super) fn directory(&self, place: &Path) -> PathBuf {
        place.join("small").join(self.name)
    }
}

/// With Debian's kernel. On a PC of 64 bits it needs 80 MB for itself while it starts: with 88 it boots, with 104 a check is
/// killed for want of memory. The kernel of 32 bits leaves 30 of 64 MB.
const MACHINES: [Machine; 6] = [
    Machine {
        // Debian's kernel keeps 16 of the 64 MB for devices (CMA). While it boots, the initramfs may have half of the rest
        // (tmpfs), 10 MB, and the program is unpacked in part: "Initramfs unpacking failed: write error".
        kernel_words: "cma=0",
        ..Machine::new("sabrelite-64", "SABRE Lite, 64 MB", "sabrelite", 64)
    },
    Machine {
        is_other: true,
        ..Machine::new(
            "pc32-64",
            "PC of 32 bits with an e100, 64 MB",
            "i82559er",
            64,
        )
    },
    Machine::new("pc-128", "PC with an e1000e, 128 MB", "e1000e", 128),
    Machine {
        is_other: true,
        ..Machine::new(
            "s390x",
            "S/390 with a virtio NIC, big endian, 256 MB",
            "virtio-net-ccw",
            256,
        )
    },
    Machine {
        kernel_words: "BARE=1",
        actions: &BARE,
        ..Machine::new(
            "bare",
            "PC with a virtio NIC, clock never set, no /etc, nothing can be written",
            "virtio-net-pci",
            128,
        )
    },
    Machine {
        // An instruction is two nanoseconds of its clock: the time does not depend on the host.
        emulator_words: &["-icount", "shift=1,sleep=off"],
        actions: &START,
        ..Machine::new(
            "start",
            "SABRE Lite, 500 million instructions per second",
            "sabrelite",
            128,
        )
    },
];

/// With the kernel of `--kernel`.
const OLD: [Machine; 2] = [
    Machine::new(
        "old-e1000e",
        "PC with an e1000e, 64 MB, old kernel",
        "e1000e",
        64,
    ),
    Machine::new(
        "old-virtio",
        "PC with a virtio NIC, 64 MB, old kernel",
        "virtio-net-pci",
        64,
    ),
];

/// Runs those that are asked for. Whether all was right.
pub(super) fn run(words: &[&str]) -> Outcome {
    if let Some(why) = super::missing() {
        println!("skipped: machines: {why}");
        return Ok(true);
    }
    let asked = Asked::parse(words)?;
    let mut tally = Tally::default();
    let place = place();
    let booted = asked.machines.iter().filter(|_| !asked.options.kept);
    for machine in booted {
        match super::missing_for(machine.nic()?.board) {
            Some(why) => tally.skip(machine.name, why),
            None => tally.check(machine.name, boot(machine, &asked, &place)),
        }
    }
    let machines = asked.machines.iter();
    let reports: Vec<Report> = machines.map(|one| Report::of(one, &place)).collect();
    reports.iter().for_each(|one| one.check(&mut tally));
    let tables = report::markdown(&reports);
    println!("\n{tables}");
    if asked.options.write {
        page::write_small(&tables)?;
    }
    Ok(tally.close())
}

/// What the command line asks for.
struct Asked {
    machines: Vec<&'static Machine>,
    kernel: Option<PathBuf>,
    options: Options,
}

impl Asked {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let (mut machines, mut kernel, mut options) = (Vec::new(), None, Vec::new());
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--kernel" => kernel = words.next(),
                "--binary" => options.extend([Some(word), words.next()].into_iter().flatten()),
                "--write" | "--kept" => options.push(word),
                name => machines.push(Machine::named(name)?),
            }
        }
        if machines.is_empty() {
            let old = OLD.iter().filter(|_| kernel.is_some());
            machines = MACHINES.iter().chain(old).collect();
        }
        let absolute = |file| fs::canonicalize(file).map_err(|why| format!("{file}: {why}"));
        Ok(Self {
            machines,
            kernel: kernel.map(absolute).transpose()?,
            options: Options::parse(&options)?,
        })
    }
}

/// All of one machine, in namespaces of its own.
fn boot(machine: &Machine, asked: &Asked, place: &Path) -> Result<String, String> {
    let start = Instant::now();
    let nic = machine.nic()?;
    let [host, guest] = [Board::Pc, nic.board].map(|board| asked.options.shipped(board));
    let mut image = image::least(nic.board, nic.modules, &guest?, &place.join("cache"))?;
    if OLD.iter().any(|old| old.name == machine.name) {
        image.kernel = asked.kernel.clone().ok_or("needs --kernel FILE")?;
    }
    let directory = machine.directory(place);
    let _old = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).map_err(|why| why.to_string())?;
    println!("{} ({})", machine.name, machine.what);
    let status = in_namespaces(machine, &directory, &host?, &image)?
        .status()
        .map_err(|why| format!("setpriv: {why}"))?;
    match status.success() {
        true => Ok(format!("{:.0} s", start.elapsed().as_secs_f64())),
        false => Err(format!("see {}", directory.display())),
    }
}

fn in_namespaces(
    machine: &Machine,
    directory: &Path,
    host: &Path,
    image: &Image,
) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let path = |path: &Path| path.display().to_string();
    let mut words: Vec<String> = ["machines", "--inside-small", machine.name]
        .map(str::to_owned)
        .into();
    words.extend([directory, host, &image.kernel, &image.initramfs].map(path));
    words.extend(image.device_tree.as_deref().map(path));
    Ok(network::in_namespaces(&own, &words))
}

/// What runs in the namespaces.
pub(super) fn inside(words: &[&str]) -> Outcome {
    let [name, directory, linerate, kernel, initramfs, tree @ ..] = words else {
        return Err("machines --inside-small is not for people".into());
    };
    let machine = Machine::named(name)?;
    let nic = machine.nic()?;
    let image = Image {
        board: nic.board,
        kernel: kernel.into(),
        initramfs: initramfs.into(),
        device_tree: tree.first().map(PathBuf::from),
    };
    let directory = Path::new(directory);
    network::open()?;
    let guest = Guest::boot_with(nic, &image, &machine.hardware(), directory)?;
    session::all_of(machine.actions, guest, Path::new(linerate), directory)?;
    Ok(true)
}
