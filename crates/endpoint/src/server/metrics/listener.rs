// SPDX-License-Identifier: MIT OR Apache-2.0
//! One thread that answers `GET /metrics`. It bounds what clients can use of it: connections at once and per second,
//! the length of a request, and the time of a connection.

use crate::bounded_writer::is_pause;
use crate::plan::ServeOptions;
use crate::stop::Stop;
use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_linux::tcp;
use linerate_model::failure::Failure;
use linerate_wire::http::{self, Method, Request, Status};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Writes the page as OpenMetrics, or as text for Prometheus.
type Page<'a> = &'a dyn Fn(bool) -> String;

/// Opens the address of `--metrics`, if there is one.
pub(crate) fn open(options: &ServeOptions) -> Result<Option<TcpListener>, Failure> {
    options.metrics.map(listen).transpose()
}

fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let opened = tcp::listen(Some(address.ip()), address.port(), &tcp::Options::default());
    let opened = opened.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    opened.map_err(|error| {
        let port = address.port();
        let hint = match error.kind() {
            ErrorKind::AddrInUse => {
                format!("ss -ltnp 'sport = :{port}'   or another port with --metrics")
            }
            ErrorKind::PermissionDenied => "a port above 1023 with --metrics".to_owned(),
            _ => "an address of this host with --metrics; `ip addr` lists them".to_owned(),
        };
        Failure::measuring(format!("listen for metrics on TCP {address}"), error).hint(hint)
    })
}

/// Answers until the server stops.
pub(super) fn serve(listener: &TcpListener, stop: &Stop, page: Page<'_>) {
    let mut connections: Vec<Connection> = Vec::new();
    let mut accept_ns: u64 = 0;
    while !stop.is_set() {
        let pause_ns = accept_ns.saturating_sub(monotonic_ns());
        let accepts = (pause_ns == 0).then_some(listener);
        let streams: Vec<_> = connections.iter().map(Connection::awaited).collect();
        let pause = accepts.map_or(Duration::from_nanos(pause_ns), |_| POLL);
        if tcp::wait_any(accepts, &streams, pause.min(POLL)).is_err() {
            sleep_until_ns(monotonic_ns() + PAUSE_NS, 0);
        }
        let now_ns = monotonic_ns();
        match accepts.map(TcpListener::accept) {
            Some(Ok((stream, _))) => {
                accept_ns = now_ns + SPACING_NS;
                enter(&mut connections, stream, now_ns);
            }
            // Out of descriptors, most likely: wait until some are free.
            Some(Err(error)) if !is_pause(&error) => accept_ns = now_ns + PAUSE_NS,
            _ => {}
        }
        connections.retain_mut(|connection| connection.goes_on(now_ns, page));
    }
}

/// Adds a connection; one too many ends the oldest.
fn enter(connections: &mut Vec<Connection>, stream: TcpStream, now_ns: u64) {
    if stream.set_nonblocking(true).is_err() {
        return;
    }
    if connections.len() >= MOST_CONNECTIONS {
        connections.remove(0);
    }
    connections.push(Connection {
        stream,
        deadline_ns: now_ns + TIME_NS,
        request: Vec::new(),
        answer: Vec::new(),
        sent: 0,
        left: MOST_LEFT_BYTES,
    });
}

/// One request and its answer.
struct Connection {
    stream: TcpStream,
    deadline_ns: u64,
    request: Vec<u8>,
    /// Empty until the request is complete.
    answer: Vec<u8>,
    sent: usize,
    /// Bytes after the request that are still read, so that the kernel does not reset the connection before the
    /// client has read its answer (RFC 9112 §9.6).
    left: usize,
}

impl Connection {
    /// The stream, and whether it is to be written.
    fn awaited(&self) -> (&TcpStream, bool) {
        (&self.stream, self.sent < self.answer.len())
    }

    /// False when it is over.
    fn goes_on(&mut self, now_ns: u64, page: Page<'_>) -> bool {
        let waits = self.advance(page).is_err_and(|error| is_pause(&error));
        if waits && now_ns >= self.deadline_ns && self.answer.is_empty() && !self.request.is_empty()
        {
            self.answer = refused(Status::RequestTimeout, false).into_bytes();
            self.deadline_ns = now_ns + GRACE_NS;
        }
        waits && now_ns < self.deadline_ns
    }

    /// Goes as far as it can; an error is the reason why it cannot end now.
    fn advance(&mut self, page: Page<'_>) -> io::Result<()> {
        let mut piece = [0; 1024];
        while self.answer.is_empty() {
            match self.stream.read(&mut piece)? {
                0 => return Ok(()),
                count => self.request.extend_from_slice(&piece[..count]),
            }
            let answer = answer(&self.request, page);
            self.answer = answer.map_or_else(Vec::new, String::into_bytes);
        }
        while self.sent < self.answer.len() {
            match self.stream.write(&self.answer[self.sent..])? {
                0 => return Ok(()),
                count => self.sent += count,
            }
            if self.sent == self.answer.len() {
                self.stream.shutdown(Shutdown::Write)?;
            }
        }
        while self.left > 0 {
            match self.stream.read(&mut piece)? {
                0 => return Ok(()),
                count => self.left = self.left.saturating_sub(count),
            }
        }
        Ok(())
    }
}

/// The answer to a request; `None`: it is not complete.
fn answer(bytes: &[u8], page: Page<'_>) -> Option<String> {
    match http::request(bytes) {
        Ok(request) => request.map(|request| answer_to(&request, page)),
        Err(status) => Some(refused(status, false)),
    }
}

fn answer_to(request: &Request<'_>, page: Page<'_>) -> String {
    let head_only = request.method == Method::Head;
    let status = match request.method {
        Method::Other => Status::MethodNotAllowed,
        Method::Get | Method::Head if request.has_content => Status::BadRequest,
        Method::Get | Method::Head if request.path != "/metrics" => Status::NotFound,
        Method::Get | Method::Head => Status::Ok,
    };
    if status != Status::Ok {
        return refused(status, head_only);
    }
    let openmetrics =
        request.quality("application/openmetrics-text") >= request.quality("text/plain");
    let media_type = if openmetrics { OPENMETRICS } else { PROMETHEUS };
    http::answer(status, media_type, &page(openmetrics), head_only)
}

fn refused(status: Status, head_only: bool) -> String {
    let why = format!("{}: this server answers GET /metrics only\n", status.line());
    http::answer(status, "text/plain; charset=utf-8", &why, head_only)
}

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const MOST_CONNECTIONS: usize = 8;
/// At most 50 connections per second are accepted.
const SPACING_NS: u64 = 20_000_000;
/// The stop flag is checked this often.
const POLL: Duration = Duration::from_millis(100);
/// After an error of the listener.
const PAUSE_NS: u64 = 50_000_000;
/// For the request and its answer.
const TIME_NS: u64 = 5_000_000_000;
/// For the answer to a request that is late.
const GRACE_NS: u64 = 1_000_000_000;
const MOST_LEFT_BYTES: usize = 64 << 10;
