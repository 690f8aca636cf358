// SPDX-License-Identifier: MIT OR Apache-2.0
//! `soak --server [--minutes N] [--binary PATH]`: one server, and clients that come, go, lie and die. Its descriptors and
//! threads at the end are those of the start, after each kind of client came a few times; its resident memory is at most
//! 1 MiB larger: how many clients meet differs from round to round, and the allocator keeps what the most of them took.

use std::fmt;
use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::process::{self, Server};

/// Whether the server held at the end what it held at the start.
pub(super) fn run(program: &Path, minutes: u64) -> Outcome {
    let port = free_port()?;
    let server = start(program, port)?;
    let client = Client {
        program: program.to_owned(),
        port,
    };
    for _ in 0..WARM_UP_ROUNDS {
        client.all()?;
    }
    let first = settled(server.id())?;
    println!("{:>8} {first}", "start");
    let begun = Instant::now();
    let mut rounds = 0;
    let mut next_row = MINUTES_PER_ROW;
    while begun.elapsed() < Duration::from_secs(60 * minutes) {
        client.all()?;
        rounds += 1;
        let minute = begun.elapsed().as_secs() / 60;
        if minute >= next_row {
            next_row = minute + MINUTES_PER_ROW;
            let now = Holdings::of(server.id())?;
            println!("{:>8} {now}", format!("{minute} min"));
        }
    }
    let last = settled(server.id())?;
    let _gone = fs::remove_dir_all(state());
    println!(
        "{:>8} {last}\n{rounds} rounds of {} kinds of clients",
        "end",
        KINDS.len()
    );
    Ok(last.is_as(&first))
}

/// Where the clients keep their runs.
fn state() -> PathBuf {
    std::env::temp_dir().join(format!("linerate-soak-{}", std::process::id()))
}

fn free_port() -> Result<u16, String> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|port| port.local_addr());
    free.map(|address| address.port())
        .map_err(|why| format!("find a free port: {why}"))
}

fn start(program: &Path, port: u16) -> Result<Server, String> {
    let mut command = Command::new(program);
    command.args(["serve", "--quiet", "--iperf2", "-p", &port.to_string()]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let server = command
        .spawn()
        .map(Server)
        .map_err(|why| format!("start the server: {why}"))?;
    let end = Instant::now() + LIMIT;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if Instant::now() > end {
            return Err(format!("the server does not listen on port {port}"));
        }
        thread::sleep(POLL);
    }
    Ok(server)
}

/// What the server holds when it has let go of all that it will: its counts have stayed the same for a while.
fn settled(pid: u32) -> Result<Holdings, String> {
    let (mut seen, mut since) = (Holdings::of(pid)?, Instant::now());
    let end = Instant::now() + LIMIT;
    while since.elapsed() < QUIET && Instant::now() < end {
        thread::sleep(POLL);
        let now = Holdings::of(pid)?;
        if (now.descriptors, now.threads) != (seen.descriptors, seen.threads) {
            since = Instant::now();
        }
        seen = now;
    }
    Ok(seen)
}

/// What a process holds.
struct Holdings {
    resident_kib: u64,
    descriptors: usize,
    threads: u64,
}

impl Holdings {
    /// From `/proc`.
    fn of(pid: u32) -> Result<Self, String> {
        let dead = |why| format!("the server is gone: {why}");
        let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(dead)?;
        let number = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        Ok(Self {
            resident_kib: number("VmRSS:").unwrap_or(0),
            descriptors: fs::read_dir(format!("/proc/{pid}/fd"))
                .map_err(dead)?
                .count(),
            threads: number("Threads:").unwrap_or(0),
        })
    }

    fn is_as(&self, first: &Self) -> bool {
        self.descriptors == first.descriptors
            && self.threads == first.threads
            && self.resident_kib <= first.resident_kib + ROOM_KIB
    }
}

impl fmt::Display for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resident_kib,
            descriptors,
            threads,
        } = self;
        write!(
            f,
            "resident {resident_kib} KiB, {descriptors} descriptors, {threads} threads"
        )
    }
}

/// Who uses the server.
struct Client {
    program: PathBuf,
    port: u16,
}

impl Client {
    /// Each kind once.
    fn all(&self) -> Result<(), String> {
        KINDS.iter().try_for_each(|kind| kind(self))
    }

    fn ours(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(line.split_whitespace())
            .args(["-p", &self.port.to_string(), "-q", "--json"]);
        command.env("XDG_STATE_HOME", state());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Comes, measures, goes.
    fn honest(&self) -> Result<(), String> {
        for line in [
            "tcp 127.0.0.1 -n 64K",
            "udp 127.0.0.1 -b 2M -t 0.2 --bidir",
            "tcp 127.0.0.1 -R -t 0.2",
        ] {
            process::run(&mut self.ours(line), LIMIT)?;
        }
        Ok(())
    }

    /// Stock `iperf3` and `iperf`, where there are.
    fn stock(&self) -> Result<(), String> {
        let port = self.port.to_string();
        for (program, words) in [("iperf3", ["-n", "64K"]), ("iperf", ["-u", "-t1"])] {
            let mut command = Command::new(program);
            command.args(["-c", "127.0.0.1", "-p", &port]).args(words);
            // Without it there is one kind of client less.
            let _absent = process::run(&mut command, LIMIT);
        }
        Ok(())
    }

    /// Is killed in the middle of its test.
    fn mortal(&self) -> Result<(), String> {
        for line in [
            "udp 127.0.0.1 -b 2M -t 60",
            "tcp 127.0.0.1 -b 2M -t 60 -P 4",
        ] {
            let client = self
                .ours(line)
                .spawn()
                .map_err(|why| format!("start a client: {why}"))?;
            thread::sleep(Duration::from_millis(300));
            drop(Server(client));
        }
        Ok(())
    }

    /// Says what is no protocol, or half of it, and goes.
    fn liar(&self) -> Result<(), String> {
        let cookie = [b'l'; 37];
        let params = br#"{"tcp":true,"linerate":{"v":1,"device":true}}"#;
        let mut device = cookie.to_vec();
        device.extend((params.len() as u32).to_be_bytes());
        device.extend(params);
        let mut frames = device.clone();
        for _ in 0..1000 {
            frames.extend(b"\x20\0\0\0\x0f{\"type\":\"beat\"}");
        }
        frames.extend(b"\x20\0\0\xff");
        let huge = [&cookie[..], &u32::MAX.to_be_bytes()].concat();
        let said: [&[u8]; 6] = [
            b"GET / HTTP/1.1\r\n\r\n",
            &cookie[..20],
            &cookie,
            &huge,
            &device,
            &frames,
        ];
        for bytes in said {
            let mut stream = self.connect()?;
            // It may refuse before all is said.
            let _ = stream.write_all(bytes);
        }
        Ok(())
    }

    /// Datagrams that belong to no test.
    fn stray(&self) -> Result<(), String> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|why| why.to_string())?;
        let hello = [b"LRUP".as_slice(), &[b'x'; 40]].concat();
        for bytes in [&hello[..], b"9876", &[0xff; 1400], b"", &[0; 36]].repeat(50) {
            // A full buffer is the server's matter.
            let _ = socket.send_to(bytes, (Ipv4Addr::LOCALHOST, self.port));
        }
        Ok(())
    }

    /// Many at once, who say nothing.
    fn crowd(&self) -> Result<(), String> {
        let crowd: Result<Vec<TcpStream>, String> = (0..150).map(|_| self.connect()).collect();
        thread::sleep(Duration::from_millis(100));
        crowd.map(drop)
    }

    fn connect(&self) -> Result<TcpStream, String> {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
            .map_err(|why| format!("the server takes no connection: {why}"))
    }
}

type Kind = fn(&Client) -> Result<(), String>;
const KINDS: [Kind; 6] = [
    Client::honest,
    Client::stock,
    Client::mortal,
    Client::liar,
    Client::stray,
    Client::crowd,
];
const WARM_UP_ROUNDS: u32 = 5;
const MINUTES_PER_ROW: u64 = 2;
const ROOM_KIB: u64 = 1024;
/// Longer than the server's time-outs for clients that say nothing (30 s).
const QUIET: Duration = Duration::from_secs(35);
const LIMIT: Duration = Duration::from_secs(180);
const POLL: Duration = Duration::from_millis(50);
