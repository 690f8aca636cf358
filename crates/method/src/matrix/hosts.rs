// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which hosts a run was made on: a matrix may be continued on others (`--other-host`).

use std::collections::BTreeSet;

use linerate_model::cell_run::CellRun;
use linerate_model::order::Gather as _;
use linerate_model::output::{CellState, Host, RanOn, Role};

/// A text for each end, the local one first; `has_drivers`: the driver belongs to the host, and is not set by cells.
pub fn hosts(hosts: &[Host], has_drivers: bool) -> Vec<String> {
    let ends = [Role::Local, Role::Remote];
    let ends = ends
        .iter()
        .filter_map(|role| hosts.iter().find(|host| host.role == *role));
    ends.map(|host| identity(host, has_drivers)).collect()
}

/// `key=value` words: the name has the key by which it is redacted.
fn identity(host: &Host, has_drivers: bool) -> String {
    let drivers = host.interfaces.iter().filter_map(|one| one.driver.clone());
    let drivers: BTreeSet<String> = drivers.filter(|_| has_drivers).gather();
    let drivers: Vec<String> = drivers.into_iter().collect();
    let known = [
        ("hostname", host.hostname.clone()),
        ("kernel", host.kernel.clone()),
        ("processors", host.cpus.map(|cpus| cpus.to_string())),
        ("processor", host.cpu_model.clone()),
        (
            "driver",
            Some(drivers.join(",")).filter(|all| !all.is_empty()),
        ),
    ];
    let words = known.into_iter();
    let words = words.filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    words.collect::<Vec<_>>().join(" ")
}

/// The hosts of the runs that count, in order of appearance; empty where all ran on the same, or it was not recorded.
pub(super) fn ran_on(runs: &[CellRun]) -> Vec<RanOn> {
    let mut all: Vec<RanOn> = Vec::new();
    let counts = |run: &&CellRun| run.state == CellState::Done && !run.hosts.is_empty();
    for run in runs.iter().filter(counts) {
        match all.iter_mut().find(|known| known.hosts == run.hosts) {
            Some(known) => known.runs += 1,
            None => all.push(RanOn {
                hosts: run.hosts.clone(),
                runs: 1,
            }),
        }
    }
    if all.len() < 2 {
        all.clear();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Interface;

    fn host(role: Role, name: &str, drivers: &[&str]) -> Host {
        let interface = |driver: &&str| Interface {
            driver: Some((*driver).to_owned()),
            ..Interface::default()
        };
        Host {
            role,
            hostname: Some(name.to_owned()),
            kernel: Some("6.1".to_owned()),
            cpus: Some(2),
            interfaces: drivers.iter().map(interface).collect(),
            ..Host::default()
        }
    }

    #[test]
    fn both_ends_are_named_the_local_one_first() {
        let ends = [
            host(Role::Remote, "b", &[]),
            host(Role::Local, "a", &["qfe", "hme", "qfe"]),
        ];
        let a = "hostname=a kernel=6.1 processors=2";
        let b = "hostname=b kernel=6.1 processors=2";
        assert_eq!(
            hosts(&ends, true),
            [format!("{a} driver=hme,qfe"), b.to_owned()]
        );
        assert_eq!(hosts(&ends, false), [a, b]);
        assert_eq!(hosts(&[], true), [""; 0]);
    }

    #[test]
    fn runs_are_counted_by_their_hosts_where_these_differ() {
        let run = |host: &str, state| CellRun {
            state,
            hosts: vec![host.to_owned(); usize::from(!host.is_empty())],
            ..CellRun::default()
        };
        let done = |host| run(host, CellState::Done);
        let mut runs = vec![done("a"), done(""), run("c", CellState::Failed), done("a")];
        assert_eq!(ran_on(&runs), []);
        runs.extend([done("b"), done("a")]);
        let counted = ran_on(&runs);
        let counted: Vec<_> = counted
            .iter()
            .map(|one| (one.hosts[0].as_str(), one.runs))
            .collect();
        assert_eq!(counted, [("a", 3), ("b", 1)]);
    }
}
