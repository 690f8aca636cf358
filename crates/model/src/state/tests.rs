// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is a difference, and what is not.

use super::*;

fn setting(source: &str, interface: Option<&str>, values: &[(&str, &str)]) -> Setting {
    let values = values.iter();
    Setting {
        source: source.to_owned(),
        interface: interface.map(str::to_owned),
        values: values
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Setting::default()
    }
}

/// The titles of what moved between two readings of one source.
fn moves(
    source: &str,
    before: &[(&str, &str)],
    after: &[(&str, &str)],
) -> Vec<(String, MovedKind)> {
    let [before, after] = [before, after].map(|values| setting(source, None, values));
    let all = difference(&[before], &[after]);
    all.into_iter().map(|one| (one.name, one.kind)).collect()
}

#[test]
fn a_setting_that_a_program_writes_is_a_difference() {
    use MovedKind::Setting;
    for (source, name, before, after) in [
        ("sysctl", "net.ipv4.tcp_rmem", "1 2 3", "1 2 4"),
        ("ethtool -k", "rx-gro", "on", "off"),
        ("ethtool -g", "RX", "256", "512"),
        ("ip link", "txqueuelen", "1000", "100"),
        ("tc qdisc", "root", "fq", "fq_codel"),
        ("/sys/class/net/queues", "rx-0.rps_cpus", "0", "3"),
        ("/proc/irq/24", "smp_affinity_list", "0", "1"),
        (
            "/sys/devices/system/cpu/cpu0/cpufreq",
            "scaling_governor",
            "powersave",
            "performance",
        ),
    ] {
        let moved = moves(source, &[(name, before)], &[(name, after)]);
        assert_eq!(moved, [(name.to_owned(), Setting)], "{source}");
        assert_eq!(moves(source, &[(name, before)], &[(name, before)]), []);
    }
}

#[test]
fn what_always_changes_is_no_difference() {
    for (source, name, before, after) in [
        ("sysctl", "net.netfilter.nf_conntrack_count", "7", "9"),
        (
            "sysctl",
            "net.ipv4.tcp_available_congestion_control",
            "cubic",
            "cubic bbr",
        ),
        ("/proc/meminfo", "MemFree", "100", "90"),
        (
            "ip neigh",
            "10.0.0.1",
            "02:00:00:00:00:01",
            "02:00:00:00:00:02",
        ),
        ("ip link", "flags", "UP", "UP,PROMISC"),
        (
            "/sys/devices/system/cpu/cpu0/cpufreq",
            "scaling_cur_freq",
            "4800000",
            "800000",
        ),
        ("/sys/class/thermal/thermal_zone0", "temp", "45000", "52000"),
    ] {
        assert_eq!(
            moves(source, &[(name, before)], &[(name, after)]),
            [],
            "{source}"
        );
    }
}

#[test]
fn what_adaptive_moderation_chose_is_no_difference_and_switching_it_is() {
    let moderation = |adaptive, rx, tx| {
        [
            ("adaptive-rx", adaptive),
            ("adaptive-tx", "off"),
            ("rx-usecs", rx),
            ("tx-usecs", tx),
        ]
    };
    let of = |before: [(&str, &str); 4], after: [(&str, &str); 4]| {
        let names = moves("ethtool -c", &before, &after);
        names.into_iter().map(|one| one.0).collect::<Vec<_>>()
    };
    let on = moderation("on", "8", "50");
    assert_eq!(of(on, moderation("on", "64", "50")), [""; 0]);
    assert_eq!(of(on, moderation("on", "8", "10")), ["tx-usecs"]);
    let off = moderation("off", "64", "50");
    assert_eq!(of(on, off), ["adaptive-rx"]);
}

#[test]
fn a_clock_is_compared_only_where_it_was_busy_and_throttling_only_grows() {
    let busy = |after: &str| {
        let values = [(BUSY_BEFORE, "4000000"), (BUSY_AFTER, after)];
        let read = [setting(BUSY_CLOCK, None, &values)];
        let moved = StateVector::default().update(&read);
        moved.first().map(|one| (one.before.clone(), one.kind))
    };
    assert_eq!(busy("3700000"), None, "turbo");
    let fell = Some(("4000000".to_owned(), MovedKind::Clock));
    assert_eq!(busy("3000000"), fell);
    let throttled = |before, after| {
        let name = "core_throttle_count";
        moves(
            "/sys/devices/system/cpu/thermal_throttle",
            &[(name, before)],
            &[(name, after)],
        )
    };
    assert_eq!(throttled("9", "10").len(), 1);
    assert_eq!(throttled("10", "0"), [], "the counter of another processor");
}

#[test]
fn a_temperature_is_a_difference_where_it_crosses_a_trip_point() {
    let zone = |temp: &'static str| [("temp", temp), ("trip_0_passive", "80000"), ("type", "cpu")];
    let of = |before, after| {
        moves(
            "/sys/class/thermal/thermal_zone0",
            &zone(before),
            &zone(after),
        )
    };
    assert_eq!(of("45000", "79999"), []);
    assert_eq!(
        of("79999", "80000"),
        [("temp".to_owned(), MovedKind::Temperature)]
    );
    assert_eq!(of("90000", "60000").len(), 1, "it had throttled");
    let sensor = |one: &'static str, other: &'static str| {
        [
            ("temp1_input", one),
            ("temp1_crit", "100000"),
            ("temp2_input", other),
            ("temp2_max", "70000"),
        ]
    };
    let moved = moves(
        "/sys/class/hwmon/hwmon2",
        &sensor("65000", "65000"),
        &sensor("75000", "75000"),
    );
    assert_eq!(moved, [("temp2_input".to_owned(), MovedKind::Temperature)]);
}

#[test]
fn an_affinity_that_is_written_is_one_difference() {
    let irq = |wanted: &'static str, effective: &'static str| {
        [
            ("effective_affinity_list", effective),
            ("smp_affinity_list", wanted),
        ]
    };
    let names = |before: [(&str, &str); 2], after: [(&str, &str); 2]| {
        let all = moves("/proc/irq/24", &before, &after);
        all.into_iter().map(|one| one.0).collect::<Vec<_>>()
    };
    assert_eq!(names(irq("0-3", "0"), irq("1", "1")), ["smp_affinity_list"]);
    assert_eq!(
        names(irq("0-3", "0"), irq("0-3", "2")),
        ["effective_affinity_list"]
    );
}

#[test]
fn what_was_not_read_is_unknown_and_each_host_has_its_own() {
    let of = |host, value| Setting {
        host,
        ..setting("sysctl", None, &[("vm.swappiness", value)])
    };
    let mut state = StateVector::default();
    assert_eq!(
        state.update(&[of(Role::Local, "60")]),
        [],
        "the first reading"
    );
    assert_eq!(state.update(&[of(Role::Remote, "10")]), []);
    let partial = setting("sysctl", None, &[("vm.min_free_kbytes", "5")]);
    assert_eq!(state.update(&[partial]), []);
    let moved = state.update(&[of(Role::Local, "10")]);
    let [one] = &moved[..] else {
        panic!("{moved:?}");
    };
    assert_eq!((one.before.as_str(), one.after.as_str()), ("60", "10"));
    assert!(one.is_of(Role::Local, "sysctl", None, "vm.swappiness"));
    assert_eq!(state.update(&[of(Role::Local, "10")]), [], "known by now");
}

#[test]
fn the_digest_of_a_state_is_that_of_its_settings_whatever_their_order() {
    let settings = [
        setting(
            "sysctl",
            None,
            &[("vm.swappiness", "60"), ("net.core.x_count", "1")],
        ),
        setting("ethtool -k", Some("eth0"), &[("rx-gro", "on")]),
        setting("/proc/version", None, &[("version", "6.12")]),
    ];
    let mut state = StateVector::default();
    state.learn(&settings);
    let mut reversed = settings.to_vec();
    reversed.reverse();
    assert_eq!(state.digest(Role::Local), digest(&reversed));
    assert_eq!(state.digest(Role::Remote), 0);
    let mut counted = settings.clone();
    counted[0]
        .values
        .insert("net.core.x_count".to_owned(), "2".to_owned());
    assert_eq!(digest(&counted), digest(&settings));
    let mut changed = settings.clone();
    changed[1]
        .values
        .insert("rx-gro".to_owned(), "off".to_owned());
    assert_ne!(digest(&changed), digest(&settings));
}
