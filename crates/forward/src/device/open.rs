// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ways to an agent on the device: in the lab's namespace, behind a command (ssh is one), or a
//! `linerate serve` there.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use linerate_linux::netns::NetNs;
use linerate_linux::random;
use linerate_linux::signal::Interrupt;
use linerate_model::output::DeviceSource;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::state::State;
use linerate_wire::linerate::token::Secret;

use super::line::{Carrier, Line};
use super::{Device, Digest};
use linerate_endpoint::TestPlan;
use linerate_endpoint::agent::{self, Agent};
use linerate_endpoint::connect;
use linerate_endpoint::extension::Request;
use linerate_endpoint::token::ClientAuth;
use linerate_model::failure::Failure;

impl Device {
    /// An agent on a thread of this process, in a network namespace of this machine; `None` is its own.
    ///
    /// # Errors
    /// Those of entering it and of starting threads.
    pub fn in_netns(
        netns: Option<&NetNs>,
        digest: Digest,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let what = || "read the lab's device".to_owned();
        let wrong = |why: &dyn std::fmt::Display| Failure::measuring(what(), why);
        let (own, theirs) = UnixStream::pair().map_err(|error| wrong(&error))?;
        let begin = || {
            let mut agent = Agent::open();
            thread::Builder::new()
                .name("agent".to_owned())
                // What ends it, the asker sees at the other end.
                .spawn(move || {
                    drop(agent::serve(&mut agent, &mut &theirs, &mut &theirs, |_| {
                        true
                    }))
                })
        };
        let started = match netns {
            Some(netns) => netns.run(begin).and_then(|started| started),
            None => begin(),
        };
        started.map_err(|error| wrong(&error))?;
        let both = own.try_clone().and_then(|one| Ok((one, own.try_clone()?)));
        let (input, output) = both.map_err(|error| wrong(&error))?;
        let line = Line::new(Carrier::Unix(own), input, output, interrupt);
        let source = source("lab", "");
        line.and_then(|line| Self::new(line, digest, source, ClientAuth::default()))
            .map_err(|why| wrong(&why))
    }

    /// An agent behind the pipes of `command`, which a shell runs.
    ///
    /// # Errors
    /// It cannot be run, or what it says is no agent's.
    pub fn behind_command(
        command: &str,
        digest: Digest,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]);
        Self::behind(shell, source("command", command), digest, interrupt)
            .map_err(|failure| failure.hint(format!("{command}   # prints an agent's hello")))
    }

    /// `linerate agent --stdio` on a host that ssh reaches.
    ///
    /// # Errors
    /// As [`Device::behind_command`].
    pub fn over_ssh(target: &str, digest: Digest, interrupt: &Interrupt) -> Result<Self, Failure> {
        let mut ssh = Command::new("ssh");
        ssh.args(["-T", "--", target, "linerate", "agent", "--stdio"]);
        Self::behind(ssh, source("ssh", target), digest, interrupt).map_err(|failure| {
            failure.hint(format!(
                "ssh {target} linerate --version   # linerate has to be in the PATH there, and ssh must not print anything else"
            ))
        })
    }

    fn behind(
        mut command: Command,
        source: DeviceSource,
        digest: Digest,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let what = format!("read the device by {}", named(&source));
        let wrong = |why: &dyn std::fmt::Display| Failure::measuring(what.clone(), why);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| wrong(&error))?;
        let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(wrong(&"it has no pipes"));
        };
        let line = Line::new(Carrier::Process(child), input, output, interrupt);
        line.and_then(|line| Self::new(line, digest, source, ClientAuth::default()))
            .map_err(|why| wrong(&why))
    }

    /// A `linerate serve` on the device: it tells what a stranger may know, or all to who knows its token.
    ///
    /// # Errors
    /// It cannot be reached, or is no linerate that reads devices.
    pub fn served(
        host: &str,
        port: u16,
        token: Option<&Secret>,
        digest: Digest,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let plan = TestPlan {
            port,
            ..TestPlan::tcp(host)
        };
        let (connected, address) = connect::control(&plan, interrupt)?;
        let what = format!("read the device by its server at {address}");
        let wrong = |why: &dyn std::fmt::Display| {
            Failure::measuring(what.clone(), why)
                .hint("linerate serve there, of this version; or --device ssh:HOST")
        };
        let stream = connected.stream;
        let auth = introduce(&stream, token).map_err(|why| wrong(&why))?;
        let both = stream
            .try_clone()
            .and_then(|one| Ok((one, stream.try_clone()?)));
        let (input, output) = both.map_err(|error| wrong(&error))?;
        let line = Line::new(Carrier::Tcp(stream), input, output, interrupt);
        let source = source("serve", &address.to_string());
        line.and_then(|line| Self::new(line, digest, source, auth))
            .map_err(|why| wrong(&why))
    }
}

/// The beginning of iperf3's protocol; from the parameters on the connection is the agent's.
fn introduce(mut stream: &TcpStream, token: Option<&Secret>) -> Result<ClientAuth, String> {
    let told = |error: std::io::Error| error.to_string();
    let mut random = [0; 23];
    random::fill(&mut random).map_err(told)?;
    stream.set_nodelay(true).map_err(told)?;
    stream.set_write_timeout(Some(WITHIN)).map_err(told)?;
    stream.set_read_timeout(Some(WITHIN)).map_err(told)?;
    let cookie = Cookie::from_random(&random);
    let auth = ClientAuth::begin(token, &cookie).map_err(told)?;
    stream.write_all(cookie.as_bytes()).map_err(told)?;
    let mut answer = [0];
    stream.read_exact(&mut answer).map_err(told)?;
    match State::from_byte(answer[0]) {
        Some(State::ParamExchange) => {}
        Some(State::AccessDenied) => return Err("it is busy".to_owned()),
        _ => return Err("it is no server of iperf3's protocol".to_owned()),
    }
    let request = Request {
        load: false,
        device: true,
        nonce: auth.nonce(),
        ..Request::default()
    };
    let params = Params {
        tcp: true,
        linerate: linerate_wire::json::Raw::of(&request).ok(),
        ..Params::default()
    };
    let json = params.to_json();
    let length = u32::try_from(json.len()).unwrap_or(0).to_be_bytes();
    stream.write_all(&length).map_err(told)?;
    stream.write_all(&json).map_err(told)?;
    // From here on a thread waits for as long as there is a line.
    stream.set_read_timeout(None).map_err(told)?;
    Ok(auth)
}

fn source(by: &str, at: &str) -> DeviceSource {
    DeviceSource {
        by: by.to_owned(),
        at: at.to_owned(),
        stopped: None,
    }
}

fn named(source: &DeviceSource) -> String {
    match source.by.as_str() {
        "ssh" => format!("ssh {}", source.at),
        _ => format!("`{}`", source.at),
    }
}

const WITHIN: Duration = Duration::from_secs(5);
