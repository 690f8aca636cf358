// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the lab's user-space wire did on its own account.

use serde::Serialize;

use crate::fields::Fields;

use super::test::Direction;

/// One direction of the lab's wire.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct LabWire {
    /// The direction.
    pub direction: Direction,
    /// Frames that it took, of all tests.
    pub frames: u64,
    /// Frames that it lost because it was overloaded; what a fault drops is not among them.
    pub overload_drops: u64,
}
