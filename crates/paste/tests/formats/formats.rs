// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every format as a forum would show it, through the whole way to a record.

use linerate_model::output::{Direction, Protocol};

use crate::{counter, one, read, setting};

#[test]
fn settings_of_every_tool() {
    for (text, source, name, value) in SETTINGS {
        let found = setting(&one(text), source, name);
        assert_eq!(found.as_deref(), Some(*value), "{text}");
    }
}

#[test]
fn counters_of_every_tool() {
    for (text, source, name, value) in [
        (
            "$ grep . /sys/class/net/eth0/statistics/*\n/sys/class/net/eth0/statistics/collisions:1221\n/sys/class/net/eth0/statistics/rx_crc_errors:4412\n",
            "rtnl_link_stats64",
            "rx_crc_errors",
            4412,
        ),
        (
            "$ ethtool -S eth0 | grep err\n     rx_crc_errors: 12\n     rx_missed_errors: 7\n",
            "ethtool -S",
            "rx_missed_errors",
            7,
        ),
        (
            "$ pwru\nSKB CPU PROCESS NETNS IFACE PROTO MTU LEN TUPLE FUNC\n0xffff9d8b2e5f1200 2 <empty>:0 4026531840 eth0:2 0x0800 1500 60 192.0.2.1:40212->192.0.2.5:80(tcp) kfree_skb_reason(SKB_DROP_REASON_NETFILTER_DROP)\n",
            "skb:kfree_skb",
            "NETFILTER_DROP",
            1,
        ),
        (
            "dropwatch> start\nEnabling monitoring...\n3 drops at tcp_v4_rcv+7c (0xffffffff81a1b2cc) [software]\n",
            "dropwatch",
            "tcp_v4_rcv",
            3,
        ),
        (
            "$ bpftrace -e 'tracepoint:skb:kfree_skb { @[kstack] = count(); }'\nAttaching 1 probe...\n^C\n\n@[\n    kfree_skb_reason+1\n    nf_hook_slow+89\n    ip_rcv+50\n]: 311\n",
            "dropwatch",
            "nf_hook_slow",
            311,
        ),
        (
            "What is this?\n\n@drops[6]: 12\n@drops[2]: 145\n",
            "skb:kfree_skb",
            "drop reason 6",
            12,
        ),
        (
            "# bpftrace -e 'tracepoint:skb:kfree_skb {\n    @[args->reason] = count();\n}'\nAttaching 1 probe...\n^C\n\n@[2]: 145\n",
            "skb:kfree_skb",
            "drop reason 2",
            145,
        ),
        (
            "kfree_skb: reason=67 protocol=2048\nkfree_skb: reason=67 protocol=2048\n",
            "skb:kfree_skb",
            "drop reason 67",
            2,
        ),
        (
            "PHY statistics:\n     phy_idle_errors: 255\n",
            "ethtool --phy-statistics",
            "phy_idle_errors",
            255,
        ),
        (
            "$ netstat -s\nUdp:\n    40 packet receive errors\n    receive buffer errors: 38\n",
            "/proc/net/snmp",
            "UdpRcvbufErrors",
            38,
        ),
        (
            "$ nstat -az\n#kernel\nUdpRcvbufErrors   12    0.0\nTcpRetransSegs   3    0.0\n",
            "/proc/net/snmp",
            "UdpRcvbufErrors",
            12,
        ),
        (
            "$ cat /proc/net/softnet_stat\n0000375f 00000002 0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n",
            "/proc/net/softnet_stat",
            "dropped",
            2,
        ),
        (
            "$ cat /proc/net/sockstat\nsockets: used 9\nTCP: inuse 2 orphan 0 tw 0 alloc 3 mem 77\n",
            "/proc/net/sockstat",
            "TCP.mem",
            77,
        ),
        (
            "$ cat /proc/net/dev\nInter-|   Receive\n face |bytes\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
            "/proc/net/dev",
            "rx_fifo",
            5,
        ),
        (
            "qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3\n Sent 10 bytes 1 pkt (dropped 31, overlimits 0 requeues 0)\n",
            "tc -s qdisc",
            "drops",
            31,
        ),
        (
            "12:00:01 IP 192.0.2.1.1 > 192.0.2.2.2: [bad udp cksum 0x1 -> 0x2!] UDP, length 18\n12:00:02 IP 192.0.2.1.1 > 192.0.2.2.2: [bad udp cksum 0x1 -> 0x2!] UDP, length 18\n",
            "tcpdump",
            "bad udp cksum",
            2,
        ),
        (
            "%Cpu0  :  0.0 us,  2.0 sy,  0.0 ni,  0.0 id,  0.0 wa,  0.0 hi, 98.0 si,  0.0 st\n",
            "/proc/stat",
            "cpu0.softirq",
            9800,
        ),
        (
            "$ cat /proc/softirqs\n                    CPU0       CPU1\n      NET_RX:      10247        202\n",
            "/proc/softirqs",
            "NET_RX/cpu0",
            10247,
        ),
    ] {
        assert_eq!(counter(&one(text), source, name), Some(value), "{text}");
    }
}

#[test]
fn rates_of_every_tool() {
    for (text, protocol, direction, bits, lost) in [
        (
            "$ dd if=/dev/zero bs=1M count=1000 | nc 192.0.2.1 5000\n1000+0 records in\n1000+0 records out\n1048576000 bytes (1.0 GB, 1000 MiB) copied, 93.2067556 s, 11.3 MB/s\n",
            Protocol::Tcp,
            Direction::Up,
            8.0 * 1_048_576_000.0 / 93.206_755_6,
            None,
        ),
        (
            "$ scp big.iso host:/tmp\nbig.iso        100% 1200MB  11.2MB/s   01:47\n",
            Protocol::Tcp,
            Direction::Up,
            8.0 * 11.2 * 1_048_576.0,
            None,
        ),
        (
            "$ wget http://192.0.2.1/file.bin\n2024-03-01 10:13:40 (1.12 MB/s) - 'file.bin' saved [104857600/104857600]\n",
            Protocol::Tcp,
            Direction::Down,
            8.0 * 1.12 * 1_048_576.0,
            None,
        ),
        (
            "$ curl -o /dev/null http://192.0.2.1/file.bin\n  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\n100  100M  100  100M    0     0  1123k      0  0:01:31  0:01:31 --:--:-- 1201k\n",
            Protocol::Tcp,
            Direction::Down,
            8.0 * 1123.0 * 1024.0,
            None,
        ),
        (
            "$ aria2c http://192.0.2.1/big.bin\n[#605762 16KiB/28MiB(0%) CN:1 DL:15KiB ETA:30m39s]\n\nDownload Results:\ngid   |stat|avg speed  |path/URI\n======+====+===========+=====\n605762|OK  |   1.2MiB/s|big.bin\n",
            Protocol::Tcp,
            Direction::Down,
            8.0 * 1.2 * 1_048_576.0,
            None,
        ),
        (
            "It is slow:\n[#2089b0 400.0KiB/33.2MiB(1%) CN:1 DL:115.7KiB ETA:4m51s]\n",
            Protocol::Tcp,
            Direction::Down,
            8.0 * 115.7 * 1024.0,
            None,
        ),
        (
            "$ iperf -c 192.0.2.1\n[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n",
            Protocol::Tcp,
            Direction::Up,
            941e6,
            None,
        ),
        (
            "$ iperf -s -u\n[  3]  0.0-10.0 sec   119 MBytes   100 Mbits/sec   0.012 ms  123/85034 (0.14%)\n",
            Protocol::Udp,
            Direction::Down,
            100e6,
            Some(123),
        ),
        (
            "$ iperf3 -c 192.0.2.1 -R\n[  5]   0.00-10.00  sec  1.09 GBytes   935 Mbits/sec    0             sender\n[  5]   0.00-10.00  sec  1.08 GBytes   930 Mbits/sec                  receiver\n",
            Protocol::Tcp,
            Direction::Down,
            930e6,
            None,
        ),
        (
            "$ nuttcp -u 192.0.2.1\n  953.6 MB /  10.00 sec =  800.0 Mbps 98 %TX 40 %RX 123 / 976562 drop/pkt 0.01 %loss\n",
            Protocol::Udp,
            Direction::Up,
            800e6,
            Some(123),
        ),
        (
            "$ iperf3 -c 192.0.2.1 -f M\n[  5]   0.00-10.00  sec  1.09 GBytes   112 MBytes/sec    0             sender\n",
            Protocol::Tcp,
            Direction::Up,
            112.0 * 8.0 * 1_048_576.0,
            None,
        ),
    ] {
        let record = one(text);
        let test = &record.run.tests[0];
        assert_eq!(
            (test.protocol, test.direction, test.lost_packets),
            (protocol, direction, lost),
            "{text}"
        );
        assert!(
            (test.delivered_bits_per_second.unwrap() - bits).abs() < 1.0,
            "{text}"
        );
    }
    let ping = one(
        "--- 192.0.2.1 ping statistics ---\n10 packets transmitted, 8 received, 20% packet loss, time 9013ms\nrtt min/avg/max/mdev = 0.311/0.412/0.513/0.100 ms\n",
    );
    assert_eq!(
        (ping.run.latency[0].sent, ping.run.latency[0].lost),
        (10, 2)
    );
}

#[test]
fn what_the_tool_complains_of() {
    let record = one("$ iperf -c 192.0.2.1 -u\nread failed: Connection refused\n");
    let test = &record.run.tests[0];
    assert_eq!(
        (test.valid, test.warnings[0].id.as_str()),
        (false, "tool-error")
    );
    let lost_report = one(
        "[ 4] 0.0-10.0 sec 841 MBytes 706 Mbits/sec\n[ 4] Sent 600000 datagrams\n[ 4] WARNING: did not receive ack of last datagram after 10 tries.\n",
    );
    let test = &lost_report.run.tests[0];
    assert_eq!(
        (test.sent_packets, test.lost_packets, test.warnings.len()),
        (Some(600_000), None, 1)
    );
}

#[test]
fn prose_alone_is_nothing() {
    for text in [
        "In ethtool I see Speed: 1000Mb/s and it is fine.",
        "The ping times are consistent.",
        "We got 400 Mbits/sec.",
        "Set net.core.rmem_max to more, like others.",
        "I set this by hand:\nspeed: 10\nduplex: half\n",
        "eth0:\nspeed: 10\nand it is slow\n",
        "1. first\n2. second\n3. third\n",
    ] {
        assert_eq!(read(text).records, [], "{text}");
    }
}

/// A text; source, name and value of a setting in it.
const SETTINGS: &[(&str, &str, &str, &str)] = &[
    (
        "$ sar -n EDEV 1 3\n02:12:01 PM IFACE rxerr/s txerr/s coll/s rxdrop/s\n02:12:02 PM eth0 12.00 0.00 0.00 711.00\n",
        "sar -n EDEV",
        "rxdrop/s",
        "711.00",
    ),
    (
        "$ sar -h -n DEV 1 3\n03:20:42      rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil IFACE\n03:20:43      8103.00     99.00     11.2M      1.5k      0.00      0.00      0.00     97.7% eth0\n",
        "sar -n DEV",
        "rxkB/s",
        "11468.80",
    ),
    (
        "$ cat /sys/class/net/eth0/speed\n100\n$ cat /sys/class/net/eth0/duplex\nhalf\n",
        "ethtool",
        "Speed",
        "100Mb/s",
    ),
    (
        "$ for f in speed duplex; do echo $f: $(cat /sys/class/net/eth0/$f); done\nspeed: 10\nduplex: half\n",
        "ethtool",
        "Duplex",
        "Half",
    ),
    (
        "root@box:/sys/class/net/eth0# for f in speed duplex; do echo \"$f $(cat $f)\"; done\nspeed 10\nduplex half\n",
        "ethtool",
        "Speed",
        "10Mb/s",
    ),
    (
        "It says\n\neth0:\nspeed: 10\nduplex: half\noperstate: up\n",
        "ethtool",
        "Duplex",
        "Half",
    ),
    (
        "$ speedtest\n   Speedtest by Ookla\n    Download:   341.52 Mbps (data used: 322.7 MB)\n Packet Loss:     3.4%\n",
        "speedtest",
        "Packet Loss",
        "3.4%",
    ),
    (
        "$ ethtool -g eth0\nRing parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\n",
        "ethtool -g",
        "RX.current",
        "256",
    ),
    (
        "Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\nrx-usecs: 3\n",
        "ethtool -c",
        "rx-usecs",
        "3",
    ),
    (
        "RX flow hash indirection table for eth0 with 2 RX ring(s):\n    0:      0     0     0     0     0     0     0     0\nRSS hash key:\nOperation not supported\nRSS hash function:\n    toeplitz: on\n    xor: off\n",
        "ethtool -x",
        "indirection.unused",
        "1",
    ),
    (
        "FEC parameters for eth0:\nSupported/Configured FEC encodings: Auto Off RS\nActive FEC encoding: Off\n",
        "ethtool --show-fec",
        "Active FEC encoding",
        "Off",
    ),
    (
        "$ ethtool --cable-test eth0\nCable test started for device eth0.\nPair A code OK\nPair B code Open Circuit\n",
        "ethtool --cable-test",
        "Pair B code",
        "Open Circuit",
    ),
    (
        "$ conntrack -C\n65530\n",
        "sysctl",
        "net.netfilter.nf_conntrack_count",
        "65530",
    ),
    (
        "$ ethtool -i eth0\ndriver: e1000e\nversion: 3.2.6-k\n",
        "ethtool -i",
        "driver",
        "e1000e",
    ),
    (
        "$ sysctl -a | grep rmem\nnet.core.rmem_max = 212992\n",
        "sysctl",
        "net.core.rmem_max",
        "212992",
    ),
    (
        "$ cat /proc/cmdline\nconsole=ttymxc0,115200 root=/dev/mmcblk0p1 rootwait\n",
        "/proc/cmdline",
        "cmdline",
        "console=ttymxc0,115200 root=/dev/mmcblk0p1 rootwait",
    ),
    (
        "[    2.100000] Kernel command line: console=ttyS0 iommu.passthrough=1\n",
        "/proc/cmdline",
        "cmdline",
        "console=ttyS0 iommu.passthrough=1",
    ),
    (
        "01:00.0 Ethernet controller: Intel Corporation 82599ES\n\tLnkSta:\tSpeed 2.5GT/s, Width x4\n",
        "/sys/class/net/device",
        "current_link_width",
        "4",
    ),
    (
        "    |__ Port 1: Dev 3, If 0, Class=Vendor Specific Class, Driver=lan78xx, 480M\n",
        "lsusb -t",
        "lan78xx",
        "480M",
    ),
    (
        "$ cat /proc/net/bonding/bond0\nEthernet Channel Bonding Driver: v3.7.1\n\nBonding Mode: load balancing (round-robin)\n",
        "/proc/net/bonding",
        "Bonding Mode",
        "load balancing (round-robin)",
    ),
    (
        "qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3\n Sent 10 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)\n",
        "tc qdisc",
        "root",
        "pfifo_fast",
    ),
    (
        "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP qlen 1000\n",
        "ip link",
        "qdisc",
        "mq",
    ),
    (
        "Mar 23 13:30:01 box kernel: [   12.3] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Up 1000 Mbps Full Duplex\n",
        "dmesg",
        "line1",
        "igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Up 1000 Mbps Full Duplex",
    ),
    (
        "$ brctl showstp br0\nbr0\n bridge id\t\t8000.020000001122\n\neth0 (1)\n port id\t\t8001\t\t\tstate\t\t     blocking\n",
        "bridge",
        "state",
        "blocking",
    ),
    (
        "# bridge -d link show dev eth0\n3: eth0: <UP> mtu 1500 master br0 state forwarding priority 32 cost 4\n    hairpin off guard off isolated on\n",
        "bridge",
        "isolated",
        "on",
    ),
    (
        "# bridge vlan show\nport              vlan-id\neth0              1 PVID Egress Untagged\n                  100\n",
        "bridge vlan",
        "vlan-id",
        "1 PVID Egress Untagged, 100",
    ),
    (
        "$ ip neigh\n192.0.2.1 dev eth0 lladdr 02:00:00:11:22:33 REACHABLE\n192.0.2.20 dev eth0  FAILED\n",
        "ip neigh",
        "without answer",
        "1",
    ),
    (
        "$ ip route\ndefault via 192.0.2.1 dev eth0 proto dhcp\nblackhole 10.99.0.0/16\n",
        "ip route",
        "blackhole",
        "10.99.0.0/16",
    ),
    (
        "$ tracepath 192.0.2.9\n 1?: [LOCALHOST]     pmtu 1500\n 1:  192.0.2.1       0.512ms\n     Resume: pmtu 1400\n",
        "tracepath",
        "pmtu",
        "1400",
    ),
    (
        "$ iw dev wlan0 link\nConnected to 02:00:00:aa:bb:cc (on wlan0)\n\tsignal: -84 dBm\n\ttx bitrate: 13.0 MBit/s MCS 1\n",
        "iw",
        "signal",
        "-84 dBm",
    ),
    (
        "$ iwconfig wlan0\nwlan0     IEEE 802.11  ESSID:\"home\"\n          Link Quality=26/70  Signal level=-84 dBm\n",
        "iwconfig",
        "Link Quality ratio",
        "0.37",
    ),
    (
        "$ devlink health show\npci/0000:03:00.0:\n  reporter tx\n    state error error 17 recover 16\n",
        "devlink",
        "reporter",
        "tx",
    ),
    (
        "C:\\> route print -4\n===========================================================================\nIPv4 Route Table\n===========================================================================\nActive Routes:\nNetwork Destination        Netmask          Gateway       Interface  Metric\n          0.0.0.0          0.0.0.0        192.0.2.1        192.0.2.7     25\n        192.0.2.0    255.255.255.0         On-link         192.0.2.7    281\n",
        "route print",
        "routes",
        "2",
    ),
    (
        "|                                      WinMTR statistics                                   |\n|                       Host              -   %  | Sent | Recv | Best | Avrg | Wrst | Last |\n|                             192.0.2.1 -    0 |  100 |  100 |    0 |    1 |    9 |    1 |\n|                   No response from host -  100 |   20 |    0 |    0 |    0 |    0 |    0 |\n",
        "mtr",
        "hops",
        "2",
    ),
    (
        "C:\\> netsh int tcp show global\nGlobale TCP-Parameter\n-------\nAutom. Abstimmungsgrad Empfangsfenster    : disabled\n",
        "netsh",
        "Receive Window Auto-Tuning Level",
        "disabled",
    ),
    (
        "C:\\> netsh interface tcp show global\nTCP Global Parameters\n-------\nReceive Window Auto-Tuning Level    : disabled\n",
        "netsh",
        "Receive Window Auto-Tuning Level",
        "disabled",
    ),
    (
        "U-Boot 2013.01\nCPU:   Freescale i.MX6Q rev1.2 at 792 MHz\n",
        "machine",
        "soc_id",
        "i.MX6Q",
    ),
];
