// SPDX-License-Identifier: MIT OR Apache-2.0
//! How large a packet may be here, and packets that were larger.

use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage, set_up_number};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if let Some(mtu) = mtu(vantage).filter(|_| vantage.test.is_none()) {
        vantage.add(facts, "mtu", mtu as f64, "bytes", "ip link");
    }
    if vantage.is_host() {
        vantage.add_counted_to_host(facts, "packets_too_long", "packets", too_long(vantage));
    }
}

fn mtu(vantage: &Vantage<'_>) -> Option<u64> {
    let name = vantage.interface?;
    let described = vantage.record.host(vantage.host).and_then(|host| {
        let mut known = host.interfaces.iter();
        known.find(|known| known.name == name)?.mtu.map(u64::from)
    });
    described.or_else(|| set_up_number(vantage.record, vantage.host, "ip link", Some(name), "mtu"))
}

fn too_long(vantage: &Vantage<'_>) -> Option<Counted> {
    let sources = [
        ("/proc/net/snmp", "IpFragFails"),
        ("/proc/net/snmp6", "Ip6FragFails"),
        ("/proc/net/snmp6", "Ip6InTooBigErrors"),
        ("/proc/net/netstat", "TcpExtTCPMTUPFail"),
    ];
    let counted = sources
        .into_iter()
        .filter_map(|(source, name)| vantage.of_host(source, name));
    counted.reduce(|sum, more| Counted {
        value: sum.value + more.value,
        since_boot: sum.since_boot || more.since_boot,
        source: format!("{}, {}", sum.source, more.source),
    })
}
