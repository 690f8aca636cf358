// SPDX-License-Identifier: MIT OR Apache-2.0
//! The local time as text, in a format of strftime(3).
#![expect(unsafe_code, reason = "localtime_r and strftime")]

use std::ffi::CString;
use std::mem::MaybeUninit;

/// This time (nanoseconds since 1970) in the local time zone; `None` if the format has a NUL or gives a text of more
/// than 255 bytes.
#[must_use]
pub fn local(format: &str, wall_ns: u64) -> Option<String> {
    // strftime returns 0 for an empty text as for one that does not fit.
    let format = CString::new(format!("{format}.")).ok()?;
    let seconds = (wall_ns / 1_000_000_000).try_into().ok()?;
    let mut time = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: `seconds` is read and `time` written during the call only.
    let known = unsafe { libc::localtime_r(&raw const seconds, time.as_mut_ptr()) };
    if known.is_null() {
        return None;
    }
    let mut text = [0_u8; 256];
    // SAFETY: `time` was filled above; the format ends with a NUL; at most the given length is written.
    let length = unsafe {
        libc::strftime(
            text.as_mut_ptr().cast(),
            text.len(),
            format.as_ptr(),
            time.as_ptr(),
        )
    };
    let text = text.get(..length.checked_sub(1)?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No test changes the time zone: what all zones share is compared.
    #[test]
    fn a_format_is_filled_in() {
        let noon_of_a_july_ns = 1_752_408_000_000_000_000;
        let year = |format: &str| local(format, noon_of_a_july_ns);
        assert_eq!(year("%Y-%m %%|"), Some("2025-07 %|".to_owned()));
        assert_eq!(year(""), Some(String::new()));
        assert_eq!(year("\0"), None);
        let long = "%c".repeat(100);
        assert_eq!(year(&long), None);
        let usual = year("%c ").unwrap();
        assert!(usual.contains("Jul") && usual.ends_with(' '), "{usual}");
    }
}
