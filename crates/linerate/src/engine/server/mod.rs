// SPDX-License-Identifier: MIT OR Apache-2.0
//! `serve`: one port, TCP and UDP, any number of clients at a time, stock or ours.
//!
//! Every accepted connection is told apart by its first 37 bytes: the cookie of a test that waits
//! for streams makes it a data stream, anything else opens a test. Each state has its time-out,
//! every client its limits; a dead client blocks nobody.

mod greeter;
mod iperf2;
mod limits;
mod log;
mod registry;
mod session;

use super::plan::{Family, ServeOptions};
use crate::error::Failure;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::signal::Interrupt;
use linerate_linux::tcp;
use linerate_linux::udp::{self, Greeter};
use linerate_wire::iperf3::cookie::Cookie;
use log::Log;
use registry::Registry;
use session::Session;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What all connections of one server share.
struct Server<'a> {
    options: ServeOptions,
    registry: Arc<Registry>,
    log: Log,
    interrupt: &'a Interrupt,
    stop: AtomicBool,
    tests: AtomicU32,
    finished: AtomicU32,
    strangers: AtomicU32,
    idle_since: std::sync::Mutex<Instant>,
}

/// Serves until interrupted, until the one test of `--one-off` is over, or until idle for too long.
/// `ready` is called once the port is open.
pub(super) fn serve(
    options: &ServeOptions,
    ready: &mut dyn FnMut(),
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let log = Log::open(options)?;
    let listener = listen(options)?;
    let greeter = bind_greeter(options)?;
    let server = Server {
        options: options.clone(),
        registry: Arc::new(Registry::default()),
        log,
        interrupt,
        stop: AtomicBool::new(false),
        tests: AtomicU32::new(0),
        finished: AtomicU32::new(0),
        strangers: AtomicU32::new(0),
        idle_since: std::sync::Mutex::new(Instant::now()),
    };
    let old = if options.iperf2 {
        Some(iperf2::Listener::bind(options)?)
    } else {
        None
    };
    ready();
    std::thread::scope(|scope| {
        scope.spawn(|| greeter::serve(greeter, &server.registry, &server.stop));
        if let Some(old) = old {
            scope.spawn(|| old.serve(&server));
        }
        let result = server.accept_all(scope, &listener);
        server.stop.store(true, Ordering::Relaxed);
        result
    })
}

impl Server<'_> {
    fn accept_all<'scope>(
        &'scope self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        listener: &TcpListener,
    ) -> Result<(), Failure> {
        let mut serial = 0;
        while !self.is_over() {
            if !tcp::wait_acceptable(listener, POLL)
                .map_err(|error| Failure::measuring("accept clients", error))?
            {
                continue;
            }
            match listener.accept() {
                Ok((stream, peer)) => {
                    serial += 1;
                    self.admit(scope, stream, plain(peer), serial);
                }
                Err(error) => self.log.line(None, &format!("accept failed: {error}")),
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let idle_too_long = self.options.idle_timeout_s.is_some_and(|limit| {
            self.tests.load(Ordering::Relaxed) == 0
                && self.idle_since().elapsed() >= Duration::from_secs(limit)
        });
        self.interrupt.requested().is_some()
            || idle_too_long
            || (self.options.one_off
                && self.finished.load(Ordering::Relaxed) > 0
                && self.tests.load(Ordering::Relaxed) == 0)
    }

    /// A thread reads the cookie; strangers that never send one are few and short-lived.
    fn admit<'scope>(
        &'scope self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        stream: TcpStream,
        peer: SocketAddr,
        serial: u64,
    ) {
        if self.strangers.fetch_add(1, Ordering::Relaxed) >= MOST_STRANGERS {
            self.strangers.fetch_sub(1, Ordering::Relaxed);
            self.log
                .line(Some(peer), "refused: too many connections without a cookie");
            return;
        }
        let spawned = std::thread::Builder::new()
            .name("client".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || {
                let cookie = read_cookie(&stream);
                self.strangers.fetch_sub(1, Ordering::Relaxed);
                match cookie {
                    Ok(cookie) => self.welcome(cookie, stream, peer, serial),
                    Err(reason) => self.log.line(Some(peer), &format!("refused: {reason}")),
                }
            });
        if let Err(error) = spawned {
            self.strangers.fetch_sub(1, Ordering::Relaxed);
            self.log
                .line(Some(peer), &format!("refused: no thread: {error}"));
        }
    }

    fn welcome(&self, cookie: Cookie, stream: TcpStream, peer: SocketAddr, serial: u64) {
        let Some(mut stream) = self.registry.deliver_tcp(&cookie, serial, stream) else {
            return;
        };
        if !cookie.is_plausible() {
            self.log.line(
                Some(peer),
                "refused: the first 37 bytes are no iperf3 cookie",
            );
            return;
        }
        if self.tests.fetch_add(1, Ordering::Relaxed) >= u32::from(self.options.max_tests) {
            self.tests.fetch_sub(1, Ordering::Relaxed);
            self.log.line(
                Some(peer),
                "refused: as many tests as --max-tests allows are running",
            );
            // The client may be gone already; it is told as a courtesy.
            let _ = stream.write_all(&[0xff]);
            return;
        }
        let outcome = Session::run(self, stream, cookie, peer);
        self.tests.fetch_sub(1, Ordering::Relaxed);
        *self.idle_since() = Instant::now();
        match outcome {
            Ok(summary) => {
                self.finished.fetch_add(1, Ordering::Relaxed);
                self.log.line(Some(peer), &summary);
            }
            Err(reason) => self.log.line(Some(peer), &format!("ended: {reason}")),
        }
    }

    fn idle_since(&self) -> std::sync::MutexGuard<'_, Instant> {
        self.idle_since
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn listen(options: &ServeOptions) -> Result<TcpListener, Failure> {
    let tcp_options = tcp::Options {
        bind_device: options.bind_device.clone(),
        // Inherited by what is accepted: a client that vanished is noticed.
        dead_peer_timeout: Some(DEAD_PEER),
        ..tcp::Options::default()
    };
    tcp::listen(bind_address(options), options.port, &tcp_options).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => format!(
                "ss -ltnp 'sport = :{}'   or another port with -p",
                options.port
            ),
            io::ErrorKind::PermissionDenied => "a port above 1023 with -p".to_owned(),
            _ => "an address of this host with --bind; `ip addr` lists them".to_owned(),
        };
        Failure::measuring(format!("listen on TCP {}", place(options)), error).hint(hint)
    })
}

fn place(options: &ServeOptions) -> String {
    let at = options.bind.map(|address| format!(" of {address}"));
    format!("port {}{}", options.port, at.unwrap_or_default())
}

fn bind_greeter(options: &ServeOptions) -> Result<Greeter, Failure> {
    let udp_options = udp::Options {
        bind_device: options.bind_device.clone(),
        ..udp::Options::default()
    };
    Greeter::bind(bind_address(options), options.port, &udp_options).map_err(|error| {
        Failure::measuring(format!("bind UDP {}", place(options)), error).hint(format!(
            "ss -lunp 'sport = :{}'   or another port with -p",
            options.port
        ))
    })
}

fn bind_address(options: &ServeOptions) -> Option<IpAddr> {
    options
        .bind
        .or((options.family == Family::V4).then_some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// The first 37 bytes, within a few seconds whatever their spacing.
fn read_cookie(mut stream: &TcpStream) -> Result<Cookie, String> {
    let deadline_ns = monotonic_ns() + COOKIE_NS;
    let mut bytes = [0; Cookie::LEN];
    let mut filled = 0;
    while filled < bytes.len() {
        let left_ns = deadline_ns.saturating_sub(monotonic_ns());
        if left_ns == 0 {
            return Err(format!("no cookie within 5 s ({filled} of 37 bytes)"));
        }
        stream
            .set_read_timeout(Some(Duration::from_nanos(left_ns.max(1_000_000))))
            .map_err(|error| error.to_string())?;
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Err(format!("closed after {filled} of 37 bytes of a cookie")),
            Ok(count) => filled += count,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(Cookie::from_wire(bytes))
}

/// An IPv4 peer of a dual-stack socket as plain IPv4.
fn plain(peer: SocketAddr) -> SocketAddr {
    match peer.ip().to_canonical() {
        IpAddr::V4(v4) => (v4, peer.port()).into(),
        IpAddr::V6(_) => peer,
    }
}

/// The longest wait before the stop sign is looked at again.
const POLL: Duration = Duration::from_millis(100);
/// A client that vanished is noticed after this long.
const DEAD_PEER: Duration = Duration::from_secs(8);
/// Time for the first 37 bytes.
const COOKIE_NS: u64 = 5_000_000_000;
/// Connections that have not sent their cookie yet.
const MOST_STRANGERS: u32 = 256;
const STACK_BYTES: usize = 256 * 1024;
