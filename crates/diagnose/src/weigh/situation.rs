// SPDX-License-Identifier: MIT OR Apache-2.0
//! The situations that causes require: a bridge, a tunnel, a virtual machine …, by what is configured or said.

use std::collections::BTreeSet;

use linerate_knowledge::FieldTest;

use super::observed::{Observed, normal};

pub(super) fn of(observed: &Observed<'_>) -> BTreeSet<&'static str> {
    let by_word = WORDS.iter().filter(|(_, signs)| says(observed, signs));
    let by_symptom = SAID
        .iter()
        .filter(|(symptom, _)| observed.said.symptoms.contains_key(symptom));
    let by_field = FIELDS
        .iter()
        .filter(|(_, name, value)| shows(observed, name, value));
    let words = by_word.map(|(name, _)| *name);
    let said = by_symptom.map(|(_, name)| *name);
    words
        .chain(said)
        .chain(by_field.map(|(name, ..)| *name))
        .collect()
}

/// Whether a line has one of these words as a word of its own.
fn says(observed: &Observed<'_>, signs: &[&str]) -> bool {
    let has = |text: &str| {
        let lower = text.to_lowercase();
        signs.iter().any(|sign| is_word_of(&lower, sign))
    };
    observed.lines.iter().any(|line| has(line.text))
}

fn is_word_of(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphabetic)
    })
}

fn shows(observed: &Observed<'_>, name: &str, value: &str) -> bool {
    let (name, test) = (normal(name), FieldTest::Is(value.to_owned()));
    let mut fields = observed.fields.iter();
    fields.any(|field| field.name == name && test.passes(&field.value) == Some(true))
}

/// Words of outputs and names of interfaces.
const WORDS: &[(&str, &[&str])] = &[
    (
        "forwarding",
        &[
            "router",
            "gateway",
            "routing",
            "forwarding",
            "nat",
            "masquerade",
            "openwrt",
            "pfsense",
            "opnsense",
            "vyos",
            "forwards",
        ],
    ),
    (
        "bridge",
        &["bridge", "br", "br-lan", "brctl", "virbr", "docker", "vmbr"],
    ),
    ("vlan", &["vlan", "vlans", "802.1q", "vid"]),
    (
        "bond",
        &["bond", "bonding", "lacp", "802.3ad", "team", "teaming"],
    ),
    (
        "vm",
        &[
            "vm",
            "vms",
            "kvm",
            "qemu",
            "vmware",
            "esxi",
            "proxmox",
            "hyper-v",
            "virtualbox",
            "xen",
            "guest",
            "virtio",
            "virtio_net",
            "vmxnet",
            "hv_netvsc",
            "hypervisor",
            "libvirt",
            "ec2",
            "aws",
            "azure",
            "gcp",
            "cloud",
            "vhost",
        ],
    ),
    (
        "container",
        &[
            "docker",
            "container",
            "containers",
            "kubernetes",
            "k8s",
            "pod",
            "pods",
            "lxc",
            "podman",
            "cni",
            "flannel",
            "calico",
            "cilium",
        ],
    ),
    (
        "tunnel",
        &[
            "wireguard",
            "wg",
            "openvpn",
            "ipsec",
            "vxlan",
            "gre",
            "tun",
            "tunnel",
            "vpn",
            "geneve",
            "ipip",
            "sit",
            "pppoe",
            "ppp",
            "strongswan",
        ],
    ),
    (
        "jumbo",
        &[
            "jumbo", "mtu 9000", "mtu:9000", "mtu 9216", "mtu 4000", "9000",
        ],
    ),
    ("xdp", &["xdp", "af_xdp", "ebpf", "bpf"]),
    ("usb3", &["usb 3", "usb3", "superspeed", "5000m", "xhci"]),
    ("pcie-aspm", &["aspm"]),
    ("lro", &["lro", "large-receive-offload"]),
    ("gro", &["gro", "generic-receive-offload"]),
    ("tso", &["tso", "tcp-segmentation-offload"]),
    ("suspend", &["suspend", "resume", "hibernate", "sleep"]),
    ("wol", &["wake-on", "wol", "wake-on-lan"]),
    ("eee", &["eee", "energy efficient", "energy-efficient"]),
    ("ptp", &["ptp", "ptp4l", "linuxptp", "1588"]),
    (
        "half-duplex",
        &["half duplex", "half-duplex", "/half", "duplex: half"],
    ),
    (
        "10g",
        &[
            "10g", "10gb", "10gbe", "10gbase", "10000mb", "10 gbps", "10gbit", "25g", "40g",
            "100g", "10gbps",
        ],
    ),
    (
        "2.5g",
        &[
            "2.5g", "2.5gb", "2.5gbe", "2500base", "2500mb", "2.5gbps", "2.5 gbps", "2.5gbit",
        ],
    ),
    (
        "100m",
        &[
            "100mb", "100 mbps", "100base", "100mbps", "100 mbit", "100mbit",
        ],
    ),
];
const SAID: &[(&str, &str)] = &[
    ("only-with-vpn", "tunnel"),
    ("only-with-vlan", "vlan"),
    ("only-with-docker", "container"),
    ("only-with-vm", "vm"),
    ("only-with-bond", "bond"),
    ("only-with-bridge", "bridge"),
    ("only-with-nat", "forwarding"),
    ("after-suspend", "suspend"),
    ("wrong-duplex", "half-duplex"),
];
const FIELDS: &[(&str, &str, &str)] = &[
    ("forwarding", "sysctl net.ipv4.ip_forward", "1"),
    ("lro", "ethtool -k large-receive-offload", "on"),
    ("gro", "ethtool -k generic-receive-offload", "on"),
    ("tso", "ethtool -k tcp-segmentation-offload", "on"),
    ("half-duplex", "ethtool Duplex", "Half"),
];
