// SPDX-License-Identifier: MIT OR Apache-2.0
//! `serve --iperf2`: one port, TCP and UDP, stock iperf2 clients. One thread counts all UDP flows;
//! each TCP connection has one.

use super::slots::Slots;
use super::{server_tcp, server_udp};
use crate::memory::Memory;
use crate::plan::ServeOptions;
use crate::server::{self, log::Log};
use linerate_linux::signal::Interrupt;
use linerate_linux::udp::{self, Opened};
use linerate_model::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What all clients of one server share.
pub(super) struct Server<'a> {
    pub(super) options: &'a ServeOptions,
    pub(super) log: Log,
    pub(super) slots: Slots,
    interrupt: &'a Interrupt,
    stop: AtomicBool,
}

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
    let server = Server {
        options,
        log,
        slots: Slots::new(options),
        interrupt,
        stop: AtomicBool::new(false),
    };
    let flows = server_udp::Flows::new(&server, opened)?;
    ready();
    std::thread::scope(|scope| {
        scope.spawn(|| flows.serve());
        let result = server_tcp::accept_all(&server, scope, &listener);
        server.stop.store(true, Ordering::Relaxed);
        result
    })
}

impl Server<'_> {
    /// Whether no more clients are let in.
    pub(super) fn is_over(&self) -> bool {
        let (finished, idle) = self.slots.state();
        let limit = self.options.idle_timeout_s.map(Duration::from_secs);
        let idle_too_long = limit.zip(idle).is_some_and(|(limit, idle)| idle >= limit);
        let one_is_over = self.options.one_off && finished > 0 && idle.is_some();
        self.interrupt.requested().is_some() || idle_too_long || one_is_over
    }

    /// Whether all has to end now.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
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
    opened.map_err(|error| {
        Failure::measuring(format!("bind UDP {}", server::port_of(options)), error).hint(format!(
            "ss -lunp 'sport = :{}'   or another port with -p",
            options.port
        ))
    })
}
