// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::cli::values::{self, BindTo};
use linerate_endpoint::{IPERF2_PORT, PORT};

/// Serve linerate and iperf3 clients, many at a time
///
/// Runs until interrupted. No client can change this machine's settings.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate serve                             TCP and UDP port 5201
  linerate serve -1                          one test, then exit
  linerate -s -D -I /run/linerate.pid        as with iperf3: in the background
  linerate serve --bind 192.0.2.7 --max-rate 500M --max-time 1m
  linerate serve --metrics 127.0.0.1:9101    http://127.0.0.1:9101/metrics for Prometheus
  linerate serve --iperf2                    for `iperf` clients, port 5001")]
pub(in crate::cli) struct ServeArgs {
    /// TCP and UDP port [default: 5201, with --iperf2 5001]
    #[arg(short = 'p', long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Local address, or ADDRESS%INTERFACE [default: all]
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = values::bind_to)]
    pub(in crate::cli) bind: Option<BindTo>,
    /// Local interface [default: all]
    #[arg(long, value_name = "INTERFACE", value_parser = values::interface)]
    pub(in crate::cli) bind_dev: Option<String>,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "version6")]
    pub(in crate::cli) version4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    pub(in crate::cli) version6: bool,
    /// Exit after one test
    #[arg(short = '1', long)]
    pub(in crate::cli) one_off: bool,
    /// Refuse tests with a higher total rate
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub(in crate::cli) max_rate: Option<u64>,
    /// Refuse longer tests
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(in crate::cli) max_time: Option<u64>,
    /// Refuse tests with more streams, both directions together
    #[arg(long, value_name = "STREAMS", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(in crate::cli) max_streams: u16,
    /// Refuse more tests at once
    #[arg(long, value_name = "TESTS", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(in crate::cli) max_tests: u16,
    /// Exit after this time without a test
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(in crate::cli) idle_timeout: Option<u64>,
    /// Serve iperf2 clients instead of linerate and iperf3 (this end only receives)
    #[arg(long)]
    pub(in crate::cli) iperf2: bool,
    /// Report this host's full counters and settings to clients with this token file; to others only what a test needs
    #[arg(long, value_name = "FILE", conflicts_with = "iperf2")]
    pub(in crate::cli) token_file: Option<PathBuf>,
    /// Serve OpenMetrics at http://ADDRESS:PORT/metrics, without authentication and without client addresses
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = values::listener)]
    pub(in crate::cli) metrics: Option<SocketAddr>,
    /// Do not log a line per test
    #[arg(short = 'q', long)]
    pub(in crate::cli) quiet: bool,
    /// Run in the background, once the port is open
    #[arg(short = 'D', long)]
    pub(in crate::cli) daemon: bool,
    /// Write the process id to this file; it is removed at exit
    #[arg(short = 'I', long, value_name = "FILE")]
    pub(in crate::cli) pidfile: Option<PathBuf>,
    /// Log to this file instead of stderr
    #[arg(long, value_name = "FILE", visible_alias = "logfile")]
    pub(in crate::cli) log_file: Option<PathBuf>,
}

impl ServeArgs {
    /// The port to serve on.
    pub(in crate::cli) fn port(&self) -> u16 {
        let default = if self.iperf2 { IPERF2_PORT } else { PORT };
        self.port.unwrap_or(default)
    }
}
