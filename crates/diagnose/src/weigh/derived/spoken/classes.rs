// SPDX-License-Identifier: MIT OR Apache-2.0
//! Classes of words by which clauses are compared.

/// A set of classes, one bit each.
pub(super) type Class = u64;

/// Defines classes and their words; `*` at the end of a word stands for any ending.
macro_rules! classes {
    ($($name:ident $bit:literal = [$($word:literal)+])+) => {
        $(pub(super) const $name: Class = 1 << $bit;)+
        /// The words of each.
        pub(super) const CLASSES: &[(Class, &[&str])] = &[$(($name, &[$($word),+])),+];
    };
}

classes! {
    NET_TEST 0 = ["iperf*" "netperf*" "nuttcp*" "ttcp" "qperf" "speedtest*" "speed test*"]
    PROGRAM 1 = ["nfs*" "smb*" "samba*" "cifs" "scp" "sftp" "rsync*" "ftp" "copy*" "copies" "file transfer*" "file copy*"
        "backup*" "database*" "mysql*" "postgres*" "application*" "app" "program" "programs" "browser*" "wget" "curl"
        "http*" "download*" "iscsi" "ceph" "nginx*" "apache*" "file share*" "transferring files" "transfer of files"]
    HTTP_1 2 = ["http/1*" "http1*" "h1"]
    HTTP_2 3 = ["http/2*" "http2*" "h2"]
    OTHER_PARTNER 4 = ["another switch*" "different switch*" "other switch*" "another router" "different router"
        "another hub" "another port of" "different switch port" "another switch port" "other switch port"
        "directly connected" "connected directly" "direct connection" "direct cable" "direct link" "connected back to back"
        "connected back-to-back" "back-to-back connection" "back to back connection" "crossover*" "cross-over*" "without the switch" "bypassing the switch" "unmanaged switch"
        "another port on" "different port on" "old switch" "cheap switch" "dumb switch"]
    OTHER_HOSTS 5 = ["other machines" "other hosts" "other computers" "other devices" "other clients" "other servers"
        "other pcs" "other boxes" "other nodes" "other systems" "other laptops" "everyone else"
        "everybody else" "several hosts" "several machines" "all hosts" "all machines" "all devices" "all clients"]
    EACH_HOST 6 = ["each host" "every host" "all hosts" "each machine" "every machine" "all machines" "all computers"
        "every computer" "every device" "each device" "all devices" "all clients" "every client" "all our machines"
        "all my devices" "all my machines" "all my computers" "any device" "any machine" "any computer" "all pcs"
        "all servers" "every server" "any host" "each computer"]
    INSIDE 7 = ["inside" "lan" "locally" "internally" "intranet" "local network" "internal network" "same switch"
        "same subnet" "local hosts" "local machines" "local transfers" "local peer*" "local server*" "local host*" "within the network" "internal traffic"]
    OUTSIDE 8 = ["internet" "wan" "outside" "external*" "isp" "speedtest*" "public internet" "remote site" "provider"]
    FROM_INSIDE 9 = ["from inside" "from the lan" "from lan" "from my lan" "from the inside" "from internal"
        "from the internal" "from within" "internally" "inside the lan" "inside my lan" "on the lan" "inside the network"
        "from the local" "from inside the" "from our lan" "from my local" "from the same lan" "within the lan"
        "inside client*" "from home" "in the lan"]
    FROM_OUTSIDE 10 = ["from outside" "from the outside" "from the internet" "from internet" "externally"
        "from external" "from the wan" "from wan" "from mobile*" "over 4g" "over lte" "from my phone" "from everywhere"
        "everywhere else" "from an external" "from remote" "from anywhere"]
    THE_HOST 11 = ["host" "hypervisor" "its own host" "the host itself"]
    GUEST 12 = ["vm" "vms" "guest" "guests" "vm's" "virtual machine*"]
    CONTAINER 13 = ["container*" "docker" "pod" "pods" "lxc"]
    SAME_NODE 14 = ["same node" "same worker*" "same host" "same machine" "one node" "node-local"]
    OTHER_NODE 15 = ["other node*" "different node*" "another node" "across nodes" "between nodes" "cross-node"
        "other worker*" "different worker*" "different host*" "another worker" "across hosts" "different machines"]
    METADATA 16 = ["metadata*" "169.254.169.254"]
    ADDRESS 17 = ["ip" "ips" "by ip" "ip address*" "numeric address*" "8.8.8.8" "8.8.4.4" "1.1.1.1" "9.9.9.9" "address"]
    NAME 18 = ["name" "names" "hostname*" "domain*" "dns" "google.com" "fqdn" "host name*" "url" "urls" "www.google.com"]
    SMALL 19 = ["small*" "short" "tiny" "little" "few bytes"]
    LARGE 20 = ["large*" "big" "bigger" "long" "huge" "everything larger"]
    OTHERS 23 = ["others" "other machines" "other hosts" "all machines" "other computers" "other devices" "other pcs"
        "all other*" "every other*" "from the lan" "from outside" "the lan" "everyone" "everything else" "other clients"
        "rest of the network" "from another*" "from other*"]
    TUNNEL 24 = ["vpn*" "tunnel*" "wireguard" "openvpn" "ipsec" "wg0" "tun0" "through the tunnel" "over wg"]
    PLAIN 25 = ["without" "direct" "directly" "plain" "outside the tunnel" "outside the vpn" "no vpn" "bare" "underlay"
        "unencrypted" "native"]
    ONE_QUEUE 26 = ["one queue" "single queue" "1 queue" "one transmit queue" "one receive queue" "one tx queue"
        "one rx queue" "a single queue"]
    MORE_QUEUES 27 = ["two queues" "2 queues" "both queues" "four queues" "4 queues" "multiple queues" "more queues"
        "8 queues" "several queues"]
    JUMBO 28 = ["jumbo*" "mtu 9000" "mtu 9216" "mtu=9000" "9000" "mtu 4000" "larger mtu" "mtu of 9000" "bigger mtu"]
    USUAL_MTU 29 = ["1500" "mtu 1500" "mtu=1500" "default mtu" "standard mtu" "without jumbo" "normal mtu"]
    TRACER 30 = ["bpftrace*" "perf" "strace*" "ftrace" "netqtop*" "systemtap" "stap" "bcc" "kprobe*" "trace-cmd" "tracer*"
        "tracing" "bpf program*" "xdpdump"]
    IDLE 31 = ["idle" "unloaded" "without load" "no load" "quiet" "no traffic" "without traffic" "nothing else running"]
    LOADED 32 = ["load" "loaded" "under load" "upload*" "download*" "uploading" "downloading" "saturated" "busy" "iperf*"
        "with traffic" "flood" "full speed"]
    LATENCY 33 = ["latenc*" "ping" "pings" "rtt*" "round trip*" "round-trip*" "delay*" "response time*" "lag"]
    DNS 34 = ["dns" "resolv*" "lookup*" "look-up*" "look-ups" "name resolution" "nslookup" "dig" "getaddrinfo" "host name*"]
    REQUEST 35 = ["request*" "quer*" "transaction*" "call" "calls" "message*" "round trip*" "rpc*" "response*" "write*"
        "reply" "replies" "answer*"]
    CONTRACT 36 = ["contract*" "plan" "subscri*" "tariff" "paying for" "pay for" "paid for" "my line" "our line" "isp"
        "provider" "booked" "my connection is" "internet connection" "dsl" "vdsl" "fiber" "fibre" "cable internet"
        "uplink" "leased line" "wan link"]
    HELPER 37 = ["sip" "sdp" "ftp" "pasv" "voip" "rtp" "h.323" "pptp"]
    CONNECTION 38 = ["connection*" "session*" "socket*" "ssh" "tunnel*" "mysql" "client*" "tcp" "they" "these" "link"]
    TO_SERVER 42 = ["to server*" "to public*" "from server*" "from mirror*" "mirror*" "test server*" "to another server*"]
    HOPED 41 = ["should" "expect*" "instead" "want*" "would" "link" "card" "nic" "port" "ethernet" "switch"]
}
