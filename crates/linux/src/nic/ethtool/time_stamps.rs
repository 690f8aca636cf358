// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -T`: whether the interface itself can stamp what it receives.

use std::io;

use super::request::{Card, get};

/// Whether the hardware can write the time of its own clock to received frames.
///
/// # Errors
/// EOPNOTSUPP where the driver has no ethtool at all.
pub fn in_hardware(card: &dyn Card) -> io::Result<bool> {
    // struct ethtool_ts_info: cmd, so_timestamping, phc_index, tx_types, reserved[3], rx_filters, reserved[3].
    let info = card.ask(ETHTOOL_GET_TS_INFO, BYTES)?;
    let has = |bits| Ok::<bool, io::Error>(get(&info, KINDS)? & bits == bits);
    has(RX_HARDWARE | RAW_HARDWARE)
}

/// include/uapi/linux/ethtool.h
const ETHTOOL_GET_TS_INFO: u32 = 0x41;
const BYTES: usize = 44;
const KINDS: usize = 4;
/// include/uapi/linux/net_tstamp.h: `SOF_TIMESTAMPING_RX_HARDWARE`, and that programs may read it.
const RX_HARDWARE: u32 = 1 << 2;
const RAW_HARDWARE: u32 = 1 << 6;

#[cfg(test)]
mod tests {
    use super::*;

    /// What its driver answers.
    struct Driver(Option<u32>);

    impl Card for Driver {
        fn exchange(&self, request: &mut [u8]) -> io::Result<()> {
            assert_eq!((request.len(), get(request, 0)?), (44, 0x41));
            let kinds = self.0.ok_or(io::ErrorKind::Unsupported)?;
            super::super::request::put(request, KINDS, kinds);
            Ok(())
        }
    }

    #[test]
    fn both_bits_make_a_hardware_time_stamp() {
        for (kinds, expected) in [
            // e1000e, as `ethtool -T` shows it: all.
            (0b101_1111, true),
            // veth: software only.
            (0b001_1010, false),
            (0b000_0100, false),
            (0, false),
        ] {
            assert_eq!(
                in_hardware(&Driver(Some(kinds))).unwrap(),
                expected,
                "{kinds:b}"
            );
        }
        assert!(in_hardware(&Driver(None)).is_err());
    }
}
