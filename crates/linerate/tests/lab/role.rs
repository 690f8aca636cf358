// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this program does when a test starts it again as a command of its own.
#![expect(clippy::print_stdout, reason = "the role's answer")]

use std::ffi::OsStr;
use std::net::UdpSocket;
use std::process::{Command, ExitCode};

use linerate::lab::{Ground, Lab, LabPlan};

/// Names the role.
pub(crate) const VARIABLE: &str = "LINERATE_TEST_ROLE";

pub(crate) fn play(role: &OsStr) -> ExitCode {
    match role.to_str() {
        Some("lab-with-sleepers") => lab_with_sleepers(),
        Some("ask-for-a-buffer") => ask_for_a_buffer(),
        _ => ExitCode::FAILURE,
    }
}

/// Opens a lab, starts a command in each host, one of them in the background of a shell, says
/// "standing", and waits for the first.
fn lab_with_sleepers() -> ExitCode {
    let ground = Ground::enter();
    let Ok(lab) = Lab::open(&ground, &LabPlan::default()) else {
        return ExitCode::FAILURE;
    };
    let [a, b] = lab.hosts();
    let mut sleep = Command::new("sleep");
    sleep.arg("1000");
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 1000 & sleep 1000 & wait"]);
    let started = (a.spawn(sleep), b.spawn(shell));
    println!("standing");
    match started {
        (Ok(mut sleep), Ok(_shell)) => {
            let _ended = sleep.wait();
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}

/// Asks for 4 MiB and says what the kernel gave.
fn ask_for_a_buffer() -> ExitCode {
    let Ok(socket) = UdpSocket::bind("127.0.0.1:0") else {
        return ExitCode::FAILURE;
    };
    let socket = socket2::SockRef::from(&socket);
    let _less = socket.set_recv_buffer_size(4 << 20);
    println!("{}", socket.recv_buffer_size().unwrap_or(0));
    ExitCode::SUCCESS
}
