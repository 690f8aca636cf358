// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine's boot id as unauthenticated clients get it: it shows whether both ends are one machine, and never which machine that is.
//!
//! A server hashes its boot id with the address that the client reached, so one machine is not recognised at two
//! addresses; at one address it stays the same until the next boot. A boot id has 122 random bits (RFC 9562 §5.4): it
//! cannot be guessed.

use hmac::digest::Digest;
use sha2::Sha256;
use std::fmt::Write;
use std::net::IpAddr;

/// Returns the hash of `boot_id` at `address`: `HASH.SALT`, both hexadecimal.
#[must_use]
pub fn hashed(boot_id: &str, address: IpAddr) -> String {
    let salt = hex(&[boot_id, "at", &address.to_canonical().to_string()], 8);
    salted(boot_id, &salt)
}

/// Whether a server's hash is that of this boot id, at whatever address.
#[must_use]
pub fn is_of(hash: &str, boot_id: &str) -> bool {
    let salt = hash.split_once('.').map(|(_, salt)| salt);
    salt.is_some_and(|salt| salted(boot_id, salt) == hash)
}

fn salted(boot_id: &str, salt: &str) -> String {
    format!("{}.{salt}", hex(&[boot_id, "salted", salt], 16))
}

/// The first `bytes` bytes of SHA-256 over the parts: unambiguous, because each part is preceded by its length.
fn hex(parts: &[&str], bytes: usize) -> String {
    let mut state = Sha256::new();
    for part in parts {
        state.update(part.len().to_be_bytes());
        state.update(part);
    }
    let digest = state.finalize();
    digest
        .iter()
        .take(bytes)
        .fold(String::new(), |mut text, byte| {
            // A string takes all that is written to it.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: &str = "5c2f1d0e-9f7a-4a0b-8f5e-1f6f0a7f7c11";

    #[test]
    fn a_machine_recognises_itself_at_any_address() {
        for address in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"] {
            let hash = hashed(BOOT, address.parse().unwrap());
            assert!(is_of(&hash, BOOT), "{address}");
            assert!(!is_of(&hash, &BOOT.replace('5', "6")), "{address}");
        }
        assert!(!is_of(BOOT, BOOT), "no hash");
    }

    #[test]
    fn two_addresses_of_a_machine_cannot_be_linked() {
        let at = |address: &str| hashed(BOOT, address.parse().unwrap());
        let (one, other) = (at("192.0.2.1"), at("192.0.2.2"));
        let shared = |part: &str| part.len() >= 8 && other.contains(part);
        assert!(!one.split('.').any(shared), "{one} {other}");
        assert_eq!(one, at("::ffff:192.0.2.1"), "one address, one hash");
        assert!(!one.contains(&BOOT[..8]));
    }
}
