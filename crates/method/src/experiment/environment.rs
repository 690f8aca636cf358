// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other differences between two groups of runs: kernel, driver, settings, the plan itself. An effect is due to
//! everything that changed, not only to the intended change.

use std::collections::{BTreeMap, BTreeSet};

use linerate_model::output::{Difference, Host, Role};
use linerate_model::run::Run;

/// Returns the differences between the groups, most important first. What one group did not read is unknown,
/// not different.
pub fn differences(before: &[&Run], after: &[&Run]) -> Vec<Difference> {
    let [before, after] = [before, after].map(facts);
    let shared = before.iter().filter_map(|(fact, values)| {
        let others = after.get(fact)?;
        (values != others).then(|| fact.difference(values, others))
    });
    shared.collect()
}

/// One property of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Fact {
    /// 0 is the most important.
    weight: u8,
    host: Option<u8>,
    what: String,
    interface: Option<String>,
}

impl Fact {
    fn difference(&self, before: &BTreeSet<String>, after: &BTreeSet<String>) -> Difference {
        Difference {
            what: self.what.clone(),
            host: self.host.map(|at| ROLES[usize::from(at)]),
            interface: self.interface.clone(),
            before: before.iter().cloned().collect(),
            after: after.iter().cloned().collect(),
        }
    }
}

type Facts = BTreeMap<Fact, BTreeSet<String>>;

/// All facts with their values among the runs.
fn facts(runs: &[&Run]) -> Facts {
    let mut facts = Facts::new();
    for run in runs {
        let mut learn = |fact, value: &str| {
            facts.entry(fact).or_default().insert(value.to_owned());
        };
        of_command(run, &mut learn);
        run.hosts.iter().for_each(|host| of_host(host, &mut learn));
        of_settings(run, &mut learn);
    }
    facts
}

fn of_command(run: &Run, learn: &mut impl FnMut(Fact, &str)) {
    let of_plan = |what: String| Fact {
        weight: 3,
        host: None,
        what,
        interface: None,
    };
    learn(of_plan("linerate".to_owned()), &run.tool.version);
    learn(of_plan("command".to_owned()), &run.kind);
    let options = run
        .plan
        .iter()
        .filter(|(name, _)| !LOOKS.contains(&name.as_str()));
    options
        .for_each(|(name, value)| learn(of_plan(format!("--{}", name.replace('_', "-"))), value));
}

fn of_host(host: &Host, learn: &mut impl FnMut(Fact, &str)) {
    let mut add = |weight, what: &str, interface: Option<&str>, value: Option<String>| {
        if let Some(value) = value {
            learn(fact(weight, host.role, what, interface), &value);
        }
    };
    add(0, "kernel", None, host.kernel.clone());
    add(0, "host", None, host.hostname.clone());
    add(0, "processor", None, host.cpu_model.clone());
    add(
        0,
        "processors",
        None,
        host.cpus.map(|cpus| cpus.to_string()),
    );
    let boot = host
        .boot_id
        .as_deref()
        .map(|id| id.chars().take(8).collect());
    add(1, "boot", None, boot);
    for interface in &host.interfaces {
        let name = Some(interface.name.as_str());
        add(0, "driver", name, interface.driver.clone());
        add(0, "mtu", name, interface.mtu.map(|mtu| mtu.to_string()));
        let speed = interface.link_bits_per_second;
        add(0, "link bit/s", name, speed.map(|speed| speed.to_string()));
    }
}

fn of_settings(run: &Run, learn: &mut impl FnMut(Fact, &str)) {
    let kept = run
        .settings
        .iter()
        .filter(|setting| !OF_THE_MOMENT.contains(&setting.source.as_str()));
    for setting in kept {
        let interface = setting.interface.as_deref();
        // The interface has its MTU already.
        let known = |name: &str| setting.source == "ip link" && name == "mtu";
        for (name, value) in setting.values.iter().filter(|(name, _)| !known(name)) {
            let what = match setting.source.strip_prefix("/proc/") {
                Some(_) if setting.values.len() == 1 => name.clone(),
                _ => format!("{} {name}", setting.source),
            };
            learn(fact(2, setting.host, &what, interface), value);
        }
    }
}

/// What differs from run to run although nothing was changed.
const OF_THE_MOMENT: [&str; 4] = ["/proc/meminfo", "ip address", "ip link address", "ip neigh"];

fn fact(weight: u8, role: Role, what: &str, interface: Option<&str>) -> Fact {
    let at = ROLES.iter().position(|known| *known == role).unwrap_or(0);
    Fact {
        weight,
        host: Some(at as u8),
        what: what.to_owned(),
        interface: interface.map(str::to_owned),
    }
}

const ROLES: [Role; 3] = [Role::Local, Role::Remote, Role::Device];
/// Options that only affect the presentation of results.
const LOOKS: [&str; 11] = [
    "ascii",
    "color",
    "expect",
    "json",
    "json_stream",
    "output",
    "quiet",
    "title",
    "verbose",
    "port",
    "interval",
];

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::setting::Setting;

    fn run(kernel: &str, tso: &str, out: &str) -> Run {
        let host = Host {
            kernel: Some(kernel.to_owned()),
            ..Host::default()
        };
        let offload = Setting {
            source: "ethtool -k".to_owned(),
            interface: Some("eth0".to_owned()),
            values: [("tx-tcp-segmentation".to_owned(), tso.to_owned())].into(),
            ..Setting::default()
        };
        let cmdline = Setting {
            source: "/proc/cmdline".to_owned(),
            values: [("cmdline".to_owned(), format!("quiet kernel={kernel}"))].into(),
            ..Setting::default()
        };
        Run {
            hosts: vec![host],
            settings: vec![offload, cmdline],
            plan: [
                ("output".to_owned(), out.to_owned()),
                ("bitrate".to_owned(), "400M".to_owned()),
            ]
            .into(),
            ..Run::default()
        }
    }

    #[test]
    fn what_else_differs_is_found_and_what_only_looks_different_is_not() {
        let (old, new) = (run("5.10", "on", "/a"), run("6.1", "off", "/b"));
        let found = differences(&[&old, &old], &[&new]);
        let names: Vec<_> = found.iter().map(|one| one.what.as_str()).collect();
        assert_eq!(
            names,
            ["kernel", "cmdline", "ethtool -k tx-tcp-segmentation"]
        );
        assert_eq!(
            (&found[0].before, &found[0].after),
            (&vec!["5.10".to_owned()], &vec!["6.1".to_owned()])
        );
        assert_eq!(found[2].interface.as_deref(), Some("eth0"));
        assert!(differences(&[&old], &[&run("5.10", "on", "/c")]).is_empty());
    }

    #[test]
    fn a_group_that_is_not_of_one_kind_says_so() {
        let (old, new) = (run("5.10", "on", ""), run("6.1", "on", ""));
        let found = differences(&[&old, &new], &[&new]);
        assert_eq!(found[0].before, ["5.10", "6.1"]);
        assert_eq!(found[0].after, ["6.1"]);
    }

    #[test]
    fn what_was_not_read_is_no_difference() {
        let (read, unread) = (run("5.10", "on", ""), Run::default());
        assert!(
            differences(&[&read], &[&unread])
                .iter()
                .all(|one| one.host.is_none())
        );
    }
}
