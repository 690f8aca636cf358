// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flows that a watch counts, in a map that its program reads.

use super::filter::{Flow, KEY_BYTES};
use super::{Refused, refused};
use crate::bpf::{Map, MapKind};
use std::io;
use std::sync::Arc;

/// The flows that a watch counts. Clones share them, and flows can be added before the watch starts.
#[derive(Debug, Clone)]
pub struct Flows {
    /// [`Flow::keys`] → the group.
    map: Arc<Map<KEY_BYTES, 4>>,
}

impl Flows {
    /// None so far.
    ///
    /// # Errors
    /// [`Refused`]: this process may not create maps, or the kernel has none.
    pub fn create() -> Result<Self, Refused> {
        let map = Map::create(MapKind::Hash, "linerate_flows", MOST_FLOWS);
        let map = Arc::new(map.map_err(refused("create map"))?);
        Ok(Self { map })
    }

    /// Counts packets of `flow` too, in both directions.
    ///
    /// # Errors
    /// E2BIG beyond [`MOST_FLOWS`]; EINVAL if its ends are of different families.
    pub fn add(&self, flow: &Flow) -> io::Result<()> {
        for key in flow.keys()? {
            self.map.insert(&key, &flow.group.to_ne_bytes())?;
        }
        Ok(())
    }

    /// What an instruction names the map by.
    pub(super) fn number(&self) -> i32 {
        self.map.number()
    }
}

/// How many keys of flows there is room for; a flow takes two.
pub const MOST_FLOWS: u32 = 4096;
