// SPDX-License-Identifier: MIT OR Apache-2.0
//! What follows a panic: a fault of linerate itself. The program that is shipped does not unwind, which saves a fifth of it, so
//! nothing is dropped: [`ends_the_process`] reports the panic, undoes what would outlive the process, and ends it as the standard
//! library ends a program whose main thread panics. A server starts again in place, with the same process id. What is
//! built with unwinding, as in the tests, does the same.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::panic::{set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// From now on a panic of any thread ends the process.
#[expect(
    clippy::exit,
    reason = "no state of a process that has panicked is used again"
)]
pub(crate) fn ends_the_process() {
    let report = take_hook();
    set_hook(Box::new(move |panic| {
        report(panic);
        let (undo, again) = {
            let mut known = known();
            (std::mem::take(&mut known.undo), known.again.take())
        };
        if let Some(again) = again {
            again.start();
        }
        undo.into_values().for_each(|undo| undo());
        process::exit(CODE);
    }));
}

/// Does `undo` at a panic, unless this is dropped before.
#[derive(Debug)]
#[must_use]
pub(crate) struct AtPanic(u64);

impl AtPanic {
    /// What would remain after an exit without destructors. It must not wait for another thread.
    pub(crate) fn undo(undo: impl FnOnce() + Send + 'static) -> Self {
        let mut known = known();
        known.next += 1;
        let number = known.next;
        known.undo.insert(number, Box::new(undo));
        Self(number)
    }
}

impl Drop for AtPanic {
    fn drop(&mut self) {
        known().undo.remove(&self.0);
    }
}

/// The program as it was started, to be started again.
#[derive(Debug)]
pub(crate) struct Again {
    programs: Vec<PathBuf>,
    words: Vec<OsString>,
    directory: Option<PathBuf>,
    since: Instant,
}

impl Again {
    /// This command line, in the present directory.
    pub(crate) fn of_this_process() -> Self {
        // The file may have been replaced; its name is that of the process.
        let named = env::current_exe().ok();
        let itself = Path::new("/proc/self/exe").to_owned();
        Self {
            programs: named.into_iter().chain([itself]).collect(),
            words: env::args_os().skip(1).collect(),
            directory: env::current_dir().ok(),
            since: Instant::now(),
        }
    }

    /// A panic replaces the process from now on.
    pub(crate) fn at_a_panic(self) {
        known().again = Some(self);
    }

    /// Whether the process has replaced one that panicked: it keeps its id and is in the background where that one was.
    pub(crate) fn has_happened() -> bool {
        env::var_os(CONTINUES).is_some()
    }

    /// Returns if it is refused, or if the panic may be the first thing that happens each time.
    fn start(self) {
        if self.since.elapsed() < ALIVE {
            return;
        }
        for program in self.programs {
            let mut command = Command::new(program);
            command.args(&self.words).env(CONTINUES, "1");
            if let Some(directory) = &self.directory {
                command.current_dir(directory);
            }
            // The process ends instead.
            let _refused = command.exec();
        }
    }
}

/// What a panic calls.
#[derive(Default)]
struct Known {
    undo: BTreeMap<u64, Box<dyn FnOnce() + Send>>,
    next: u64,
    again: Option<Again>,
}

/// Nothing panics while it is locked.
fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

static KNOWN: Mutex<Known> = Mutex::new(Known {
    undo: BTreeMap::new(),
    next: 0,
    again: None,
});

/// The exit code of Rust's programs.
const CODE: i32 = 101;

/// A server that panics sooner does not start again.
const ALIVE: Duration = Duration::from_secs(1);

/// Set in the environment of a server that has started again.
const CONTINUES: &str = "LINERATE_SERVER_CONTINUES";

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Output;

    /// Which of these tests is played, in a process of its own.
    const ROLE: &str = "LINERATE_TEST_PANICS";

    /// `test`, in a new process in which it does what panics.
    fn played(test: &str) -> Output {
        let program = env::current_exe().unwrap();
        let mut command = Command::new(program);
        command.args(["--exact", "--nocapture", test]);
        command.env(ROLE, test).output().unwrap()
    }

    fn panics() {
        panic!("for the test");
    }

    fn plays() -> bool {
        env::var_os(ROLE).is_some()
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[test]
    fn a_panic_of_any_thread_undoes_what_would_stay_and_ends_the_process() {
        if plays() {
            ends_the_process();
            drop(AtPanic::undo(|| eprintln!("not this")));
            let _stays = AtPanic::undo(|| eprintln!("undone"));
            let thread = std::thread::spawn(panics);
            let _never = thread.join();
            eprintln!("continued");
            return;
        }
        let ended = played(
            "panicked::tests::a_panic_of_any_thread_undoes_what_would_stay_and_ends_the_process",
        );
        let stderr = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(CODE), "{stderr}");
        assert!(stderr.contains("for the test"), "{stderr}");
        assert!(stderr.contains("undone"), "{stderr}");
        for never in ["continued", "not this"] {
            assert!(!stderr.contains(never), "{stderr}");
        }
    }

    #[test]
    fn a_server_that_panics_starts_again_as_the_same_process() {
        if plays() {
            ends_the_process();
            println!("was {}", process::id());
            let script = "echo is $$ $LINERATE_SERVER_CONTINUES $PWD";
            let again = Again {
                programs: ["/nonexistent", "sh"].map(PathBuf::from).to_vec(),
                words: ["-c", script].map(OsString::from).to_vec(),
                directory: Some("/".into()),
                since: Instant::now().checked_sub(ALIVE).unwrap(),
            };
            again.at_a_panic();
            let _stays = AtPanic::undo(|| println!("undone"));
            panic!("for the test");
        }
        let ended =
            played("panicked::tests::a_server_that_panics_starts_again_as_the_same_process");
        let stdout = text(&ended.stdout);
        let id = stdout
            .split("was ")
            .nth(1)
            .and_then(|rest| rest.lines().next());
        let id = id.unwrap_or_else(|| panic!("{stdout}{}", text(&ended.stderr)));
        assert!(stdout.contains(&format!("is {id} 1 /\n")), "{stdout}");
        assert!(!stdout.contains("undone"), "{stdout}");
        assert_eq!(ended.status.code(), Some(0));
    }

    #[test]
    fn a_server_that_panics_at_once_ends() {
        if plays() {
            ends_the_process();
            Again::of_this_process().at_a_panic();
            panic!("for the test");
        }
        let ended = played("panicked::tests::a_server_that_panics_at_once_ends");
        assert_eq!(ended.status.code(), Some(CODE), "{}", text(&ended.stderr));
    }
}
