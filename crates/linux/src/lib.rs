// SPDX-License-Identifier: MIT OR Apache-2.0
pub mod netns;
pub mod rtnl;
pub mod sandbox;
