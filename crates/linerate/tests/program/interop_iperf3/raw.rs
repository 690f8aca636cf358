// SPDX-License-Identifier: MIT OR Apache-2.0
//! The protocol spoken by hand, at either end, as no well-behaved peer would.

use crate::support::{PATIENCE, free_port};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};

pub(crate) const TEST_END: u8 = 4;
pub(crate) const RESULTS: &str = r#"{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":0,"streams":[{"id":1,"bytes":1000,"retransmits":-1,"jitter":0,"errors":0,"packets":1}]}"#;

/// A cookie, distinguished by one letter.
pub(crate) fn cookie(letter: char) -> Vec<u8> {
    let mut bytes = letter.to_string().repeat(36).into_bytes();
    bytes.push(0);
    bytes
}

pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// A control connection whose server awaits parameters.
pub(crate) fn open(port: u16, letter: char) -> TcpStream {
    let mut stream = connect(port);
    stream.write_all(&cookie(letter)).unwrap();
    expect(&mut stream, 9);
    stream
}

/// A control connection whose server awaits streams.
pub(crate) fn ask(port: u16, letter: char, params: &str) -> TcpStream {
    let mut stream = open(port, letter);
    send_block(&mut stream, params);
    expect(&mut stream, 10);
    stream
}

pub(crate) fn data(port: u16, letter: char) -> TcpStream {
    let mut stream = connect(port);
    stream.write_all(&cookie(letter)).unwrap();
    stream
}

pub(crate) fn expect(stream: &mut TcpStream, state: u8) {
    assert_eq!(byte(stream), state);
}

pub(crate) fn byte(stream: &mut TcpStream) -> u8 {
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    byte[0]
}

pub(crate) fn send_block(stream: &mut TcpStream, json: &str) {
    let mut bytes = (json.len() as u32).to_be_bytes().to_vec();
    bytes.extend(json.as_bytes());
    stream.write_all(&bytes).unwrap();
}

pub(crate) fn read_block(stream: &mut TcpStream) -> String {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A server made by hand.
pub(crate) struct Fake {
    pub(crate) port: u16,
    listener: TcpListener,
    pub(crate) udp: UdpSocket,
}

impl Fake {
    pub(crate) fn new() -> Self {
        let port = free_port();
        let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        udp.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            port,
            listener: TcpListener::bind(("127.0.0.1", port)).unwrap(),
            udp,
        }
    }

    /// Accepts a connection and reads its cookie.
    pub(crate) fn accept(&self) -> TcpStream {
        let (mut stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.read_exact(&mut [0; 37]).unwrap();
        stream
    }

    /// Accepts a client up to CREATE_STREAMS.
    pub(crate) fn meet(&self) -> TcpStream {
        let mut control = self.accept();
        control.write_all(&[9]).unwrap();
        let params = read_block(&mut control);
        assert!(params.contains("client_version"), "{params}");
        control.write_all(&[10]).unwrap();
        control
    }

    /// From TEST_END to the goodbye.
    pub(crate) fn part(mut control: TcpStream) {
        control.write_all(&[13]).unwrap();
        read_block(&mut control);
        send_block(&mut control, RESULTS);
        control.write_all(&[14]).unwrap();
        expect(&mut control, 16);
    }
}
