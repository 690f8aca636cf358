// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine of files in a directory, with a scripted card.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use linerate_change::{Host, Kernel, Local, Memory};
use linerate_linux::nic::Card;
use linerate_linux::sysctl;

use crate::card::{Registers, Scripted};

/// The files below a directory, which is removed with the last user.
#[derive(Debug)]
pub(crate) struct Machine {
    root: PathBuf,
    pub(crate) card: Mutex<Registers>,
}

impl Machine {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        let root = format!("linerate-settings-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(root);
        let _old = fs::remove_dir_all(&root);
        let card = Mutex::new(Registers::new());
        let machine = Self { root, card };
        for (path, value) in FILES {
            machine.create(path, value);
        }
        Arc::new(machine)
    }

    pub(crate) fn create(&self, path: &str, value: &str) {
        let file = self.at(path);
        fs::create_dir_all(file.parent().expect("a directory")).expect("created");
        // Files of the kernel end with a newline.
        fs::write(file, format!("{value}\n")).expect("written");
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Its hand, with a journal in memory.
    pub(crate) fn hand(self: &Arc<Self>) -> Local<Memory> {
        let host = Host::with(Box::new(Model(self.clone()))).expect("a namespace");
        Local::of(Memory::default(), host)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.root);
    }
}

/// As the settings see it.
#[derive(Debug)]
struct Model(Arc<Machine>);

impl Kernel for Model {
    fn card(&self, _interface: &str) -> io::Result<Box<dyn Card + '_>> {
        Ok(Box::new(Scripted(&self.0.card)))
    }

    fn sysctl(&self, name: &str) -> io::Result<PathBuf> {
        Ok(self.file(&sysctl::path(name)?.to_string_lossy()))
    }

    fn interface(&self, name: &str) -> io::Result<PathBuf> {
        Ok(self.file(&Path::new("/sys/class/net").join(name).to_string_lossy()))
    }

    fn file(&self, path: &str) -> PathBuf {
        self.0.at(path)
    }

    fn interrupts(&self, _interface: &str) -> Vec<String> {
        ["31", "32"].map(str::to_owned).to_vec()
    }
}

/// What a machine with four processors and a card with two queues in use shows.
const FILES: [(&str, &str); 15] = [
    ("/proc/meminfo", "MemTotal:  1048576 kB"),
    ("/sys/devices/system/cpu/online", "0-3"),
    ("/proc/irq/31/smp_affinity_list", "0-3"),
    ("/proc/irq/32/smp_affinity_list", "0-3"),
    ("/sys/class/net/lo/threaded", "0"),
    ("/sys/class/net/lo/gro_flush_timeout", "0"),
    ("/sys/class/net/lo/napi_defer_hard_irqs", "0"),
    ("/sys/class/net/lo/queues/rx-0/rps_cpus", "0"),
    ("/sys/class/net/lo/queues/rx-0/rps_flow_cnt", "0"),
    ("/sys/class/net/lo/queues/rx-1/rps_cpus", "0"),
    ("/sys/class/net/lo/queues/tx-0/xps_cpus", "1"),
    ("/sys/class/net/lo/queues/tx-0/xps_rxqs", "0"),
    (
        "/sys/class/net/lo/queues/tx-0/byte_queue_limits/limit_max",
        "1879048192",
    ),
    (
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
        "schedutil",
    ),
    (
        "/sys/devices/system/cpu/cpufreq/policy2/scaling_governor",
        "powersave",
    ),
];
