// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the token from a file of one line that only its owner can access. Its text is never shown.

use linerate_model::failure::Failure;
use linerate_wire::linerate::token::{FILE_VARIABLE, Secret};
use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The token of `flag`, else of [`FILE_VARIABLE`], if any.
///
/// # Errors
/// The file cannot be read, others can read it, or what it holds is no secret.
pub fn given(flag: Option<&Path>) -> Result<Option<Secret>, Failure> {
    let named = || env::var_os(FILE_VARIABLE).filter(|path| !path.is_empty());
    let path = flag.map(Path::to_owned);
    let path = path.or_else(|| named().map(PathBuf::from));
    path.map(|path| read(&path)).transpose()
}

/// The token in a file.
///
/// # Errors
/// As [`given`].
pub fn read(path: &Path) -> Result<Secret, Failure> {
    let shown = path.display();
    let what = || format!("use the token file {shown}");
    let fail = |error: io::Error| Failure::usage(what(), error).hint(MAKE);
    let file = File::open(path).map_err(fail)?;
    let mode = file.metadata().map_err(fail)?.mode() & 0o777;
    if mode & OF_OTHERS != 0 {
        let why = format!("its mode is {mode:04o}: only the owner may have access");
        return Err(Failure::usage(what(), why).hint(format!("chmod 600 {shown}")));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    secret(&bytes).map_err(|why| Failure::usage(what(), why).hint(MAKE))
}

/// One line, without what ends it.
fn secret(bytes: &[u8]) -> Result<Secret, &'static str> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if bytes.len() as u64 > MOST_BYTES || line.contains(&b'\n') {
        return Err("it is not one line of at most 4096 bytes");
    }
    Secret::new(line).ok_or(
        "its line has fewer than 16 bytes, or fewer than 8 different ones: it could be guessed",
    )
}

const MAKE: &str =
    "(umask 077; head -c 32 /dev/urandom | base64 > token)   # and the same file at the other end";
const OF_OTHERS: u32 = 0o066;
const MOST_BYTES: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_the_secret() {
        let sixteen = b"0123456789abcdef";
        let taken = secret(sixteen).unwrap();
        for ending in ["\n", "\r\n"] {
            let line = [&sixteen[..], ending.as_bytes()].concat();
            assert_eq!(secret(&line), Ok(taken.clone()));
        }
        for wrong in [
            &b""[..],
            b"\n",
            b"0123456789abcde\n",
            b"0123456789abcdef\n\n",
            b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
            b"12341234123412341234\n",
        ] {
            assert!(secret(wrong).is_err(), "{wrong:?}");
        }
        let long: Vec<u8> = (b'!'..=b'~').cycle().take(4097).collect();
        assert!(secret(&long[..4096]).is_ok() && secret(&long).is_err());
    }
}
