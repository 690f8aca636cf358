// SPDX-License-Identifier: MIT OR Apache-2.0
//! No text, however odd, makes a reader of /proc panic.

use linerate_wire::proc::{
    interrupts, loadavg, meminfo, net_dev, net_tcp, net_udp, netstat, pid_stat, schedstat, snmp,
    snmp6, sockstat, softnet, stat,
};
use proptest::prelude::*;

fn read_all(text: &str) {
    let _ = stat::parse(text);
    let _ = pid_stat::counters(text);
    let _ = snmp::parse(text);
    let _ = snmp6::parse(text);
    let _ = netstat::parse(text);
    let _ = softnet::parse(text);
    let _ = net_dev::parse(text);
    let _ = net_tcp::established(text);
    let _ = net_udp::parse(text);
    let _ = meminfo::parse(text);
    let _ = interrupts::parse(text);
    let _ = sockstat::parse(text);
    let _ = schedstat::parse(text);
    let _ = loadavg::parse(text);
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        read_all(&text);
    }

    #[test]
    fn nearly_right_text_is_survived(text in "(cpu[0-9]{0,12}|Udp6?:|CPU[0-9]{1,11}|[a-z]{1,4}:|[0-9A-F]{1,21}|:|-?[0-9]{1,22}| |\n|é){0,60}") {
        read_all(&text);
    }
}
