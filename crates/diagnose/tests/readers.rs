// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a pasted text to the finding: for each rule whose evidence only another tool prints, a text of our own that
//! makes it fire, and the same text with one number otherwise.

use linerate_diagnose::explain::explain;
use linerate_diagnose::rules;
use linerate_paste as paste;

/// The rules that fire.
fn fired(text: &str) -> Vec<String> {
    let records = paste::read(text).records;
    let findings = records
        .iter()
        .flat_map(|record| explain(record, rules::embedded()).findings);
    findings.map(|finding| finding.rule).collect()
}

fn says(text: &str, rule: &str) -> bool {
    fired(text).iter().any(|fired| fired == rule)
}

/// Fires with the text, and no more with one thing in it otherwise.
fn follows(text: &str, rule: &str, was: &str, is: &str) {
    assert!(says(text, rule), "{rule} of {:?}\n{text}", fired(text));
    assert!(text.contains(was), "{was}");
    let other = text.replace(was, is);
    assert!(
        !says(&other, rule),
        "{rule} all the same with {is}\n{other}"
    );
}

/// One processor of two is full with soft interrupts.
const FULL: &str = "\
$ mpstat -P ALL 1 1
Linux 6.1.0 (box) 	03/23/2024 	_aarch64_	(2 CPU)

01:00:01 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
01:00:02 PM  all    1.00    0.00    3.00    0.00    0.00   49.00    0.00    0.00    0.00   47.00
01:00:02 PM    0    1.00    0.00    3.00    0.00    0.00   95.00    0.00    0.00    0.00    1.00
01:00:02 PM    1    1.00    0.00    3.00    0.00    0.00    3.00    0.00    0.00    0.00   93.00
";

/// `nft list ruleset` with this many rules.
fn ruleset(rules: u32) -> String {
    let rules: String = (0..rules)
        .map(|rule| format!("\t\tip saddr 192.0.2.{rule} drop\n"))
        .collect();
    format!(
        "$ sudo nft list ruleset\ntable inet filter {{\n\tchain input {{\n\t\ttype filter hook input priority filter; policy accept;\n{rules}\t}}\n}}\n"
    )
}

const PROFILE: &str = "\
$ sudo perf top
Samples: 12K of event 'cycles', 4000 Hz, Event count (approx.): 3000000 lost: 0/0 drop: 0/0
Overhead  Shared Object       Symbol
  31.20%  [kernel]            [k] nft_do_chain
   6.00%  [kernel]            [k] nft_payload_eval
   4.10%  [kernel]            [k] __netif_receive_skb_core
";

#[test]
fn a_long_list_of_filter_rules() {
    let text = format!("{}{PROFILE}", ruleset(150));
    follows(&text, "P08", "31.20%", "1.20%");
    assert!(!says(&format!("{}{PROFILE}", ruleset(20)), "P08"));
}

#[test]
fn cache_maintenance_in_a_report() {
    let text = format!(
        "$ perf report --stdio\n# Overhead  Command      Shared Object      Symbol\n# ........  ...........  .................  ................\n#\n    30.55%  ksoftirqd/0  [kernel.kallsyms]  [k] v7_dma_inv_range\n     6.55%  iperf        [kernel.kallsyms]  [k] v7_dma_clean_range\n     2.00%  iperf        libc-2.19.so       [.] memcpy\n\n{FULL}"
    );
    follows(&text, "B07", "30.55%", "3.55%");
}

#[test]
fn a_router_without_a_short_cut() {
    let text = format!(
        "$ sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n{}{FULL}$ nstat\n#kernel\nIpInReceives                    4000000            0.0\nIpForwDatagrams                 3900000            0.0\n",
        ruleset(4)
    );
    let table = "\tflowtable fast {\n\t\thook ingress priority filter\n\t\tdevices = { eth0, eth1 }\n\t}\n\tchain input {";
    follows(&text, "P11", "\tchain input {", table);
    follows(&text, "P11", " 3900000 ", " 10 ");
}

const ONE_QUEUE: &str = "\
$ iperf3 -c 192.0.2.1 -u -b 200M -P 4
[SUM]   0.00-10.00  sec   900 MBytes   755 Mbits/sec  0.1 ms  1000/690000 (0.14%)  receiver
";

#[test]
fn udp_flows_on_one_queue() {
    let flows: String = (0..4)
        .map(|flow| {
            format!(
                "[{}] local 192.0.2.2 port 4000{flow} connected to 192.0.2.1 port 5201\n",
                5 + 2 * flow
            )
        })
        .collect();
    let rows: String = (0..4)
        .map(|flow| {
            format!(
                "[{:3}]   0.00-10.00  sec   225 MBytes   189 Mbits/sec  0.1 ms  250/172500 (0.14%)  receiver\n",
                5 + 2 * flow
            )
        })
        .collect();
    let text = format!(
        "$ iperf3 -c 192.0.2.1 -u -b 200M -P 4 -R\n{flows}[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n{rows}{}\n\
         $ ethtool -l eth0\nChannel parameters for eth0:\nPre-set maximums:\nRX:\t\t0\nTX:\t\t0\nOther:\t\t0\nCombined:\t4\nCurrent hardware settings:\nRX:\t\t0\nTX:\t\t0\nOther:\t\t0\nCombined:\t4\n\
         $ ethtool -i eth0\ndriver: igb\nversion: 6.1.0\n\
         $ ethtool -S eth0\nNIC statistics:\n     rx_packets: 690010\n     rx_queue_0_packets: 690000\n     rx_queue_1_packets: 10\n     rx_queue_2_packets: 0\n     rx_queue_3_packets: 0\n\
         $ ethtool -n eth0 rx-flow-hash udp4\nUDP over IPV4 flows use these fields for computing Hash flow key:\nIP SA\nIP DA\n",
        ONE_QUEUE.lines().nth(1).unwrap()
    );
    follows(
        &text,
        "H02",
        "IP SA\nIP DA\n",
        "IP SA\nIP DA\nL4 bytes 0 & 1 [TCP/UDP src port]\nL4 bytes 2 & 3 [TCP/UDP dst port]\n",
    );
}

#[test]
fn a_processor_of_the_other_node() {
    let text = format!(
        "$ lscpu\nArchitecture:        x86_64\nNUMA node(s):        2\nNUMA node0 CPU(s):   1,3\nNUMA node1 CPU(s):   0,2\n$ cat /sys/class/net/eth0/device/numa_node\n0\n{FULL}"
    );
    follows(
        &text,
        "C13",
        "node0 CPU(s):   1,3\nNUMA node1 CPU(s):   0,2",
        "node0 CPU(s):   0,3\nNUMA node1 CPU(s):   1,2",
    );
}

#[test]
fn bpf_programs_that_are_timed() {
    let text = format!("$ sysctl kernel.bpf_stats_enabled\nkernel.bpf_stats_enabled = 1\n{FULL}");
    follows(&text, "C18", "enabled = 1", "enabled = 0");
}

const TRANSACTIONS: &str = "\
$ netperf -H 192.0.2.1 -t TCP_RR -l 10 -- -r 100,200
MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.1 () port 0 AF_INET : first burst 0
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 100      200     10.00    24.75
16384  131072
$ ping -c 10 192.0.2.1
10 packets transmitted, 10 received, 0% packet loss, time 9012ms
rtt min/avg/max/mdev = 0.211/0.302/0.412/0.050 ms
";

#[test]
fn requests_that_wait_for_an_acknowledgement() {
    follows(TRANSACTIONS, "T07", "24.75", "3300.10");
    follows(TRANSACTIONS, "T07", "0.211/0.302/0.412", "40.1/40.3/40.5");
}

const CONNECTIONS: &str = "\
$ sysctl net.netfilter.nf_conntrack_max net.netfilter.nf_conntrack_count
net.netfilter.nf_conntrack_max = 65536
net.netfilter.nf_conntrack_count = 65530
$ conntrack -S
cpu=0   	found=0 invalid=3 insert=0 insert_failed=0 drop=600 early_drop=20 error=0 search_restart=0
cpu=1   	found=0 invalid=1 insert=0 insert_failed=0 drop=100 early_drop=0 error=0 search_restart=0
";

#[test]
fn a_full_table_of_connections() {
    follows(
        CONNECTIONS,
        "P07",
        "nf_conntrack_count = 65530",
        "nf_conntrack_count = 12000",
    );
    let quiet = CONNECTIONS.replace("drop=600 early_drop=20", "drop=0 early_drop=0");
    assert!(!says(&quiet.replace("drop=100", "drop=0"), "P07"));
}

#[test]
fn a_flow_that_fq_lets_not_wait() {
    let text = "$ tc -s qdisc show dev eth0\nqdisc fq 8001: root refcnt 2 limit 10000p flow_limit 100p\n Sent 800000000 bytes 480010 pkt (dropped 30000, overlimits 0 requeues 5)\n backlog 0b 0p requeues 5\n  flows 3 (inactive 2 throttled 0)\n  gc 0 highprio 0 throttled 5 latency 8.5us flows_plimit 29990\n$ iperf3 -u -b 900M -c 192.0.2.1\n[  5]   0.00-10.00  sec  700 MBytes   587 Mbits/sec  0.1 ms  30000/510010 (5.9%)  receiver\n$ ethtool -i eth0\ndriver: igb\n";
    follows(text, "P09b", "flows_plimit 29990", "flows_plimit 3");
    assert!(!says(text, "P09"), "one cause, not two");
    assert!(says(&text.replace(" flows_plimit 29990", ""), "P09"));
}
