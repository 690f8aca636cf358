// SPDX-License-Identifier: MIT OR Apache-2.0
//! A binary that names a directory of the machine that built it is not the same when it is built elsewhere.

use std::path::Path;

use crate::build::{self, Place};

/// The directories that builds at `place` read and write.
#[derive(Debug)]
pub(super) struct Traces(Vec<String>);

impl Traces {
    /// `binary` is in the target directory, below the triple and the profile.
    pub(super) fn of(place: &Place, binary: &Path) -> Self {
        let target = binary.ancestors().nth(3).unwrap_or(binary);
        let directories = [&place.root, &place.cargo_home, target];
        let mut names: Vec<String> = directories
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        names.push(build::sysroot());
        // Every absolute path begins with "/".
        names.retain(|name| name.len() > 1);
        Self(names)
    }

    /// An error with the first of them that `binary` names.
    pub(super) fn absent(&self, binary: &[u8]) -> Result<(), String> {
        match self
            .0
            .iter()
            .find_map(|name| context(binary, name.as_bytes()))
        {
            Some(found) => Err(format!("it names a directory of this machine: {found}")),
            None => Ok(()),
        }
    }
}

/// Where `binary` names `directory`, with what follows.
fn context(binary: &[u8], directory: &[u8]) -> Option<String> {
    let starts = directory.first()?;
    let is_here = |at: &usize| binary[*at] == *starts && binary[*at..].starts_with(directory);
    let at = (0..binary.len()).find(is_here)?;
    let end = binary.len().min(at + directory.len() + 60);
    Some(String::from_utf8_lossy(&binary[at..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn traces() -> Traces {
        let place = Place {
            root: PathBuf::from("/src/linerate"),
            cargo_home: PathBuf::from("/home/ann/.cargo"),
            environment: Vec::new(),
        };
        Traces::of(
            &place,
            Path::new("/var/out/x86_64-unknown-linux-musl/dist/linerate"),
        )
    }

    #[test]
    fn each_directory_of_a_build_is_found_in_a_binary() {
        for text in [
            "\0/src/linerate/crates/wire/src/lib.rs\0",
            "/home/ann/.cargo/registry/src/x/lib.rs",
            "…/var/out/x86_64-unknown-linux-musl/dist/build/x/out/a.rs",
            &format!(
                "{}/lib/rustlib/src/rust/library/std/src/io.rs",
                build::sysroot()
            ),
        ] {
            let found = traces().absent(text.as_bytes());
            assert!(found.is_err_and(|why| why.contains(".rs")), "{text}");
        }
    }

    #[test]
    fn names_that_are_the_same_everywhere_are_no_trace() {
        let text = "/linerate/crates/wire/src/lib.rs /crates/clap/lib.rs /rustc/5980/library/std /var/log/out /src/line";
        assert_eq!(traces().absent(text.as_bytes()), Ok(()));
        assert_eq!(traces().absent(b""), Ok(()));
    }
}
