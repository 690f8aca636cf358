// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate matrix`: every cell once per round, whatever interrupts it; what it sets is restored.

mod disturbed;
mod estimate;
mod hosts;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{PATIENCE, Server, until};

/// A directory of one test, empty.
fn place(name: &str) -> PathBuf {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("matrix")
        .join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

fn matrix(place: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.arg("matrix").args(words).arg("--json");
    command.current_dir(place).env("XDG_STATE_HOME", place);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Two rounds of short tests against a server, in the directory `run`.
fn against(server: &Server, place: &Path, words: &[&str]) -> Command {
    let address = format!("127.0.0.1:{}", server.port);
    let usual = ["-o", "run", "-t", "100ms", "--rounds", "2", "--settle", "0"];
    let rate = ["-b", "10M", "--seed", "7"];
    let all = [&[address.as_str()], &usual[..], &rate[..], words].concat();
    matrix(place, &all)
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn cells(document: &Value) -> &[Value] {
    document["cells"].as_array().map_or(&[], Vec::as_slice)
}

/// The lines of `runs.ndjson` that count, by cell.
fn counting(run: &Path) -> BTreeMap<u64, Vec<String>> {
    let text = fs::read_to_string(run.join("runs.ndjson")).unwrap_or_default();
    let mut all = BTreeMap::<u64, Vec<String>>::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if line["state"] == "done" {
            let name = line["run"].as_str().unwrap().to_owned();
            all.entry(line["cell"].as_u64().unwrap())
                .or_default()
                .push(name);
        }
    }
    all
}

fn log(place: &Path) -> String {
    fs::read_to_string(place.join("log")).unwrap_or_default()
}

/// What a busy machine spoils is left out: a cell that had no valid run in all its attempts.
fn was_disturbed(document: &Value) -> bool {
    let disturbed = cells(document).iter().any(|cell| cell["state"] == "failed");
    if disturbed {
        println!(
            "skipped: the machine is busy ({})",
            document["error"]["why"]
        );
    }
    disturbed
}

#[test]
fn every_cell_runs_once_in_each_round_and_is_stored() {
    let (place, server) = (place("whole"), Server::ours("--quiet"));
    let axes = ["--axes", "protocol=tcp,udp size=64,1448 direction=up,down"];
    let output = against(&server, &place, &axes).output().unwrap();
    let json = document(&output);
    if was_disturbed(&json) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(cells(&json).len(), 8);
    let matrix = &json["matrix"];
    assert_eq!(
        (&matrix["rounds"], &matrix["rounds_done"]),
        (&2.into(), &2.into())
    );
    assert_eq!(matrix["rows"], serde_json::json!(["protocol", "size"]));
    for cell in cells(&json) {
        assert_eq!(cell["state"], "done", "{cell}");
        let rate = &cell["figures"][0];
        assert_eq!(
            (&rate["name"], &rate["n"], &rate["unit"]),
            (
                &"delivered_bits_per_second".into(),
                &2.into(),
                &"bit/s".into()
            )
        );
        for id in cell["run_ids"].as_array().unwrap() {
            let run = place.join("run/runs").join(id.as_str().unwrap());
            assert!(run.join("run.json").exists(), "{run:?}");
        }
    }
    says_the_same(&place.join("run"), &json);
    refuses_another_plan_and_repeats_nothing(&server, &place, &axes);
}

/// The cells are computed from the runs whenever they are read.
fn says_the_same(run: &Path, json: &Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let output = command
        .args(["report", "--format", "json"])
        .arg(run)
        .output()
        .unwrap();
    let again = document(&output);
    assert_eq!(
        (&again["cells"], &again["matrix"]),
        (&json["cells"], &json["matrix"])
    );
}

fn refuses_another_plan_and_repeats_nothing(server: &Server, place: &Path, axes: &[&str]) {
    let before = counting(&place.join("run"));
    names_damaged_lines(place);
    let other = against(server, place, &["--axes", "size=64"])
        .output()
        .unwrap();
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert!(
        stderr(&other).contains("it has another plan"),
        "{}",
        stderr(&other)
    );
    let same = against(server, place, axes).output().unwrap();
    assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
    assert_eq!(counting(&place.join("run")), before, "it is complete");
    let again = document(&same);
    assert_eq!(again["hosts"].as_array().map(Vec::len), Some(2), "{again}");
    let resumed = matrix(place, &["--resume", "nowhere"]).output().unwrap();
    assert_eq!(resumed.status.code(), Some(2), "{}", stderr(&resumed));
}

/// One that is cut off, and one whose value cannot be: both are named, and nothing else is lost.
fn names_damaged_lines(place: &Path) {
    let file = place.join("run/runs.ndjson");
    let whole = fs::read_to_string(&file).unwrap();
    let wrong = r#"{"cell":2,"run":"x","state":"done","values":{"loss_ratio":-1}}"#;
    fs::write(&file, format!("{whole}{{\"cell\":3,\"ru\n{wrong}\n")).unwrap();
    let resumed = matrix(place, &["--resume", "run"]).output().unwrap();
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    let lines = whole.lines().count();
    for said in [
        format!("line {}: cell 3: it is not a whole run", lines + 1),
        format!("line {}: cell 2: loss_ratio is -1", lines + 2),
    ] {
        assert!(stderr(&resumed).contains(&said), "{}", stderr(&resumed));
    }
    fs::write(&file, whole).unwrap();
}

const LETTERS: [&str; 2] = [
    "--set",
    "letter: a=printf A >> log; b=printf B >> log; restore=printf R >> log",
];

#[test]
fn a_setting_changes_as_seldom_as_it_can_and_is_restored() {
    let (place, server) = (place("settings"), Server::ours("--quiet"));
    let words = [&["--axes", "size=64,1448"][..], &LETTERS[..]].concat();
    let output = against(&server, &place, &words).output().unwrap();
    let json = document(&output);
    if was_disturbed(&json) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let log = log(&place);
    let letters = log.strip_suffix('R').expect(&log);
    assert!(
        (2..=4).contains(&letters.len()),
        "once per round each: {log}"
    );
    assert!(letters.contains('A') && letters.contains('B'), "{log}");
    assert!(!letters.contains("AA") && !letters.contains("BB"), "{log}");
    assert_eq!(tune(&place, "status"), (0, 0));
}

/// The exit code of `tune status` or `restore`, and how many changes it lists.
fn tune(place: &Path, action: &str) -> (i32, usize) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(["tune", action, "--json"]);
    // What restores is run where `restore` is.
    command.current_dir(place).env("XDG_STATE_HOME", place);
    let output = command.output().unwrap();
    let json = document(&output);
    let changes = json["changes"].as_array().map_or(0, Vec::len);
    (output.status.code().unwrap(), changes)
}

/// Killed at moments that differ from time to time: no run that counts is lost or repeated, and the journal restores.
#[test]
fn one_that_is_killed_again_and_again_ends_with_each_run_once() {
    let (place, server) = (place("killed"), Server::ours("--quiet"));
    let words = [
        &["--axes", "size=64,1448 direction=up,down"][..],
        &LETTERS[..],
    ]
    .concat();
    let run = place.join("run");
    let mut kept = BTreeMap::<u64, Vec<String>>::new();
    let mut child = against(&server, &place, &words).spawn().unwrap();
    for attempt in 0_u32.. {
        let target = total(&counting(&run)) + 2;
        let wait = Duration::from_millis(u64::from(attempt % 5) * 70);
        if is_over(&mut child, &run, target) {
            break;
        }
        std::thread::sleep(wait);
        child.kill().unwrap();
        child.wait().unwrap();
        let now = counting(&run);
        for (cell, runs) in &kept {
            assert!(
                now[cell].starts_with(runs),
                "{cell}: {now:?} after {kept:?}"
            );
        }
        kept = now;
        let (code, left) = tune(&place, "restore");
        assert!(code == 0 && left <= 1, "{code} {left}");
        child = matrix(&place, &["--resume", "run"]).spawn().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let json = document(&output);
    if was_disturbed(&json) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all = counting(&run);
    assert_eq!(all.len(), 8);
    assert!(all.values().all(|runs| runs.len() == 2), "{all:?}");
    assert!(log(&place).ends_with('R'), "{}", log(&place));
    assert_eq!(tune(&place, "status"), (0, 0));
}

fn total(runs: &BTreeMap<u64, Vec<String>>) -> usize {
    runs.values().map(Vec::len).sum()
}

/// Waits for this many runs that count, or for the end.
fn is_over(child: &mut Child, run: &Path, target: usize) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while total(&counting(run)) < target {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        assert!(Instant::now() < deadline, "no further run counts");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.try_wait().unwrap().is_some()
}

#[test]
fn an_interrupted_one_says_how_it_continues_and_restores() {
    let (place, server) = (place("interrupted"), Server::ours("--quiet"));
    let words = [&["--axes", "size=64,1448"][..], &LETTERS[..]].concat();
    let child = against(&server, &place, &words).spawn().unwrap();
    until("a run counts", || total(&counting(&place.join("run"))) > 0);
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("linerate matrix --resume"),
        "{}",
        stderr(&output)
    );
    assert!(log(&place).ends_with('R'), "{}", log(&place));
}

#[test]
fn a_cell_that_fails_does_not_end_the_others() {
    let (place, server) = (place("fails"), Server::ours("--quiet"));
    let axes = ["--axes", "protocol=tcp,udp congestion=default,nosuch"];
    let output = against(&server, &place, &axes).output().unwrap();
    let json = document(&output);
    let states: Vec<&Value> = cells(&json).iter().map(|cell| &cell["state"]).collect();
    if states[0] == "failed" || states[2] == "failed" {
        return println!("skipped: the machine is busy ({})", json["error"]["why"]);
    }
    assert_eq!(states, ["done", "failed", "done", "not-possible"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        json["error"]["what"]
            .as_str()
            .unwrap()
            .contains("1 of 4 cells")
    );
    let reason = cells(&json)[1]["reason"].as_str().unwrap();
    assert!(reason.contains("nosuch"), "{reason}");
    let why = cells(&json)[3]["reason"].as_str().unwrap();
    assert!(why.contains("UDP has no congestion control"), "{why}");
}

#[test]
fn what_is_not_understood_is_refused_before_anything_is_done() {
    let place = place("refused");
    for (words, said) in [
        (&["h"][..], "there is no axis"),
        (&["h", "--axes", "protocol=sctp"], "expected tcp, udp"),
        (
            &["h", "--axes", "direction=up,bidir"],
            "the axis direction has the value 'bidir', expected up, down, or both at once: both",
        ),
        (&["h", "--axes", "driver=a,b"], "no command sets it"),
        (&["--axes", "size=64"], "neither HOST nor --lab"),
        (&["192.0.2.7", "--axes", "family=4,6"], "--host6"),
        (
            &["h", "--axes", "size=64", "--rows", "mtu"],
            "no axis is called mtu",
        ),
        (
            &["h", "--axes", "size=64", "--fault", "loss=1%"],
            "--lab is not given",
        ),
        (&["h", "--axes", "size=64", "--", "--warp"], "--warp"),
        (&["h", "--set", "x: a=true; b"], "VALUE=COMMAND"),
        (
            &["h", "--axes", "size=64 protocol=udp", "--axes", "size=128"],
            "the axis size is there twice",
        ),
        (
            &["h", "--axes", "offload=tso,warp"],
            "no offload is called warp; known: rx, tx, sg, tso",
        ),
        (
            &["h", "--axes", "protocol=udp", "--", "-R"],
            "-R changes the direction",
        ),
    ] {
        let mut command = matrix(&place, words);
        let output = command.output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(2),
            "{words:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(said),
            "{words:?}: {}",
            stderr(&output)
        );
    }
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}

/// Hours of runs would be lost with the process.
#[test]
fn a_directory_that_cannot_be_written_is_refused_before_the_first_run() {
    let place = place("unwritable");
    fs::write(place.join("file"), "").unwrap();
    let words = ["127.0.0.1:1", "--axes", "size=64,128", "-o", "file/run"];
    let output = matrix(&place, &words).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let why = document(&output)["error"]["why"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(why, "that directory cannot be written");
}

/// Three runs find no room: the document has them, the message says what to do, and the matrix goes on when there is room.
#[test]
fn a_full_disk_ends_it_with_a_message_and_it_is_resumed_when_there_is_room() {
    let (place, server) = (place("full"), Server::ours("--quiet"));
    let script = r#"
        mkdir disk && mount -t tmpfs -o size=4m none disk || exit 77
        "$LINERATE" matrix "$AT" -o disk/run -t 100ms --rounds 4 --settle 0 -b 10M --json \
            --set 'disk: full=[ -e room ] || ! cat /dev/zero > disk/fill' > full.json 2> full.txt
        echo $? > full.code
        touch room && rm disk/fill
        "$LINERATE" matrix --resume disk/run --json > room.json 2> room.txt
        echo $? > room.code
        cp disk/run/runs.ndjson .
    "#;
    let mut command = Command::new("unshare");
    command.args(["-Urm", "sh", "-c", script]);
    command
        .env("LINERATE", env!("CARGO_BIN_EXE_linerate"))
        .env("AT", format!("127.0.0.1:{}", server.port))
        .env("XDG_STATE_HOME", &place);
    let Ok(output) = command.current_dir(&place).output() else {
        return println!("skipped: no unshare(1)");
    };
    let read = |name: &str| fs::read_to_string(place.join(name)).unwrap_or_default();
    if output.status.code() == Some(77) || read("full.code").is_empty() {
        return println!("skipped: no mount namespace ({})", stderr(&output));
    }
    let [full, room] = ["full", "room"].map(|name| {
        let json: Value = serde_json::from_str(&read(&format!("{name}.json"))).unwrap();
        (
            read(&format!("{name}.code")),
            read(&format!("{name}.txt")),
            json,
        )
    });
    if was_disturbed(&full.2) || was_disturbed(&room.2) {
        return;
    }
    assert_eq!(full.0.trim(), "3", "{}", full.1);
    for said in [
        "No space left",
        "store the last 3 runs",
        "linerate matrix --resume disk/run",
    ] {
        assert!(full.1.contains(said), "{said}: {}", full.1);
    }
    assert_eq!(cells(&full.2)[0]["figures"][0]["n"], 3, "{}", full.2);
    assert_eq!(room.0.trim(), "0", "{}", room.1);
    assert_eq!(cells(&room.2)[0]["figures"][0]["n"], 4, "{}", room.2);
    assert_eq!(total(&counting(&place)), 4, "{}", read("runs.ndjson"));
}

#[test]
fn a_dry_run_prints_a_plan_that_is_one() {
    let place = place("dry");
    let words = ["192.0.2.7", "--axes", "family=4 mtu=67,1500", "--dry-run"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let output = command
        .arg("matrix")
        .args(words)
        .args(LETTERS)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("4 cells, of which 2 cannot be"),
        "{}",
        stderr(&output)
    );
    fs::write(place.join("plan.toml"), &output.stdout).unwrap();
    let again = matrix(&place, &["plan.toml", "--dry-run"])
        .output()
        .unwrap();
    let json = document(&again);
    assert_eq!(cells(&json).len(), 4);
    assert_eq!(cells(&json)[0]["state"], "not-possible");
    assert!(!place.join("log").exists());
}

/// MTU and offloads of both hosts, IPv6 addresses that a small MTU removed, and a fragmented datagram.
#[test]
fn a_lab_has_the_settings_of_its_cells_on_both_hosts() {
    let place = place("lab");
    let words = [
        "--lab",
        "-o",
        "run",
        "-t",
        "100ms",
        "--rounds",
        "1",
        "--settle",
        "0",
        "-b",
        "2M",
        "--axes",
        "mtu=100,1500 family=4,6 protocol=udp size=64,1400 offload=on,off",
    ];
    let output = matrix(&place, &words).output().unwrap();
    if stderr(&output).contains("grants no network namespaces") {
        return println!("skipped: no lab on this machine");
    }
    let json = document(&output);
    if was_disturbed(&json) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for cell in cells(&json) {
        let axes = &cell["axes"];
        let is_small = axes["mtu"] == "100";
        if is_small && axes["family"] == "6" {
            assert_eq!(cell["state"], "not-possible", "{cell}");
            continue;
        }
        assert_eq!(cell["state"], "done", "{cell}");
        assert_eq!(
            cell["note"].is_string(),
            is_small && axes["size"] == "1400",
            "{cell}"
        );
        let id = cell["run_ids"][0].as_str().unwrap();
        let text = fs::read(place.join("run/runs").join(id).join("run.json")).unwrap();
        let run: Value = serde_json::from_slice(&text).unwrap();
        for host in run["hosts"].as_array().unwrap() {
            let mtu = host["interfaces"][0]["mtu"].to_string();
            assert_eq!(mtu, axes["mtu"].as_str().unwrap(), "{host}");
        }
        assert!(
            has_segmentation(&run, axes["offload"].as_str().unwrap()),
            "{id}"
        );
    }
}

/// Whether both hosts have this value.
fn has_segmentation(run: &Value, value: &str) -> bool {
    let settings = run["settings"].as_array().unwrap();
    let features = settings.iter().filter(|one| one["source"] == "ethtool -k");
    let values: Vec<&Value> = features
        .map(|one| &one["values"]["generic-segmentation-offload"])
        .collect();
    !values.is_empty() && values.iter().all(|one| one.as_str() == Some(value))
}

/// On a host that is not a lab's to the program: the MTU is in the journal, and is as it was after kill -9.
#[test]
fn a_killed_one_leaves_no_mtu() {
    let place = place("mtu");
    let script = r#"
        mtu() { cat /proc/sys/net/ipv6/conf/eth0/mtu; }
        before=$(mtu)
        "$LINERATE" matrix "$LINERATE_PEER" -o run -t 100ms --rounds 50 --settle 0 --axes mtu=1300,1400 -q &
        for i in $(seq 1 600); do [ "$(mtu)" = "$before" ] && [ -d "/proc/$!" ] && sleep 0.05; done
        changed=$(mtu)
        kill -9 $!
        wait $!
        "$LINERATE" tune restore > restored 2>&1
        for i in $(seq 1 200); do [ "$(mtu)" = "$before" ] || sleep 0.05; done
        echo "$before $changed $(mtu)" > mtus
    "#;
    let program = env!("CARGO_BIN_EXE_linerate");
    let mut command = Command::new(program);
    command.args(["lab", "--", "sh", "-c", script]);
    command
        .env("LINERATE", program)
        .env("XDG_STATE_HOME", &place);
    let output = command.current_dir(&place).output().unwrap();
    let Ok(mtus) = fs::read_to_string(place.join("mtus")) else {
        return println!("skipped: no lab on this machine ({})", stderr(&output));
    };
    let mtus: Vec<&str> = mtus.split_whitespace().collect();
    let restored = fs::read_to_string(place.join("restored")).unwrap();
    assert!(
        ["1300", "1400"].contains(&mtus[1]),
        "{mtus:?} {}",
        stderr(&output)
    );
    assert_eq!(mtus[0], mtus[2], "{restored}");
}
