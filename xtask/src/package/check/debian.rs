// SPDX-License-Identifier: MIT OR Apache-2.0
//! The deb in a clean Debian root: installed, run, upgraded, removed, purged. Nothing of it may start, and nothing may stay.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{ensure, output};
use crate::build;
use crate::package::Release;
use crate::tally::Tally;

/// The life of the native deb.
pub(super) fn run(
    directory: &Path,
    release: &Release,
    older: &Result<Vec<u8>, String>,
    tally: &mut Tally,
) {
    let newer = directory.join(format!(
        "linerate_{}_{}.deb",
        release.version,
        architecture()
    ));
    let root = match Root::create(directory) {
        Ok(root) => root,
        Err(why) => return tally.skip("the deb in a clean Debian root", why),
    };
    let before = root.files();
    let older = older
        .clone()
        .and_then(|bytes| root.place("older.deb", &bytes));
    tally.check(
        "dpkg installs an older deb",
        older.and_then(|()| root.install("older.deb", "0.0.1")),
    );
    let placed = fs::read(&newer).map_err(|why| format!("{}: {why}", newer.display()));
    let placed = placed.and_then(|bytes| root.place("newer.deb", &bytes));
    tally.check(
        "dpkg upgrades it",
        placed.and_then(|()| root.install("newer.deb", &release.version)),
    );
    for (what, script) in STEPS {
        tally.check(what, root.run(script).map(|text| one_line(&text)));
    }
    tally.check("the service is not enabled", root.disabled());
    tally.check("purge leaves nothing", root.purge(&before));
}

/// What must work once it is installed.
const STEPS: &[(&str, &str)] = &[
    ("it runs", "linerate --version | head -n 1"),
    ("files are as packaged", "dpkg --verify linerate"),
    (
        "man pages",
        "zcat /usr/share/man/man1/linerate-serve.1.gz | grep -c . && test -s /usr/share/man/man1/linerate.1.gz",
    ),
    (
        "completions",
        "bash -n /usr/share/bash-completion/completions/linerate && \
      test -s /usr/share/zsh/vendor-completions/_linerate && test -s /usr/share/fish/vendor_completions.d/linerate.fish",
    ),
    (
        "linerate check --lab --quick",
        // 4: measured, on a machine too busy to be exact.
        "export XDG_STATE_HOME=/dev/null; linerate check --lab --quick >/tmp/check || test $? = 4; \
      grep -m 1 -i tcp /tmp/check; rm /tmp/check",
    ),
];

/// A Debian of only what every Debian has; removed when dropped.
struct Root {
    path: PathBuf,
}

impl Drop for Root {
    fn drop(&mut self) {
        // It is within `target`, where cargo clean removes it at last.
        let _removed = fs::remove_dir_all(&self.path);
    }
}

impl Root {
    /// The suite of this machine, by what it has to make one.
    fn create(directory: &Path) -> Result<Self, String> {
        let suite = suite().ok_or("this machine is not a Debian with a code name")?;
        let id = output("id", &["-u"], QUICK)?;
        ensure(id.trim() == "0", || "only root can make one".into())?;
        let path = directory.with_file_name("packages-root");
        // What an interrupted check left.
        let _absent = fs::remove_dir_all(&path);
        let root = Self { path };
        let at = root.path.display().to_string();
        let made = if build::has_program("mmdebstrap") {
            output(
                "mmdebstrap",
                &["--quiet", "--variant=minbase", &suite, &at],
                LONG,
            )
        } else if build::has_program("debootstrap") {
            output("debootstrap", &["--variant=minbase", &suite, &at], LONG)
        } else {
            Err("neither mmdebstrap nor debootstrap is installed".into())
        };
        made.map(|_| root)
    }

    fn place(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.path.join("tmp").join(name);
        fs::write(&path, bytes).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// Installs a placed deb; dpkg must then know its version and no running server.
    fn install(&self, name: &str, version: &str) -> Result<String, String> {
        self.run(&format!("dpkg --install /tmp/{name} && rm /tmp/{name}"))?;
        let state =
            self.run("dpkg-query --show --showformat='${Version} ${db:Status-Abbrev}' linerate")?;
        ensure(state.trim() == format!("{version} ii"), || {
            format!("dpkg-query: {state}")
        })?;
        Ok(state.trim().to_owned())
    }

    /// A shell in it, with /proc, /sys and /dev in a mount namespace that ends with the shell.
    fn run(&self, script: &str) -> Result<String, String> {
        let root = self.path.display().to_string();
        output(
            "unshare",
            &["--mount", "--", "sh", "-ec", ENTER, &root, script],
            LONG,
        )
    }

    /// systemd itself answers; and no link of a unit names it.
    fn disabled(&self) -> Result<String, String> {
        let links = self.files();
        let wanted = links.iter().find(|path| path.contains(".wants/linerate"));
        ensure(wanted.is_none(), || format!("it is wanted: {wanted:?}"))?;
        if !build::has_program("systemctl") {
            return Ok("no link; systemctl is not installed here".into());
        }
        let root = format!("--root={}", self.path.display());
        // is-enabled ends with 1 for a unit that is not.
        let script = "systemctl \"$0\" is-enabled linerate.service || true";
        let state = output("sh", &["-c", script, &root], QUICK)?;
        ensure(state.trim() == "disabled", || {
            format!("systemctl is-enabled: {}", state.trim())
        })?;
        Ok("disabled, as systemctl reads it".into())
    }

    /// After a person enabled it, too.
    fn purge(&self, before: &BTreeSet<String>) -> Result<String, String> {
        let wants = "/etc/systemd/system/multi-user.target.wants";
        self.run(&format!(
            "mkdir -p {wants} && ln -s /usr/lib/systemd/system/linerate.service {wants}/"
        ))?;
        self.run("dpkg --purge linerate")?;
        let after = self.files();
        let left: Vec<&String> = after
            .difference(before)
            .filter(|path| !path.ends_with("/etc/systemd/system/multi-user.target.wants"))
            .collect();
        ensure(left.is_empty(), || format!("left: {left:?}"))?;
        let gone: Vec<&String> = before.difference(&after).collect();
        ensure(gone.is_empty(), || format!("removed from others: {gone:?}"))?;
        Ok(format!(
            "{} files and directories before and after",
            after.len()
        ))
    }

    /// Every path, but of logs and of what dpkg keeps of all packages together.
    fn files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.path.clone()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = path
                    .strip_prefix(&self.path)
                    .unwrap_or(&path)
                    .display()
                    .to_string();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                }
                if !KEPT.iter().any(|kept| name.starts_with(kept)) {
                    found.insert(name);
                }
            }
        }
        found
    }
}

fn suite() -> Option<String> {
    let release = fs::read_to_string("/etc/os-release").ok()?;
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let debian = release.lines().any(|line| line == "ID=debian");
    line.filter(|_| debian).map(str::to_owned)
}

/// Debian's word for this machine.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        "yes".into()
    } else {
        line.to_owned()
    }
}

/// pivot_root(8), not chroot(8): in a new mount namespace the lab cannot find its own program below a chroot.
const ENTER: &str = "mount --bind \"$0\" \"$0\"; mount -t proc proc \"$0/proc\"; mount -t sysfs sysfs \"$0/sys\"; \
    mount --rbind /dev \"$0/dev\"; cd \"$0\"; pivot_root . mnt; umount -l /mnt; exec /bin/sh -ec \"$1\"";
/// dpkg writes these for any package.
const KEPT: &[&str] = &[
    "var/lib/dpkg/status-old",
    "var/lib/dpkg/available",
    "var/log/",
    "var/cache/",
    "var/lib/dpkg/triggers/",
    "run/",
];
const QUICK: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(300);
