// SPDX-License-Identifier: MIT OR Apache-2.0
//! `serve --iperf2`: one port, TCP and UDP, stock iperf2 clients. One thread counts all UDP flows;
//! each TCP connection has one.

use super::shared::Shared;
use super::{server_tcp, server_udp};
use crate::memory::Memory;
use crate::plan::ServeOptions;
use crate::server::{self, log::Log, metrics};
use linerate_linux::signal::Interrupt;
use linerate_linux::udp::{self, Opened};
use linerate_model::failure::Failure;

/// Serves until interrupted, until the one test of `--one-off` is over, or until idle for too long.
/// `ready` is called once the port is open.
pub(crate) fn serve(
    options: &ServeOptions,
    ready: &mut dyn FnMut(),
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let log = Log::open(options)?;
    let opened = bind(options)?;
    let listener = server::listen(options)?;
    let page = metrics::open(options)?;
    let shared = Shared::new(options, log, interrupt);
    let flows = server_udp::Flows::new(&shared, opened)?;
    ready();
    std::thread::scope(|scope| {
        scope.spawn(|| flows.serve());
        if let Some(page) = &page {
            scope.spawn(|| shared.metrics.serve(page, &shared.stop));
        }
        let result = server_tcp::accept_all(&shared, scope, &listener);
        shared.stop.set();
        result
    })
}

fn bind(options: &ServeOptions) -> Result<Opened, Failure> {
    let udp_options = udp::Options {
        recv_buffer_bytes: Some(Memory::of_host().default_buffer_bytes(1)),
        bind_device: options.bind_device.clone(),
        packet_info: true,
        ..udp::Options::default()
    };
    let opened = match server::bind_address(options) {
        Some(address) => udp::bind((address, options.port).into(), &udp_options),
        None => udp::bind_wildcard(options.port, &udp_options),
    };
    opened.map_err(|error| server::udp_bind_failure(options, error))
}
