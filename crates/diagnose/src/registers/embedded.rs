// SPDX-License-Identifier: MIT OR Apache-2.0
//! The maps that the program carries, one line each. `cargo xtask check-knowledge` tells of a
//! file that is missing here.

macro_rules! maps {
    ($($name:literal)+) => {
        /// File name and text of every map.
        pub const EMBEDDED: &[(&str, &str)] = &[$((
            concat!($name, ".toml"),
            include_str!(concat!("../../../../knowledge/registers/", $name, ".toml")),
        )),+];
    };
}

maps! {
    "dwmac1000"
    "dwmac4"
    "e1000e"
    "igb"
    "macb"
    "mii"
    "nxp-enet"
}
