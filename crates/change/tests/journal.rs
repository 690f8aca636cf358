// SPDX-License-Identifier: MIT OR Apache-2.0
//! The journal in a file.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use linerate_change::{
    Change, Entry, Host, Journal, JournalError, Key, Open, Owner, Phase, Place, Tail, Trace, Undo,
    World, apply, forget, restore,
};

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
    of(new, Undo::Write, Owner::this())
}

/// A change of a process that has ended, undone by this command.
fn undone_by(line: String, directory: Option<String>) -> Phase {
    let ended = Owner {
        pid: u32::MAX,
        start_ticks: 0,
    };
    of("2", Undo::Command { line, directory }, ended)
}

fn of(new: &str, undo: Undo, owner: Owner) -> Phase {
    Phase::Intended {
        key: key(),
        old: "1".to_owned(),
        new: new.to_owned(),
        undo,
        because: "a test".to_owned(),
        owner,
    }
}

fn key() -> Key {
    Key {
        knob: "sysctl net.ipv4.tcp_rmem".to_owned(),
        place: Place::Host,
    }
}

fn changes(all: &[Open]) -> Vec<u64> {
    all.iter().map(|one| one.change).collect()
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
    assert_eq!(changes(&folder.journal().open().unwrap()), [second]);
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

/// A long history is shortened to what is open and what was kept in this boot.
#[test]
fn a_history_is_cut_and_nothing_that_is_open_or_kept_is_lost() {
    let folder = Folder::new("long");
    let mut journal = folder.journal();
    let long = "x".repeat(70_000);
    let first = journal.begin(intended(&long)).unwrap();
    journal.begin(intended("2")).unwrap();
    assert_eq!(entries(&journal).len(), 2, "the first is open");
    journal.step(first, Phase::Restored).unwrap();
    journal.step(2, Phase::Kept).unwrap();
    assert_eq!(entries(&journal).len(), 2, "those of the second");
    journal.begin(intended(&long)).unwrap();
    journal.step(3, Phase::Vanished).unwrap();
    assert_eq!(changes(&journal.standing().unwrap()), [2]);
    // In another boot what was kept is not in force any more.
    let mut later = Journal::at(&folder.path(), "the next boot");
    let fourth = later.begin(intended(&long)).unwrap();
    later.step(fourth, Phase::Restored).unwrap();
    assert!(later.standing().unwrap().is_empty());
    let mode = fs::metadata(folder.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Programs that wait for the lock while the file is replaced write to the new one.
#[test]
fn no_writer_loses_its_entry_to_a_history_that_is_cut() {
    const EACH: u64 = 8;
    let folder = Folder::new("cut");
    let long = "x".repeat(40_000);
    thread::scope(|scope| {
        let write = || {
            let mut journal = folder.journal();
            for _ in 0..EACH {
                let closed = journal.begin(intended(&long)).unwrap();
                journal.begin(intended("kept open")).unwrap();
                journal.step(closed, Phase::Restored).unwrap();
            }
        };
        for writer in [scope.spawn(write), scope.spawn(write)] {
            writer.join().unwrap();
        }
    });
    let standing = folder.journal().standing().unwrap();
    assert_eq!(standing.len() as u64, 2 * EACH);
    assert!(standing.iter().all(|one| one.new == "kept open"));
    assert!(fs::metadata(folder.path()).unwrap().len() < EACH * 40_000);
}

/// What is left of the last line after a power cut, at each length: all before it is read, and the next entry is whole.
#[test]
fn a_file_that_is_torn_anywhere_is_read_and_continued() {
    let folder = Folder::new("torn-anywhere");
    let mut journal = folder.journal();
    journal.begin(intended("2")).unwrap();
    let whole = fs::read(folder.path()).unwrap();
    journal.begin(intended("3")).unwrap();
    let both = fs::read(folder.path()).unwrap();
    for length in whole.len()..both.len() {
        fs::write(folder.path(), &both[..length]).unwrap();
        assert_eq!(changes(&journal.open().unwrap()), [1], "{length} bytes");
        assert_eq!(journal.begin(intended("4")).unwrap(), 2);
        let contents = journal.contents().unwrap();
        assert_eq!((contents.entries.len(), contents.tail), (2, Tail::Whole));
        assert!(contents.damaged.is_empty(), "{length} bytes");
    }
}

#[test]
fn a_second_program_that_changes_settings_is_refused_and_the_journal_is_read_meanwhile() {
    let folder = Folder::new("exclusive");
    let journal = folder.journal();
    let first = journal.exclusive("linerate tune").unwrap();
    let refused = folder.journal().exclusive("linerate ab").unwrap_err();
    let this = std::process::id();
    let expected = format!("linerate tune (process {this}) is changing settings of this host");
    assert_eq!(refused.to_string(), expected);
    assert!(journal.contents().unwrap().entries.is_empty());
    assert_eq!(folder.journal().begin(intended("2")).unwrap(), 1);
    drop(first);
    // A program that another test starts holds a copy of the lock until its execve(2).
    let end = Instant::now() + Duration::from_secs(30);
    let second = loop {
        match folder.journal().exclusive("linerate ab") {
            Ok(second) => break second,
            Err(held) => assert!(Instant::now() < end, "{held}"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    let refused = journal.exclusive("linerate tune").unwrap_err();
    assert!(refused.to_string().starts_with("linerate ab (process "));
    drop(second);
}

/// The lock of a process that was killed is free, and its name is not taken for a live one's.
#[test]
fn a_lock_ends_with_its_process() {
    let folder = Folder::new("lock-ends");
    let program = std::env::current_exe().unwrap();
    let mut holder = Command::new(program)
        .args(["--exact", "holds_the_lock", "--ignored", "--nocapture"])
        .env(LOCKED, &folder.0)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(holder.stdout.take().unwrap());
    let is_held = said.lines().map_while(Result::ok);
    assert!(is_held.into_iter().any(|line| line.ends_with("held")));
    let pid = holder.id();
    let refused = folder.journal().exclusive("linerate ab").unwrap_err();
    let expected = format!("linerate tune (process {pid}) is changing settings of this host");
    assert_eq!(refused.to_string(), expected);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(folder.journal().exclusive("linerate ab").is_ok());
}

/// In the process that the test above starts.
#[test]
#[ignore = "the test above starts it and kills it"]
fn holds_the_lock() {
    let folder = PathBuf::from(std::env::var_os(LOCKED).expect("started by the test above"));
    let journal = Journal::at(&folder.join("below/journal"), "this boot");
    let _held = journal.exclusive("linerate tune").unwrap();
    println!("\nheld");
    loop {
        thread::park();
    }
}

/// Two at the same time: the command that undoes a change is run once.
#[test]
fn a_command_that_undoes_a_change_runs_once() {
    let folder = Folder::new("once");
    let log = folder.0.join("log");
    let line = format!(
        "cd {}; printf x >> log; until [ -e go ]; do sleep 0.02; done",
        folder.0.display()
    );
    folder.journal().begin(undone_by(line, None)).unwrap();
    let counts = thread::scope(|scope| {
        let undo = || {
            let mut host = Host::here().unwrap();
            let ended = restore(&mut folder.journal(), &mut host, "this boot", false);
            ended.unwrap().len()
        };
        let both = [scope.spawn(undo), scope.spawn(undo)];
        let held = fs::metadata(folder.path().parent().unwrap()).unwrap().ino();
        let waits = |line: &str| line.contains("-> FLOCK") && line.contains(&format!(":{held} "));
        let deadline = Instant::now() + Duration::from_secs(30);
        while !fs::read_to_string("/proc/locks")
            .unwrap()
            .lines()
            .any(waits)
        {
            assert!(Instant::now() < deadline, "the second does not wait");
            thread::yield_now();
        }
        fs::write(folder.0.join("go"), "").unwrap();
        both.map(|one| one.join().unwrap())
    });
    assert_eq!(counts.iter().sum::<usize>(), 1);
    assert_eq!(fs::read(log).unwrap(), b"x");
}

/// Who may put files where a command is run, or rename the journal, decides what is run.
#[test]
fn nothing_is_run_where_others_may_write() {
    let folder = Folder::new("others");
    let place = folder.0.join("place");
    fs::create_dir(&place).unwrap();
    let directory = Some(place.display().to_string());
    let left = undone_by("printf x >> log".to_owned(), directory);
    folder.journal().begin(left).unwrap();
    let undone = || {
        let mut host = Host::here().unwrap();
        restore(&mut folder.journal(), &mut host, "this boot", false)
    };
    let open_to_all = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let below = folder.path();
    let below = below.parent().unwrap();
    let places: [&Path; 3] = [&place, below, &folder.0];
    for path in places {
        for mode in [0o777, 0o1777] {
            open_to_all(path, mode);
            // What is in a sticky directory nobody else replaces.
            let is_safe = mode == 0o1777 && path == folder.0;
            if !is_safe {
                let ended = undone();
                let is_refused = !ended.is_ok_and(|all| all[0].end.is_closed());
                assert!(is_refused, "{} {mode:o}", path.display());
                assert!(!place.join("log").exists(), "{} {mode:o}", path.display());
            }
            open_to_all(path, 0o755);
        }
    }
    open_to_all(&folder.0, 0o1777);
    assert!(undone().unwrap()[0].end.is_closed());
    assert_eq!(fs::read(place.join("log")).unwrap(), b"x");
}

/// What cannot be undone is taken off the list, and not run.
#[test]
fn a_change_that_is_forgotten_is_closed_and_not_undone() {
    let folder = Folder::new("forgotten");
    let mut journal = folder.journal();
    let first = journal.begin(intended("2")).unwrap();
    let second = journal.begin(intended("3")).unwrap();
    forget(&mut journal, second).unwrap();
    assert_eq!(changes(&folder.journal().open().unwrap()), [first]);
    let length = entries(&journal).len();
    forget(&mut journal, 77).unwrap();
    assert_eq!(entries(&journal).len(), length, "there is none");
    journal.step(first, Phase::Kept).unwrap();
    forget(&mut journal, first).unwrap();
    assert!(folder.journal().standing().unwrap().is_empty());
}

/// On a full disk there is no entry, hence no change; and what was there before is whole.
#[test]
fn a_full_disk_refuses_before_anything_is_changed() {
    let folder = Folder::new("full");
    let mount = format!(
        "mount -t tmpfs -o size=8k,mode=755 none {}",
        folder.0.display()
    );
    passes_after(&mount, "fills_the_disk", &folder);
}

/// As a live system has it: an overlay whose upper layer is a tmpfs.
#[test]
fn a_journal_in_memory_is_known_also_below_an_overlay() {
    let folder = Folder::new("overlay");
    let mount = format!(
        "cd {0} && mkdir lower upper both && mount -t tmpfs none upper && mkdir upper/up upper/work &&
         mount -t overlay none -o lowerdir=lower,upperdir={0}/upper/up,workdir={0}/upper/work both",
        folder.0.display(),
    );
    passes_after(&mount, "is_on_an_overlay", &folder);
}

/// Runs an ignored test where this was mounted, in a namespace of its own.
fn passes_after(mount: &str, test: &str, folder: &Folder) {
    let this = std::env::current_exe().unwrap();
    let run = format!(
        "exec {} --exact {test} --ignored --nocapture",
        this.display()
    );
    let mut inside = Command::new("unshare");
    inside.args(["-Urm", "/bin/sh", "-c", &format!("{mount} && {run}")]);
    let Ok(ended) = inside.env(FULL, &folder.0).output() else {
        eprintln!("skipped: no unshare(1)");
        return;
    };
    let said = String::from_utf8_lossy(&ended.stdout);
    let refused = String::from_utf8_lossy(&ended.stderr);
    if !said.contains("running 1 test") {
        eprintln!("skipped: {refused}");
        return;
    }
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}{refused}"
    );
}

/// In the namespace of the test above.
#[test]
#[ignore = "the test above starts it on an overlay"]
fn is_on_an_overlay() {
    let folder = PathBuf::from(std::env::var_os(FULL).expect("started by the test above"));
    let is_lasting = |below: &str| Journal::at(&folder.join(below), "this boot").is_lasting();
    assert_eq!(
        ["both/journal", "upper/journal"].map(is_lasting),
        [false; 2]
    );
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
    let mut world = Untouched;
    let change = Change {
        key: key(),
        new: "2".to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    };
    let refusal = apply(&mut journal, &mut world, change).unwrap_err();
    assert!(refused(&refusal), "{refusal}");
}

/// A host where nothing may be written.
struct Untouched;

impl World for Untouched {
    fn read(&mut self, _key: &Key) -> io::Result<String> {
        Ok("1".to_owned())
    }

    fn write(&mut self, key: &Key, _value: &str) -> io::Result<()> {
        panic!("{key} is written, and is not in the journal");
    }

    fn run(&mut self, line: &str, directory: Option<&str>) -> io::Result<()> {
        panic!("`{line}` runs in {directory:?}");
    }

    fn same(&mut self, _place: &Place) -> Result<(), String> {
        Ok(())
    }
}

const LOCKED: &str = "LINERATE_TEST_LOCKED";
const FULL: &str = "LINERATE_TEST_SMALL_DISK";
const ENOSPC: i32 = 28;
