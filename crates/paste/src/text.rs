// SPDX-License-Identifier: MIT OR Apache-2.0
//! What other tools print, as people paste it: cut short, wrapped, trimmed, in another language.
//!
//! [`read`] tries the readers at the first line and returns what it and the next lines contain. Each reader first checks
//! a line or two, so reading is linear in the length of the text; no text is an error. Lines must be clean: no markup,
//! quoting or prompt.

mod aria2;
mod bonding;
mod boot;
mod bpftrace;
mod brctl;
mod bridge_link;
mod bridge_tables;
mod class_loop;
mod complaint;
mod connection_count;
mod copy;
mod cpu_share;
mod curl;
mod dd;
mod devlink;
mod devlink_versions;
mod dmesg;
mod drops;
mod dropwatch;
mod ethtool;
mod ethtool_cable;
mod ethtool_features;
mod ethtool_module;
mod ethtool_sections;
mod ethtool_stats;
mod flow_hash;
mod flow_table;
mod forward_errors;
mod forwarding;
mod hops;
mod ifconfig;
mod indirection;
mod interrupts;
mod ip_brief;
mod ip_link;
mod iperf;
mod iperf3_json;
mod iw;
mod iwconfig;
mod lines;
mod lshw;
mod lspci;
mod lsusb;
mod mpstat;
mod named_files;
mod neighbours;
mod net_class;
mod netperf;
mod netstat_i;
mod netstat_s;
mod nstat;
mod number;
mod nuttcp;
mod packet_sockets;
mod perf;
mod ping;
mod proc_file;
mod processors;
mod protocol_tables;
mod qdisc;
mod rate_table;
mod registers;
mod route_print;
mod routes;
mod ruleset;
mod sar;
mod skb_drops;
mod socket_statistics;
mod softnet;
mod speedtest;
mod stat_table;
mod sysctl;
mod syslog;
mod top;
mod transfer;
mod ttcp;
mod vmstat;
mod wget;
mod windows;
mod winmtr;

pub use cpu_share::CpuShare;
pub use forwarding::read_prose;
pub use iperf::{Event as IperfEvent, Protocol, Row};
pub use lines::{Hint, Lines};
pub use number::{bits_per_second, bytes};
pub use ping::Ping;
pub use route_print::{Route as WindowsRoute, ipv6_gateway as windows_ipv6_gateway};
pub use transfer::Transfer;
pub use winmtr::{Hop as WinMtrHop, is_heading as is_winmtr_heading};

/// The first lines of a text, and what they contain.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The number of lines, at least one.
    pub lines: usize,
    /// The tool that prints this: `ifconfig`, `ethtool -S` …
    pub format: &'static str,
    /// The values.
    pub content: Vec<Content>,
}

/// One item of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Counters, by the kernel's or the driver's names.
    Counters(Counters),
    /// How something is set up, by the words of the tool that prints it.
    Settings(Settings),
    /// A line of iperf or iperf3.
    Iperf(IperfEvent),
    /// A measured rate.
    Transfer(Transfer),
    /// A summary of ping.
    Ping(Ping),
    /// Shares of CPU time.
    Cpu(CpuShare),
}

/// Values of one source at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Where to read them: `/proc/net/dev`, `ethtool -S` …
    pub source: String,
    /// The interface, if the text names it.
    pub interface: Option<String>,
    /// Name and value of those that the text has.
    pub values: Vec<(String, u64)>,
}

/// Set-up of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where to read it: `ethtool -g`, `sysctl` …
    pub source: String,
    /// The interface, if the text names it.
    pub interface: Option<String>,
    /// Name and value as printed.
    pub values: Vec<(String, String)>,
}

impl Block {
    /// Skips lines that look like a format and have no data, if they are many, so that they are not looked at once for
    /// each of them; few are left to the other readers.
    fn says_nothing(found: &[(usize, &str)], format: &'static str) -> Option<Self> {
        let (last, _) = found.last()?;
        let block = Self {
            lines: last + 1,
            format,
            content: Vec::new(),
        };
        (found.len() > FEW).then_some(block)
    }
}

/// Lines that may be looked at in vain.
const FEW: usize = 16;

impl Counters {
    #[expect(clippy::new_ret_no_self, reason = "only used as content")]
    fn new(source: &str, interface: Option<&str>, values: Vec<(String, u64)>) -> Content {
        Content::Counters(Self {
            source: source.to_owned(),
            interface: interface.map(str::to_owned),
            values,
        })
    }
}

impl Settings {
    #[expect(clippy::new_ret_no_self, reason = "only used as content")]
    fn new(source: &str, interface: Option<&str>, values: Vec<(String, String)>) -> Content {
        Content::Settings(Self {
            source: source.to_owned(),
            interface: interface.map(str::to_owned),
            values,
        })
    }
}

/// Reads the first of `lines`; `None` if no reader knows the first one.
#[must_use]
pub fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    if first.trim().is_empty() {
        return None;
    }
    READERS.iter().find_map(|reader| reader(lines, hint))
}

type Reader = fn(Lines<'_>, Hint<'_>) -> Option<Block>;

/// What a reader finds at the beginning of a text without a command line.
#[cfg(test)]
fn block_of(text: &str, read: Reader) -> Option<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let looked = std::cell::Cell::new(0);
    read(Lines::new(&lines, &looked), Hint::default())
}

/// Strict readers first.
const READERS: &[Reader] = &[
    iperf3_json::read,
    iperf::read,
    nuttcp::read,
    netperf::read,
    perf::read,
    skb_drops::read,
    dropwatch::read,
    bpftrace::read,
    ruleset::read,
    flow_hash::read,
    indirection::read,
    processors::read,
    forward_errors::read,
    packet_sockets::read,
    brctl::read,
    bridge_link::read,
    bridge_tables::read,
    neighbours::read,
    routes::read,
    route_print::read,
    ip_brief::read,
    winmtr::read,
    hops::read,
    iw::read,
    iwconfig::read,
    devlink::read,
    windows::read,
    socket_statistics::read,
    stat_table::read,
    connection_count::read,
    named_files::read,
    class_loop::read,
    proc_file::read,
    ethtool::read,
    ethtool_module::read,
    ethtool_cable::read,
    ethtool_sections::read,
    ethtool_stats::read,
    ifconfig::read,
    ip_link::read,
    netstat_i::read,
    netstat_s::read,
    protocol_tables::read,
    nstat::read,
    interrupts::read,
    softnet::read,
    qdisc::read,
    sar::read,
    mpstat::read,
    top::read,
    vmstat::read,
    dmesg::read,
    boot::read,
    registers::read,
    sysctl::read,
    lspci::read,
    lsusb::read,
    lshw::read,
    bonding::read,
    complaint::read,
    ping::read,
    dd::read,
    copy::read,
    wget::read,
    curl::read,
    aria2::read,
    speedtest::read,
    ttcp::read,
    flow_table::read,
    rate_table::read,
    forwarding::read,
];
