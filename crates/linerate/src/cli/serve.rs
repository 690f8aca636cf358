// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate serve`: in the foreground, or with --daemon in the background.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::args::ServeArgs;
use super::{plan, session};
use crate::exit::Exit;
use crate::panicked::{Again, AtPanic};
use linerate_endpoint::{ServeOptions, token};
use linerate_linux::daemon::{self, Detached};
use linerate_model::failure::Failure;

/// Runs the command.
pub(super) fn run(args: &ServeArgs) -> Exit {
    // One that replaces a server that panicked is where that one was.
    let detaches = args.daemon && !Again::has_happened();
    let mut background = match detaches.then(Detached::enter).transpose() {
        Ok(background) => background,
        Err(error) => {
            let failure = Failure::measuring("start a process in the background", error);
            return session::refuse("serve", false, &failure);
        }
    };
    let exit = session::ended("serve", false, served(args, &mut background));
    if let Some(mut background) = background {
        background.report(exit.code());
    }
    exit
}

fn served(args: &ServeArgs, background: &mut Option<Detached>) -> Result<(), Failure> {
    let token = if args.iperf2 {
        None
    } else {
        token::given(args.token_file.as_deref())?
    };
    let options = ServeOptions {
        token,
        ..plan::serve(args)
    };
    let interrupt = session::interrupt()?;
    let _named = args.pidfile.as_deref().map(PidFile::create).transpose()?;
    // Before a daemon changes its directory, in which names are looked up again.
    let mut again = (!args.one_off).then(Again::of_this_process);
    let mut ready = || {
        announce(&options);
        if let Some(background) = background {
            // What cannot be closed stays open: the server runs.
            let _open = background.ready();
        }
        if let Some(again) = again.take() {
            again.at_a_panic();
        }
    };
    linerate_endpoint::serve(&options, &mut ready, &interrupt)
}

fn announce(options: &ServeOptions) {
    if !options.quiet {
        let version = env!("CARGO_PKG_VERSION");
        session::say(&format!(
            "linerate {version} listens on port {}, TCP and UDP{}{}",
            options.port,
            if options.iperf2 {
                ", for iperf2 clients"
            } else {
                ""
            },
            options.metrics.map_or_else(String::new, |address| format!(
                "; metrics: http://{address}/metrics"
            ))
        ));
    }
}

/// A file with this process's id, removed at the end.
#[derive(Debug)]
struct PidFile {
    name: PathBuf,
    _removed: AtPanic,
}

impl PidFile {
    fn create(name: &Path) -> Result<Self, Failure> {
        let fail = |why: &dyn std::fmt::Display, hint: &str| {
            Failure::usage(format!("write the process id to {}", name.display()), why).hint(hint)
        };
        let wrong = |error: io::Error| fail(&error, "a --pidfile in a directory that exists");
        let known = fs::read_to_string(name).unwrap_or_default();
        let other = known.trim().parse().ok().filter(|id| *id != process::id());
        if let Some(id) = other.filter(|id| daemon::is_running(*id)) {
            let hint = format!("kill {id}      or another --pidfile");
            return Err(fail(&format!("process {id} of it is running"), &hint));
        }
        // A daemon changes its directory.
        let name = std::path::absolute(name).map_err(wrong)?;
        let mut file = File::create(&name).map_err(wrong)?;
        writeln!(file, "{}", process::id()).map_err(wrong)?;
        let gone = name.clone();
        let removed = AtPanic::undo(move || drop(fs::remove_file(gone)));
        Ok(Self {
            name,
            _removed: removed,
        })
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // It may have been removed already.
        let _gone = fs::remove_file(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_is_of_one_running_process() {
        let name = std::env::temp_dir().join(format!("linerate-{}.pid", process::id()));
        let held = PidFile::create(&name).unwrap();
        let id = fs::read_to_string(&name).unwrap();
        assert_eq!(id, format!("{}\n", process::id()));
        drop(held);
        assert!(!name.exists());
        // Process 1 runs; the highest number is that of none.
        for (other, refused) in [("1\n", true), ("4194999\n", false), ("text", false)] {
            fs::write(&name, other).unwrap();
            assert_eq!(PidFile::create(&name).is_err(), refused, "{other}");
        }
        let _gone = fs::remove_file(&name);
    }
}
