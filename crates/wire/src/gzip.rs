// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unpacks a gzip member (RFC 1952), such as `/proc/config.gz`.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// Returns the content of a gzip member, or `None` if it is damaged or longer than `most_bytes`.
///
/// The checksum is not verified: the kernel compresses its own configuration.
#[must_use]
pub fn gunzip(packed: &[u8], most_bytes: usize) -> Option<Vec<u8>> {
    decompress_to_vec_with_limit(body(packed)?, most_bytes).ok()
}

/// What follows the header with its optional fields.
fn body(packed: &[u8]) -> Option<&[u8]> {
    let (&[0x1f, 0x8b, 8, flags], _) = packed.split_first_chunk()? else {
        return None;
    };
    let mut rest = packed.get(10..)?;
    if flags & EXTRA != 0 {
        let (length, tail) = rest.split_first_chunk()?;
        rest = tail.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for field in [NAME, COMMENT] {
        if flags & field != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    rest.get(if flags & HEADER_CHECK != 0 { 2 } else { 0 }..)
}

// Flags of RFC 1952, section 2.3.1.
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const HEADER_CHECK: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    // "CONFIG_NET=y" twice, as zlib writes it.
    const MEMBER: [u8; 36] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 115, 246, 247, 115, 243, 116, 143, 247, 115, 13, 177, 173,
        228, 114, 70, 230, 0, 0, 145, 192, 68, 218, 26, 0, 0, 0,
    ];

    #[test]
    fn a_member_unpacks_with_and_without_optional_header_fields() {
        let text = Some(b"CONFIG_NET=y\nCONFIG_NET=y\n".to_vec());
        assert_eq!(gunzip(&MEMBER, 1 << 16), text);
        let mut named = MEMBER[..10].to_vec();
        named[3] = NAME | EXTRA;
        named.extend([2, 0, b'x', b'y']);
        named.extend(b"config\0");
        named.extend(&MEMBER[10..]);
        assert_eq!(gunzip(&named, 1 << 16), text);
    }

    #[test]
    fn damage_is_none_and_length_is_bounded() {
        assert_eq!(gunzip(&MEMBER, 10), None);
        for cut in 0..MEMBER.len() - 8 {
            assert_eq!(gunzip(&MEMBER[..cut], 1 << 16), None, "{cut}");
        }
        for at in 0..MEMBER.len() {
            let mut damaged = MEMBER;
            damaged[at] ^= 1 << (at % 8);
            // Any result but a panic.
            let _ = gunzip(&damaged, 1 << 16);
        }
    }
}
