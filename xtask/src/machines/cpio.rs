// SPDX-License-Identifier: MIT OR Apache-2.0
//! An initramfs: files as the kernel unpacks them (Documentation/driver-api/early-userspace/buffer-format.rst, `newc`).

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// An archive that grows in `out`.
#[derive(Debug)]
pub(crate) struct Archive<W> {
    out: W,
    entries: u32,
}

impl<W: Write> Archive<W> {
    pub(crate) const fn new(out: W) -> Self {
        Self { out, entries: 0 }
    }

    /// A directory.
    pub(crate) fn directory(&mut self, name: &str) -> io::Result<()> {
        self.entry(name, 0o040_755, &[])
    }

    /// A file that everybody may run.
    pub(crate) fn program(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.entry(name, 0o100_755, content)
    }

    /// All of directory `from`, with names below its own, where `wanted` says yes to the name.
    pub(crate) fn tree(&mut self, from: &Path, wanted: &dyn Fn(&str) -> bool) -> io::Result<()> {
        self.below(from, "", wanted)
    }

    fn below(
        &mut self,
        from: &Path,
        prefix: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> io::Result<()> {
        let mut entries = fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if wanted(&name) {
                self.copied(&entry.path(), &name, wanted)?;
            }
        }
        Ok(())
    }

    fn copied(&mut self, path: &Path, name: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<()> {
        let meta = fs::symlink_metadata(path)?;
        let mode = meta.permissions().mode();
        if meta.is_dir() {
            self.entry(name, mode, &[])?;
            return self.below(path, &format!("{name}/"), wanted);
        }
        if meta.is_symlink() {
            let target = fs::read_link(path)?;
            return self.entry(name, mode, target.as_os_str().as_bytes());
        }
        self.entry(name, mode, &fs::read(path)?)
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let size = u32::try_from(content.len()).map_err(io::Error::other)?;
        let name_size = u32::try_from(name.len() + 1).map_err(io::Error::other)?;
        // Inode, mode, owner and group, links, time, size, four device numbers, length of the name, no checksum.
        let fields = [
            self.entries,
            mode,
            0,
            0,
            1,
            0,
            size,
            0,
            0,
            0,
            0,
            name_size,
            0,
        ];
        write!(self.out, "070701")?;
        for field in fields {
            write!(self.out, "{field:08X}")?;
        }
        self.out.write_all(name.as_bytes())?;
        self.padded(110 + name.len() + 1, 1)?;
        self.out.write_all(content)?;
        self.padded(content.len(), 0)
    }

    /// Zeros: this many, then up to a multiple of four.
    fn padded(&mut self, written: usize, zeros: usize) -> io::Result<()> {
        let zeros = zeros + written.next_multiple_of(4) - written;
        self.out.write_all(&[0; 4][..zeros])
    }

    /// Ends it; what it was written to.
    pub(crate) fn end(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, &[])?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn names_and_contents_begin_at_multiples_of_four() {
        for content in ["", "1", "12", "123", "1234"] {
            let mut archive = Archive::new(Vec::new());
            archive.program("init", content.as_bytes()).unwrap();
            let bytes = archive.end().unwrap();
            assert_eq!(bytes.len() % 4, 0);
            // The name ends with a zero, and is padded: 110 bytes come before it.
            assert_eq!(&bytes[110..116], b"init\0\0");
            assert_eq!(&bytes[116..116 + content.len()], content.as_bytes());
        }
    }

    #[test]
    fn cpio_reads_what_is_written() {
        let mut archive = Archive::new(Vec::new());
        archive.directory("opt").unwrap();
        archive.program("opt/linerate", b"0123456").unwrap();
        let bytes = archive.end().unwrap();
        let Ok(mut child) = Command::new("cpio")
            .args(["-tv", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
        else {
            println!("skipped: no cpio here");
            return;
        };
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(output.status.success(), "{text}");
        assert!(lines[0].starts_with("drwxr-xr-x") && lines[0].ends_with("opt"));
        assert!(lines[1].starts_with("-rwxr-xr-x") && lines[1].contains(" 7 "));
    }
}
