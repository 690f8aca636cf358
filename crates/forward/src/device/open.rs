// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ways to an agent on the device: in the lab's namespace, through a command (such as ssh), or a `linerate serve`
//! there.

use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use linerate_endpoint::TestPlan;
use linerate_endpoint::agent::{self, Agent};
use linerate_endpoint::connect;
use linerate_endpoint::extension::Request;
use linerate_endpoint::token::ClientAuth;
use linerate_linux::netns::NetNs;
use linerate_linux::random;
use linerate_linux::signal::Interrupt;
use linerate_model::failure::Failure;
use linerate_model::output::DeviceSource;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::state::State;
use linerate_wire::linerate::token::Secret;

use super::connection::{Connection, Transport};
use super::{Device, Digest};

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
        let wrong = |why: &dyn Display| Failure::measuring("read the lab's device", why);
        let (own, theirs) = UnixStream::pair().map_err(|error| wrong(&error))?;
        let begin = || {
            let mut agent = Agent::open();
            thread::Builder::new()
                .name("agent".to_owned())
                // The other end sees why it ends.
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
        let ends = own.try_clone().and_then(|one| Ok((one, own.try_clone()?)));
        let (input, output) = ends.map_err(|error| wrong(&error))?;
        Connection::new(Transport::Unix(own), input, output, interrupt)
            .and_then(|one| Self::new(one, digest, source("lab", ""), ClientAuth::default()))
            .map_err(|why| wrong(&why))
    }

    /// An agent at the standard input and output of `command`, which a shell runs.
    ///
    /// # Errors
    /// It cannot be run, or its output is not an agent's.
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

    /// `linerate agent --stdio` on a host, through ssh.
    ///
    /// # Errors
    /// As [`Device::behind_command`].
    pub fn over_ssh(target: &str, digest: Digest, interrupt: &Interrupt) -> Result<Self, Failure> {
        let mut ssh = Command::new("ssh");
        ssh.args(["-T", "--", target, "linerate", "agent", "--stdio"]);
        Self::behind(ssh, source("ssh", target), digest, interrupt).map_err(|failure| {
            failure.hint(format!(
                "ssh {target} linerate --version   # linerate must be in the PATH there, and ssh must print nothing else"
            ))
        })
    }

    fn behind(
        mut command: Command,
        source: DeviceSource,
        digest: Digest,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let named = match source.by.as_str() {
            "ssh" => format!("ssh {}", source.at),
            _ => format!("`{}`", source.at),
        };
        let what = format!("read the device by {named}");
        let wrong = |why: &dyn Display| Failure::measuring(what.clone(), why);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| wrong(&error))?;
        let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(wrong(&"it has no pipes"));
        };
        Connection::new(Transport::Process(child), input, output, interrupt)
            .and_then(|one| Self::new(one, digest, source, ClientAuth::default()))
            .map_err(|why| wrong(&why))
    }

    /// A `linerate serve` on the device. It reports all of its host to a client that knows its token, and the minimum
    /// to others.
    ///
    /// # Errors
    /// It cannot be reached, or is not a linerate that reads devices.
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
        let wrong = |why: &dyn Display| {
            Failure::measuring(what.clone(), why)
                .hint("linerate serve there, of this version; or --device ssh:HOST")
        };
        let stream = connected.stream;
        let auth = handshake(&stream, token).map_err(|why| wrong(&why))?;
        let clone = || stream.try_clone().map_err(|error| wrong(&error));
        let (input, output) = (clone()?, clone()?);
        Connection::new(Transport::Tcp(stream), input, output, interrupt)
            .and_then(|one| Self::new(one, digest, source("serve", &address.to_string()), auth))
            .map_err(|why| wrong(&why))
    }
}

/// Starts as an iperf3 client; after the parameters the connection is the agent's.
fn handshake(stream: &TcpStream, token: Option<&Secret>) -> Result<ClientAuth, String> {
    stream
        .set_nodelay(true)
        .and_then(|()| stream.set_write_timeout(Some(WITHIN)))
        .and_then(|()| stream.set_read_timeout(Some(WITHIN)))
        .map_err(text)?;
    let (auth, answer) = greet(stream, token).map_err(text)?;
    match State::from_byte(answer) {
        Some(State::ParamExchange) => {}
        Some(State::AccessDenied) => return Err("it is busy".to_owned()),
        _ => return Err("it does not speak iperf3's protocol".to_owned()),
    }
    send_params(stream, &auth).map_err(text)?;
    Ok(auth)
}

fn text(error: io::Error) -> String {
    error.to_string()
}

/// Sends the cookie; returns the server's answer.
fn greet(mut stream: &TcpStream, token: Option<&Secret>) -> io::Result<(ClientAuth, u8)> {
    let mut random = [0; 23];
    random::fill(&mut random)?;
    let cookie = Cookie::from_random(&random);
    let auth = ClientAuth::begin(token, &cookie)?;
    stream.write_all(cookie.as_bytes())?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    Ok((auth, answer[0]))
}

fn send_params(mut stream: &TcpStream, auth: &ClientAuth) -> io::Result<()> {
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
    stream.write_all(&length)?;
    stream.write_all(&json)?;
    // From now on a thread waits as long as the connection lasts.
    stream.set_read_timeout(None)
}

fn source(by: &str, at: &str) -> DeviceSource {
    DeviceSource {
        by: by.to_owned(),
        at: at.to_owned(),
        stopped: None,
        setup: Vec::new(),
    }
}

const WITHIN: Duration = Duration::from_secs(5);
