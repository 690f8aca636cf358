// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sockets and protocol memory.

mod buffer;
mod checksum;
mod memory;
mod reader;
mod window;

use super::vantage::vantages;
use super::{Facts, Known};
use crate::evidence::Evidence;

pub(super) const KNOWN: &[Known] = &[
    Known {
        name: "receive_buffer_asked_bytes",
        unit: "bytes",
        means: "receive buffer that the receiving program asked for",
        tells: "",
    },
    Known {
        name: "receive_buffer_granted_bytes",
        unit: "bytes",
        means: "receive buffer that the kernel granted",
        tells: "sysctl net.core.rmem_max",
    },
    Known {
        name: "rmem_max_bytes",
        unit: "bytes",
        means: "net.core.rmem_max: the largest receive buffer that a program is granted",
        tells: "sysctl net.core.rmem_max",
    },
    Known {
        name: "receive_buffer_cut_by",
        unit: "",
        means: "what cut the buffer that was asked for: net.core.rmem_max, or something else, as that setting would allow it",
        tells: "",
    },
    Known {
        name: "receive_buffer_lasts_ms",
        unit: "ms",
        means: "for how long the receive buffer takes datagrams at the offered rate while nobody reads",
        tells: "",
    },
    Known {
        name: "udp_buffer_errors",
        unit: "datagrams",
        means: "datagrams that the host dropped because a socket's receive buffer was full",
        tells: "nstat -az UdpRcvbufErrors Udp6RcvbufErrors",
    },
    Known {
        name: "udp_buffer_error_ratio",
        unit: "ratio",
        means: "of the datagrams that reached the host's sockets, those dropped because a buffer was full",
        tells: "nstat -az UdpRcvbufErrors UdpInDatagrams",
    },
    Known {
        name: "loss_run_longest_ms",
        unit: "ms",
        means: "how long the longest row of lost datagrams took to send",
        tells: "",
    },
    Known {
        name: "loss_run_mean",
        unit: "packets",
        means: "how many datagrams were lost in a row, on average",
        tells: "",
    },
    Known {
        name: "reader_known",
        unit: "",
        means: "whether it is known what buffer the reader had and who used its processors",
        tells: "",
    },
    Known {
        name: "idle_busiest_cpu",
        unit: "ratio",
        means: "how busy the busiest processor was before the test sent anything",
        tells: "mpstat -P ALL 1 5",
    },
    Known {
        name: "end_busiest_cpu",
        unit: "ratio",
        means: "how busy this end's busiest processor was during the test",
        tells: "mpstat -P ALL 1 5",
    },
    Known {
        name: "udp_mem_errors",
        unit: "datagrams",
        means: "datagrams that the host dropped because UDP's memory was used up",
        tells: "nstat -az UdpMemErrors",
    },
    Known {
        name: "udp_mem_ratio",
        unit: "ratio",
        means: "memory in UDP sockets, of the limit net.ipv4.udp_mem[2]",
        tells: "cat /proc/net/sockstat; sysctl net.ipv4.udp_mem",
    },
    Known {
        name: "tcp_mem_ratio",
        unit: "ratio",
        means: "memory in TCP sockets, of net.ipv4.tcp_mem[1], where the kernel begins to save",
        tells: "cat /proc/net/sockstat; sysctl net.ipv4.tcp_mem",
    },
    Known {
        name: "tcp_mem_pressure_pages",
        unit: "pages",
        means: "net.ipv4.tcp_mem[1]: from here on the kernel saves memory in TCP sockets",
        tells: "sysctl net.ipv4.tcp_mem",
    },
    Known {
        name: "tcp_mem_set_by",
        unit: "",
        means: "who set net.ipv4.tcp_mem: kernel (from its free memory at the start), admin",
        tells: "sysctl net.ipv4.tcp_mem",
    },
    Known {
        name: "tcp_mem_from_megabytes",
        unit: "MB",
        means: "free memory from which a kernel sets this net.ipv4.tcp_mem by itself",
        tells: "",
    },
    Known {
        name: "tcp_memory_pressures",
        unit: "events",
        means: "how often the kernel began to save memory in TCP sockets",
        tells: "nstat -az TcpExtTCPMemoryPressures",
    },
    Known {
        name: "tcp_pruned",
        unit: "events",
        means: "how often the kernel squeezed or threw away what a TCP socket had received",
        tells: "nstat -az TcpExtPruneCalled TcpExtRcvPruned TcpExtTCPRcvCollapsed",
    },
    Known {
        name: "tcp_rmem_max_bytes",
        unit: "bytes",
        means: "net.ipv4.tcp_rmem[2]: the largest receive buffer that a connection gets by itself",
        tells: "sysctl net.ipv4.tcp_rmem",
    },
    Known {
        name: "tcp_wmem_max_bytes",
        unit: "bytes",
        means: "net.ipv4.tcp_wmem[2]: the largest send buffer that a connection gets by itself",
        tells: "sysctl net.ipv4.tcp_wmem",
    },
    Known {
        name: "tcp_rmem_reach_ms",
        unit: "ms",
        means: "the round trip up to which half of tcp_rmem[2] carries the rate that was measured",
        tells: "",
    },
    Known {
        name: "machine_full",
        unit: "",
        means: "whether both ends of the TCP test are one machine whose processors were all in use",
        tells: "",
    },
    Known {
        name: "processor_stall_ratio",
        unit: "ratio",
        means: "the part of the time for which TCP may wait on a full machine with nothing wrong; 0 elsewhere",
        tells: "",
    },
    Known {
        name: "flood_on_one_machine",
        unit: "",
        means: "whether a sender that sends as fast as it can has the receiver's processors too",
        tells: "",
    },
    Known {
        name: "tcp_window_used_bytes",
        unit: "bytes",
        means: "bytes of each connection that were on their way: its rate times the round trip",
        tells: "ss -ti",
    },
    Known {
        name: "tcp_bdp_bytes",
        unit: "bytes",
        means: "bytes that have to be on their way to fill the link",
        tells: "ping -c 10 <peer>",
    },
    Known {
        name: "rwnd_limited_ratio",
        unit: "ratio",
        means: "of the time in which TCP had something to send, that in which the receiver's window was full",
        tells: "ss -ti",
    },
    Known {
        name: "sndbuf_limited_ratio",
        unit: "ratio",
        means: "of the time in which TCP had something to send, that in which its send buffer was full",
        tells: "ss -ti",
    },
    Known {
        name: "app_limited_ratio",
        unit: "ratio",
        means: "of the test's time, that in which the sending program gave TCP nothing to send",
        tells: "ss -ti",
    },
    Known {
        name: "zero_windows_per_second",
        unit: "1/s",
        means: "how often the receiver told its senders that it has no room at all",
        tells: "nstat -az TcpExtTCPToZeroWindowAdv",
    },
    Known {
        name: "memory_available_ratio",
        unit: "ratio",
        means: "memory that is free or can be freed, of all",
        tells: "cat /proc/meminfo",
    },
    Known {
        name: "allocation_failures",
        unit: "events",
        means: "packets dropped, or buffers not had, for want of memory in a hurry",
        tells: "nstat -az TcpExtPFMemallocDrop; dmesg | grep 'allocation failure'",
    },
    Known {
        name: "checksum_errors",
        unit: "packets",
        means: "UDP and TCP packets that arrived with a wrong checksum",
        tells: "nstat -az UdpInCsumErrors TcpInCsumErrors",
    },
    Known {
        name: "rx_checksum_offload",
        unit: "",
        means: "whether the MAC checks checksums: on, off",
        tells: "ethtool -k {interface}",
    },
    Known {
        name: "rx_mac_blind",
        unit: "",
        means: "whether the driver never fills the link's FIFO counters and shows none of its own",
        tells: "ethtool -S {interface}",
    },
];

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for place in vantages(evidence) {
        buffer::collect(&place, facts);
        reader::collect(&place, facts);
        memory::collect(&place, facts);
        window::collect(&place, facts);
        checksum::collect(&place, facts);
    }
}

#[cfg(test)]
mod tests;
