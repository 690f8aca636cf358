// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words in the byte order of the kernel that wrote them.

/// Bytes and their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    big: bool,
}

impl<'b> Reader<'b> {
    /// The order is what makes the magic number right.
    pub(super) fn of(blob: &'b [u8]) -> Option<Self> {
        let big = match blob.first_chunk::<3>()? {
            [0x9f, 0xeb, VERSION] => false,
            [0xeb, 0x9f, VERSION] => true,
            _ => return None,
        };
        Some(Self { bytes: blob, big })
    }

    /// Other bytes of the same blob.
    pub(super) const fn same_order(self, bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            big: self.big,
        }
    }

    pub(super) const fn len(self) -> usize {
        self.bytes.len()
    }

    pub(super) fn u32_at(self, at: usize) -> Option<u32> {
        let word = *self.bytes.get(at..)?.first_chunk::<4>()?;
        Some(if self.big {
            u32::from_be_bytes(word)
        } else {
            u32::from_le_bytes(word)
        })
    }
}

const VERSION: u8 = 1;
