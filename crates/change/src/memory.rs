// SPDX-License-Identifier: MIT OR Apache-2.0
//! A journal that ends with the process: for hosts that do, too, as those of a lab.

use crate::entry::{Entry, Phase};
use crate::journal::{JournalError, Trace};
use crate::open::{Open, open, standing};

/// A journal in memory.
#[derive(Debug, Default)]
pub struct Memory {
    entries: Vec<Entry>,
    begun: u64,
}

impl Memory {
    fn push(&mut self, change: u64, phase: Phase) {
        self.entries.push(Entry {
            change,
            wall_ns: 0,
            boot_id: String::new(),
            phase,
        });
    }
}

impl Trace for Memory {
    fn open(&self) -> Result<Vec<Open>, JournalError> {
        Ok(open(&self.entries))
    }

    fn standing(&self) -> Result<Vec<Open>, JournalError> {
        Ok(standing(&self.entries))
    }

    fn begin(&mut self, intended: Phase) -> Result<u64, JournalError> {
        self.begun += 1;
        self.push(self.begun, intended);
        Ok(self.begun)
    }

    fn step(&mut self, change: u64, phase: Phase) -> Result<(), JournalError> {
        self.push(change, phase);
        Ok(())
    }
}
