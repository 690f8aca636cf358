// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sockets and protocol memory.

mod absorb;
mod buffer;
mod checksum;
mod memory;
mod reader;
mod window;

pub(crate) use buffer::most_bytes;
pub(crate) use window::control_limited_ratio;

use super::known::names;
use super::vantage::vantages;
use super::{Facts, Known};
use crate::evidence::Evidence;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "receive_buffer_asked_bytes" "bytes" "receive buffer that the receiving program requested" ""
    "receive_buffer_granted_bytes" "bytes" "receive buffer that the kernel granted" "sysctl net.core.rmem_max"
    "rmem_max_bytes" "bytes" "net.core.rmem_max: the largest receive buffer that a program is granted" "sysctl net.core.rmem_max"
    "receive_buffer_cut_by" "" "what limited the requested buffer: net.core.rmem_max, or something else where that setting allows it" ""
    "receive_buffer_lasts_ms" "ms" "for how long the receive buffer holds datagrams at the offered rate while the program does not read" ""
    "buffer_absorbs_ratio" "ratio" "of the datagrams that the socket dropped, those that a buffer of the requested size would have held" ""
    "buffer_absorbs_packets" "datagrams" "of those that the socket dropped, the ones that a buffer of the requested size would have held" ""
    "most_buffer_absorbs_ratio" "ratio" "of the datagrams that the socket dropped, the most that a buffer of the requested size would have held" ""
    "udp_buffer_errors" "datagrams" "datagrams that the host dropped because a socket's receive buffer was full" "nstat -az UdpRcvbufErrors Udp6RcvbufErrors"
    "udp_buffer_error_ratio" "ratio" "of the datagrams that reached the host's sockets, those dropped because a buffer was full" "nstat -az UdpRcvbufErrors UdpInDatagrams"
    "loss_run_longest_ms" "ms" "duration of the longest run of lost datagrams, by their sending times" ""
    "receiver_run_delay_ms_max" "ms" "most time within 20 ms, or in one longer wait, that a receiving thread was ready to run and waited for a CPU" ""
    "receiver_cpu_ratio" "ratio" "the share of the test's time that a receiving thread ran, the busiest one's" ""
    "loss_run_mean" "packets" "mean run of lost datagrams, after the longest runs are removed that the queues of the ends can have dropped" ""
    "reader_known" "" "whether the reader's buffer and the load of its processors are known" ""
    "idle_busiest_cpu" "ratio" "how busy other programs kept the busiest processor before the test sent anything" "mpstat -P ALL 1 5"
    "end_busiest_cpu" "ratio" "how busy this end's busiest processor was during the test" "mpstat -P ALL 1 5"
    "udp_mem_errors" "datagrams" "datagrams that the host dropped because UDP's memory was used up" "nstat -az UdpMemErrors"
    "udp_mem_ratio" "ratio" "memory in UDP sockets, of the limit net.ipv4.udp_mem[2]" "cat /proc/net/sockstat; sysctl net.ipv4.udp_mem"
    "tcp_mem_ratio" "ratio" "memory in TCP sockets, of net.ipv4.tcp_mem[1], where the kernel enters memory pressure" "cat /proc/net/sockstat; sysctl net.ipv4.tcp_mem"
    "tcp_mem_pressure_pages" "pages" "net.ipv4.tcp_mem[1]: above it the kernel is under memory pressure" "sysctl net.ipv4.tcp_mem"
    "tcp_mem_set_by" "" "origin of net.ipv4.tcp_mem: kernel (from its free memory at boot), admin" "sysctl net.ipv4.tcp_mem"
    "tcp_mem_from_megabytes" "MB" "free memory at boot from which a kernel computes this net.ipv4.tcp_mem" ""
    "tcp_memory_pressures" "events" "how often TCP entered memory pressure" "nstat -az TcpExtTCPMemoryPressures"
    "tcp_pruned" "events" "how often the kernel collapsed or dropped received data of a TCP socket" "nstat -az TcpExtPruneCalled TcpExtRcvPruned TcpExtTCPRcvCollapsed"
    "tcp_rmem_max_bytes" "bytes" "net.ipv4.tcp_rmem[2]: the largest receive buffer that autotuning gives a connection" "sysctl net.ipv4.tcp_rmem"
    "tcp_wmem_max_bytes" "bytes" "net.ipv4.tcp_wmem[2]: the largest send buffer that autotuning gives a connection" "sysctl net.ipv4.tcp_wmem"
    "tcp_rmem_proposed" "" "net.ipv4.tcp_rmem with a maximum of three times the bytes in flight, twice what the link needs, or what the kernel sets at boot, where it has less" ""
    "tcp_wmem_proposed" "" "net.ipv4.tcp_wmem with a maximum of three times the bytes in flight, twice what the link needs, or what the kernel sets at boot, where it has less" ""
    "tcp_rmem_reach_ms" "ms" "the round trip up to which half of tcp_rmem[2] carries the rate that was measured" ""
    "machine_full" "" "whether both ends of the TCP test are one machine whose processors were all in use" ""
    "processor_stall_ratio" "ratio" "share of the time that TCP may wait on a fully loaded machine without a fault; 0 elsewhere" ""
    "flood_on_one_machine" "" "whether an unlimited sender shares the receiver's processors" ""
    "tcp_window_used_bytes" "bytes" "bytes in flight of each connection: its rate times the round trip" "ss -ti"
    "tcp_bdp_bytes" "bytes" "bytes in flight that fill the link" "ping -c 10 <peer>"
    "rwnd_limited_ratio" "ratio" "of the time in which TCP had something to send, that in which the receiver's window was full" "ss -ti"
    "sndbuf_limited_ratio" "ratio" "of the time in which TCP had something to send, that in which its send buffer was full" "ss -ti"
    "app_limited_ratio" "ratio" "of the test's time, that in which the sending program gave TCP nothing to send" "ss -ti"
    "control_limited_ratio" "ratio" "of the test's time, that in which TCP had something to send, and neither the receiver's window nor its send buffer was full: its congestion control or the path decided" "ss -ti"
    "receive_window_is_capped" "" "whether TCP waited for a window that net.ipv4.tcp_rmem limits to less than 64 KiB, for most of the time; no if it is not known" "ss -ti; sysctl net.ipv4.tcp_rmem"
    "zero_windows_per_second" "1/s" "how often the receiver announced a window of zero" "nstat -az TcpExtTCPToZeroWindowAdv"
    "memory_available_ratio" "ratio" "available memory, of the total" "cat /proc/meminfo"
    "allocation_failures" "events" "packets dropped, or buffers refused, because no memory was available at once" "nstat -az TcpExtPFMemallocDrop; dmesg | grep 'allocation failure'"
    "checksum_errors" "packets" "UDP and TCP packets that arrived with a wrong checksum" "nstat -az UdpInCsumErrors TcpInCsumErrors"
    "rx_checksum_offload" "" "whether the MAC checks checksums: on, off" "ethtool -k {interface}"
    "rx_mac_blind" "" "whether the driver never fills the link's FIFO counters and has no private ones" "ethtool -S {interface}"
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    window::capped(evidence, facts);
    for place in vantages(evidence) {
        buffer::collect(&place, facts);
        absorb::collect(&place, facts);
        reader::collect(&place, facts);
        memory::collect(&place, facts);
        window::collect(&place, facts);
        checksum::collect(&place, facts);
    }
}

#[cfg(test)]
mod tests;
