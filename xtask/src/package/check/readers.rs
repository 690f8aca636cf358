// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of distributions and containers read what was made for them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{SHORT, ensure, output};
use crate::build;
use crate::tally::Tally;

/// Each reader that is installed here, on every package of its kind.
pub(super) fn run(directory: &Path, tally: &mut Tally) {
    for reader in READERS {
        let files = files(directory, reader.ending);
        let what = format!("{} reads {} {}", reader.program, files.len(), reader.ending);
        if !build::has_program(reader.program) {
            tally.skip(&what, format!("{} is not installed", reader.program));
            continue;
        }
        let read = files.iter().try_for_each(|file| (reader.read)(file));
        let right =
            read.and_then(|()| ensure(!files.is_empty(), || "there is no such file".into()));
        tally.check(&what, right.map(|()| "without an error".into()));
    }
}

struct Reader {
    program: &'static str,
    ending: &'static str,
    read: fn(&str) -> Result<(), String>,
}

const READERS: &[Reader] = &[
    Reader {
        program: "sha256sum",
        ending: "SHA256SUMS",
        read: sums,
    },
    Reader {
        program: "dpkg-deb",
        ending: ".deb",
        read: |file| output("dpkg-deb", &["--contents", file], SHORT).map(drop),
    },
    Reader {
        program: "lintian",
        ending: "_amd64.deb",
        read: lintian,
    },
    Reader {
        program: "rpm",
        ending: ".rpm",
        read: rpm,
    },
    Reader {
        program: "skopeo",
        ending: ".oci.tar",
        read: image,
    },
    Reader {
        program: "apk",
        ending: ".apk",
        read: |file| output("apk", &["--allow-untrusted", "verify", file], SHORT).map(drop),
    },
    Reader {
        program: "gzip",
        ending: ".tar.gz",
        read: |file| output("gzip", &["-t", file], SHORT).map(drop),
    },
    Reader {
        program: "gzip",
        ending: ".apk",
        read: |file| output("sh", &["-c", "gzip -dc \"$0\" | tar -t", file], SHORT).map(drop),
    },
];

fn sums(file: &str) -> Result<(), String> {
    let script = "cd \"$(dirname \"$0\")\" && sha256sum --check --strict --quiet SHA256SUMS";
    output("sh", &["-ec", script, file], SHORT).map(drop)
}

/// Errors refuse; what lintian only warns of is not counted.
fn lintian(file: &str) -> Result<(), String> {
    let arguments = ["--fail-on", "error", "--allow-root", "--no-cfg", file];
    output("lintian", &arguments, SHORT * 5).map(drop)
}

/// Its digests, its header, and the list of its files.
fn rpm(file: &str) -> Result<(), String> {
    let digests = output("rpm", &["--checksig", "--nosignature", file], SHORT)?;
    ensure(digests.contains("digests OK"), || {
        format!("{file}: {}", digests.trim())
    })?;
    let listed = output(
        "rpm",
        &[
            "--query",
            "--package",
            "--nosignature",
            "--info",
            "--list",
            file,
        ],
        SHORT,
    )?;
    ensure(listed.contains("/usr/bin/linerate"), || {
        format!("{file}: it has no /usr/bin/linerate")
    })
}

/// As an OCI archive and as what `docker save` writes.
fn image(file: &str) -> Result<(), String> {
    for transport in ["oci-archive", "docker-archive"] {
        let name = format!("{transport}:{file}");
        let config = output("skopeo", &["inspect", "--config", &name], SHORT)?;
        ensure(config.contains("/usr/bin/linerate"), || {
            format!("{name}: no entry point")
        })?;
    }
    Ok(())
}

fn files(directory: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let files = files.iter().map(|file| file.display().to_string());
    files.filter(|file| file.ends_with(ending)).collect()
}
