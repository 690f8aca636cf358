// SPDX-License-Identifier: MIT OR Apache-2.0
//! The largest value of a setting that this machine should have: by its memory and its processors.

use std::io;

use linerate_linux::host::page_bytes;
use linerate_linux::sysctl;
use linerate_wire::proc::meminfo;

use crate::kernel::Kernel;

/// Of a sysctl; nothing where only its entry in `knowledge/tunables` bounds it.
pub(crate) fn of_sysctl(kernel: &dyn Kernel, name: &str) -> io::Result<Option<String>> {
    let memory = || memory_bytes(kernel);
    Ok(match name {
        "net.ipv4.tcp_rmem"
        | "net.ipv4.tcp_wmem"
        | "net.core.rmem_max"
        | "net.core.wmem_max"
        | "net.core.rmem_default"
        | "net.core.wmem_default" => Some(
            quarter_of_sockets(kernel)
                .unwrap_or(memory()? / 64)
                .to_string(),
        ),
        "net.ipv4.tcp_mem" | "net.ipv4.udp_mem" => {
            let page = page_bytes().ok_or(io::ErrorKind::Unsupported)?;
            Some((memory()? / 4 / page).to_string())
        }
        "vm.min_free_kbytes" => Some((memory()? / 20 / 1024).to_string()),
        _ => None,
    })
}

/// Of a mask of processors: all that are online.
pub(crate) fn all_processors(kernel: &dyn Kernel) -> io::Result<String> {
    Ok(mask(&online(kernel)?))
}

/// Of the number of a processor.
pub(crate) fn last_processor(kernel: &dyn Kernel) -> io::Result<Option<u32>> {
    Ok(online(kernel)?.into_iter().max())
}

/// Of the number of queues: one for each processor.
pub(crate) fn processors(kernel: &dyn Kernel) -> io::Result<usize> {
    Ok(online(kernel)?.len())
}

/// One socket may have a quarter of what all of TCP may have. A namespace does not show `tcp_mem`, which the kernel sizes as
/// 9 % of the memory (net/ipv4/tcp.c tcp_init_mem): a quarter of it is more than a 64th of the memory.
fn quarter_of_sockets(kernel: &dyn Kernel) -> Option<u64> {
    let all = sysctl::of_file(&kernel.sysctl("net.ipv4.tcp_mem").ok()?).ok()?;
    let pages: u64 = all.rsplit(' ').next()?.parse().ok()?;
    Some(pages.checked_mul(page_bytes()?)? / 4)
}

fn memory_bytes(kernel: &dyn Kernel) -> io::Result<u64> {
    let text = std::fs::read_to_string(kernel.file("/proc/meminfo"))?;
    let all = meminfo::parse(&text);
    let total = all.iter().find(|(name, _)| name == "MemTotal");
    total
        .map(|(_, bytes)| *bytes)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// `0-3,8` as numbers.
fn online(kernel: &dyn Kernel) -> io::Result<Vec<u32>> {
    let text = std::fs::read_to_string(kernel.file("/sys/devices/system/cpu/online"))?;
    let ranges = text.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?)
    });
    let ranges: Option<Vec<_>> = ranges.collect();
    let all = ranges.ok_or(io::ErrorKind::InvalidData)?;
    Ok(all.into_iter().flatten().take(MOST_PROCESSORS).collect())
}

/// Words of 32 processors in hexadecimal, the last ones first.
fn mask(processors: &[u32]) -> String {
    let words = processors.iter().max().map_or(1, |last| last / 32 + 1);
    let word = |at: u32| {
        let of_word = processors.iter().filter(|number| *number / 32 == at);
        of_word.fold(0_u32, |word, number| word | 1 << (number % 32))
    };
    let each = (0..words).rev().map(|at| match at + 1 == words {
        true => format!("{:x}", word(at)),
        false => format!("{:08x}", word(at)),
    });
    each.collect::<Vec<_>>().join(",")
}

/// `CONFIG_NR_CPUS` has this maximum.
const MOST_PROCESSORS: usize = 8192;

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn a_mask_has_words_of_32_processors() {
        assert_eq!(mask(&[0, 1, 2, 3]), "f");
        assert_eq!(mask(&[1, 33]), "2,00000002");
        assert_eq!(mask(&[64]), "1,00000000,00000000");
    }
}
