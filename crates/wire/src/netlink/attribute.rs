// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attributes of a message: length, kind, value, aligned to 4.

/// The attributes of `bytes` up to the first that is cut; the kind is without its flags.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let header: &[u8; 4] = rest.first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let kind = u16::from_ne_bytes([header[2], header[3]]) & KIND;
        let value = rest.get(4..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// The value of the first attribute of a kind.
#[must_use]
pub fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find_map(|(found, value)| (found == kind).then_some(value))
}

/// Appends an attribute. Values are short: the length is 16 bits.
pub fn push(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// An unsigned number of 1, 2, 4 or 8 bytes, as the kernel chose.
#[must_use]
pub fn unsigned(value: &[u8]) -> Option<u64> {
    Some(match *value {
        [byte] => byte.into(),
        [a, b] => u16::from_ne_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
        _ => u64::from_ne_bytes(value.try_into().ok()?),
    })
}

/// The first 32-bit word.
#[must_use]
pub fn word(value: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(*value.first_chunk()?))
}

/// Text up to its NUL.
#[must_use]
pub fn text(value: &[u8]) -> String {
    let end = value.iter().position(|&byte| byte == 0);
    String::from_utf8_lossy(&value[..end.unwrap_or(value.len())]).into_owned()
}

/// Marks an attribute that holds attributes.
pub const NESTED: u16 = 0x8000;
/// Without `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
const KIND: u16 = 0x3fff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pushed_is_found() {
        let mut bytes = Vec::new();
        push(&mut bytes, 1, b"fq\0");
        push(&mut bytes, 2 | NESTED, &7_u32.to_ne_bytes());
        assert_eq!(find(&bytes, 1).map(text).as_deref(), Some("fq"));
        assert_eq!(find(&bytes, 2).and_then(word), Some(7));
        assert_eq!(find(&bytes, 3), None);
        assert_eq!(attributes(&bytes[..9]).count(), 1, "the second is cut");
    }

    #[test]
    fn numbers_of_any_width() {
        assert_eq!(unsigned(&[5]), Some(5));
        assert_eq!(unsigned(&6_u16.to_ne_bytes()), Some(6));
        assert_eq!(unsigned(&u32::MAX.to_ne_bytes()), Some(u32::MAX.into()));
        assert_eq!(unsigned(&u64::MAX.to_ne_bytes()), Some(u64::MAX));
        assert_eq!((unsigned(&[]), unsigned(&[1, 2, 3])), (None, None));
    }
}
