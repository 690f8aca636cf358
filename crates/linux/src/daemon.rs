// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detaches a server from its terminal (daemon(7), "SysV Daemons"): fork, setsid, fork. The process that was started
//! waits until the server is ready, so that the caller sees an error and its exit code.
#![expect(unsafe_code, reason = "fork")]

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::process;

/// A process in the background; the one in the foreground waits for its report.
#[derive(Debug)]
pub struct Detached(Option<PipeWriter>);

impl Detached {
    /// Continues in the background; in the foreground this does not return. Call it before threads exist.
    ///
    /// # Errors
    /// Those of fork(2), pipe(2) and setsid(2).
    pub fn enter() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        if is_parent()? {
            drop(writer);
            process::exit(code_of(reader).into());
        }
        drop(reader);
        rustix::process::setsid()?;
        match is_parent()? {
            true => process::exit(0),
            false => Ok(Self(Some(writer))),
        }
    }

    /// The server is ready: the foreground ends with 0. Standard input and output lead nowhere from now on, and the
    /// directory is the root, so that no file system stays in use.
    ///
    /// # Errors
    /// Those of opening `/dev/null` and of chdir(2).
    pub fn ready(&mut self) -> io::Result<()> {
        let nowhere = File::options().read(true).write(true).open("/dev/null")?;
        std::env::set_current_dir("/")?;
        self.report(0);
        rustix::stdio::dup2_stdin(&nowhere)?;
        divert(&nowhere)
    }

    /// Ends the foreground with this exit code, unless it has ended.
    pub fn report(&mut self, code: u8) {
        if let Some(mut writer) = self.0.take() {
            // The foreground may have been killed.
            let _gone = writer.write_all(&[code]);
        }
    }
}

/// Standard output and standard error go to this file.
///
/// # Errors
/// Those of dup2(2).
pub fn divert(file: &File) -> io::Result<()> {
    rustix::stdio::dup2_stdout(file)?;
    Ok(rustix::stdio::dup2_stderr(file)?)
}

/// Leaves the session and the terminal of the process that started this one: their end does not end it.
///
/// # Errors
/// It leads a process group: it was not started as a child.
pub fn leave_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Whether a process with this id exists; without `/proc` none does.
#[must_use]
pub fn is_running(id: u32) -> bool {
    Path::new("/proc").join(id.to_string()).exists()
}

/// In the foreground: the code that was reported; 1 if the server died before.
fn code_of(mut reader: PipeReader) -> u8 {
    let mut code = [1];
    // What ended without a report failed.
    let _ended = reader.read(&mut code);
    code[0]
}

fn is_parent() -> io::Result<bool> {
    // SAFETY: one thread; the child is a plain copy that continues the program.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        id => Ok(id > 0),
    }
}
