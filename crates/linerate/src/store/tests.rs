// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs in directories that exist, that cannot, and on a disk that is full.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicU32, Ordering};

use linerate_model::output::Test;

use super::*;

/// A directory that is removed with its content.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("linerate-store-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn beginning(started_s: u64) -> Beginning<'static> {
    Beginning {
        kind: "udp",
        command: &[],
        peer: "[2001:2::1]/x",
        plan: BTreeMap::from([("duration".to_owned(), "10".to_owned())]),
        started: Date::at(started_s * 1_000_000_000),
    }
}

fn sample(t_ns: u64) -> Sample {
    Sample {
        t_ns,
        source: "/proc/net/snmp".to_owned(),
        counters: [("Udp.InErrors".to_owned(), t_ns)].into(),
        ..Sample::default()
    }
}

fn output() -> Output {
    Output {
        duration_s: 1.5,
        tests: vec![Test::default()],
        ..Output::new("udp", "0.1.0")
    }
}

fn directory(store: &Store) -> PathBuf {
    match store.location() {
        Location::Stored(directory) => directory.clone(),
        other => panic!("{other}"),
    }
}

fn why(store: &Store) -> (String, Option<PathBuf>) {
    match store.location() {
        Location::NotStored { why, partial } => (why.clone(), partial.clone()),
        Location::Stored(directory) => panic!("stored in {}", directory.display()),
    }
}

#[test]
fn a_run_is_read_back_as_written() {
    let scratch = Scratch::new();
    let mut store = Store::open(
        &Destination::Runs(scratch.0.join("a/b")),
        &beginning(1_795_244_700),
    );
    store.sample(&sample(1));
    store.sample(&sample(2));
    let setting = Setting {
        source: "ethtool -g".to_owned(),
        values: BTreeMap::from([("RX.max".to_owned(), "4096".to_owned())]),
        ..Setting::default()
    };
    store.settings(std::slice::from_ref(&setting));
    store.latency(Phase::Idle, &[(1000, 3)]);
    store.latency(Phase::Up, &[(2000, 4), (4000, 1)]);
    store.latency_over_time(Phase::Idle, &[(7000, 998)]);
    store.latency_over_time(Phase::Up, &[(8000, 1900), (9000, 3800)]);
    store.finish(&mut output());
    let directory = directory(&store);
    assert_eq!(
        directory,
        scratch.0.join("a/b/20261121T070500Z-udp--2001-2--1--x")
    );
    let (run, samples) = read(&directory).unwrap();
    assert!(!run.partial && run.clock_trusted);
    assert_eq!(run.started, "2026-11-21T07:05:00Z");
    assert_eq!(run.plan["duration"], "10");
    assert_eq!(run.tests, output().tests);
    assert_eq!(run.settings, [setting]);
    assert_eq!(samples, [sample(1), sample(2)]);
    let latency = fs::read_to_string(directory.join("latency.hlog")).unwrap();
    assert_eq!(
        latency,
        format!("{LATENCY_HEADER}idle 1000 3\nup 2000 4\nup 4000 1\n")
    );
    let over_time = fs::read_to_string(directory.join("latency.csv")).unwrap();
    assert_eq!(
        over_time,
        "phase,t_ns,rtt_ns\nidle,7000,998\nup,8000,1900\nup,9000,3800\n"
    );
    let trips = round_trips(&directory).unwrap();
    assert_eq!(trips[1].over_time, [(8000, 1900), (9000, 3800)]);
    let names = fs::read_dir(&directory).unwrap();
    assert_eq!(names.count(), 4, "nothing temporary is left");
}

/// A run directory may come from anywhere: nothing in it is read without end, waited for, or followed.
#[test]
fn what_is_not_a_file_of_the_run_is_refused() {
    let scratch = Scratch::new();
    let mut store = Store::open(&Destination::Runs(scratch.0.clone()), &beginning(0));
    store.sample(&sample(1));
    store.trial(&Trial::default());
    store.latency(Phase::Idle, &[(1000, 3)]);
    store.latency_over_time(Phase::Idle, &[(7000, 998)]);
    store.finish(&mut output());
    let directory = directory(&store);
    let elsewhere = scratch.0.join("elsewhere");
    let whole = |directory: &Path| -> io::Result<()> {
        read(directory)?;
        trials(directory)?;
        round_trips(directory)?;
        Ok(())
    };
    whole(&directory).unwrap();
    for name in [RUN, SAMPLES, LATENCY, OVER_TIME, TRIALS] {
        let path = directory.join(name);
        fs::rename(&path, &elsewhere).unwrap();
        let refused = |case: &str, why: &str| {
            let error = whole(&directory).unwrap_err().to_string();
            assert_eq!(error, format!("{name}: {why}"), "{case}");
        };
        symlink("/dev/zero", &path).unwrap();
        refused("device", "it is a symbolic link, not a file");
        fs::remove_file(&path).unwrap();
        symlink(&elsewhere, &path).unwrap();
        refused("file elsewhere", "it is a symbolic link, not a file");
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if made.is_ok_and(|status| status.success()) {
            refused("FIFO", "it is not a regular file");
            fs::remove_file(&path).unwrap();
        }
        let sparse = File::create(&path).unwrap();
        sparse.set_len(1 << 40).unwrap();
        refused("sparse", "it is longer than 512 MiB");
        fs::rename(&elsewhere, &path).unwrap();
    }
    whole(&directory).unwrap();
}

#[test]
fn an_interrupted_run_is_valid_and_partial() {
    let scratch = Scratch::new();
    let mut store = Store::open(
        &Destination::Runs(scratch.0.clone()),
        &beginning(1_795_244_700),
    );
    store.sample(&sample(1));
    let directory = directory(&store);
    drop(store);
    fs::OpenOptions::new()
        .append(true)
        .open(directory.join("samples.jsonl"))
        .and_then(|mut file| file.write_all(b"{\"t_ns\":2,\"sour"))
        .unwrap();
    let (run, samples) = read(&directory).unwrap();
    assert!(run.partial);
    assert_eq!(run.duration_s, None);
    assert_eq!(samples, [sample(1)]);
}

#[test]
fn a_checkpoint_keeps_results_and_stays_partial() {
    let scratch = Scratch::new();
    let mut store = Store::open(
        &Destination::Runs(scratch.0.clone()),
        &beginning(1_795_244_700),
    );
    store.checkpoint(&mut output());
    let (run, _) = read(&directory(&store)).unwrap();
    assert!(run.partial);
    assert_eq!(run.tests.len(), 1);
}

#[test]
fn runs_of_one_second_and_of_a_clock_at_1970_have_their_own_directories() {
    let scratch = Scratch::new();
    let place = Destination::Runs(scratch.0.clone());
    let stores = [12, 12, 12].map(|second| Store::open(&place, &beginning(second)));
    let names = stores.each_ref().map(directory);
    let first = scratch.0.join("19700101T000012Z-udp--2001-2--1--x");
    assert_eq!(
        names,
        [first.clone(), numbered(&first, 2), numbered(&first, 3)]
    );
    assert!(!read(&names[0]).unwrap().0.clock_trusted);
}

#[test]
fn a_named_directory_is_used_unless_it_holds_a_run() {
    let scratch = Scratch::new();
    let place = Destination::Directory(scratch.0.join("mine"));
    fs::create_dir(scratch.0.join("mine")).unwrap();
    fs::write(scratch.0.join("mine/notes"), "").unwrap();
    let first = Store::open(&place, &beginning(0));
    let second = Store::open(&place, &beginning(0));
    assert_eq!(directory(&first), scratch.0.join("mine"));
    assert_eq!(directory(&second), scratch.0.join("mine-2"));
}

#[test]
fn nothing_can_be_made_in_proc_or_below_a_file() {
    let scratch = Scratch::new();
    fs::write(scratch.0.join("file"), "").unwrap();
    for parent in [PathBuf::from("/proc/linerate"), scratch.0.join("file")] {
        let mut store = Store::open(&Destination::Runs(parent.clone()), &beginning(0));
        store.sample(&sample(1));
        store.finish(&mut output());
        let (why, partial) = why(&store);
        assert!(
            why.starts_with(&format!("cannot create {}", parent.display())),
            "{why}"
        );
        assert_eq!(partial, None);
        assert_eq!(store.location().run_dir(), None);
    }
}

#[test]
fn a_disk_that_fills_up_leaves_a_valid_partial_run() {
    let scratch = Scratch::new();
    let place = Destination::Directory(scratch.0.clone());
    symlink("/dev/full", scratch.0.join("samples.jsonl")).unwrap();
    let mut store = Store::open(&place, &beginning(0));
    store.sample(&sample(1));
    let reason = why(&store);
    store.sample(&sample(2));
    store.finish(&mut output());
    assert_eq!(why(&store), reason, "the first reason stands");
    assert!(
        reason.0.contains("samples.jsonl: No space left on device"),
        "{}",
        reason.0
    );
    assert_eq!(reason.1.as_deref(), Some(scratch.0.as_path()));
    fs::remove_file(scratch.0.join("samples.jsonl")).unwrap();
    assert!(read(&scratch.0).unwrap().0.partial);
}

/// Of a matrix: a run for which there was no room is stored with the next one, once.
#[test]
fn the_runs_of_cells_are_written_again_when_there_is_room() {
    let scratch = Scratch::new();
    let mut store = Store::open(&Destination::Directory(scratch.0.clone()), &beginning(0));
    let run = |cell| CellRun {
        cell,
        ..CellRun::default()
    };
    let cells = || -> Vec<u32> {
        let read = cell_runs(&scratch.0).unwrap();
        read.runs.iter().map(|run| run.cell).collect()
    };
    store.cell_run(&run(1));
    let file = scratch.0.join("runs.ndjson");
    let kept = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    symlink("/dev/full", &file).unwrap();
    store.cell_run(&run(2));
    store.cell_run(&run(3));
    assert!(why(&store).0.contains("runs.ndjson: No space left"));
    fs::remove_file(&file).unwrap();
    fs::write(&file, kept).unwrap();
    store.cell_run(&run(4));
    assert_eq!(directory(&store), scratch.0);
    store.finish(&mut output());
    assert_eq!(cells(), [1, 2, 3, 4]);
}

/// Of a matrix: the runs are kept, and what is missing besides them is not forgotten.
#[test]
fn the_runs_of_cells_are_written_after_another_failure_whose_reason_stands() {
    let scratch = Scratch::new();
    let mut store = Store::open(&Destination::Directory(scratch.0.clone()), &beginning(0));
    fs::create_dir(scratch.0.join("run.json.next")).unwrap();
    store.checkpoint(&mut output());
    let reason = why(&store);
    assert!(
        reason.0.contains("run.json: Is a directory"),
        "{}",
        reason.0
    );
    for cell in [1, 2] {
        store.cell_run(&CellRun {
            cell,
            ..CellRun::default()
        });
        assert_eq!(why(&store), reason);
    }
    let read = cell_runs(&scratch.0).unwrap();
    let cells: Vec<u32> = read.runs.iter().map(|run| run.cell).collect();
    assert_eq!(cells, [1, 2]);
}

#[test]
fn a_disk_that_is_full_from_the_start_says_so() {
    let scratch = Scratch::new();
    symlink("/dev/full", scratch.0.join("run.json.next")).unwrap();
    let store = Store::open(&Destination::Directory(scratch.0.clone()), &beginning(0));
    let text = store.location().to_string();
    assert!(text.starts_with("not stored: cannot write "), "{text}");
    assert!(text.contains("No space left on device"), "{text}");
    assert!(!text.contains("a part is in"), "{text}");
    assert!(!text.contains("os error"), "{text}");
}

#[test]
fn a_disk_that_is_full_at_the_end_keeps_the_beginning() {
    let scratch = Scratch::new();
    let mut store = Store::open(&Destination::Directory(scratch.0.clone()), &beginning(0));
    symlink("/dev/full", scratch.0.join("run.json.next")).unwrap();
    store.finish(&mut output());
    assert!(why(&store).0.contains("run.json: No space left on device"));
    assert!(read(&scratch.0).unwrap().0.partial);
}

#[test]
fn the_default_place_follows_the_xdg_rules() {
    let place = |variables: &'static [(&str, &str)]| {
        Destination::default_of(&|name| {
            let variable = variables.iter().find(|(known, _)| *known == name);
            variable.map(|(_, value)| PathBuf::from(value))
        })
    };
    let runs = |path: &str| Destination::Runs(PathBuf::from(path));
    assert_eq!(
        place(&[("HOME", "/home/lab")]),
        runs("/home/lab/.local/state/linerate/runs")
    );
    assert_eq!(
        place(&[("HOME", "/home/lab"), ("XDG_STATE_HOME", "/var/state")]),
        runs("/var/state/linerate/runs")
    );
    assert_eq!(
        place(&[("HOME", "/home/lab"), ("XDG_STATE_HOME", "relative")]),
        runs("/home/lab/.local/state/linerate/runs")
    );
    let nowhere = Destination::Nowhere("neither XDG_STATE_HOME nor HOME is set".to_owned());
    assert_eq!(place(&[]), nowhere);
    assert_eq!(place(&[("HOME", "")]), nowhere);
}
