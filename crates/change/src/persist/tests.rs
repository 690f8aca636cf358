// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes where.

mod conflicts;

use super::*;
use crate::entry::Device;

const NETNS: u64 = 4_026_531_840;

fn around() -> Surroundings {
    let eth0 = Interface {
        id_path: Some("pci-0000:00:1f.6".to_owned()),
        port: Some("0".to_owned()),
        sysfs: Some("/sys/devices/pci0000:00/0000:00:1f.6/net/eth0".to_owned()),
        ..Interface::default()
    };
    let tool = |name: &str| (name.to_owned(), format!("/usr/sbin/{name}"));
    Surroundings {
        date: "2026-11-29T02:00:00Z".to_owned(),
        systemd: Some(252),
        netns: Some(NETNS),
        interfaces: [("eth0".to_owned(), eth0)].into(),
        tools: ["ethtool", "ip", "tc"].map(tool).into(),
        tuned_reapplies: true,
        ..Surroundings::default()
    }
}

fn of_namespace(knob: &str, value: &str) -> Kept {
    Kept {
        key: Key {
            knob: knob.to_owned(),
            place: Place::Namespace { netns: NETNS },
        },
        value: value.to_owned(),
        because: "B05: +12 %".to_owned(),
    }
}

fn of_interface(knob: &str, value: &str) -> Kept {
    let device = Device {
        name: "eth0".to_owned(),
        index: 2,
        permanent_address: Some("52:54:00:12:34:56".to_owned()),
        bus: Some("0000:00:1f.6".to_owned()),
    };
    let mut kept = of_namespace(knob, value);
    kept.key.place = Place::Interface {
        netns: NETNS,
        device,
    };
    kept
}

fn of_host(knob: &str, value: &str) -> Kept {
    let mut kept = of_namespace(knob, value);
    kept.key.place = Place::Host;
    kept
}

fn planned(kept: Kept, around: &Surroundings) -> Result<Vec<DropIn>, Refusal> {
    persist(&[kept], around).remove(0)
}

/// Path and last line of the only file.
fn file(kept: Kept, around: &Surroundings) -> (String, String) {
    let files = planned(kept, around).unwrap();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(is_ours(&files[0].path), "{}", files[0].path);
    let last = files[0].content.lines().last().unwrap();
    (files[0].path.clone(), last.to_owned())
}

fn why(kept: Kept, around: &Surroundings) -> String {
    planned(kept, around).unwrap_err().why
}

fn config(path: &str, text: &str) -> Config {
    Config {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

const RMEM: &str = "sysctl net.ipv4.tcp_rmem";

#[test]
fn a_sysctl_has_a_file_with_why_when_and_how_it_is_removed() {
    let kept = of_namespace(RMEM, "4096 131072 16777216");
    let file = planned(kept, &around()).unwrap().remove(0);
    let path = "/etc/sysctl.d/90-linerate-net.ipv4.tcp_rmem.conf";
    assert_eq!(
        file,
        DropIn {
            path: path.to_owned(),
            content: format!(
                "# Written by linerate, 2026-11-29T02:00:00Z.\n\
                 # Why: B05: +12 %\n\
                 # Remove: linerate tune restore --kept\n\
                 # or: rm {path}\n\
                 net.ipv4.tcp_rmem = 4096 131072 16777216\n"
            ),
            activates: vec![format!("sysctl --load={path}")],
            removes: format!("rm {path}"),
        }
    );
}

#[test]
fn a_sysctl_wins_over_the_files_that_set_it_or_has_none() {
    let with = |files: &[(&str, &str)]| Surroundings {
        sysctls: files
            .iter()
            .map(|(path, text)| config(path, text))
            .collect(),
        ..around()
    };
    let kept = || of_namespace(RMEM, "4096 131072 16777216");
    let number = |files: &[(&str, &str)]| file(kept(), &with(files)).0[14..16].to_owned();
    let set = "net/ipv4/tcp_rmem=1 2 3\n";
    assert_eq!(number(&[("/usr/lib/sysctl.d/50-default.conf", set)]), "90");
    assert_eq!(number(&[("/etc/sysctl.d/95-buffers.conf", set)]), "99");
    assert_eq!(
        number(&[(
            "/etc/sysctl.d/95-other.conf",
            "net.ipv4.tcp_wmem=1 2 3\n#net.ipv4.tcp_rmem=1\n"
        )]),
        "90"
    );
    // A pattern does not win over a name.
    assert_eq!(
        number(&[("/etc/sysctl.d/95-all.conf", "net.ipv4.tcp_*mem=1 2 3\n")]),
        "90"
    );
    let own = "/etc/sysctl.d/90-linerate-net.ipv4.tcp_rmem.conf";
    assert_eq!(number(&[(own, set)]), "90");
    for last in [
        "/etc/sysctl.d/99-sysctl.conf",
        "/etc/sysctl.conf",
        "/run/sysctl.d/zz.conf",
    ] {
        let files = [("/etc/sysctl.d/95-buffers.conf", set), (last, set)];
        let refusal = planned(kept(), &with(&files)).unwrap_err();
        assert_eq!(
            refusal.why,
            format!("{last} sets it to 1 2 3, and is read last")
        );
        assert_eq!(
            refusal.by_hand,
            [format!("{last}: net.ipv4.tcp_rmem = 4096 131072 16777216")]
        );
    }
    let same = "net.ipv4.tcp_rmem = 4096\t131072 16777216";
    let said = why(kept(), &with(&[("/etc/sysctl.d/99-x.conf", same)]));
    assert_eq!(said, "/etc/sysctl.d/99-x.conf sets it already");
}

/// A slash stands for the dot of an interface's name.
#[test]
fn a_sysctl_of_a_vlan_is_the_same_in_either_spelling() {
    let kept = of_namespace("sysctl net.ipv4.conf.eth0/100.rp_filter", "2");
    let mut around = around();
    let (path, line) = file(kept.clone(), &around);
    assert_eq!(
        path,
        "/etc/sysctl.d/90-linerate-net.ipv4.conf.eth0-100.rp_filter.conf"
    );
    assert_eq!(line, "net.ipv4.conf.eth0/100.rp_filter = 2");
    around.sysctls = vec![config(
        "/etc/sysctl.d/99-zz.conf",
        "net/ipv4/conf/eth0.100/rp_filter=0",
    )];
    assert!(why(kept, &around).contains("is read last"));
}

#[test]
fn a_sysctl_of_a_module_is_refused_with_what_to_do() {
    let kept = of_namespace("sysctl net.netfilter.nf_conntrack_buckets", "65536");
    let refusal = planned(kept, &around()).unwrap_err();
    assert!(refusal.why.contains("nf_conntrack is loaded"));
    assert_eq!(
        refusal.by_hand[0],
        "/etc/modules-load.d/nf_conntrack.conf: nf_conntrack"
    );
}

#[test]
fn settings_of_an_interface_are_udev_rules_for_the_device() {
    let matches =
        "ACTION==\"add|change\", SUBSYSTEM==\"net\", ENV{ID_PATH}==\"pci-0000:00:1f.6\", ";
    for (knob, value, name, action) in [
        (
            "ip link txqueuelen",
            "500",
            "ip-link-txqueuelen",
            "ATTR{tx_queue_len}=\"500\"",
        ),
        (
            "sysfs threaded",
            "1",
            "sysfs-threaded",
            "ATTR{threaded}=\"1\"",
        ),
        (
            "sysfs queues/rx-0/rps_cpus",
            "3",
            "sysfs-queues-rx-0-rps_cpus",
            "RUN+=\"/bin/sh -c 'echo 3 > /sys/class/net/$name/queues/rx-0/rps_cpus'\"",
        ),
        (
            "ethtool -G rx",
            "4096",
            "ethtool-G-rx",
            "RUN+=\"/usr/sbin/ethtool -G $name rx 4096\"",
        ),
        (
            "ethtool -K rx-gro-list",
            "off",
            "ethtool-K-rx-gro-list",
            "RUN+=\"/usr/sbin/ethtool -K $name rx-gro-list off\"",
        ),
    ] {
        let (path, line) = file(of_interface(knob, value), &around());
        assert_eq!(
            path,
            format!("/etc/udev/rules.d/90-linerate-eth0-{name}.rules")
        );
        assert_eq!(line, format!("{matches}{action}"));
    }
}

#[test]
fn a_rule_names_the_port_the_address_or_the_virtual_interface() {
    let with = |interface: Interface| Surroundings {
        interfaces: [("eth0".to_owned(), interface)].into(),
        ..around()
    };
    let rule = |kept, interface| file(kept, &with(interface)).1;
    let kept = || of_interface("ip link txqueuelen", "500");
    let second = Interface {
        id_path: Some("pci-0000:00:1f.6".to_owned()),
        port: Some("1".to_owned()),
        ..Interface::default()
    };
    assert!(
        rule(kept(), second)
            .contains("ENV{ID_PATH}==\"pci-0000:00:1f.6\", ATTR{dev_port}==\"1\", ")
    );
    assert!(rule(kept(), Interface::default()).contains("ATTR{address}==\"52:54:00:12:34:56\", "));
    let mut without = kept();
    if let Place::Interface { device, .. } = &mut without.key.place {
        device.permanent_address = None;
    }
    let bridge = Interface {
        is_virtual: true,
        ..Interface::default()
    };
    assert!(rule(without.clone(), bridge).contains("DEVPATH==\"/devices/virtual/net/eth0\", "));
    assert!(
        why(without, &with(Interface::default())).contains("another device could get its name")
    );
}

#[test]
fn a_link_file_is_extended_only_if_it_is_for_this_device_alone() {
    let with = |systemd, text: &str| {
        let mut around = around();
        around.systemd = Some(systemd);
        if let Some(eth0) = around.interfaces.get_mut("eth0") {
            eth0.link = Some(config("/etc/systemd/network/10-lan.link", text));
        }
        around
    };
    let own = "[Match]\nPermanentMACAddress=52:54:00:12:34:56\n[Link]\nName=lan\n";
    let kept = || of_interface("ethtool -G rx tx", "4096 1024");
    let file = planned(kept(), &with(252, own)).unwrap().remove(0);
    assert_eq!(
        file.path,
        "/etc/systemd/network/10-lan.link.d/90-linerate-eth0-ethtool-G-rx-tx.conf"
    );
    assert!(
        file.content
            .ends_with("\n[Link]\nRxBufferSize=4096\nTxBufferSize=1024\n")
    );
    let is_rule = |around: &Surroundings, kept: Kept| {
        planned(kept, around).unwrap()[0]
            .path
            .starts_with("/etc/udev/rules.d/")
    };
    for all in [
        "[Match]\nOriginalName=*\n",
        "[Match]\nPath=pci-0000:00:*\n",
        "[Match]\nPermanentMACAddress=52:54:00:12:34:57\n",
        "[Link]\nPermanentMACAddress=52:54:00:12:34:56\n",
    ] {
        assert!(is_rule(&with(252, all), kept()), "{all}");
    }
    assert!(is_rule(&with(249, own), kept()), "an old systemd");
    let unknown = of_interface("ethtool -K rx-gro-list", "on");
    assert!(
        is_rule(&with(252, own), unknown),
        "no key of systemd.link(5)"
    );
    let usecs = planned(of_interface("ethtool -C rx-usecs", "50"), &with(252, own)).unwrap();
    assert!(usecs[0].content.ends_with("[Link]\nRxCoalesceSec=50us\n"));
}

#[test]
fn what_needs_the_interface_up_is_a_unit_that_its_device_wants() {
    let mut around = around();
    let files = planned(of_interface("ethtool -A rx", "on"), &around).unwrap();
    let [unit, rule] = files.as_slice() else {
        panic!("{files:?}");
    };
    assert!(is_ours(&unit.path) && is_ours(&rule.path));
    assert_eq!(
        unit.path,
        "/etc/systemd/system/linerate-eth0-ethtool-A-rx@.service"
    );
    assert_eq!(
        rule.path,
        "/etc/udev/rules.d/90-linerate-eth0-ethtool-A-rx.rules"
    );
    assert!(
        rule.content.ends_with(
            "\nACTION!=\"remove\", SUBSYSTEM==\"net\", ENV{ID_PATH}==\"pci-0000:00:1f.6\", \
             ENV{SYSTEMD_WANTS}+=\"linerate-eth0-ethtool-A-rx@.service\"\n"
        ),
        "{}",
        rule.content
    );
    assert!(
        unit.content
            .contains("\nBindsTo=%i.device\nAfter=%i.device\n")
    );
    assert!(
        unit.content
            .ends_with("name=$${PWD##*/}; /usr/sbin/ethtool -A $$name rx on\"\n"),
        "{}",
        unit.content
    );
    assert_eq!(unit.removes, format!("rm {} {}", unit.path, rule.path));
    assert_eq!((&rule.removes, rule.activates.len()), (&unit.removes, 0));
    around.systemd = Some(219);
    assert!(why(of_interface("ethtool -A rx", "on"), &around).contains("before version 235"));
}

#[test]
fn an_interrupt_is_found_by_its_name() {
    let mut around = around();
    around.interrupts = [(30, "acpi"), (32, "shared"), (33, "shared"), (35, "a b")]
        .map(|(number, name)| (number, name.to_owned()))
        .into();
    let files = planned(of_host("irq 30", "0-1"), &around).unwrap();
    assert!(
        files[0]
            .content
            .contains("*\\\" acpi\\\") echo 0-1 > /proc/irq/$${n%%:}/smp_affinity_list; "),
        "{}",
        files[0].content
    );
    assert_eq!(
        files[1].path,
        "/etc/systemd/system/multi-user.target.d/90-linerate-irq-30.conf"
    );
    assert!(why(of_host("irq 32", "0"), &around).contains("is not unique"));
    assert!(why(of_host("irq 34", "0"), &around).contains("has no name"));
    assert!(why(of_host("irq 35", "0"), &around).contains("literally"));
    around.programs = vec!["irqbalance".to_owned()];
    assert!(why(of_host("irq 30", "0"), &around).starts_with("irqbalance moves interrupts"));
}

/// Its name has that of the interface, or of the virtio device: both may be others after a boot.
#[test]
fn an_interrupt_of_a_card_follows_the_card() {
    for (name, virtio, pattern) in [
        ("eth0-rx-0", None, "*\\\" $${name}-rx-0\\\")"),
        ("i40e-eth0-TxRx-0", None, "*\\\" i40e-$${name}-TxRx-0\\\")"),
        ("eth01-x", None, "*\\\" eth01-x\\\")"),
        (
            "virtio1-input.0",
            Some("virtio1"),
            "*\\\" $${v##*/}-input.0\\\")",
        ),
    ] {
        let mut around = around();
        around.interrupts = [(31, name.to_owned())].into();
        if let Some(eth0) = around.interfaces.get_mut("eth0") {
            eth0.interrupts = vec![31];
            eth0.virtio = virtio.map(str::to_owned);
        }
        let files = planned(of_host("irq 31", "0-1"), &around).unwrap();
        assert!(files[0].content.contains(pattern), "{}", files[0].content);
        assert_eq!(
            files[0].path,
            "/etc/systemd/system/linerate-irq-31@.service"
        );
        assert!(
            files[1]
                .content
                .contains("ENV{ID_PATH}==\"pci-0000:00:1f.6\"")
        );
    }
}

#[test]
fn programs_that_win_are_named() {
    let mut around = around();
    let governor = || of_host("cpufreq scaling_governor", "performance");
    let unit = planned(governor(), &around).unwrap().remove(0);
    assert!(
        unit.content
            .contains("; do echo performance > $$g; done\"\n"),
        "{}",
        unit.content
    );
    around.programs = vec!["power-profiles-".to_owned()];
    assert!(why(governor(), &around).starts_with("power-profiles- sets the governor"));
    let rmem = || of_namespace(RMEM, "1 2 4");
    let profile = "[sysctl]\nnet.ipv4.tcp_rmem = \"1 2 3\"\n";
    around.tuned = vec![config(
        "/usr/lib/tuned/network-throughput/tuned.conf",
        profile,
    )];
    assert!(
        planned(rmem(), &around).is_ok(),
        "tuned applies sysctl.d again"
    );
    around.tuned_reapplies = false;
    assert!(why(rmem(), &around).contains("reapply_sysctl is 0"));
    let rings = || of_interface("ethtool -G rx", "4096");
    let connection = |name: &str| {
        let text = format!("[connection]\ninterface-name={name}\n[ethtool]\nring-rx=512\n");
        vec![config(
            "/etc/NetworkManager/system-connections/x.nmconnection",
            &text,
        )]
    };
    around.profiles = connection("eth1");
    assert!(planned(rings(), &around).is_ok());
    around.profiles = connection("eth0");
    assert!(why(rings(), &around).starts_with("NetworkManager sets ring-rx"));
    around.profiles[0].text += "feature-tso=false\n";
    let offload = of_interface("ethtool -K tcp-segmentation-offload", "on");
    assert!(why(offload, &around).starts_with("NetworkManager sets feature-tso"));
}

#[test]
fn what_cannot_stay_has_a_reason_and_no_file() {
    let around = around();
    let elsewhere = Surroundings {
        netns: Some(1),
        ..around.clone()
    };
    let openwrt = Surroundings {
        systemd: None,
        ..around.clone()
    };
    assert!(why(of_namespace(RMEM, "1 2 3"), &elsewhere).contains("in that of process 1"));
    assert!(why(of_host("pm-qos cpu_dma_latency", "0"), &around).contains("a process holds it"));
    assert!(why(of_interface("ip link mtu", "9000"), &around).contains("network configuration"));
    assert!(why(of_namespace(RMEM, "1\n2"), &around).contains("one line"));
    assert!(why(of_host("ab", "x"), &around).contains("not a setting"));
    let refusal = planned(of_namespace(RMEM, "1 2 3"), &openwrt).unwrap_err();
    assert_eq!(
        refusal.by_hand,
        ["/etc/sysctl.conf: net.ipv4.tcp_rmem=1 2 3"]
    );
    let refusal = planned(of_interface("ethtool -G rx", "4096"), &openwrt).unwrap_err();
    assert!(
        refusal.by_hand[0].ends_with("ethtool -G eth0 rx 4096"),
        "{refusal:?}"
    );
    let bare = Surroundings {
        tools: [].into(),
        ..around
    };
    assert!(why(of_interface("ethtool -G rx", "4096"), &bare).contains("no ethtool(8)"));
}

/// Nothing that a finding says can end a comment.
#[test]
fn a_reason_stays_in_its_line() {
    let kept = Kept {
        because: "one\nnet.ipv4.ip_forward = 1\r\\".to_owned(),
        ..of_namespace(RMEM, "1 2 3")
    };
    let content = planned(kept, &around()).unwrap().remove(0).content;
    let is_set = |line: &&str| !line.starts_with('#');
    assert_eq!(content.lines().filter(is_set).count(), 1, "{content}");
}
