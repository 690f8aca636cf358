// SPDX-License-Identifier: MIT OR Apache-2.0
//! This kernel's description of its own types, read once and never held whole: some megabytes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;

use linerate_wire::btf::{Blob, Btf};

use super::names::{self, Names};
use super::offsets::{self, Offsets};

/// For the filter and for the names.
#[derive(Debug)]
pub(super) struct Kernel {
    /// The error says what is missing.
    pub(super) offsets: Result<Offsets, String>,
    pub(super) names: Names,
}

impl Kernel {
    /// The one that runs.
    pub(super) fn this() -> &'static Self {
        static THIS: OnceLock<Kernel> = OnceLock::new();
        THIS.get_or_init(Self::read)
    }

    fn read() -> Self {
        let typed = File::open(TYPES).map_err(|why| format!("{TYPES}: {why}"));
        let mut kernel = match typed {
            Ok(file) => Self::of_types(file),
            Err(why) => Self::unknown(why),
        };
        if kernel.names.0.is_empty() {
            let format = FORMATS
                .iter()
                .find_map(|file| fs::read_to_string(file).ok());
            kernel.names = Names::of_format(&format.unwrap_or_default());
        }
        kernel
    }

    fn of_types(file: File) -> Self {
        let names: Vec<&str> = offsets::ASKED.into_iter().chain(names::ASKED).collect();
        match Btf::read(Box::new(Pieces(file)), &names) {
            Ok(btf) => Self {
                offsets: Offsets::of(&btf).map_err(|what| format!("{TYPES}: no {what}")),
                names: Names::of_types(&btf),
            },
            Err(why) => Self::unknown(format!("{TYPES}: {why}")),
        }
    }

    fn unknown(why: String) -> Self {
        Self {
            offsets: Err(why),
            names: Names::default(),
        }
    }
}

/// Of a file of sysfs, which gives a page at a time.
struct Pieces(File);

impl Blob for Pieces {
    fn read_at(&self, at: usize, into: &mut [u8]) -> usize {
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.0.read_at(rest, (at + done) as u64) {
                Ok(0) | Err(_) => break,
                Ok(read) => done += read,
            }
        }
        done
    }
}

pub(super) const TYPES: &str = "/sys/kernel/btf/vmlinux";
const FORMATS: [&str; 2] = [
    "/sys/kernel/tracing/events/skb/kfree_skb/format",
    "/sys/kernel/debug/tracing/events/skb/kfree_skb/format",
];

#[cfg(test)]
mod tests {
    use super::Kernel;

    #[test]
    fn this_kernel_names_its_reasons() {
        let names = &Kernel::this().names.0;
        if names.is_empty() {
            println!("skipped: neither type information nor tracefs is readable");
            return;
        }
        assert!(names.values().any(|name| name == "NOT_SPECIFIED"));
        assert!(names.values().all(|name| !name.starts_with("SKB_DROP")));
    }
}
