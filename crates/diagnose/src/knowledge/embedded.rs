// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables that the program carries, one line each. `cargo xtask check-knowledge` tells of a
//! file that is missing here.

macro_rules! tables {
    ($($name:literal)+) => {
        /// File name and text of every table.
        pub const EMBEDDED: &[(&str, &str)] = &[$((
            concat!($name, ".toml"),
            include_str!(concat!("../../../../knowledge/drivers/", $name, ".toml")),
        )),+];
    };
}

tables! {
    "bcmgenet"
    "e1000e"
    "fec"
    "fsl_dpaa2_eth"
    "i40e"
    "ice"
    "igb"
    "igc"
    "ixgbe"
    "lan78xx"
    "macb"
    "mlx5_core"
    "mvneta"
    "mvpp2"
    "r8152"
    "r8169"
    "stmmac"
    "tg3"
    "veth"
    "virtio_net"
}
