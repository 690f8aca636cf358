// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that are not a test yet: their cookie, parameters or proof of the token are awaited. Their number is
//! limited. One too many evicts the oldest connection of the host that has the most, so a flooding host evicts its
//! own connections first; an honest client sends at once.

use linerate_linux::tcp;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The pending connections, in the order of accepting.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<VecDeque<Connection>>);

#[derive(Debug)]
struct Connection {
    serial: u64,
    home: IpAddr,
    stream: TcpStream,
}

impl Pending {
    /// Adds a connection from `peer`; if there are too many, one of them is shut down.
    pub(super) fn enter(&self, serial: u64, peer: IpAddr, stream: &TcpStream) -> io::Result<()> {
        let connection = Connection {
            serial,
            home: home(peer),
            stream: stream.try_clone()?,
        };
        let mut all = self.lock();
        if all.len() >= MOST_PENDING
            && let Some(gone) = crowding(&all).and_then(|place| all.remove(place))
        {
            tcp::shutdown(&gone.stream);
        }
        all.push_back(connection);
        Ok(())
    }

    /// Removes a connection. False if it had been evicted.
    pub(super) fn leave(&self, serial: u64) -> bool {
        let mut all = self.lock();
        let place = all.iter().position(|other| other.serial == serial);
        place.and_then(|place| all.remove(place)).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the oldest connection of the host that has the most.
fn crowding(all: &VecDeque<Connection>) -> Option<usize> {
    let mut crowds: HashMap<IpAddr, usize> = HashMap::new();
    for connection in all {
        *crowds.entry(connection.home).or_default() += 1;
    }
    let crowd = |connection: &Connection| crowds.get(&connection.home).copied().unwrap_or(0);
    let most = all.iter().map(crowd).max()?;
    all.iter().position(|connection| crowd(connection) == most)
}

/// Returns the /64 of an IPv6 address, which is one host here.
fn home(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            [a, b, c, d, 0, 0, 0, 0].into()
        }
    }
}

/// Each has a thread and two descriptors.
const MOST_PENDING: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read};
    use std::net::TcpListener;

    /// A connection: the server's end, the client's.
    fn pair(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        (listener.accept().unwrap().0, client)
    }

    fn is_open(mut client: &TcpStream) -> bool {
        let read = client.read(&mut [0]);
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    #[test]
    fn one_too_many_evicts_the_oldest() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pending = Pending::default();
        let enter = |serial| {
            let (server, client) = pair(&listener);
            pending.enter(serial, FLOOD.into(), &server).unwrap();
            (server, client)
        };
        let most = MOST_PENDING as u64;
        let crowd: Vec<_> = (0..most).map(enter).collect();
        assert!(crowd.iter().all(|(_, client)| is_open(client)));
        // The second leaves: none is too many then.
        assert!(pending.leave(1) && !pending.leave(1));
        let _in_its_place = enter(most);
        assert!(is_open(&crowd[0].1));
        let _too_many = enter(most + 1);
        assert!(!is_open(&crowd[0].1), "the oldest had to leave");
        assert!(crowd[1..].iter().all(|(_, client)| is_open(client)));
        assert!(!pending.leave(0) && pending.leave(2) && pending.leave(most + 1));
    }

    #[test]
    fn a_flooding_host_evicts_its_own_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pending = Pending::default();
        let (server, honest) = pair(&listener);
        pending.enter(0, [192, 0, 2, 2].into(), &server).unwrap();
        for serial in 1..=2 * MOST_PENDING as u64 {
            let (server, _client) = pair(&listener);
            pending.enter(serial, FLOOD.into(), &server).unwrap();
        }
        assert!(is_open(&honest), "it came first, and stays");
        assert!(pending.leave(0));
        let of_one_host = ["2001:db8::1", "2001:db8::2:3"].map(|text| home(text.parse().unwrap()));
        assert_eq!(of_one_host[0], of_one_host[1]);
        assert_ne!(of_one_host[0], home("2001:db8:0:1::1".parse().unwrap()));
    }

    const FLOOD: [u8; 4] = [192, 0, 2, 1];
}
