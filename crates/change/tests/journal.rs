// SPDX-License-Identifier: MIT OR Apache-2.0
//! The journal in a file.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use linerate_change::{Entry, Journal, JournalError, Key, Owner, Phase, Place, Tail, Trace, Undo};

/// A directory that is removed with what is in it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("linerate-{name}-{}", std::process::id()));
        let _old = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn journal(&self) -> Journal {
        Journal::at(&self.path(), "this boot")
    }

    fn path(&self) -> PathBuf {
        self.0.join("below/journal")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}

fn intended(new: &str) -> Phase {
    Phase::Intended {
        key: Key {
            knob: "sysctl net.ipv4.tcp_rmem".to_owned(),
            place: Place::Host,
        },
        old: "1".to_owned(),
        new: new.to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
        owner: Owner::this(),
    }
}

fn entries(journal: &Journal) -> Vec<Entry> {
    journal.contents().unwrap().entries
}

#[test]
fn what_is_written_is_read_by_another_process_of_the_same_user() {
    let folder = Folder::new("read");
    let mut journal = folder.journal();
    assert!(
        entries(&journal).is_empty() && !folder.path().exists(),
        "nothing to write yet"
    );
    let first = journal.begin(intended("2")).unwrap();
    let second = folder.journal().begin(intended("3")).unwrap();
    assert_eq!((first, second), (1, 2));
    journal.step(first, Phase::Restored).unwrap();
    let open = folder.journal().open().unwrap();
    assert_eq!(
        open.iter().map(|one| one.change).collect::<Vec<_>>(),
        [second]
    );
    let mode = fs::metadata(folder.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// What a power cut left of the last line is cut off before the next is written.
#[test]
fn the_next_entry_takes_the_place_of_a_torn_one() {
    let folder = Folder::new("torn");
    let mut journal = folder.journal();
    journal.begin(intended("2")).unwrap();
    let mut file = OpenOptions::new().append(true).open(folder.path()).unwrap();
    file.write_all(b"0123abcd {\"change\":9,").unwrap();
    assert!(matches!(
        journal.contents().unwrap().tail,
        Tail::Torn { .. }
    ));
    assert_eq!(journal.begin(intended("3")).unwrap(), 2);
    let contents = journal.contents().unwrap();
    assert_eq!((contents.entries.len(), contents.tail), (2, Tail::Whole));
    assert!(contents.damaged.is_empty());
}

/// Its commands are run: whoever can write to it could have them run by another user.
#[test]
fn a_journal_that_others_could_have_written_is_refused() {
    let refused = |change: fn(&Path)| {
        let folder = Folder::new("refused");
        let mut journal = folder.journal();
        journal.begin(intended("2")).unwrap();
        change(&folder.path());
        let read = journal.contents();
        let written = journal.begin(intended("3"));
        read.is_err() && written.is_err()
    };
    let shared = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o622)).unwrap();
    let linked = |path: &Path| {
        let other = path.with_extension("other");
        fs::rename(path, &other).unwrap();
        symlink(other, path).unwrap();
    };
    let own = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    assert!(refused(shared) && refused(linked) && !refused(own));
}

/// Two programs, and none loses an entry of the other.
#[test]
fn writers_at_the_same_time_have_numbers_of_their_own() {
    const EACH: u64 = 20;
    let folder = Folder::new("several");
    let numbers = thread::scope(|scope| {
        let write = || {
            let mut journal = folder.journal();
            (0..EACH)
                .map(|_| journal.begin(intended("2")).unwrap())
                .collect::<Vec<_>>()
        };
        let writers = [scope.spawn(write), scope.spawn(write)];
        writers.map(|writer| writer.join().unwrap()).concat()
    });
    let mut numbers = numbers;
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=2 * EACH).collect::<Vec<_>>());
    assert_eq!(entries(&folder.journal()).len() as u64, 2 * EACH);
}

/// A long history with nothing open begins anew; one with something open never does.
#[test]
fn a_history_is_cut_only_where_nothing_is_open() {
    let folder = Folder::new("long");
    let mut journal = folder.journal();
    let long = "x".repeat(70_000);
    let first = journal.begin(intended(&long)).unwrap();
    journal.begin(intended("2")).unwrap();
    assert_eq!(entries(&journal).len(), 2, "the first is open");
    journal.step(first, Phase::Restored).unwrap();
    journal.step(2, Phase::Kept).unwrap();
    assert_eq!(entries(&journal).len(), 4);
    assert_eq!(journal.begin(intended("3")).unwrap(), 3);
    assert_eq!(entries(&journal).len(), 1, "nothing was open");
}

/// On a full disk there is no entry, hence no change; and what was there before is whole.
#[test]
fn a_full_disk_refuses_before_anything_is_changed() {
    let folder = Folder::new("full");
    let script = format!(
        "mount -t tmpfs -o size=8k none {0} && exec {1} --exact fills_the_disk --ignored --nocapture",
        folder.0.display(),
        std::env::current_exe().unwrap().display(),
    );
    let mut inside = Command::new("unshare");
    let inside = inside
        .args(["-Urm", "/bin/sh", "-c", &script])
        .env(FULL, &folder.0);
    let Ok(ended) = inside.output() else {
        eprintln!("skipped: no unshare(1)");
        return;
    };
    let said = String::from_utf8_lossy(&ended.stdout);
    let refused = String::from_utf8_lossy(&ended.stderr);
    if !ended.status.success() && (refused.contains("unshare") || refused.contains("mount")) {
        eprintln!("skipped: {refused}");
        return;
    }
    assert!(ended.status.success(), "{said}{refused}");
    assert!(said.contains("1 passed"), "{said}");
}

/// In the namespace of the test above.
#[test]
#[ignore = "the test above starts it on a small disk"]
fn fills_the_disk() {
    let folder = PathBuf::from(std::env::var_os(FULL).expect("started by the test above"));
    let mut journal = Journal::at(&folder.join("journal"), "this boot");
    let refused = |error: &JournalError| error.why.raw_os_error() == Some(ENOSPC);
    let (mut whole, mut ended) = (0, None);
    while ended.is_none() && whole < 1000 {
        match journal.begin(intended("2")) {
            Ok(_) => whole += 1,
            Err(error) => ended = Some(error),
        }
    }
    assert!(ended.as_ref().is_some_and(refused), "{ended:?}");
    let contents = journal.contents().unwrap();
    assert_eq!(
        (contents.entries.len(), contents.tail),
        (whole, Tail::Whole)
    );
    assert!(contents.damaged.is_empty() && whole > 1);
}

const FULL: &str = "LINERATE_TEST_SMALL_DISK";
const ENOSPC: i32 = 28;
