// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings of a host in the lab: changed, and restored from the journal.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use linerate_change::{Change, End, Host, Journal, Key, Outcome as Applied, Trace, Undo, World};
use linerate_change::{Restored, apply, restore};
use linerate_lab::{Isolation, Lab, LabPlan};
use linerate_linux::nic;

use super::Test;
use super::scratch::Scratch;
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[
    ("each_setting_is_changed_and_restored", |isolation| {
        inside(isolation, each_setting_is_changed_and_restored)
    }),
    (
        "a_renamed_interface_is_restored_and_another_is_not",
        |isolation| {
            inside(
                isolation,
                a_renamed_interface_is_restored_and_another_is_not,
            )
        },
    ),
    (
        "a_queueing_discipline_is_replaced_and_restored",
        |isolation| inside(isolation, a_queueing_discipline_is_replaced_and_restored),
    ),
    ("a_tree_of_disciplines_is_not_replaced", |isolation| {
        inside(isolation, a_tree_of_disciplines_is_not_replaced)
    }),
    ("what_another_program_changed_since_is_left", |isolation| {
        inside(isolation, what_another_program_changed_since_is_left)
    }),
];

/// What a veth of any kernel since 5.15 has, and another value than the usual one.
const SETTINGS: [(&str, &str); 7] = [
    ("sysctl net.ipv4.tcp_rmem", "4096 65536 131072"),
    ("sysctl net.ipv4.tcp_congestion_control", "reno"),
    ("ethtool -K tcp-segmentation-offload", "off"),
    ("ethtool -K generic-receive-offload", "on"),
    ("ip link txqueuelen", "77"),
    ("ip link mtu", "1400"),
    ("sysfs threaded", "1"),
];

/// The kernel asks for privilege over the machine, not over the namespace: without it they are refused.
const SETTINGS_OF_ROOT: [(&str, &str); 3] = [
    ("sysfs gro_flush_timeout", "20000"),
    ("sysfs napi_defer_hard_irqs", "2"),
    ("sysfs queues/rx-0/rps_cpus", "1"),
];

/// What veth has not: it is refused before anything is in the journal.
const NOT_OF_A_VETH: [&str; 3] = ["ethtool -G rx-mini", "ethtool -A rx", "ethtool -C rx-usecs"];

/// Runs a test in the first host of a lab, with a journal of its own.
fn inside(isolation: &Isolation, test: fn(&mut Journal, &mut Host) -> Outcome) -> Outcome {
    let lab = Lab::open(isolation, &LabPlan::default())?;
    let [first, _second] = lab.hosts();
    let place = Scratch::new("settings")?;
    first.enter(|| {
        let mut journal = Journal::at(&place.join("journal"), BOOT);
        test(&mut journal, &mut Host::here()?)
    })?
}

fn each_setting_is_changed_and_restored(journal: &mut Journal, host: &mut Host) -> Outcome {
    let keys = keys(host)?;
    let before = state(host, &keys)?;
    for (key, (_, new)) in keys.iter().zip(SETTINGS) {
        let made = changed(journal, host, key, new)?;
        let is_in_force = matches!(&made, Applied::Applied { effective, .. } if effective == new);
        ensure(is_in_force, || format!("{key}: {made:?}"))?;
    }
    let mut applied = SETTINGS.len();
    for name in NOT_OF_A_VETH {
        let key = host.key_of(name, INTERFACE)?;
        let made = changed(journal, host, &key, "on")?;
        ensure(matches!(made, Applied::Unreadable(_)), || {
            format!("{name}: {made:?}")
        })?;
    }
    for (name, new) in SETTINGS_OF_ROOT {
        let made = changed(journal, host, &host.key_of(name, INTERFACE)?, new)?;
        let is_either = matches!(made, Applied::Applied { .. } | Applied::Refused(_));
        ensure(is_either, || format!("{name}: {made:?}"))?;
        applied += usize::from(matches!(made, Applied::Applied { .. }));
    }
    let mut open = journal.open()?;
    open.retain(|one| !one.key.knob.starts_with("coupled "));
    ensure(open.len() == applied, || format!("{open:?}"))?;
    let ended = undone(journal, host)?;
    ensure(ended.iter().all(|one| one.end.is_closed()), || {
        format!("{ended:?}")
    })?;
    let after = state(host, &keys)?;
    ensure(before == after, || format!("{before:?}\n{after:?}"))
}

fn a_renamed_interface_is_restored_and_another_is_not(
    journal: &mut Journal,
    host: &mut Host,
) -> Outcome {
    let key = host.key_of("ip link txqueuelen", INTERFACE)?;
    let old = host.read(&key)?;
    let made = changed(journal, host, &key, "77")?;
    ensure(matches!(made, Applied::Applied { .. }), || {
        format!("{made:?}")
    })?;
    ip(&format!("link set {INTERFACE} down"))?;
    ip(&format!("link set {INTERFACE} name renamed"))?;
    let ended = undone(journal, host)?;
    ensure(ended.iter().all(|one| one.end.is_closed()), || {
        format!("{ended:?}")
    })?;
    let now = host.read(&host.key_of("ip link txqueuelen", "renamed")?)?;
    ensure(now == old, || format!("{now} instead of {old}"))?;

    let key = host.key_of("ip link txqueuelen", "renamed")?;
    let made = changed(journal, host, &key, "78")?;
    ensure(matches!(made, Applied::Applied { .. }), || {
        format!("{made:?}")
    })?;
    ip("link delete renamed")?;
    ip("link add renamed type veth peer name other")?;
    let ended = undone(journal, host)?;
    let is_elsewhere = matches!(
        ended.as_slice(),
        [Restored {
            end: End::Elsewhere(_),
            ..
        }]
    );
    ensure(is_elsewhere, || format!("{ended:?}"))
}

fn what_another_program_changed_since_is_left(journal: &mut Journal, host: &mut Host) -> Outcome {
    let key = host.key("sysctl net.ipv4.tcp_rmem");
    changed(journal, host, &key, "4096 65536 131072")?;
    host.write(&key, "4096 99999 199999")?;
    // The process that made it is this one: as if it had ended.
    let path = PathBuf::from(format!("{}.other", journal.path().display()));
    let mut of_a_dead = dead(journal, path)?;
    let ended = restore(&mut of_a_dead, host, BOOT, false)?;
    std::fs::remove_file(of_a_dead.path())?;
    let is_foreign = matches!(
        ended.as_slice(),
        [Restored {
            end: End::Foreign { .. },
            ..
        }]
    );
    ensure(is_foreign, || format!("{ended:?}"))?;
    let now = host.read(&key)?;
    ensure(now == "4096 99999 199999", || now.clone())
}

/// From each to each: what was is there again, with all its options.
fn a_queueing_discipline_is_replaced_and_restored(
    journal: &mut Journal,
    host: &mut Host,
) -> Outcome {
    let key = host.key_of(QDISC, INTERFACE)?;
    let mut tried = Vec::new();
    for before in DISCIPLINES {
        if let Err(why) = host.write(&key, before) {
            println!("skipped: {before}: {why}");
            continue;
        }
        tried.push(before);
        let old = host.read(&key)?;
        for after in &tried {
            let made = changed(journal, host, &key, after)?;
            ensure(!matches!(made, Applied::Unreadable(_)), || {
                format!("{before}: {made:?}")
            })?;
            let ended = undone(journal, host)?;
            let is_closed = ended.iter().all(|one| one.end.is_closed());
            let now = host.read(&key)?;
            ensure(is_closed && now == old, || {
                format!("{now} instead of {old}: {ended:?}")
            })?;
        }
    }
    let simple = ["default", "pfifo limit 16"];
    ensure(simple.iter().all(|one| tried.contains(one)), || {
        format!("{tried:?}")
    })
}

fn a_tree_of_disciplines_is_not_replaced(journal: &mut Journal, host: &mut Host) -> Outcome {
    let key = host.key_of(QDISC, INTERFACE)?;
    for tree in [
        &[
            "qdisc replace dev eth0 root handle 1: tbf rate 1mbit burst 3000 limit 60000",
            "qdisc add dev eth0 parent 1: pfifo",
        ][..],
        &["qdisc replace dev eth0 root handle 1: prio"],
    ] {
        // A kernel has only some kinds.
        if let Err(why) = tree.iter().try_for_each(|words| run("tc", words)) {
            println!("skipped: {tree:?}: {why:?}");
            continue;
        }
        let made = changed(journal, host, &key, "pfifo limit 16")?;
        let is_refused = matches!(made, Applied::Unreadable(_));
        ensure(is_refused && journal.open()?.is_empty(), || {
            format!("{tree:?}: {made:?}")
        })?;
        run("tc", "qdisc del dev eth0 root")?;
    }
    Ok(())
}

/// The same journal, of a process that has ended.
fn dead(journal: &Journal, path: PathBuf) -> Result<Journal, Verdict> {
    let mut lines = String::new();
    for mut entry in journal.contents()?.entries {
        if let linerate_change::Phase::Intended { owner, .. } = &mut entry.phase {
            owner.start_ticks += 1;
        }
        lines += &linerate_change::line(&entry)?;
    }
    std::fs::write(&path, lines)?;
    Ok(Journal::at(&path, BOOT))
}

fn changed(
    journal: &mut Journal,
    host: &mut Host,
    key: &Key,
    new: &str,
) -> Result<Applied, Verdict> {
    let change = Change {
        key: key.clone(),
        new: new.to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    };
    Ok(apply(journal, host, change)?)
}

/// Also what a process that runs has changed: it is this one.
fn undone(journal: &mut Journal, host: &mut Host) -> Result<Vec<Restored>, Verdict> {
    Ok(restore(journal, host, BOOT, true)?)
}

fn keys(host: &Host) -> io::Result<Vec<Key>> {
    let key = |(name, _): (&str, &str)| match name.starts_with("sysctl") {
        true => Ok(host.key(name)),
        false => host.key_of(name, INTERFACE),
    };
    let all = SETTINGS.into_iter().chain(SETTINGS_OF_ROOT);
    all.map(key).collect()
}

/// All of these, and the queues and offloads that they could have changed as well.
fn state(host: &mut Host, keys: &[Key]) -> Result<BTreeMap<String, String>, Verdict> {
    let mut all = BTreeMap::new();
    for key in keys {
        all.insert(key.to_string(), host.read(key)?);
    }
    for (command, values) in nic::settings::read(INTERFACE) {
        let named = values.into_iter();
        all.extend(named.map(|(name, value)| (format!("{command} {name}"), value)));
    }
    Ok(all)
}

fn ip(words: &str) -> Outcome {
    run("ip", words)
}

fn run(program: &str, words: &str) -> Outcome {
    let ended = std::process::Command::new(program)
        .args(words.split(' '))
        .output();
    match ended {
        Ok(ended) if ended.status.success() => Ok(()),
        Ok(ended) => Err(Verdict::Failed(format!(
            "{program} {words}: {}",
            String::from_utf8_lossy(&ended.stderr)
        ))),
        Err(why) => Err(Verdict::Skipped(format!("{program}: {why}"))),
    }
}

/// Each kind, with a handle of a person's and the kernel's.
const DISCIPLINES: [&str; 11] = [
    "default",
    "pfifo limit 16",
    "bfifo limit 30000",
    "fq flow_limit 50 maxrate 100mbit nopacing",
    "handle 5: pfifo limit 7",
    "handle 6: fq",
    "fq_codel target 7ms flows 256 noecn",
    "codel limit 100",
    "tbf rate 100mbit burst 3000 limit 60000",
    "tbf rate 4000000bit burst 5000 limit 9000",
    "mq",
];
const QDISC: &str = "tc qdisc root";
const INTERFACE: &str = "eth0";
const BOOT: &str = "this boot";
