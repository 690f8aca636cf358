// SPDX-License-Identifier: MIT OR Apache-2.0
//! `serve`: one port, TCP and UDP, any number of clients at a time, stock or ours.
//!
//! The first 37 bytes of a connection decide: the cookie of a test that waits for streams makes it a
//! data stream, anything else opens a test. Every state has a time-out and every client its limits; a
//! dead client blocks no other.

mod acceptor;
mod limits;
pub(super) mod log;
pub(super) mod metrics;
mod pending;
mod registry;
mod report;
mod session;

use super::bounded_writer::is_pause;
use super::plan::{Family, ServeOptions};
use super::stop::Stop;
use linerate_linux::clock::{self, monotonic_ns};
use linerate_linux::signal::Interrupt;
use linerate_linux::tcp;
use linerate_linux::udp::{self, Acceptor};
use linerate_model::failure::Failure;
use linerate_wire::iperf3::cookie::Cookie;
use log::Log;
use metrics::{Metrics, Refusal};
use pending::Pending;
use registry::Registry;
use session::Session;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What all connections of one server share.
struct Server<'a> {
    options: ServeOptions,
    registry: Arc<Registry>,
    log: Log,
    metrics: Metrics,
    interrupt: &'a Interrupt,
    stop: Stop,
    tests: AtomicU32,
    agents: AtomicU32,
    finished: AtomicU32,
    pending: Pending,
    idle_since: Mutex<Instant>,
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
    let acceptor = bind_acceptor(options)?;
    let page = metrics::open(options)?;
    let server = Server {
        options: options.clone(),
        registry: Arc::new(Registry::default()),
        log,
        metrics: Metrics::new(options),
        interrupt,
        stop: Stop::default(),
        tests: AtomicU32::new(0),
        agents: AtomicU32::new(0),
        finished: AtomicU32::new(0),
        pending: Pending::default(),
        idle_since: Mutex::new(Instant::now()),
    };
    ready();
    std::thread::scope(|scope| {
        scope.spawn(|| acceptor::serve(acceptor, &server));
        if let Some(page) = &page {
            scope.spawn(|| server.metrics.serve(page, &server.stop));
        }
        let mut serial = 0;
        let is_over = || server.is_over();
        let result = accept_all(&listener, &server.log, is_over, |stream, peer| {
            serial += 1;
            server.admit(scope, stream, peer, serial);
        });
        server.stop.set();
        result
    })
}

/// Accepts connections until `is_over`.
pub(super) fn accept_all(
    listener: &TcpListener,
    log: &Log,
    is_over: impl Fn() -> bool,
    mut admit: impl FnMut(TcpStream, SocketAddr),
) -> Result<(), Failure> {
    while !is_over() {
        let waiting = tcp::wait_acceptable(listener, POLL)
            .map_err(|error| Failure::measuring("accept clients", error))?;
        if !waiting {
            continue;
        }
        match listener.accept() {
            Ok((stream, peer)) => admit(stream, udp::plain(peer)),
            Err(error) => {
                log.limited(None, &format!("accept failed: {error}"));
                // Out of descriptors, most likely: wait until some are free.
                clock::sleep_until_ns(monotonic_ns() + PAUSE_NS, 0);
            }
        }
    }
    Ok(())
}

impl Server<'_> {
    fn is_over(&self) -> bool {
        let idle_too_long = self.options.idle_timeout_s.is_some_and(|limit| {
            !self.is_busy() && lock(&self.idle_since).elapsed() >= Duration::from_secs(limit)
        });
        self.interrupt.requested().is_some()
            || idle_too_long
            || (self.options.one_off
                && self.finished.load(Ordering::Relaxed) > 0
                && !self.is_busy())
    }

    /// Whether pending connections have to end.
    fn is_stopping(&self) -> bool {
        self.stop.is_set() || self.interrupt.requested().is_some()
    }

    /// Starts a thread that reads the cookie and serves the connection.
    fn admit<'scope>(
        &'scope self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        stream: TcpStream,
        peer: SocketAddr,
        serial: u64,
    ) {
        let entered = self
            .pending
            .enter(serial, peer.ip(), &stream)
            .and_then(|()| {
                std::thread::Builder::new()
                    .name("client".to_owned())
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, move || self.serve_connection(stream, peer, serial))
            });
        if let Err(error) = entered {
            self.pending.leave(serial);
            self.metrics.refuse(Refusal::System);
            self.log.limited(Some(peer), &format!("refused: {error}"));
        }
    }

    fn serve_connection(&self, stream: TcpStream, peer: SocketAddr, serial: u64) {
        let outcome = match read_cookie(&stream, || self.is_stopping()) {
            Err(_) if !self.pending.leave(serial) => Err(Ended::evicted()),
            Err(reason) => Err(format!("refused: {reason}").into()),
            Ok(cookie) => match self.registry.deliver_tcp(&cookie, serial, stream) {
                None => {
                    self.pending.leave(serial);
                    return;
                }
                Some(_) if !cookie.is_plausible() => {
                    Err("refused: the first 37 bytes are not an iperf3 cookie"
                        .to_owned()
                        .into())
                }
                Some(stream) => Session::run(self, stream, cookie, peer, serial),
            },
        };
        self.log_outcome(peer, serial, outcome);
    }

    /// Logs how the connection ended.
    fn log_outcome(&self, peer: SocketAddr, serial: u64, outcome: Result<String, Ended>) {
        self.pending.leave(serial);
        match outcome {
            Ok(summary) => {
                self.finished.fetch_add(1, Ordering::Relaxed);
                self.log.line(Some(peer), &summary);
            }
            Err(Ended { reason, why }) if reason.starts_with("refused") => {
                self.metrics.refuse(why);
                self.log.limited(Some(peer), &reason);
            }
            Err(Ended { reason, .. }) => self.log.limited(Some(peer), &format!("ended: {reason}")),
        }
    }

    /// Returns a slot for a test, if one is free.
    fn test_slot(&self) -> Option<Slot<'_>> {
        self.slot(&self.tests, u32::from(self.options.max_tests))
    }

    /// Returns a slot for a connection that only reads counters. It may last long and takes no slot of a test.
    fn control_slot(&self) -> Option<Slot<'_>> {
        self.slot(&self.agents, MOST_AGENTS)
    }

    fn slot<'s>(&'s self, taken: &'s AtomicU32, most: u32) -> Option<Slot<'s>> {
        let free = |taken: u32| (taken < most).then_some(taken + 1);
        let got = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free);
        got.ok().map(|_| Slot {
            taken,
            idle_since: &self.idle_since,
        })
    }

    /// Whether any slot is in use.
    fn is_busy(&self) -> bool {
        [&self.tests, &self.agents]
            .iter()
            .any(|taken| taken.load(Ordering::Relaxed) > 0)
    }
}

/// Why a connection ended: the text for the log, and if it was refused, for the metrics.
struct Ended {
    reason: String,
    why: Refusal,
}

impl Ended {
    fn refused(why: Refusal, reason: &str) -> Self {
        let reason = format!("refused: {reason}");
        Self { reason, why }
    }

    fn evicted() -> Self {
        Self::refused(Refusal::Pending, "idle, and too many pending connections")
    }
}

impl From<String> for Ended {
    fn from(reason: String) -> Self {
        let why = Refusal::Protocol;
        Self { reason, why }
    }
}

/// A slot, released when dropped.
struct Slot<'a> {
    taken: &'a AtomicU32,
    idle_since: &'a Mutex<Instant>,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *lock(self.idle_since) = Instant::now();
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock(since: &Mutex<Instant>) -> MutexGuard<'_, Instant> {
    since.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The TCP port.
pub(super) fn listen(options: &ServeOptions) -> Result<TcpListener, Failure> {
    let tcp_options = tcp::Options {
        bind_device: options.bind_device.clone(),
        // Inherited by accepted connections: a vanished client is detected.
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
        Failure::measuring(format!("listen on TCP {}", port_of(options)), error).hint(hint)
    })
}

/// The port for messages.
pub(super) fn port_of(options: &ServeOptions) -> String {
    let at = options.bind.map(|address| format!(" of {address}"));
    format!("port {}{}", options.port, at.unwrap_or_default())
}

fn bind_acceptor(options: &ServeOptions) -> Result<Acceptor, Failure> {
    let udp_options = udp::Options {
        bind_device: options.bind_device.clone(),
        ..udp::Options::default()
    };
    Acceptor::bind(bind_address(options), options.port, &udp_options)
        .map_err(|error| udp_bind_failure(options, error))
}

/// Why the UDP port could not be opened.
pub(super) fn udp_bind_failure(options: &ServeOptions, error: io::Error) -> Failure {
    let port = options.port;
    Failure::measuring(format!("bind UDP {}", port_of(options)), error).hint(format!(
        "ss -lunp 'sport = :{port}'   or another port with -p"
    ))
}

/// What to bind to; `None`: every address of both families.
pub(super) fn bind_address(options: &ServeOptions) -> Option<IpAddr> {
    options
        .bind
        .or((options.family == Family::V4).then_some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// The first 37 bytes, within a few seconds whatever their spacing.
fn read_cookie(mut stream: &TcpStream, stopping: impl Fn() -> bool) -> Result<Cookie, String> {
    let deadline_ns = monotonic_ns() + COOKIE_NS;
    let mut bytes = [0; Cookie::LEN];
    let mut filled = 0;
    while filled < bytes.len() {
        let left_ns = deadline_ns.saturating_sub(monotonic_ns());
        if left_ns == 0 {
            return Err(format!("no cookie within 5 s ({filled} of 37 bytes)"));
        }
        if stopping() {
            return Err("the server is shutting down".to_owned());
        }
        let wait = Duration::from_nanos(left_ns.max(1_000_000)).min(POLL);
        stream
            .set_read_timeout(Some(wait))
            .map_err(|error| error.to_string())?;
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Err(format!("closed after {filled} of 37 bytes of a cookie")),
            Ok(count) => filled += count,
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(Cookie::from_wire(bytes))
}

/// The stop flag is checked this often.
const POLL: Duration = Duration::from_millis(100);
/// A client that vanished is noticed after this long.
const DEAD_PEER: Duration = Duration::from_secs(8);
/// Time for the first 37 bytes.
const COOKIE_NS: u64 = 5_000_000_000;
/// Connections that read this host's counters as a device under test, at once.
const MOST_AGENTS: u32 = 4;
/// After a failed accept.
const PAUSE_NS: u64 = 50_000_000;
const STACK_BYTES: usize = 256 * 1024;
