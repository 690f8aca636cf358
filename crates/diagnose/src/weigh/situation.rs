// SPDX-License-Identifier: MIT OR Apache-2.0
//! The situations that causes require: a bridge, a tunnel, a virtual machine …, by what is configured or said.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use linerate_knowledge::{FieldTest, Phrases};
use linerate_model::order::Gather as _;

use super::observed::{Line, Observed, normal};
use super::speech::Lower;

pub(super) fn of(observed: &Observed<'_>) -> BTreeSet<&'static str> {
    let by_symptom = SAID
        .iter()
        .filter(|(symptom, _)| observed.said.symptoms.contains_key(symptom));
    let by_field = FIELDS
        .iter()
        .filter(|(_, name, value)| shows(observed, name, value));
    let said = by_symptom.map(|(_, name)| *name);
    let mut all: BTreeSet<&'static str> = by_word(observed.lines);
    all.extend(said.chain(by_field.map(|(name, ..)| *name)));
    all
}

/// The situations that lines name by a word, a part of one, or one with a number: `bond`, `br-lan`, `wg0`.
fn by_word(lines: &[Line<'_>]) -> BTreeSet<&'static str> {
    let lower = Lower::of(lines.iter());
    let all = lower.words();
    let (phrases, whose) = &*SIGNS;
    let named = phrases.find(&all).into_keys().map(|sign| whose[sign]);
    let mut found: BTreeSet<&'static str> = named.gather();
    let single = |word: &str| {
        SINGLE
            .get(word.trim_end_matches(|letter: char| letter.is_ascii_digit()))
            .copied()
    };
    for word in all {
        let parts = word.split(|letter: char| !letter.is_alphanumeric());
        found.extend(std::iter::once(word).chain(parts).filter_map(single));
    }
    found
}

/// All signs as phrases, and whose each is.
static SIGNS: LazyLock<(Phrases, Vec<&'static str>)> = LazyLock::new(|| {
    let each = WORDS
        .iter()
        .flat_map(|(name, signs)| signs.iter().map(move |sign| (*sign, *name)));
    let (signs, names): (Vec<&str>, Vec<&str>) = each.unzip();
    (Phrases::of(signs), names)
});

/// Those of one word.
static SINGLE: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let each = WORDS
        .iter()
        .flat_map(|(name, signs)| signs.iter().map(move |sign| (*sign, *name)));
    each.filter(|(sign, _)| sign.chars().all(char::is_alphabetic))
        .collect()
});

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
