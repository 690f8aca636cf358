// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a host behind a real sshd, with keys made for the test: what is changed there is undone there, however
//! the connection ends, and each way in which there is none is explained.

mod campaign;
mod far_side;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::support::until;
use far_side::FarSide;
use linerate_change::remote::{Terms, Way};
use linerate_change::{Change, End, Far, Hand, Key, Outcome, Provisional, Undo};
use linerate_linux::signal::Interrupt;

const KNOB: &str = "sysctl net.ipv4.tcp_sack";
const FILE: &str = "/proc/sys/net/ipv4/tcp_sack";
const AGENT: &str = "linerate agent --stdio --changes";

fn open(way: &Way, terms: Terms) -> Result<Far, String> {
    let opened = Far::open(way, terms, &Interrupt::default());
    opened.map_err(|failure| failure.to_string())
}

fn far(side: &FarSide, command: &str) -> Far {
    open(&side.way(command), Terms::default()).unwrap_or_else(|why| panic!("{why}\n{}", side.log()))
}

fn wanted(far: &mut Far) -> Change {
    Change {
        key: key(far),
        new: "0".to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    }
}

fn key(far: &mut Far) -> Key {
    far.key(KNOB, None).unwrap()
}

fn changed(far: &mut Far) -> u64 {
    let change = wanted(far);
    match far.apply(change) {
        Ok(Outcome::Applied { change, .. }) => change,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_host_behind_ssh_is_changed_read_and_restored() {
    let Some(side) = FarSide::start("whole") else {
        return;
    };
    let mut far = far(&side, AGENT);
    assert_eq!(far.hello().uid, 0);
    assert!(!far.hello().boot_id.is_empty() && !far.hello().version.is_empty());
    let change = changed(&mut far);
    let key = key(&mut far);
    assert_eq!(
        (far.read(&key).unwrap().as_str(), side.value(FILE).as_str()),
        ("0", "0")
    );
    let settings = far.settings().unwrap();
    let sysctls = settings.iter().find(|one| one.source == "sysctl").unwrap();
    assert!(sysctls.values.contains_key("net.ipv4.tcp_rmem"));
    assert!(matches!(far.undo(change).unwrap(), End::Undone));
    assert_eq!(side.value(FILE), "1");
    let kept = changed(&mut far);
    far.keep(kept).unwrap();
    drop(far);
    assert_eq!(side.value(FILE), "0", "kept");
}

/// sshd gives it the address of the client; its route is the interface that must not be cut.
#[test]
fn the_interface_that_carries_the_connection_is_known_there() {
    let Some(side) = FarSide::start("management") else {
        return;
    };
    let mut far = far(&side, AGENT);
    let why = far.management("lo").unwrap().unwrap();
    assert!(why.contains("the client of SSH_CONNECTION"), "{why}");
    assert_eq!(far.management("no-such-if").unwrap(), None);
    let mut change = wanted(&mut far);
    change.key = far.key("ip link txqueuelen", Some("lo")).unwrap();
    change.new = "77".to_owned();
    let why = far.apply(change.clone()).unwrap_err().to_string();
    assert!(why.contains("its changes need a deadline"), "{why}");
    let made = far.apply_within(change, Duration::from_secs(600)).unwrap();
    assert!(matches!(made, Outcome::Applied { .. }), "{made:?}");
}

/// Without a word from here: the agent there knows by the end of its input.
#[test]
fn a_killed_ssh_leaves_nothing() {
    let Some(side) = FarSide::start("killed") else {
        return;
    };
    let mut far = far(&side, AGENT);
    changed(&mut far);
    side.signal("-KILL", far.process().unwrap());
    until("the setting is restored", || side.value(FILE) == "1");
    let why = far.read(&key_of_none()).unwrap_err().to_string();
    assert!(
        why.contains("the connection to the other host is lost"),
        "{why}"
    );
    side.expect_nothing_open();
}

/// It neither reads nor ends: the agent knows by the silence, and nothing here waits without end.
#[test]
fn a_stopped_ssh_leaves_nothing() {
    let Some(side) = FarSide::start("stopped") else {
        return;
    };
    let terms = Terms {
        answer: Duration::from_secs(5),
        silence: Duration::from_secs(6),
        ..Terms::default()
    };
    let mut far = open(&side.way(AGENT), terms).unwrap();
    changed(&mut far);
    assert_eq!(side.value(FILE), "0");
    side.signal("-STOP", far.process().unwrap());
    let why = far.read(&key_of_none()).unwrap_err().to_string();
    assert!(why.contains("does not answer in time"), "{why}");
    until("the setting is restored", || side.value(FILE) == "1");
    drop(far);
    side.expect_nothing_open();
}

/// The agent itself is killed: the other process there undoes it.
#[test]
fn a_killed_agent_leaves_nothing() {
    let Some(side) = FarSide::start("agent") else {
        return;
    };
    let mut far = far(&side, AGENT);
    changed(&mut far);
    side.signal("-KILL", side.agent());
    until("the setting is restored", || side.value(FILE) == "1");
    assert!(far.read(&key_of_none()).is_err());
    side.expect_nothing_open();
}

#[test]
fn a_terminated_agent_leaves_nothing() {
    for signal in ["-TERM", "-HUP"] {
        let Some(side) = FarSide::start("terminated") else {
            return;
        };
        let mut far = far(&side, AGENT);
        changed(&mut far);
        side.signal(signal, side.agent());
        until("the setting is restored", || side.value(FILE) == "1");
        drop(far);
        side.expect_nothing_open();
    }
}

#[test]
fn a_change_that_is_not_confirmed_is_rolled_back_there() {
    let Some(side) = FarSide::start("unconfirmed") else {
        return;
    };
    let mut far = far(&side, AGENT);
    let change = wanted(&mut far);
    let made = far
        .apply_within(change.clone(), Duration::from_secs(1))
        .unwrap();
    let Outcome::Applied { change: first, .. } = made else {
        panic!("{made:?}")
    };
    until("the setting is restored", || side.value(FILE) == "1");
    let late = far.confirm(first).unwrap_err();
    assert_eq!(late.kind(), std::io::ErrorKind::TimedOut, "{late}");
    let made = far.apply_within(change, Duration::from_secs(600)).unwrap();
    let Outcome::Applied { change: second, .. } = made else {
        panic!("{made:?}")
    };
    far.confirm(second).unwrap();
    assert_eq!(side.value(FILE), "0");
    assert!(matches!(far.undo(second).unwrap(), End::Undone));
}

#[test]
fn each_way_without_an_agent_is_explained() {
    let Some(side) = FarSide::start("explained") else {
        return;
    };
    let old = side.program("old", OLD);
    let refused = [
        (
            "another host key",
            side.way_with(AGENT, &side.options("other_hosts", "client_key")),
            &[
                "Host key verification failed",
                "ssh does not trust the host key",
            ][..],
        ),
        (
            "a key that it does not know",
            side.way_with(AGENT, &side.options("known_hosts", "other_key")),
            &[
                "no key that the host accepts",
                "Permission denied (publickey)",
            ],
        ),
        (
            "no sshd",
            side.way_with(
                AGENT,
                &format!("{} -p 1", side.options("known_hosts", "client_key")),
            ),
            &["ssh has no connection", "Connection refused"],
        ),
        (
            "no program",
            side.way("PATH=/no/such/place linerate agent --stdio --changes"),
            &["no linerate in the PATH there"],
        ),
        (
            "an older one",
            side.way(&format!("PATH={} {AGENT}", old.display())),
            &[
                "the linerate there is older",
                "unexpected argument '--changes'",
            ],
        ),
        (
            "another program",
            side.way("echo hello"),
            &["unexpected answer: \"hello\""],
        ),
    ];
    for (case, way, expected) in refused {
        let why = open(&way, Terms::default()).unwrap_err();
        for part in expected {
            assert!(why.contains(part), "{case}: {why}");
        }
        assert!(why.contains("\n  try: "), "{case}: {why}");
    }
}

/// A login script that prints something is no obstacle.
#[test]
fn a_banner_before_the_hello_is_skipped() {
    let Some(side) = FarSide::start("banner") else {
        return;
    };
    let mut far = far(
        &side,
        &format!("printf 'Welcome\\n\\nlast login: never\\n> '; {AGENT}"),
    );
    changed(&mut far);
    assert_eq!(side.value(FILE), "0");
}

#[test]
fn an_agent_that_is_not_root_says_that_its_writes_are_refused() {
    let Some(side) = FarSide::start("user") else {
        return;
    };
    let state = side.folder("state-of-nobody");
    let is_open = |path: &Path| path.metadata().is_ok_and(|found| found.mode() & 0o001 != 0);
    if !state.ancestors().skip(1).all(is_open) {
        return println!("skipped: another user cannot reach {}", state.display());
    }
    std::os::unix::fs::chown(&state, Some(NOBODY), Some(NOBODY)).unwrap();
    let command = format!(
        "XDG_STATE_HOME={} exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {AGENT}",
        state.display()
    );
    let mut far = far(&side, &command);
    assert_eq!(far.hello().uid, NOBODY);
    let change = wanted(&mut far);
    let refused = far.apply(change).unwrap();
    let Outcome::Refused(why) = refused else {
        panic!("{refused:?}")
    };
    assert!(
        why.to_string()
            .contains(&format!("the agent there is not root (uid {NOBODY})")),
        "{why}"
    );
    assert_eq!(side.value(FILE), "1");
}

/// What cannot be recorded is not changed.
#[test]
fn a_home_that_is_read_only_or_full_refuses_before_anything_is_changed() {
    let Some(side) = FarSide::start("home") else {
        return;
    };
    let state = side.folder("small");
    let place = state.display();
    for (options, fill, why) in [
        ("ro", "true", "Read-only file system"),
        (
            "size=4k",
            "head -c 4096 /dev/zero >@/full",
            "No space left on device",
        ),
    ] {
        let fill = fill.replace('@', &place.to_string());
        let mounted = format!("mount -t tmpfs -o {options} none {place} && {fill}; exec {AGENT}");
        let command = format!("XDG_STATE_HOME={place} exec unshare -m sh -c '{mounted}'");
        let mut far = far(&side, &command);
        let change = wanted(&mut far);
        let error = far.apply(change).unwrap_err().to_string();
        assert!(
            error.contains("the journal") && error.contains(why),
            "{error}"
        );
        assert_eq!(side.value(FILE), "1");
    }
}

/// A key that needs no far host.
fn key_of_none() -> Key {
    Key {
        knob: KNOB.to_owned(),
        place: linerate_change::Place::Host,
    }
}

/// What linerate printed before it had `--changes`.
const OLD: &str = "#!/bin/sh
printf \"error: cannot understand the command line\\n  why: unexpected argument '--changes' found\\n\" >&2
exit 2
";
const NOBODY: u32 = 65534;
