// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of the network's configuration that set the same.

use super::*;

/// networkd's file is the one that its state names.
#[test]
fn a_discipline_of_networkd_wins() {
    let with = |text: &str| {
        let mut around = around();
        if let Some(eth0) = around.interfaces.get_mut("eth0") {
            eth0.network = vec![config("/etc/systemd/network/10-lan.network", text)];
        }
        around
    };
    let kept = || of_interface("tc qdisc root", "fq");
    let refusal = planned(
        kept(),
        &with("[Match]\nName=eth0\n\n[FairQueueingControlledDelay]\nPacketLimit=100\n"),
    );
    let why = refusal.unwrap_err().why;
    assert!(
        why.starts_with("systemd-networkd sets the queueing discipline from [FairQueueingControlledDelay] (/etc/systemd/network/10-lan.network)"),
        "{why}"
    );
    for other in [
        "[Match]\nName=eth0\n",
        "[Match]\nName=eth0\n[QDisc]\nParent=ingress\n",
        "[Match]\nName=eth0\n[FairQueueing]\nParent=1:1\n",
        "[Match]\nName=eth0\n#[FairQueueing]\n",
    ] {
        assert!(planned(kept(), &with(other)).is_ok(), "{other}");
    }
    let mtu = planned(
        of_interface("ip link mtu", "9000"),
        &with("[Match]\n[Link]\nMTUBytes=1400\n"),
    );
    assert_eq!(
        mtu.unwrap_err().by_hand,
        ["/etc/systemd/network/10-lan.network: MTUBytes=9000, now 1400"]
    );
}

#[test]
fn a_line_of_ifupdown_for_the_same_setting_wins() {
    let with = |text: &str| Surroundings {
        ifupdown: vec![config("/etc/network/interfaces", text)],
        ..around()
    };
    let stanza = |lines: &str| {
        format!("auto eth0\niface eth0 inet static\n    address 192.0.2.7/24\n{lines}")
    };
    let rings = || of_interface("ethtool -G rx tx", "4096 1024");
    for (kept, line) in [
        (rings(), "hardware-dma-ring-rx 512"),
        (rings(), "up ethtool -G $IFACE tx 512"),
        (
            rings(),
            "post-up /sbin/ethtool -G \"$IFACE\" rx 512 || true",
        ),
        (
            of_interface("ethtool -K tcp-segmentation-offload", "on"),
            "offload-tso off",
        ),
        (
            of_interface("ethtool -C rx-usecs", "50"),
            "hardware-irq-coalesce-rx-usecs 3",
        ),
        (
            of_interface("ethtool -A autoneg rx tx", "off on on"),
            "ethernet-pause-rx off",
        ),
        (
            of_interface("ip link txqueuelen", "500"),
            "up ip link set ${IFACE} txqueuelen 9",
        ),
        (
            of_interface("tc qdisc root", "fq"),
            "up tc qdisc add dev eth0 root pfifo limit 9",
        ),
        (
            of_interface("sysfs threaded", "1"),
            "up true && echo 0 > /sys/class/net/$IFACE/threaded",
        ),
        (
            of_namespace(RMEM, "1 2 4"),
            "post-up sysctl -q -w net.ipv4.tcp_rmem='1 2 3'",
        ),
    ] {
        let refusal = planned(kept.clone(), &with(&stanza(&format!("    {line}\n")))).unwrap_err();
        assert_eq!(
            refusal.why,
            format!(
                "ifup sets it with `{line}` (/etc/network/interfaces) when it brings the interface up, and wins"
            )
        );
        for other in [
            format!("    # {line}\n"),
            format!("iface eth1 inet dhcp\n    hwaddress random\nauto eth0\n    {line}\n"),
        ] {
            assert!(
                planned(kept.clone(), &with(&stanza(&other))).is_ok(),
                "{other}"
            );
        }
    }
    let of_another =
        stanza("iface eth1 inet dhcp\n    hardware-dma-ring-rx 512\n    offload-gro off\n");
    assert!(planned(rings(), &with(&of_another)).is_ok());
    let same = with(&stanza("  up \\\n  ethtool -G eth0 rx 4096 tx 1024\n"));
    assert!(why(rings(), &same).starts_with("/etc/network/interfaces already sets it: `up"));
    let mtu = planned(
        of_interface("ip link mtu", "9000"),
        &with(&stanza("    mtu 1400\n")),
    );
    assert_eq!(
        mtu.unwrap_err().by_hand,
        ["/etc/network/interfaces: mtu 9000, now 1400"]
    );
}
