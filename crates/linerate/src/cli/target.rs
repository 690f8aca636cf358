// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a command measures: to a host on the network, or between the two hosts of a lab.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use linerate_change::Owner;
use linerate_linux::proc;
use linerate_linux::process::{Reader, ends_with_parent};
use linerate_linux::signal::SIGKILL;
use linerate_linux::terminal::Foreground;

use super::args::{LabShape, OutputFlags, ServerFlags};
use super::progress::Progress;
use super::session::{self, Session};
use crate::exit::Exit;
use crate::panicked::AtPanic;
use linerate_endpoint::{PORT, token};
use linerate_lab::{DirectionReport, Host, Isolation, Lab, LabPlan, LabToken, WireReport};
use linerate_model::failure::Failure;
use linerate_model::output::{Direction, LabWire};

/// A measuring command: its name and flags, and where it measures.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) kind: &'static str,
    pub(super) host: Option<&'a str>,
    lab: Option<&'a LabShape>,
    ipv6: bool,
    token_file: Option<&'a Path>,
    pub(super) output: &'a OutputFlags,
    pub(super) progress: Progress,
    pub(super) options: BTreeMap<String, String>,
    /// Whether the run in the directory of `output` is continued.
    pub(super) resumes: bool,
}

impl<'a> Target<'a> {
    /// A command that reaches its peer on its own; `host` is how the peer is called.
    pub(super) const fn named(
        kind: &'static str,
        host: Option<&'a str>,
        output: &'a OutputFlags,
        options: BTreeMap<String, String>,
    ) -> Self {
        Self {
            kind,
            host,
            lab: None,
            ipv6: false,
            token_file: None,
            output,
            progress: Progress::Status,
            options,
            resumes: false,
        }
    }

    /// A command that measures against a server: a host, or the second host of a lab.
    pub(super) fn server(
        kind: &'static str,
        flags: &'a ServerFlags,
        options: BTreeMap<String, String>,
    ) -> Self {
        Self {
            lab: Some(&flags.lab.shape).filter(|_| flags.lab.lab),
            ipv6: flags.target.version6,
            token_file: flags.target.token_file.as_deref(),
            ..Self::named(kind, flags.host.as_deref(), &flags.output, options)
        }
    }

    /// A command that measures in a lab, by processes that it starts.
    pub(super) const fn in_lab_of(
        kind: &'static str,
        shape: &'a LabShape,
        output: &'a OutputFlags,
        options: BTreeMap<String, String>,
    ) -> Self {
        let mut target = Self::named(kind, None, output, options);
        target.lab = Some(shape);
        target
    }

    /// Runs `body` with the server's name, inside the lab if there is one; prints and stores.
    pub(super) fn measure(
        &self,
        body: impl FnOnce(&mut Session, &str) -> Result<(), Failure> + Send,
    ) -> Exit {
        let terminal = Foreground::held();
        let outside = Owner::this();
        // Private namespaces must be entered before any thread exists.
        let isolation = self.lab.map(|shape| (Isolation::enter(), shape));
        let interrupt = match session::interrupt() {
            Ok(interrupt) => interrupt,
            Err(failure) => return session::refuse(self.kind, self.output.document.json, &failure),
        };
        let mut session = Session::begin(self, interrupt, terminal);
        // Without namespaces, what commands set is set on this host.
        let is_apart = matches!(isolation, Some((Isolation::Namespaces(_), _)));
        session.lab_owner = is_apart.then_some(outside);
        let ended = match (&isolation, self.host) {
            (Some((isolation, shape)), _) => self.in_lab(isolation, shape, &mut session, body),
            (None, Some(host)) => token::given(self.token_file).and_then(|token| {
                session.token = token;
                body(&mut session, host)
            }),
            (None, None) => Err(Failure::usage(
                "measure",
                "neither HOST nor --lab was given",
            )),
        };
        session.finish(ended)
    }

    fn in_lab(
        &self,
        isolation: &Isolation,
        shape: &LabShape,
        session: &mut Session,
        body: impl FnOnce(&mut Session, &str) -> Result<(), Failure> + Send,
    ) -> Result<(), Failure> {
        session.console.say(&format!("lab: {isolation}"));
        let lab = Lab::open(isolation, &plan(shape))?;
        let [here, there] = lab.hosts();
        let address = there.address(self.ipv6);
        let address = address
            .ok_or_else(|| Failure::usage("measure over IPv6", "the lab's MTU is below 1280"))?;
        let addresses = [false, true].map(|ipv6| there.address(ipv6));
        session.lab_addresses = addresses.into_iter().flatten().collect();
        session.lab_token = LabToken::make();
        session.token = session.lab_token.as_ref().map(LabToken::secret);
        session.wire_counters = lab.wire_counters();
        session.lab_peer = there.namespace().and_then(|peer| peer.try_clone().ok());
        let server = Server::start(there, session.lab_token.as_ref())?;
        let ended = here
            .enter(|| body(session, &address.to_string()))
            .map_err(|error| Failure::measuring("enter host A of the lab", error));
        drop(server);
        if let Some(report) = lab.close() {
            session.console.detail(&report.to_string());
            session.lab_wire(lab_wire(&report));
        }
        ended?
    }
}

/// The wire's own account, by the direction of a test from the first host.
fn lab_wire(report: &WireReport) -> Vec<LabWire> {
    let of = |direction: &DirectionReport| LabWire {
        direction: match direction.name {
            "b-a" => Direction::Down,
            _ => Direction::Up,
        },
        frames: direction.received + direction.missed,
        overload_drops: direction.own_drops(),
    };
    report.directions.iter().map(of).collect()
}

/// The plan of a lab's flags.
pub(super) fn plan(shape: &LabShape) -> LabPlan {
    let usual = LabPlan::default();
    LabPlan {
        topology: shape.topology.unwrap_or(usual.topology),
        mtu_bytes: shape.mtu.unwrap_or(usual.mtu_bytes),
        faults: shape.fault.clone(),
        ..usual
    }
}

/// `linerate serve` in host B; ends with its value.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    _killed: AtPanic,
}

impl Server {
    /// Starts it and waits until its port is open.
    fn start(host: &Host, token: Option<&LabToken>) -> Result<Self, Failure> {
        let fail =
            |error: io::Error| Failure::measuring("start a server in host B of the lab", error);
        let mut command = Command::new(crate::itself::program().map_err(fail)?);
        command.args(["serve", "--quiet"]);
        LabToken::hand(token, &mut command);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        // Ctrl-C at a terminal stops the client only: it still asks the server for its count.
        command.process_group(0);
        // A lab without namespaces cannot end it.
        ends_with_parent(&mut command);
        let child = host.spawn(command).map_err(fail)?;
        let id = Reader::of(&child);
        // It may be gone already.
        let killed = AtPanic::undo(move || drop(id.signal(SIGKILL)));
        let mut server = Self {
            child,
            _killed: killed,
        };
        server.wait_until_open(host).map_err(fail)?;
        Ok(server)
    }

    fn wait_until_open(&mut self, host: &Host) -> io::Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        while !host.enter(is_open)? {
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("it ended with {status}")));
            }
            if Instant::now() > deadline {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "its port did not open",
                ));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Does anybody listen on the port, in the network namespace of this thread?
fn is_open() -> bool {
    let tables = ["tcp", "tcp6"].map(|name| proc::net(name).unwrap_or_default());
    tables.iter().any(|table| listens(table, PORT))
}

/// `/proc/net/tcp`: local address and port in hexadecimal, state `0A` is LISTEN.
fn listens(table: &str, port: u16) -> bool {
    let port = format!(":{port:04X}");
    table.lines().any(|line| {
        let mut words = line.split_whitespace().skip(1);
        words.next().is_some_and(|local| local.ends_with(&port)) && words.nth(1) == Some("0A")
    })
}

const START_TIMEOUT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_found_by_port_and_state() {
        let table = "  sl  local_address rem_address   st tx_queue\n   0: 00000000:1451 00000000:0000 0A 00000000:00000000\n   1: 0100007F:1F90 0100007F:C001 01 0:0\n";
        assert!(listens(table, 5201));
        assert!(!listens(table, 8080), "connected is not listening");
        assert!(!listens("", 5201));
    }
}
