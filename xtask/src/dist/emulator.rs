// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which qemu-user is installed.

use std::process::Command;

use crate::build;

/// Of these programs the newest that is installed; of two with the same version the first.
pub(super) fn newest(programs: &[&'static str]) -> Option<&'static str> {
    let installed = programs.iter().copied();
    let installed = installed.filter(|program| build::has_program(program));
    installed.rev().max_by_key(|program| version(program))
}

/// The first number of `qemu-ppc version 10.0.2 (Debian …)`; 0 where there is none.
pub(super) fn version(emulator: &str) -> u32 {
    let output = Command::new(emulator).arg("--version").output();
    let said = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    major(&String::from_utf8_lossy(&said))
}

fn major(said: &str) -> u32 {
    let number = said.split_once("version ").map_or("", |(_, rest)| rest);
    let number = number.split('.').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_an_emulator_is_read() {
        let said = "qemu-ppc version 10.0.2 (Debian 1:10.0.2+ds-2)\nCopyright (c) 2003-2024";
        assert_eq!(
            (major(said), major("qemu-s390x version 7.2.22"), major("")),
            (10, 7, 0)
        );
    }

    #[test]
    fn of_none_that_is_installed_none_is_newest() {
        assert_eq!(newest(&["qemu-vax", "qemu-pdp11"]), None);
        // `sh` has no version here, and is there.
        assert_eq!(newest(&["qemu-vax", "sh"]), Some("sh"));
    }
}
