// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tcp` and `udp`: one test, with iperf3's options and meanings.

use clap::Args;

use super::ServerFlags;
use crate::cli::values::{self, PacedRate};
use linerate_model::output::IoMode;
use linerate_model::units::rate_unit::RateUnit;

/// Measure with TCP
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(before_long_help = "Examples:
  linerate tcp 192.0.2.7                     10 s up, one stream
  linerate tcp 192.0.2.7 -R -P 4 -t 30       30 s down, four streams
  linerate tcp 192.0.2.7 --bidir -C bbr --expect '>=900M'
  linerate -c 192.0.2.7 -P4 -f m             the same, as with iperf3 (docs/iperf3.md)
  linerate tcp --lab --fault reno -i 0.5")]
pub(in crate::cli) struct TcpArgs {
    #[command(flatten)]
    pub(in crate::cli) load: LoadFlags,
    /// Write size, 1 byte … 1 MiB [default: 128K]
    #[arg(short = 'l', long, value_name = "BYTES", value_parser = values::tcp_length)]
    pub(in crate::cli) length: Option<u32>,
    /// Payload rate of each stream, with an optional burst in writes [default: unlimited]
    #[arg(short = 'b', long, value_name = "RATE[/BURST]", value_parser = values::paced_rate)]
    pub(in crate::cli) bitrate: Option<PacedRate>,
    /// Maximum segment size, 88 … 32767 bytes
    #[arg(short = 'M', long, value_name = "BYTES", value_parser = values::segment)]
    pub(in crate::cli) set_mss: Option<u32>,
    /// Send small writes at once (TCP_NODELAY)
    #[arg(short = 'N', long)]
    pub(in crate::cli) no_delay: bool,
    /// Congestion control, such as cubic, reno, bbr
    #[arg(short = 'C', long, value_name = "NAME")]
    pub(in crate::cli) congestion: Option<String>,
    /// Send without copying, with sendfile(2); same as --mode sendfile
    #[arg(short = 'Z', long, conflicts_with = "mode")]
    pub(in crate::cli) zerocopy: bool,
    /// How data is sent (copy, zerocopy, sendfile) and received (copy, trunc)
    #[arg(long, value_name = "SEND[/RECEIVE]", value_parser = tcp_modes)]
    pub(in crate::cli) mode: Option<Modes>,
    #[command(flatten)]
    pub(in crate::cli) server: ServerFlags,
}

/// Measure with UDP: rate, loss, order, jitter
///
/// As in iperf3 the default rate is 1.048576 Mbit/s per stream; set the rate with -b.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(before_long_help = "Examples:
  linerate udp 192.0.2.7 -b 500M             10 s up at 500 Mbit/s of payload
  linerate udp 192.0.2.7 -R -b 100M -l 64    small datagrams, down
  linerate -c 192.0.2.7 -u -b 100M           as with iperf3 (docs/iperf3.md)
  linerate udp 192.0.2.7 --bidir -b 900M -t 60 --expect 'loss<=0.001%'
  linerate udp --lab --fault duplicate=1% -b 50M")]
pub(in crate::cli) struct UdpArgs {
    #[command(flatten)]
    pub(in crate::cli) load: LoadFlags,
    /// Payload, 16 … 65507 bytes [default: the control connection's MSS]
    #[arg(short = 'l', long, value_name = "BYTES", value_parser = values::udp_length)]
    pub(in crate::cli) length: Option<u32>,
    /// Payload rate of each stream, with an optional burst in datagrams; 0 = unlimited [default: 1.048576 Mbit/s]
    #[arg(short = 'b', long, value_name = "RATE[/BURST]", value_parser = values::paced_rate)]
    pub(in crate::cli) bitrate: Option<PacedRate>,
    /// Datagrams sent back to back, 1 … 1000 [default: 200 µs of line time, 8 … 128]
    #[arg(long, value_name = "DATAGRAMS", value_parser = values::burst)]
    pub(in crate::cli) burst: Option<u32>,
    /// How datagrams are sent (plain, mmsg, gso) and received (plain, mmsg, gro) [default: mmsg/mmsg]
    #[arg(long, value_name = "SEND[/RECEIVE]", value_parser = udp_modes)]
    pub(in crate::cli) mode: Option<Modes>,
    /// Use 64-bit sequence numbers with a stock server (always used between two linerates)
    #[arg(long = "udp-counters-64bit")]
    pub(in crate::cli) counters_64bit: bool,
    /// Forbid IPv4 fragmentation
    #[arg(long)]
    pub(in crate::cli) dont_fragment: bool,
    #[command(flatten)]
    pub(in crate::cli) server: ServerFlags,
}

/// What TCP and UDP tests have in common.
#[derive(Debug, Args)]
pub(in crate::cli) struct LoadFlags {
    /// Length of the test, such as 10, 500ms, 2m [default: 10]
    #[arg(short = 't', long, value_name = "TIME", value_parser = values::duration, group = "end")]
    pub(in crate::cli) time: Option<u64>,
    /// Number of payload bytes to send, instead of -t
    #[arg(short = 'n', long, value_name = "BYTES", value_parser = values::amount, group = "end")]
    pub(in crate::cli) bytes: Option<u64>,
    /// Number of writes or datagrams to send, instead of -t
    #[arg(short = 'k', long, value_name = "COUNT", value_parser = values::blocks, group = "end")]
    pub(in crate::cli) blockcount: Option<u64>,
    /// Streams in each direction, 1 … 128
    #[arg(short = 'P', long, value_name = "STREAMS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=128))]
    pub(in crate::cli) parallel: u16,
    /// The server sends
    #[arg(short = 'R', long)]
    pub(in crate::cli) reverse: bool,
    /// Both ends send at the same time
    #[arg(long, conflicts_with = "reverse")]
    pub(in crate::cli) bidir: bool,
    /// Length of the reported intervals, 0 = none [default: 1]
    #[arg(short = 'i', long, value_name = "TIME", value_parser = values::interval)]
    pub(in crate::cli) interval: Option<u64>,
    /// Warm-up time, not counted in the results
    #[arg(short = 'O', long, value_name = "TIME", value_parser = values::warm_up)]
    pub(in crate::cli) omit: Option<u64>,
    /// Socket buffer size to request, 1K … 512M [default: TCP the kernel's, UDP 4M]
    #[arg(short = 'w', long, value_name = "BYTES", value_parser = values::window)]
    pub(in crate::cli) window: Option<u32>,
    /// Pin this end to CPU LOCAL, the server to CPU REMOTE
    #[arg(short = 'A', long, value_name = "LOCAL[,REMOTE]", value_parser = values::affinity)]
    pub(in crate::cli) affinity: Option<(u32, Option<u32>)>,
    /// Local port of the first data stream
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) cport: Option<u16>,
    /// Differentiated services code point: 0 … 63 or a name such as ef, cs6, af41
    #[arg(long, value_name = "DSCP", value_parser = values::dscp)]
    pub(in crate::cli) dscp: Option<u8>,
    /// TOS octet (all 8 bits): 0 … 255
    #[arg(short = 'S', long, value_name = "TOS", value_parser = values::tos, conflicts_with = "dscp")]
    pub(in crate::cli) tos: Option<u8>,
    /// Unit of rates: k, m, g, t for bits; K, M, G, T for bytes [default: adaptive]
    #[arg(short = 'f', long, value_name = "UNIT")]
    pub(in crate::cli) format: Option<RateUnit>,
    /// Let the kernel pace each stream to this rate (SO_MAX_PACING_RATE; UDP needs the fq qdisc)
    #[arg(long, value_name = "RATE", value_parser = values::fq_rate)]
    pub(in crate::cli) fq_rate: Option<u64>,
    /// End if nothing arrives for this time, such as 2s; a bare number is ms [default: 8 s between two linerates]
    #[arg(long, value_name = "TIME", value_parser = values::timeout)]
    pub(in crate::cli) rcv_timeout: Option<u64>,
    /// End if data is not acknowledged for this time, such as 2s; a bare number is ms [default: 10 s]
    #[arg(long, value_name = "TIME", value_parser = values::timeout)]
    pub(in crate::cli) snd_timeout: Option<u64>,
    /// Title, stored with the results
    #[arg(short = 'T', long, value_name = "TEXT")]
    pub(in crate::cli) title: Option<String>,
    /// Also print the server's report
    #[arg(long)]
    pub(in crate::cli) get_server_output: bool,
    /// Use iperf2's protocol: HOST is an iperf2 server (this end sends; default port 5001)
    #[arg(long, conflicts_with = "token_file")]
    pub(in crate::cli) iperf2: bool,
}

/// `--mode`: how to send and how to receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Modes {
    pub(in crate::cli) tx: IoMode,
    pub(in crate::cli) rx: IoMode,
}

fn tcp_modes(text: &str) -> Result<Modes, String> {
    use IoMode::{Auto, Copy, Sendfile, Trunc, Zerocopy};
    modes(
        text,
        &[Auto, Copy, Zerocopy, Sendfile],
        &[Auto, Copy, Trunc],
    )
}

pub(super) fn udp_modes(text: &str) -> Result<Modes, String> {
    use IoMode::{Auto, Gro, Gso, Mmsg, Plain};
    modes(text, &[Auto, Plain, Mmsg, Gso], &[Auto, Plain, Mmsg, Gro])
}

fn modes(text: &str, tx: &[IoMode], rx: &[IoMode]) -> Result<Modes, String> {
    let (send, receive) = halves(text);
    Ok(Modes {
        tx: one_of(tx, send, "sending")?,
        rx: one_of(rx, receive, "receiving")?,
    })
}

fn one_of(modes: &[IoMode], name: &str, way: &str) -> Result<IoMode, String> {
    let found = modes.iter().find(|mode| mode.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = modes.iter().map(|mode| mode.name()).collect();
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        format!("expected {} or {last} for {way}", others.join(", "))
    })
}

fn halves(text: &str) -> (&str, &str) {
    text.split_once('/').unwrap_or((text, "auto"))
}
