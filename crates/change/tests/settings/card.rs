// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scripted driver: what a network card with queues answers to `SIOCETHTOOL`, after include/uapi/linux/ethtool.h. It rounds,
//! refuses and resets as real drivers do.

use std::io;
use std::sync::Mutex;

use linerate_linux::nic::Card;

/// Its registers. Words are 32 bits, in the machine's order.
#[derive(Debug)]
pub(crate) struct Registers {
    /// autoneg, rx, tx.
    pause: [u32; 3],
    /// The words of `struct ethtool_coalesce` after its command.
    coalescing: [u32; 22],
    /// rx and tx.
    rings: [u32; 2],
    pub(crate) combined: u32,
    /// By bit: name, can be switched, on.
    features: [(&'static str, bool, bool); 13],
    eee: bool,
    /// Of udp4.
    flow_hash: u64,
    pub(crate) table: Vec<u32>,
    key: Vec<u8>,
    /// The last request of each command that sets: for the tests of what is sent.
    pub(crate) sent: Vec<Vec<u8>>,
}

impl Registers {
    pub(crate) fn new() -> Self {
        Self {
            pause: [1, 1, 1],
            coalescing: [0; 22],
            rings: [256, 256],
            combined: 4,
            features: [
                ("tx-scatter-gather", true, true),
                ("tx-checksum-ipv4", true, true),
                ("tx-tcp-segmentation", true, true),
                ("tx-tcp-mangleid-segmentation", true, false),
                ("tx-tcp6-segmentation", true, true),
                ("rx-gro", true, true),
                ("rx-vlan-hw-parse", false, true),
                ("tx-generic-segmentation", true, true),
                ("rx-checksum", true, true),
                ("rx-lro", true, false),
                ("rx-gro-hw", true, false),
                ("rx-hashing", true, true),
                ("rx-all", true, false),
            ],
            eee: true,
            flow_hash: 1 << 4 | 1 << 5,
            table: (0..16).map(|entry| entry % 4).collect(),
            key: (0..40).collect(),
            sent: Vec::new(),
        }
    }

    fn answer(&mut self, request: &mut [u8]) -> io::Result<()> {
        let command = word(request, 0);
        if SETTERS.contains(&command) {
            self.sent.push(request.to_vec());
        }
        match command {
            0x0e => self
                .coalescing
                .iter()
                .zip(1..)
                .for_each(|(value, at)| put(request, at, *value)),
            0x0f => self.set_coalescing(request),
            0x10 => put_all(
                request,
                &[
                    MOST_DESCRIPTORS,
                    0,
                    0,
                    MOST_DESCRIPTORS,
                    self.rings[0],
                    0,
                    0,
                    self.rings[1],
                ],
            ),
            0x11 => self.set_rings(request)?,
            0x12 => put_all(request, &self.pause),
            0x13 => self.set_pause(request)?,
            0x1b => self.names(request),
            0x29 => self.fields(request)?,
            0x2a => self.set_fields(request)?,
            0x2d => put_all(request, &[0, self.combined]),
            // The features are its only set of strings.
            0x37 if word(request, 2) == 1 << 4 => put(request, 4, self.features.len() as u32),
            0x3a => self.states(request),
            0x3b => self.switch(request),
            0x3c => put_all(request, &[0, 0, 1, 8, 0, 0, 1, self.combined]),
            0x3d => self.set_channels(request)?,
            0x44 => put_all(
                request,
                &[
                    0x28,
                    0x28,
                    0x28,
                    u32::from(self.eee),
                    u32::from(self.eee),
                    1,
                    17,
                ],
            ),
            0x45 => self.eee = word(request, 5) != 0,
            0x46 => self.hash(request),
            0x47 => self.set_hash(request)?,
            _ => return Err(error(EOPNOTSUPP)),
        }
        Ok(())
    }

    /// Hardware ticks of 4 µs; adaptive interrupts overwrite the delay.
    fn set_coalescing(&mut self, request: &[u8]) {
        for (value, at) in self.coalescing.iter_mut().zip(1..) {
            *value = word(request, at);
        }
        self.coalescing[0] = self.coalescing[0].next_multiple_of(4);
        if self.coalescing[9] != 0 {
            self.coalescing[0] = 64;
        }
    }

    /// A multiple of 8, and new rings have the default delay.
    fn set_rings(&mut self, request: &[u8]) -> io::Result<()> {
        let wanted = [word(request, 5), word(request, 8)];
        if wanted.iter().any(|count| *count > MOST_DESCRIPTORS) || word(request, 6) != 0 {
            return Err(error(EINVAL));
        }
        self.rings = wanted.map(|count| count.next_multiple_of(8));
        self.coalescing[0] = 20;
        Ok(())
    }

    /// As fec: both directions alike.
    fn set_pause(&mut self, request: &[u8]) -> io::Result<()> {
        let wanted = [1, 2, 3].map(|at| word(request, at));
        if wanted[1] != wanted[2] {
            return Err(error(EINVAL));
        }
        self.pause = wanted;
        Ok(())
    }

    fn names(&self, request: &mut [u8]) {
        put(request, 2, self.features.len() as u32);
        for ((name, ..), at) in self.features.iter().zip(0..) {
            let from = 12 + 32 * at;
            request[from..from + name.len()].copy_from_slice(name.as_bytes());
        }
    }

    /// Blocks of available, requested, active, never changed.
    fn states(&self, request: &mut [u8]) {
        for ((_, free, on), bit) in self.features.iter().zip(0..) {
            for (at, is_set) in [(2, *free), (3, *on), (4, *on), (5, !*free)] {
                let value = word(request, at) | u32::from(is_set) << bit;
                put(request, at, value);
            }
        }
    }

    /// Without checksums there is no segmentation, until they are back: what was wanted is remembered.
    fn switch(&mut self, request: &[u8]) {
        let (valid, wanted) = (word(request, 2), word(request, 3));
        for ((_, free, on), bit) in self.features.iter_mut().zip(0..) {
            if *free && valid >> bit & 1 == 1 {
                *on = wanted >> bit & 1 == 1;
            }
        }
    }

    /// A new number of queues: a new table, and delays as after a reset.
    fn set_channels(&mut self, request: &[u8]) -> io::Result<()> {
        let combined = word(request, 8);
        if combined == 0 || combined > 8 || word(request, 5) != 0 {
            return Err(error(EINVAL));
        }
        self.combined = combined;
        self.table = (0..16).map(|entry| entry % combined).collect();
        Ok(())
    }

    fn fields(&self, request: &mut [u8]) -> io::Result<()> {
        is_udp4(request)?;
        request[8..16].copy_from_slice(&self.flow_hash.to_ne_bytes());
        Ok(())
    }

    fn set_fields(&mut self, request: &[u8]) -> io::Result<()> {
        is_udp4(request)?;
        let fields: [u8; 8] = request[8..16].try_into().expect("8 bytes");
        self.flow_hash = u64::from_ne_bytes(fields);
        Ok(())
    }

    /// `struct ethtool_rxfh`: sizes at 8 and 12, Toeplitz at 16, then table and key.
    fn hash(&self, request: &mut [u8]) {
        let (entries, bytes) = (word(request, 2) as usize, word(request, 3) as usize);
        put(request, 2, self.table.len() as u32);
        put(request, 3, self.key.len() as u32);
        request[16] = 1;
        if entries == self.table.len() && bytes == self.key.len() {
            self.table
                .iter()
                .zip(6..)
                .for_each(|(queue, at)| put(request, at, *queue));
            let from = 24 + 4 * entries;
            request[from..from + bytes].copy_from_slice(&self.key);
        }
    }

    fn set_hash(&mut self, request: &[u8]) -> io::Result<()> {
        let mut at = 6;
        match word(request, 2) as usize {
            0xffff_ffff => {}
            0 => self.table = (0..16).map(|entry| entry % self.combined).collect(),
            entries if entries == self.table.len() => {
                let table: Vec<u32> = (0..entries)
                    .map(|entry| word(request, at + entry))
                    .collect();
                if table.iter().any(|queue| *queue >= self.combined) {
                    return Err(error(EINVAL));
                }
                self.table = table;
                at += entries;
            }
            _ => return Err(error(EINVAL)),
        }
        if word(request, 3) as usize == self.key.len() {
            self.key = request[4 * at..].to_vec();
        }
        Ok(())
    }
}

/// The card, as each request finds it.
pub(crate) struct Scripted<'a>(pub(crate) &'a Mutex<Registers>);

impl Card for Scripted<'_> {
    fn exchange(&self, request: &mut [u8]) -> io::Result<()> {
        self.0.lock().expect("no panic").answer(request)
    }
}

fn is_udp4(request: &[u8]) -> io::Result<()> {
    match word(request, 1) {
        2 => Ok(()),
        _ => Err(error(EOPNOTSUPP)),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let bytes: [u8; 4] = bytes[4 * at..4 * at + 4].try_into().expect("a word");
    u32::from_ne_bytes(bytes)
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[4 * at..4 * at + 4].copy_from_slice(&value.to_ne_bytes());
}

/// After the command.
fn put_all(bytes: &mut [u8], values: &[u32]) {
    values
        .iter()
        .zip(1..)
        .for_each(|(value, at)| put(bytes, at, *value));
}

fn error(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

const MOST_DESCRIPTORS: u32 = 4096;
const SETTERS: [u32; 8] = [0x0f, 0x11, 0x13, 0x2a, 0x3b, 0x3d, 0x45, 0x47];
const EINVAL: i32 = 22;
const EOPNOTSUPP: i32 = 95;
