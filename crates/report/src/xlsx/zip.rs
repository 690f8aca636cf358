// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ZIP archive without compression (APPNOTE.TXT 6.3, §4.3): a workbook is small.

use linerate_model::crc32;

/// An archive being written.
#[derive(Debug, Default)]
pub(super) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    files: u16,
}

impl Zip {
    /// Adds a file, whose content `write` appends. Names are ASCII, contents below 4 GiB.
    pub(super) fn file(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        let at = self.bytes.len();
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend([0; COMMON_BYTES]);
        self.bytes.extend(name.as_bytes());
        let begin = self.bytes.len();
        write(&mut self.bytes);
        let header = common(name, &self.bytes[begin..]);
        self.bytes[at + 4..][..COMMON_BYTES].copy_from_slice(&header);
        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&header);
        // No comment, first disk, binary, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend((at as u32).to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.files += 1;
    }

    /// The archive: the files, then the directory, then its end.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let at = self.bytes.len() as u32;
        let length = self.directory.len() as u32;
        self.bytes.append(&mut self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        self.bytes.extend(self.files.to_le_bytes());
        self.bytes.extend(self.files.to_le_bytes());
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(at.to_le_bytes());
        self.bytes.extend([0; 2]);
        self.bytes
    }
}

/// From "version needed" to "extra field length" (§4.3.7), the same at both places: no flags, stored, of equal length.
fn common(name: &str, content: &[u8]) -> [u8; COMMON_BYTES] {
    let mut header = [0; COMMON_BYTES];
    header[0] = 20;
    header[6..10].copy_from_slice(&MIDNIGHT);
    header[10..14].copy_from_slice(&crc32::of(content).to_le_bytes());
    let length = (content.len() as u32).to_le_bytes();
    header[14..18].copy_from_slice(&length);
    header[18..22].copy_from_slice(&length);
    header[22..24].copy_from_slice(&(name.len() as u16).to_le_bytes());
    header
}

const COMMON_BYTES: usize = 26;
/// 1980-01-01 00:00, the first day that a ZIP knows: the same run gives the same bytes.
const MIDNIGHT: [u8; 4] = [0, 0, 0x21, 0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_points_at_its_files() {
        let mut zip = Zip::default();
        zip.file("a.txt", |content| content.extend(b"hello"));
        zip.file("b/c.txt", |_| {});
        let bytes = zip.finish();
        let end = bytes.len() - 22;
        assert_eq!(bytes[end..end + 4], *b"PK\x05\x06");
        assert_eq!(bytes[end + 10], 2);
        let at = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()) as usize;
        assert_eq!(bytes[at..at + 4], *b"PK\x01\x02");
        assert_eq!(bytes[at + 46..at + 51], *b"a.txt");
        let second = at + 46 + 5;
        let offset =
            u32::from_le_bytes(bytes[second + 42..second + 46].try_into().unwrap()) as usize;
        assert_eq!(bytes[offset + 30..offset + 37], *b"b/c.txt");
    }
}
