// SPDX-License-Identifier: MIT OR Apache-2.0
//! Owners, and what is concluded from a setting that changed.

use super::*;
use crate::explain::explain;
use crate::rules;
use linerate_model::output::Output;

fn setting(host: Role, source: &str, values: &[(&str, &str)]) -> Setting {
    let values = values.iter();
    Setting {
        host,
        source: source.to_owned(),
        values: values
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Setting::default()
    }
}

fn moved(host: Role, source: &str, name: &str) -> Moved {
    Moved {
        host,
        source: source.to_owned(),
        name: name.to_owned(),
        before: "1".to_owned(),
        after: "2".to_owned(),
        ..Moved::default()
    }
}

/// irqbalance runs here and tuned at the other end; a sysctl changed at both.
fn record() -> Record {
    let rmem = [("net.ipv4.tcp_rmem", "1"), ("net.ipv4.tcp_wmem", "1")];
    let run = Run {
        settings: vec![
            setting(
                Role::Local,
                PROGRAMS,
                &[("irqbalance", "interrupt affinity")],
            ),
            setting(Role::Remote, PROGRAMS, &[("tuned", "sysctls")]),
            setting(Role::Local, "sysctl", &rmem),
            setting(Role::Remote, "sysctl", &rmem),
        ],
        moved: vec![
            moved(Role::Local, "sysctl", "net.ipv4.tcp_rmem"),
            moved(Role::Remote, "sysctl", "net.ipv4.tcp_rmem"),
            moved(Role::Local, "/proc/irq/24", "smp_affinity_list"),
        ],
        ..Run::default()
    };
    Record::of_run(run, Vec::new())
}

#[test]
fn the_owner_is_a_program_of_the_same_host() {
    let all = named(&record().run);
    let owners: Vec<_> = all.iter().map(|one| one.owner.as_deref()).collect();
    assert_eq!(owners, [None, Some("tuned"), Some("irqbalance")]);
}

#[test]
fn a_program_that_started_during_the_test_is_seen_in_the_later_list() {
    let mut record = record();
    record
        .run
        .settings
        .push(setting(Role::Local, PROGRAMS, &[("tuned", "sysctls")]));
    let all = named(&record.run);
    assert_eq!(all[0].owner.as_deref(), Some("tuned"));
}

#[test]
fn what_changed_is_not_a_fact_and_the_rest_is() {
    let record = record();
    let facts = without(&record).unwrap();
    let of = |name: &str| -> Vec<bool> {
        let sysctls = facts
            .run
            .settings
            .iter()
            .filter(|one| one.source == "sysctl");
        sysctls.map(|one| one.values.contains_key(name)).collect()
    };
    assert_eq!(of("net.ipv4.tcp_rmem"), [false, false]);
    assert_eq!(of("net.ipv4.tcp_wmem"), [true, true]);
    assert_eq!(facts.run.moved, record.run.moved);
    let mut warm = record;
    warm.run
        .moved
        .iter_mut()
        .for_each(|one| one.kind = MovedKind::Temperature);
    assert_eq!(without(&warm), None, "no setting changed");
}

#[test]
fn the_document_names_the_owner_and_the_command_that_finds_an_unknown_one() {
    let explanation = explain(&record(), rules::embedded());
    let mut output = Output::default();
    explanation.add_to(&mut output, false);
    assert_eq!(output.moved, named(&record().run));
    let commands: Vec<_> = output
        .next_commands
        .iter()
        .filter(|line| line.starts_with("bpftrace"))
        .collect();
    let [command] = &commands[..] else {
        panic!("{commands:?}");
    };
    assert!(
        command.contains("\"/proc/sys/net/ipv4/tcp_rmem\", 27) == 0"),
        "{command}"
    );
}

#[test]
fn each_kind_of_setting_has_its_command() {
    let mut queue = moved(Role::Remote, "/sys/class/net/queues", "rx-0.rps_cpus");
    queue.interface = Some("eth0".to_owned());
    let command = watch_command(&queue);
    assert!(
        command.contains("/sys/class/net/eth0/queues/rx-0/rps_cpus"),
        "{command}"
    );
    assert!(command.ends_with("at the other end"));
    let irq = watch_command(&moved(Role::Local, "/proc/irq/24", "smp_affinity_list"));
    assert!(
        irq.contains("\"/proc/irq/24/smp_affinity\""),
        "the mask or the list: {irq}"
    );
    let feature = watch_command(&moved(Role::Local, "ethtool -k", "rx-gro"));
    assert_eq!(feature, WATCH_COMMANDS);
    let four = ["a", "b", "c", "d"].map(|name| moved(Role::Local, "sysctl", name));
    assert_eq!(watch_commands(&four).len(), MOST_COMMANDS);
}
