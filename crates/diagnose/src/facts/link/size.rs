// SPDX-License-Identifier: MIT OR Apache-2.0
//! How large a packet may be here, and packets that were larger.

use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::Vantage;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if vantage.is_interface_alone() {
        let described = vantage.described().and_then(|known| known.mtu);
        let mtu = described
            .map(u64::from)
            .or_else(|| vantage.number("ip link", "mtu"));
        vantage.add(facts, "mtu", mtu.map(|bytes| bytes as f64), "ip link");
    }
    if vantage.is_host() {
        let too_long = vantage.sum_of_host(TOO_LONG);
        vantage
            .as_host()
            .add_counted(facts, "packets_too_long", too_long);
    }
}

const TOO_LONG: [(Source, &str); 4] = [
    (Source::Snmp, "IpFragFails"),
    (Source::Snmp6, "Ip6FragFails"),
    (Source::Snmp6, "Ip6InTooBigErrors"),
    (Source::Netstat, "TcpExtTCPMTUPFail"),
];
