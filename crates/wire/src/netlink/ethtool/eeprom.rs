// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a pluggable module (`ethtool -m X`), a [`Stretch`] at a time.

use super::super::attribute::{find, push};
use super::{generic, header};
use crate::module::Stretch;

/// The payload that asks for a stretch (Linux 5.13). The kernel requires CAP_NET_ADMIN.
#[must_use]
pub fn request(index: u32, stretch: Stretch) -> Vec<u8> {
    let mut wanted = header(EEPROM_HEADER, index, 0);
    push(
        &mut wanted,
        OFFSET,
        &u32::from(stretch.offset).to_ne_bytes(),
    );
    push(&mut wanted, LENGTH, &u32::from(stretch.bytes).to_ne_bytes());
    push(&mut wanted, PAGE, &[stretch.page]);
    push(&mut wanted, I2C_ADDRESS, &[stretch.bus_address]);
    generic::command(EEPROM_GET, &wanted)
}

/// The bytes that were read.
#[must_use]
pub fn bytes(payload: &[u8]) -> &[u8] {
    find(generic::attributes(payload), DATA).unwrap_or(&[])
}

/// include/uapi/linux/ethtool_netlink_generated.h
const EEPROM_GET: u8 = 31;
const EEPROM_HEADER: u16 = 1;
const OFFSET: u16 = 2;
const LENGTH: u16 = 3;
const PAGE: u16 = 4;
const I2C_ADDRESS: u16 = 6;
const DATA: u16 = 7;

#[cfg(test)]
mod tests {
    use super::super::super::attribute::{unsigned, word};
    use super::*;
    use crate::module::FIRST;

    #[test]
    fn a_request_names_its_stretch() {
        let request = request(7, FIRST);
        let wanted = generic::attributes(&request);
        let number = |kind| find(wanted, kind).and_then(unsigned);
        assert_eq!(request[0], EEPROM_GET);
        assert_eq!((number(OFFSET), number(LENGTH)), (Some(0), Some(3)));
        assert_eq!((number(PAGE), number(I2C_ADDRESS)), (Some(0), Some(0x50)));
        let header = find(wanted, EEPROM_HEADER).unwrap();
        assert_eq!(find(header, 1).and_then(word), Some(7));
    }

    #[test]
    fn an_answer_has_its_bytes() {
        let mut body = Vec::new();
        push(&mut body, DATA, &[3, 4, 7]);
        assert_eq!(bytes(&generic::command(32, &body)), [3, 4, 7]);
        assert_eq!(bytes(&[]), [0; 0]);
    }
}
