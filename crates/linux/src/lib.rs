// SPDX-License-Identifier: MIT OR Apache-2.0
pub mod ethtool_features;
pub mod netns;
pub mod nft;
pub mod packet;
pub mod rtnl;
pub mod sandbox;
pub mod seccomp;
pub mod sysctl;
