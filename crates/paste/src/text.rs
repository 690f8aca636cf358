// SPDX-License-Identifier: MIT OR Apache-2.0
//! What other tools print, as people paste it: cut short, wrapped, trimmed, in another language.
//!
//! [`read`] looks at the lines from one place on and says what the first of them are, and how many. A line that no
//! reader knows is nobody's. Every reader first looks at a line or two, so a text is read in time linear in its length;
//! no text makes one fail. The lines are expected to be clean: no markup, no quoting, no prompt.

mod bonding;
mod boot;
mod complaint;
mod cpu_share;
mod dmesg;
mod ethtool;
mod ethtool_sections;
mod ethtool_stats;
mod flow_hash;
mod flow_table;
mod forward_errors;
mod forwarding;
mod ifconfig;
mod interrupts;
mod ip_link;
mod iperf;
mod iperf3_json;
mod lines;
mod lshw;
mod lspci;
mod lsusb;
mod mpstat;
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
mod ruleset;
mod socket_statistics;
mod softnet;
mod stat_table;
mod sysctl;
mod top;
mod transfer;
mod ttcp;
mod vmstat;

pub use cpu_share::CpuShare;
pub use forwarding::read_prose;
pub use iperf::{Event as IperfEvent, Protocol, Row};
pub use lines::{Hint, Lines};
pub use number::{bits_per_second, bytes};
pub use ping::Ping;
pub use transfer::Transfer;

/// The first lines of a text, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// So many lines, at least one.
    pub lines: usize,
    /// Whose output it is: `ifconfig`, `ethtool -S` …
    pub format: &'static str,
    /// What it says.
    pub content: Vec<Content>,
}

/// One thing that a text says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Counters, by the kernel's or the driver's names.
    Counters(Counters),
    /// How something is set up, by the words of the tool that prints it.
    Settings(Settings),
    /// A line of iperf or iperf3.
    Iperf(IperfEvent),
    /// A measured rate in one piece.
    Transfer(Transfer),
    /// A summary of ping.
    Ping(Ping),
    /// Where a processor spent its time.
    Cpu(CpuShare),
}

/// Values of one source at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Where a user can read them: `/proc/net/dev`, `ethtool -S` …
    pub source: String,
    /// Of which interface, where the text says it.
    pub interface: Option<String>,
    /// Name and value; what is not told is absent.
    pub values: Vec<(String, u64)>,
}

/// Set-up of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where a user can read it: `ethtool -g`, `sysctl` …
    pub source: String,
    /// Of which interface, where the text says it.
    pub interface: Option<String>,
    /// Name and value as printed.
    pub values: Vec<(String, String)>,
}

impl Block {
    /// Of lines that look like a format and hold nothing: passed over if they are many, so that nobody looks at them
    /// again for each of them; else left to the other readers.
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

/// So many lines may be looked at in vain.
const FEW: usize = 16;

impl Counters {
    #[expect(
        clippy::new_ret_no_self,
        reason = "nobody needs it outside of a content"
    )]
    fn new(source: &str, interface: Option<&str>, values: Vec<(String, u64)>) -> Content {
        Content::Counters(Self {
            source: source.to_owned(),
            interface: interface.map(str::to_owned),
            values,
        })
    }
}

impl Settings {
    #[expect(
        clippy::new_ret_no_self,
        reason = "nobody needs it outside of a content"
    )]
    fn new(source: &str, interface: Option<&str>, values: Vec<(String, String)>) -> Content {
        Content::Settings(Self {
            source: source.to_owned(),
            interface: interface.map(str::to_owned),
            values,
        })
    }
}

/// What the first of `lines` are; `None` if no reader knows the first one.
#[must_use]
pub fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    if first.trim().is_empty() {
        return None;
    }
    READERS.iter().find_map(|reader| reader(lines, hint))
}

type Reader = fn(Lines<'_>, Hint<'_>) -> Option<Block>;

/// The stricter before the more generous.
const READERS: &[Reader] = &[
    iperf3_json::read,
    iperf::read,
    nuttcp::read,
    netperf::read,
    perf::read,
    ruleset::read,
    flow_hash::read,
    processors::read,
    forward_errors::read,
    packet_sockets::read,
    socket_statistics::read,
    stat_table::read,
    proc_file::read,
    ethtool::read,
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
    ttcp::read,
    flow_table::read,
    rate_table::read,
    forwarding::read,
];
