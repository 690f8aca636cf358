// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksum of a journal's lines and of the files of a workbook: CRC-32 of IEEE 802.3, ISO 3309.

/// Of these bytes. A byte a step: faster ways have larger tables.
#[must_use]
pub fn of(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8);
    !bytes.iter().fold(!0, step)
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut crc = at as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                0xedb8_8320 ^ (crc >> 1)
            } else {
                crc >> 1
            };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    /// The check value of CRC-32/ISO-HDLC.
    #[test]
    fn it_is_that_of_ethernet() {
        assert_eq!(super::of(b"123456789"), 0xcbf4_3926);
        assert_eq!(super::of(b""), 0);
    }
}
