// SPDX-License-Identifier: MIT OR Apache-2.0
//! The port of `serve` changes no setting of its host: every message of the agent's protocol and every request of the
//! protocol of changes is sent to it, by clients with and without its token, and all settings are compared.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use linerate_change::remote::{Ask, Greeting, Hello};
use linerate_change::{Change, Host as Settings, Undo};
use linerate_endpoint::extension::{Message, Part, Request};
use linerate_endpoint::token::{self, ClientAuth};
use linerate_lab::{Host, Isolation, Lab, LabPlan};
use linerate_linux::process::Reader;
use linerate_linux::signal::SIGTERM;
use linerate_linux::{nic, random, setup};
use linerate_wire::iperf3::agent::{AgentFrames, agent_frame};
use linerate_wire::iperf3::client::AGENT_BYTES;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::params::Params;
use linerate_wire::json::Raw;
use linerate_wire::linerate::token::Secret;
use serde::Serialize;

use super::Test;
use super::scratch::Scratch;
use super::traffic::eventually;
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[("no_message_to_serve_changes_its_host", no_message)];

fn no_message(isolation: &Isolation) -> Outcome {
    let lab = Lab::open(isolation, &LabPlan::default())?;
    let [client, host] = lab.hosts();
    let place = Scratch::new("serve")?;
    let file = place.join("token");
    fs::write(&file, "0123456789abcdef0123456789abcdef\n")?;
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    with_token(client, host, &file)
}

fn with_token(client: &Host, host: &Host, file: &Path) -> Outcome {
    let secret = token::read(file).map_err(|why| Verdict::Failed(why.to_string()))?;
    let change = wanted(host)?;
    let mut server = serve(host, file)?;
    let address = SocketAddr::from((host.ipv4, PORT));
    ensure(eventually(|| dial(client, address).is_ok()), || {
        "it does not listen".to_owned()
    })?;
    let before = state(host)?;
    for secret in [Some(&secret), None] {
        for bytes in messages(&change)? {
            let answer = client.enter(|| sent(address, secret, &bytes))??;
            // With the token it reported its host: the client was who it said.
            let is_known = answer.contains("\"token\":\"accepted\"");
            ensure(is_known == secret.is_some(), || answer.clone())?;
        }
    }
    for bytes in messages(&change)? {
        client.enter(|| said(address, &bytes))??;
    }
    let after = state(host)?;
    ensure(before == after, || difference(&before, &after))?;
    ensure(server.try_wait()?.is_none(), || "it has ended".to_owned())?;
    Reader::of(&server).signal(SIGTERM)?;
    server.wait()?;
    // The comparison sees such a change at all.
    let made = host.enter(|| linerate_linux::sysctl::write(SYSCTL, "0"))?;
    made?;
    ensure(state(host)? != before, || "a change is not seen".to_owned())
}

/// Every message of each protocol, as frames and as lines.
fn messages(change: &Change) -> Outcome<Vec<Vec<u8>>> {
    let frames = every_message();
    let requests = every_request(change);
    covered(frames.iter().map(number), MESSAGES)?;
    covered(requests.iter().map(number_of), REQUESTS)?;
    let mut all: Vec<Vec<u8>> = frames.iter().map(agent_frame).collect();
    for (id, ask) in requests.iter().enumerate() {
        let asked = Asked { id: id as u64, ask };
        let line = serde_json::to_string(&asked)? + "\n";
        all.push(agent_frame(&asked));
        all.push(line.into_bytes());
    }
    let hello = Hello::default();
    all.push((serde_json::to_string(&Greeting { hello })? + "\n").into_bytes());
    Ok(all)
}

/// A request as the agent reads it.
#[derive(Serialize)]
struct Asked<'a> {
    id: u64,
    ask: &'a Ask,
}

fn covered(numbers: impl Iterator<Item = usize>, all: usize) -> Outcome {
    let numbers: std::collections::BTreeSet<usize> = numbers.collect();
    ensure(numbers == (0..all).collect(), || format!("{numbers:?}"))
}

fn every_message() -> Vec<Message> {
    let host = Box::default();
    vec![
        Message::Hello {
            version: "9".to_owned(),
            host,
            beats: true,
            token: None,
            proof: None,
        },
        Message::Challenge {
            nonce: "0".repeat(64),
        },
        Message::Proof {
            proof: "0".repeat(64),
        },
        Message::Beat,
        Message::Final {
            streams: vec![(1, 2, 3)],
            drift: Some((1, 2)),
        },
        Message::Samples {
            samples: vec![Default::default()],
        },
        Message::Settings {
            settings: vec![Default::default()],
        },
        Message::Read {
            id: 1,
            part: Part::After,
        },
        Message::Setup { id: 2 },
        Message::Done { id: 3 },
        Message::Error {
            why: "x".to_owned(),
        },
        Message::Interval {
            sent: Vec::new(),
            received: Vec::new(),
        },
        Message::State {
            settings: vec![Default::default()],
        },
    ]
}

/// A new message does not compile here until it is sent, too.
fn number(message: &Message) -> usize {
    match message {
        Message::Hello { .. } => 0,
        Message::Challenge { .. } => 1,
        Message::Proof { .. } => 2,
        Message::Beat => 3,
        Message::Final { .. } => 4,
        Message::Samples { .. } => 5,
        Message::Settings { .. } => 6,
        Message::Read { .. } => 7,
        Message::Setup { .. } => 8,
        Message::Done { .. } => 9,
        Message::Error { .. } => 10,
        Message::Interval { .. } => 11,
        Message::State { .. } => 12,
    }
}

fn every_request(change: &Change) -> Vec<Ask> {
    let apply = |confirm_within_ms| Ask::Apply {
        change: change.clone(),
        confirm_within_ms,
    };
    let number = 1;
    vec![
        Ask::Begin { silence_ms: 1000 },
        Ask::Beat,
        Ask::Key {
            knob: change.key.knob.clone(),
            interface: None,
        },
        Ask::Read {
            key: change.key.clone(),
        },
        Ask::Most {
            key: change.key.clone(),
        },
        apply(None),
        apply(Some(1000)),
        Ask::Confirm { change: number },
        Ask::Undo { change: number },
        Ask::Keep { change: number },
        Ask::Settings,
        Ask::Management {
            interface: "eth0".to_owned(),
        },
        Ask::Watch {
            interfaces: vec!["eth0".to_owned()],
        },
        Ask::Alarm,
    ]
}

fn number_of(ask: &Ask) -> usize {
    match ask {
        Ask::Begin { .. } => 0,
        Ask::Beat => 1,
        Ask::Key { .. } => 2,
        Ask::Read { .. } => 3,
        Ask::Apply { .. } => 4,
        Ask::Confirm { .. } => 5,
        Ask::Undo { .. } => 6,
        Ask::Keep { .. } => 7,
        Ask::Settings => 8,
        Ask::Management { .. } => 9,
        Ask::Watch { .. } => 10,
        Ask::Alarm => 11,
        Ask::Most { .. } => 12,
    }
}

fn wanted(host: &Host) -> Outcome<Change> {
    let key =
        host.enter(|| Settings::here().map(|here| here.key(&format!("sysctl {SYSCTL}"))))??;
    Ok(Change {
        key,
        new: "0".to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    })
}

fn serve(host: &Host, file: &Path) -> io::Result<Child> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .args(["serve", "--quiet", "-p", &PORT.to_string(), "--token-file"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    host.spawn(command)
}

fn dial(client: &Host, address: SocketAddr) -> io::Result<TcpStream> {
    let stream = client.enter(|| TcpStream::connect_timeout(&address, WITHIN))??;
    stream.set_read_timeout(Some(WITHIN))?;
    Ok(stream)
}

/// Becomes a reader of the device, sends these bytes, and returns the hello and what followed.
fn sent(address: SocketAddr, secret: Option<&Secret>, bytes: &[u8]) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, WITHIN)?;
    stream.set_read_timeout(Some(WITHIN))?;
    let mut random = [0; 23];
    random::fill(&mut random)?;
    let cookie = Cookie::from_random(&random);
    let mut auth = ClientAuth::begin(secret, &cookie)?;
    stream.write_all(cookie.as_bytes())?;
    stream.read_exact(&mut [0])?;
    let request = Request {
        load: false,
        device: true,
        nonce: auth.nonce(),
        ..Request::default()
    };
    let params = Params {
        tcp: true,
        linerate: Raw::of(&request).ok(),
        ..Params::default()
    };
    let json = params.to_json();
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(&json)?;
    let mut frames = AgentFrames::new(AGENT_BYTES);
    let mut first = received(&mut stream, &mut frames)?;
    if let Some(Message::Challenge { nonce }) = Message::read(&first) {
        let proof = auth.answer(&nonce);
        let proof = proof.ok_or_else(|| io::Error::other("no proof"))?;
        stream.write_all(&agent_frame(&proof))?;
        first = received(&mut stream, &mut frames)?;
    }
    stream.write_all(bytes)?;
    // It may have refused it already.
    let _ended = stream.shutdown(std::net::Shutdown::Write);
    let mut rest = Vec::new();
    // What it does with them is its own matter; here it has read them, and ended.
    let _ended = stream.read_to_end(&mut rest);
    Ok(first
        .read::<serde_json::Value>()
        .map_or_else(|_| String::new(), |hello| hello.to_string()))
}

fn received(stream: &mut TcpStream, frames: &mut AgentFrames) -> io::Result<Raw> {
    loop {
        let taken = frames.take();
        if let Some(message) = taken.map_err(|why| io::Error::other(why.to_string()))? {
            return Ok(message);
        }
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => frames.feed(&bytes[..count]),
        }
    }
}

/// Sends these bytes first of all.
fn said(address: SocketAddr, bytes: &[u8]) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, WITHIN)?;
    stream.set_read_timeout(Some(WITHIN))?;
    stream.write_all(bytes)?;
    // It may have refused it already.
    let _ended = stream.shutdown(std::net::Shutdown::Write);
    let _ended = stream.read_to_end(&mut Vec::new());
    Ok(())
}

/// Every setting of the host's namespace that can be read.
fn state(host: &Host) -> Outcome<BTreeMap<String, String>> {
    let read = || -> io::Result<_> {
        let mut all = setup::of_host();
        for link in nic::list()? {
            all.extend(setup::of_interface(&link.name));
        }
        Ok(all)
    };
    let all = host.enter(read)??;
    let settings = all
        .into_iter()
        .filter(|one| !OTHERS.contains(&one.source.as_str()));
    let named = settings.flat_map(|one| {
        let source = one.source;
        let values = one.values.into_iter();
        // The frequency is a measurement.
        let values = values.filter(|(name, _)| name != "scaling_cur_freq");
        values.map(move |(name, value)| (format!("{source} {name}"), value))
    });
    Ok(named.collect())
}

fn difference(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> String {
    let names = before.keys().chain(after.keys());
    let moved = names.filter(|name| before.get(*name) != after.get(*name));
    let shown = moved.map(|name| format!("{name}: {:?} → {:?}", before.get(name), after.get(name)));
    shown.collect::<Vec<_>>().join("; ")
}

const SYSCTL: &str = "net.ipv4.tcp_sack";
const PORT: u16 = 5201;
const MESSAGES: usize = 13;
const REQUESTS: usize = 13;
const WITHIN: Duration = Duration::from_secs(10);
/// Not settings: the machine's memory, log and processes; and which neighbours it knows.
const OTHERS: [&str; 4] = ["/proc/meminfo", "dmesg", "ps -eo comm", "ip neigh"];
