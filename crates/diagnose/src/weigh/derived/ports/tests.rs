// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::weigh::derived::values;

fn value(text: &str, name: &str) -> Option<String> {
    let found = values(text, facts).into_iter();
    found
        .filter(|(one, _)| *one == name)
        .map(|(_, value)| value)
        .next()
}

#[test]
fn a_port_that_nobody_sets_up() {
    let down = "3: eno2: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN mode DEFAULT\n    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n";
    assert_eq!(value(down, "interface_admin_up").as_deref(), Some("false"));
    let old = "eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:02\n          BROADCAST MULTICAST  MTU:1500  Metric:1\n";
    assert_eq!(value(old, "interface_admin_up").as_deref(), Some("false"));
    let up = "2: eth0: <NO-CARRIER,BROADCAST,UP> mtu 1500 state DOWN\n";
    assert_eq!(value(up, "interface_admin_up").as_deref(), Some("true"));
    let both = format!("{up}{down}");
    assert_eq!(value(&both, "interface_admin_up"), None);
    assert_eq!(value(&both, "interfaces_up").as_deref(), Some("1"));
    // Flags that are not shown say nothing.
    let cut = "eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:02\n          RX packets:4201981 errors:61203\n";
    assert_eq!(value(cut, "interface_admin_up"), None);
    let brief = "lo               UNKNOWN        127.0.0.1/8\neno1             DOWN           02:00:00:00:00:02 <BROADCAST,MULTICAST>\n";
    assert_eq!(value(brief, "interface_admin_up").as_deref(), Some("false"));
    assert_eq!(
        value(
            "eth0             DOWN           192.0.2.1/24\n",
            "interface_admin_up"
        ),
        None
    );
    assert_eq!(
        values(
            "eth0: is down, <UP> says nobody\nit went DOWN at 10/24 of us\n",
            facts
        ),
        []
    );
}

#[test]
fn an_address_on_a_port() {
    let text = |master: &str, first: &str| {
        format!(
            "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq master {master} state UP\n{first}4: {master}: <BROADCAST,UP,LOWER_UP> mtu 1500 state UP\n    inet 192.0.2.11/24 scope global {master}\n"
        )
    };
    let own = "    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0\n";
    let wrong = text("br0", own);
    assert_eq!(value(&wrong, "address_on_member").as_deref(), Some("true"));
    assert_eq!(
        value(&wrong, "two_addresses_bridge_and_port").as_deref(),
        Some("true")
    );
    let right = text("br0", "");
    assert_eq!(value(&right, "address_on_member").as_deref(), Some("false"));
    assert_eq!(value(&text("vrf-red", own), "address_on_member"), None);
}

#[test]
fn a_port_by_brctl() {
    let text = "bridge name\tbridge id\t\tSTP enabled\tinterfaces\nbr0\t\t8000.020000000001\tno\t\teth0\n\t\t\t\t\t\teth1\n\neth1      Link encap:Ethernet  HWaddr 02:00:00:00:00:02\n          inet addr:192.0.2.3  Bcast:192.0.2.255  Mask:255.255.255.0\n          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n";
    assert_eq!(value(text, "address_on_member").as_deref(), Some("true"));
}

#[test]
fn a_radio_and_a_wire() {
    let listing = |wire: &str, flags: &str| {
        format!(
            "2: {wire}: <BROADCAST,{flags}> mtu 1500\n    inet 192.0.2.10/24 scope global\n3: wlp2s0: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 192.0.2.11/24 scope global\n"
        )
    };
    let both = listing("enp3s0", "UP,LOWER_UP");
    assert_eq!(value(&both, SAME_SUBNET).as_deref(), Some("true"));
    assert_eq!(value(&both, "wired_has_link").as_deref(), Some("true"));
    let unplugged = listing("enp3s0", "NO-CARRIER,UP");
    assert_eq!(
        value(&unplugged, "wired_has_link").as_deref(),
        Some("false")
    );
    let routes = "default via 192.0.2.1 dev wlan0 proto dhcp metric 100\ndefault via 192.0.2.1 dev enp3s0 proto dhcp metric 600\n";
    assert_eq!(value(routes, SAME_SUBNET).as_deref(), Some("true"));
    let other = "192.0.2.0/24 dev wlan0 scope link\n198.51.100.0/24 dev eth0 scope link\n";
    assert_eq!(value(other, SAME_SUBNET), None);
}

#[test]
fn two_cards_in_one_network() {
    let name = "interfaces_in_one_subnet";
    let one = |number: u32, card: &str, host: u32| {
        format!("{number}: {card}    inet 192.0.2.{host}/24 scope global {card}\n")
    };
    assert_eq!(
        value(&(one(2, "eth0", 10) + &one(3, "eth1", 11)), name).as_deref(),
        Some("2")
    );
    // Those of two hosts.
    assert_eq!(
        value(&(one(3, "eth0", 10) + &one(2, "enp1s0", 11)), name).as_deref(),
        Some("1")
    );
    let apart = format!(
        "{}and the other one:\n{}",
        one(2, "eth0", 10),
        one(3, "eth1", 11)
    );
    assert_eq!(value(&apart, name).as_deref(), Some("1"));
    let routes = "192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.10\n192.0.2.0/24 dev eth1 proto kernel scope link src 192.0.2.11\n";
    assert_eq!(value(routes, name).as_deref(), Some("2"));
}

#[test]
fn carrier_changes_of_files() {
    assert_eq!(
        value(
            "/sys/class/net/eth0/carrier_changes:12\n",
            "carrier_changes_total"
        )
        .as_deref(),
        Some("12")
    );
    assert_eq!(
        value(
            "cat /sys/class/net/eth0/carrier_changes\n31\n",
            "carrier_changes_total"
        )
        .as_deref(),
        Some("31")
    );
    let link = "    TX errors:  aborted    fifo   window heartbt transns\n                  0        0        0       0       14\n";
    assert_eq!(value(link, "carrier_changes_total").as_deref(), Some("14"));
    assert_eq!(
        value(
            "watch carrier_changes for a while\n",
            "carrier_changes_total"
        ),
        None
    );
}
