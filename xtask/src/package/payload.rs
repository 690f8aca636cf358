// SPDX-License-Identifier: MIT OR Apache-2.0
//! What packages install: the binary, its man pages and completions, the service, the licences; and where each kind of
//! package wants them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{File, MAINTAINER, Release, archive, date};
use crate::process;

/// The parts that are the same for every target: what the native binary prints, and files of this repository.
#[derive(Debug)]
pub(crate) struct Parts {
    pages: Vec<File>,
    completions: [Vec<u8>; 3],
    unit: Vec<u8>,
    openrc: Vec<u8>,
    licences: Vec<File>,
    copyright: Vec<u8>,
    readme: Vec<File>,
    sbom: Vec<u8>,
}

impl Parts {
    /// Runs `native` for what it prints about itself; `scratch` is emptied before and removed after.
    pub(crate) fn gather(
        native: &Path,
        root: &Path,
        scratch: &Path,
        sbom: &[u8],
    ) -> Result<Self, String> {
        let read = |path: &str| read(&root.join(path));
        let file = |path: &&str| Ok(File::new(*path, 0o644, read(path)?));
        let shells = ["bash", "zsh", "fish"].map(|shell| run(native, &["completions", shell]));
        let [bash, zsh, fish] = shells;
        Ok(Self {
            pages: pages(native, scratch)?,
            completions: [bash?, zsh?, fish?],
            unit: read("packaging/systemd/linerate.service")?,
            openrc: read("packaging/openrc/linerate.initd")?,
            licences: LICENCES.iter().map(file).collect::<Result<_, String>>()?,
            copyright: read("packaging/debian/copyright")?,
            readme: README.iter().map(file).collect::<Result<_, String>>()?,
            sbom: sbom.to_vec(),
        })
    }

    /// Debian: policy §12 for documents, licences by reference.
    pub(crate) fn deb(&self, release: &Release, binary: &[u8]) -> Result<Vec<File>, String> {
        let mut files = self.usr(binary, "usr/share/zsh/vendor-completions")?;
        let log = archive::gzip(changelog(release).as_bytes())?;
        files.push(File::new(
            "usr/share/doc/linerate/copyright",
            0o644,
            self.copyright.as_slice(),
        ));
        files.push(File::new("usr/share/doc/linerate/changelog.gz", 0o644, log));
        files.push(self.unit("usr/lib/systemd/system/linerate.service"));
        Ok(files)
    }

    /// Fedora, openSUSE and others.
    pub(crate) fn rpm(&self, binary: &[u8]) -> Result<Vec<File>, String> {
        let mut files = self.usr(binary, "usr/share/zsh/site-functions")?;
        files.extend(moved(&self.licences, "usr/share/licenses/linerate/"));
        files.push(self.unit("usr/lib/systemd/system/linerate.service"));
        Ok(files)
    }

    /// Alpine, whose init is OpenRC.
    pub(crate) fn apk(&self, binary: &[u8]) -> Result<Vec<File>, String> {
        let mut files = self.usr(binary, "usr/share/zsh/site-functions")?;
        files.extend(moved(&self.licences, "usr/share/licenses/linerate/"));
        files.push(File::new(
            "etc/init.d/linerate",
            0o755,
            self.openrc.as_slice(),
        ));
        Ok(files)
    }

    /// A container: the binary and what its licences require.
    pub(crate) fn image(&self, binary: &[u8]) -> Vec<File> {
        let mut files = vec![File::new("usr/bin/linerate", 0o755, binary)];
        files.extend(moved(&self.licences, "usr/share/licenses/linerate/"));
        files.push(self.sbom("usr/share/doc/linerate/"));
        files
    }

    /// A tree to unpack over `/usr/local`.
    pub(crate) fn tarball(&self, binary: &[u8]) -> Vec<File> {
        let mut files = vec![File::new("bin/linerate", 0o755, binary)];
        files.extend(moved(&self.pages, "share/man/man1/"));
        files.extend(self.completions("share/", "share/zsh/site-functions"));
        files.extend(moved(&self.licences, "share/doc/linerate/"));
        files.extend(moved(&self.readme, "share/doc/linerate/"));
        files.push(self.unit("share/doc/linerate/linerate.service"));
        files.push(self.sbom("share/doc/linerate/"));
        files
    }

    fn usr(&self, binary: &[u8], zsh: &str) -> Result<Vec<File>, String> {
        let mut files = vec![File::new("usr/bin/linerate", 0o755, binary)];
        for page in &self.pages {
            let path = format!("usr/share/man/man1/{}.gz", page.path);
            files.push(File::new(path, 0o644, archive::gzip(&page.bytes)?));
        }
        files.extend(self.completions("usr/share/", zsh));
        files.push(self.sbom("usr/share/doc/linerate/"));
        Ok(files)
    }

    fn completions(&self, share: &str, zsh: &str) -> [File; 3] {
        let [bash, zsh_text, fish] = &self.completions;
        [
            (format!("{share}bash-completion/completions/linerate"), bash),
            (format!("{zsh}/_linerate"), zsh_text),
            (
                format!("{share}fish/vendor_completions.d/linerate.fish"),
                fish,
            ),
        ]
        .map(|(path, text)| File::new(path, 0o644, text.as_slice()))
    }

    fn unit(&self, path: &str) -> File {
        File::new(path, 0o644, self.unit.as_slice())
    }

    fn sbom(&self, directory: &str) -> File {
        File::new(
            format!("{directory}linerate.cdx.json"),
            0o644,
            self.sbom.as_slice(),
        )
    }
}

fn moved<'a>(files: &'a [File], directory: &'a str) -> impl Iterator<Item = File> + 'a {
    files.iter().map(move |file| {
        File::new(
            format!("{directory}{}", file.path),
            file.mode,
            file.bytes.as_slice(),
        )
    })
}

/// The pages of `linerate man --dir`, sorted.
fn pages(native: &Path, scratch: &Path) -> Result<Vec<File>, String> {
    // There may be none of an earlier run.
    let _absent = fs::remove_dir_all(scratch);
    let failed = |why: std::io::Error| format!("{}: {why}", scratch.display());
    fs::create_dir_all(scratch).map_err(failed)?;
    run(native, &["man", "--dir", &scratch.display().to_string()])?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(scratch).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        pages.push(File::new(name, 0o644, read(&entry.path())?));
    }
    fs::remove_dir_all(scratch).map_err(failed)?;
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(pages)
}

fn run(program: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let ended = process::run(
        Command::new(program).args(arguments),
        Duration::from_secs(60),
    )?;
    if !ended.status.success() || !ended.stderr.is_empty() {
        return Err(format!(
            "linerate {}: {}",
            arguments.join(" "),
            process::last_line(&ended.stderr)
        ));
    }
    Ok(ended.stdout.into_bytes())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|why| format!("{}: {why}", path.display()))
}

/// deb-changelog(5): the changes themselves are in the repository.
fn changelog(release: &Release) -> String {
    format!(
        "linerate ({}) unstable; urgency=medium\n\n  * Built by `cargo xtask dist --packages`; CHANGELOG.md lists the changes.\n\n \
         -- {MAINTAINER}  {}\n",
        release.version,
        date::mail(release.time)
    )
}

const LICENCES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT"];
const README: &[&str] = &["CHANGELOG.md", "README.md", "SECURITY.md"];
