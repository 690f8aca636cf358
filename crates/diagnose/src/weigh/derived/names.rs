// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a text names: the board, a virtual machine, a cloud, the Ethernet of a system on chip.

use std::sync::LazyLock;

use linerate_knowledge::Phrases;
use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use super::Fact;
use crate::weigh::observed::Line;
use crate::weigh::speech::Lower;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let lower = Lower::of(lines.iter());
    let found: Map<usize, u64> = lower.find(|words| NAMES.find(words)).gather();
    let mut at = 0;
    let mut first = |marks: &[&str]| {
        let own = at..at + marks.len();
        at = own.end;
        own.filter_map(|name| found.get(&name).copied()).min()
    };
    let mut facts = Vec::new();
    for (name, marks) in FLAGS {
        facts.extend(first(marks).map(|line| Fact::new(name, true, line)));
    }
    let boards = BOARDS
        .iter()
        .filter_map(|(board, marks)| Some(Fact::new("board", board, first(marks)?)));
    let boards: Vec<Fact> = boards.collect();
    facts.extend(boards.into_iter().next());
    facts
}

/// The names of all tables, in their order.
static NAMES: LazyLock<Phrases> = LazyLock::new(|| {
    let flags = FLAGS.iter().flat_map(|(_, marks)| marks.iter());
    let boards = BOARDS.iter().flat_map(|(_, marks)| marks.iter());
    Phrases::of(flags.chain(boards).copied())
});

const FLAGS: &[(&str, &[&str])] = &[
    (
        "soc_ethernet",
        &[
            "stmmac*",
            "dwmac*",
            "rk_gmac*",
            "meson8b*",
            "macb*",
            "bcmgenet*",
            "mvneta*",
            "mvpp2*",
            "sun8i*",
            "mtk_soc_eth*",
            "cpsw*",
            "lan78xx*",
            "smsc95xx*",
            "ipqess*",
            "qca_ppe*",
            "ag71xx*",
            "higmac*",
            "raspberry pi*",
            "raspberrypi*",
            "rpi*",
            "odroid*",
            "orange pi*",
            "orangepi*",
            "banana pi*",
            "rockchip*",
            "allwinner*",
            "amlogic*",
            "i.mx*",
            "imx6*",
            "imx8*",
            "beaglebone*",
            "zynq*",
            "jetson*",
            "armbian*",
            "fec_main*",
        ],
    ),
    (
        "virtual_machine",
        &[
            "virtio_net*",
            "virtio-net*",
            "vmxnet3*",
            "hv_netvsc*",
            "xen-netfront*",
            "hypervisor vendor*",
            "virtual machine*",
            "qemu*",
            "vmware*",
            "proxmox*",
            "hyper-v*",
        ],
    ),
    (
        "hypervisor_is_vmware",
        &["vmware*", "vmxnet*", "esxi*", "vsphere*"],
    ),
    (
        "cloud_instance",
        &[
            "ec2*",
            "amazonaws*",
            "aws",
            "azure*",
            "google cloud*",
            "gcp",
            "ena",
            "gve",
            "openstack*",
            "digitalocean*",
            "hetzner cloud*",
        ],
    ),
    (
        "interface_is_wifi",
        &["wlan0*", "wlp*", "wlx*", "iwconfig*", "iw dev*"],
    ),
];
const BOARDS: &[(&str, &[&str])] = &[
    (
        "Raspberry Pi 3B+",
        &[
            "pi 3b+*",
            "pi3b+*",
            "3 model b plus*",
            "pi 3 model b+*",
            "pi 3 b+*",
            "rpi3b+*",
            "pi 3 mod. b+*",
            "rpi 3b+*",
            "lan7515*",
        ],
    ),
    (
        "Raspberry Pi 5",
        &["raspberry pi 5", "rpi 5", "rpi5", "pi 5"],
    ),
    (
        "Raspberry Pi 4",
        &["raspberry pi 4", "rpi 4", "rpi4", "pi 4"],
    ),
    (
        "Raspberry Pi 3",
        &["raspberry pi 3", "rpi 3", "rpi3", "pi 3"],
    ),
    ("Raspberry Pi 2", &["raspberry pi 2", "rpi 2", "rpi2"]),
];

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn a_board_and_its_ethernet() {
        let found = values("New file server on a Pi 3B+ here\n", facts);
        assert!(found.contains(&("board", "Raspberry Pi 3B+".to_owned())));
        assert_eq!(
            values("Supported FEC modes: None, on a laptop\n", facts),
            []
        );
    }
}
