// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ceiling of a system call per datagram, or per message that the kernel cuts: a loop of `send(2)` against a loop of `recv(2)`
//! that is never woken, and nothing else. No program that makes these system calls sends more through the same kernel.
//!
//! `xtask bare receive PORT [join]` and `xtask bare send HOST PORT PAYLOAD_BYTES SECONDS [cut]`, which prints how many datagrams were
//! sent and received.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;

use crate::Outcome;

/// Either side.
pub(crate) fn run(words: &[&str]) -> Outcome {
    match words {
        ["receive", port] => receive(port.parse()?, false)?,
        ["receive", port, JOIN] => receive(port.parse()?, true)?,
        ["send", host, port, payload_bytes, seconds, how @ ..] => {
            let length = Duration::from_secs(seconds.parse()?);
            let block = Block::of(payload_bytes.parse()?, how == [CUT]);
            let [sent, received] = send((host, port.parse()?), block, length)?;
            println!("{sent} {received}");
        }
        _ => return Err("bare: expected receive PORT or send HOST PORT BYTES SECONDS".into()),
    }
    Ok(true)
}

/// What each call sends.
#[derive(Debug, Clone, Copy)]
struct Block {
    payload_bytes: u16,
    /// More than one: the kernel cuts it.
    datagrams: usize,
}

impl Block {
    fn of(payload_bytes: u16, is_cut: bool) -> Self {
        let fitting = LONGEST_BYTES / usize::from(payload_bytes.max(1));
        Self {
            payload_bytes,
            datagrams: if is_cut {
                fitting.min(MOST_DATAGRAMS)
            } else {
                1
            },
        }
    }
}

fn receive(port: u16, joined: bool) -> io::Result<()> {
    let data = UdpSocket::bind(("0.0.0.0", port))?;
    if joined {
        linerate_linux::udp::join(&data)?;
    }
    data.set_nonblocking(true)?;
    // As much as all others are given.
    SockRef::from(&data).set_recv_buffer_size(4 << 20)?;
    // Last: it is what the bench waits for.
    let (mut control, _) = TcpListener::bind(("0.0.0.0", port))?.accept()?;
    let over = AtomicBool::new(false);
    let received = thread::scope(|scope| {
        let counting = scope.spawn(|| count(&data, &over));
        let ended = control.read_to_end(&mut Vec::new());
        over.store(true, Ordering::Relaxed);
        let count = counting.join().map_err(|_panic| io::ErrorKind::Other)?;
        ended.map(|_bytes| count)
    })?;
    control.write_all(received.to_string().as_bytes())
}

/// The bytes until the sender is done and the socket is empty.
fn count(data: &UdpSocket, over: &AtomicBool) -> u64 {
    let (mut received, mut block) = (0, vec![0; 1 << 16]);
    loop {
        let was_over = over.load(Ordering::Relaxed);
        match data.recv(&mut block) {
            Ok(length) => received += length as u64,
            Err(_empty) if was_over => return received,
            // Not a wake-up, which the sender's processor would pay for; not a spin, which takes the queue's lock from it.
            Err(_empty) => thread::sleep(NAP),
        }
    }
}

/// Datagrams sent, and received there.
fn send(host: (&str, u16), block: Block, length: Duration) -> io::Result<[u64; 2]> {
    let Block {
        payload_bytes,
        datagrams,
    } = block;
    let mut control = TcpStream::connect(host)?;
    let data = UdpSocket::bind(("0.0.0.0", 0))?;
    data.connect(host)?;
    if datagrams > 1 {
        linerate_linux::udp::cut(&data, payload_bytes)?;
    }
    let block = vec![0; usize::from(payload_bytes) * datagrams];
    let (mut sent, end) = (0, Instant::now() + length);
    while Instant::now() < end {
        for _ in 0..PER_LOOK_AT_THE_CLOCK {
            sent += u64::from(data.send(&block).is_ok());
        }
    }
    control.shutdown(std::net::Shutdown::Write)?;
    let mut received = String::new();
    control.read_to_string(&mut received)?;
    let received_bytes: u64 = received.parse().map_err(io::Error::other)?;
    let received = received_bytes / u64::from(payload_bytes.max(1));
    Ok([sent * datagrams as u64, received])
}

/// Words of the command line.
pub(super) const CUT: &str = "cut";
pub(super) const JOIN: &str = "join";
/// The longest UDP payload over IPv4, and `UDP_MAX_SEGMENTS` of the oldest kernels that have segmentation.
const LONGEST_BYTES: usize = 65_507;
const MOST_DATAGRAMS: usize = 64;
const NAP: Duration = Duration::from_micros(50);
const PER_LOOK_AT_THE_CLOCK: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_is_counted_by_the_receiver() {
        for is_cut in [false, true] {
            let port = crate::ports::free().unwrap();
            let server = thread::spawn(move || receive(port, is_cut));
            let deadline = Instant::now() + Duration::from_secs(60);
            let block = Block::of(64, is_cut);
            let [sent, received] = loop {
                match send(("127.0.0.1", port), block, Duration::from_millis(20)) {
                    Ok(counts) => break counts,
                    Err(why) => assert!(Instant::now() < deadline, "{why}"),
                }
            };
            assert!(sent >= received && received > 0, "{sent} {received}");
            server.join().unwrap().unwrap();
        }
    }
}
