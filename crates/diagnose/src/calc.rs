// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be worked out from numbers alone: bounds and formulas that facts compare with.

pub mod flow_hash;
pub mod packet_cost;
pub mod pause;
pub mod tcp_bound;
pub mod tcp_memory;
pub mod udp_buffer;
