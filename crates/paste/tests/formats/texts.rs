// SPDX-License-Identifier: MIT OR Apache-2.0
//! Texts as they are posted: our words, the tools' forms.

/// A board that sweeps both directions, filtered by grep, and its counters.
pub(crate) const SWEEP: &str = "We see loss on our board, see below.

root@nano-board:~# cat /proc/version
Linux version 3.0.35-7 (builder@host) #1
root@nano-board:~# ./sweep.sh
----------bandwidth 200
[ 4] 0.0- 2.0 sec 48.2 MBytes 202 Mbits/sec 0.066 ms 0/34410 (0%)
[ 3] 0.0- 2.0 sec 48.3 MBytes 203 Mbits/sec 0.028 ms 0/34480 (0%)
----------bandwidth 400
[ 4] 0.0- 2.0 sec 95.6 MBytes 401 Mbits/sec 0.043 ms 5/68180 (0.0073%)
[ 3] 0.0- 2.0 sec 90.2 MBytes 379 Mbits/sec 0.012 ms 4601/68965 (6.7%)
----------bandwidth 600
[ 4] 0.0- 2.0 sec 109 MBytes 456 Mbits/sec 0.034 ms 0/77709 (0%)
[ 3] 0.0- 2.0 sec 90.7 MBytes 381 Mbits/sec 0.009 ms 40526/105254 (39%)
The driver knows of it:
root@nano-board:~# ifconfig eth0
eth0 Link encap:Ethernet HWaddr 00:00:5e:00:53:01
inet addr:192.0.2.119 Bcast:192.0.2.255 Mask:255.255.255.0
UP BROADCAST RUNNING MULTICAST MTU:1500 Metric:1
RX packets:3901387 errors:782502 dropped:0 overruns:782502 frame:782502
TX packets:3775053 errors:0 dropped:0 overruns:0 carrier:0
collisions:0 txqueuelen:1000
RX bytes:4178248807 (4.1 GB) TX bytes:853327178 (853.3 MB)
";

/// Set-up and registers before and after a patch.
pub(crate) const PATCH: &str = "Before
root@nano-board:~# cat /proc/version
Linux version 3.0.35-7 (builder@host)
root@nano-board:~# ethtool eth0
Settings for eth0:
Supported ports: [ TP MII ]
Supported link modes: 10baseT/Half 10baseT/Full
100baseT/Half 100baseT/Full
1000baseT/Full
Supported pause frame use: No
Advertised pause frame use: No
Speed: 1000Mb/s
Duplex: Full
Auto-negotiation: on
Link detected: yes
root@nano-board:~# devregs ENET_RCR
ENET_RCR:0x02188084 =0x05ee0244
After
root@nano-board:~# cat /proc/version
Linux version 3.0.35-8 (builder@host)
root@nano-board:~# ethtool eth0
Settings for eth0:
Supported pause frame use: Symmetric
Advertised pause frame use: Symmetric
Speed: 1000Mb/s
Duplex: Full
Auto-negotiation: on
Link detected: yes
root@nano-board:~# devregs ENET_RCR
ENET_RCR:0x02188084 =0x05ee0264
";

/// Two systems on one board, with blank lines everywhere.
pub(crate) const SYSTEMS: &str = "The drops are here:

     root@android:/ # busybox ifconfig eth0

     eth0      Link encap:Ethernet  HWaddr 00:00:5E:00:53:02

               UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1

               RX packets:7382672 errors:71828 dropped:789 overruns:71828 frame:71828

               TX packets:4147006 errors:0 dropped:0 overruns:0 carrier:0

     In linux, this is what it has:

     root@board_6q:/# cat /proc/sys/net/ipv4/tcp_mem

     18240      24320     36480

     In Android, it is less:

     root@board_6q:/# cat /proc/sys/net/ipv4/tcp_mem

     9285      12380     18570

     root@board_6q:/# cat /proc/sys/net/ipv4/tcp_rmem

     4096       87380     396160
";

/// A router under a packet generator, in sentences.
pub(crate) const ROUTER: &str = "FIRST TEST:

at first a stock kernel was built, with the standard
eepro100 ethernet driver.

packets/sec performance max'd out at about 9700 pps, whatever the size.  at a size
of 320 bytes, the box was routing some 24Mb/s of data (~8800pps). a size
of 1000 bytes would be 12500 packets/sec when routing at line rate.

SECOND TEST:

with the e100 driver in place the following was noted.

rates became better: at 320
bytes, the box was now routing ~52Mb/s (~19200pps).

summary:

the box can forward at up to 21K pps with the e100 driver.
";

/// Notes of ttcp with two drivers, and once more at the end.
pub(crate) const TTCP: &str = "DRIVER A
MTU = 1500, -n 20480
Tx (v4): 92.1 Mbps, 1.1s (8%)
Rx (v4): 92.2 Mbps, 1.6s (12%)
UDPv4 tx, 128 (-n 204800) 34.2 Mbps, 5.2 (99%)
UDPv4 tx, 64 (-n 204800) 17.4 Mbps, 5.1 (99%)
And here is the other one
DRIVER B
MTU = 1500, -n 20480
Tx (v4): 92.1 Mbps, 1.2s (8%)
Rx (v4): 92.2 Mbps, 3.2s (24%)
UDPv4 tx, 128 (-n 204800) 29.4 Mbps, 6.0s (99%)
UDPv4 tx, 64 (-n 204800) 14.8 Mbps, 6.0s (99%)
";

/// Flows and interrupts of a router, in two configurations.
pub(crate) const PORTS: &str = "Bridge mode

Number of threads (-P) Thread 0 Thread 1 Thread 2 Total Gbit/s
1 3.08 3.08
2 3 2.93 5.93
3 3.04 2.88 2.56 8.48

Routed mode

Number of threads (-P) Thread 0 Thread 1 Thread 2 Total Gbit/s
1 2.91 2.91
3 2.64 2.52 2.15 7.3

Ten ports

cat /proc/interrupts  | grep -E '(CPU|dpio)'
           CPU0       CPU1       CPU2
124:     119703          0          0  ITS-fMSI 230000 Edge      dpio.8
125:          0          0          0  ITS-fMSI 230001 Edge      dpio.7

Two ports

cat /proc/interrupts  | grep -E '(CPU|dpio)'
           CPU0       CPU1       CPU2
124:     463934          0          0  ITS-fMSI 230000 Edge      dpio.8
125:          0     961301          0  ITS-fMSI 230001 Edge      dpio.7
";
