// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this program does when a test starts it again as a command of its own.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the role's answer"
)]

use std::ffi::OsStr;
use std::net::UdpSocket;
use std::process::{Command, ExitCode};

use linerate::cli::lab::{self, LabArgs};
use linerate_lab::{Isolation, Lab, LabPlan};
use linerate_linux::sandbox::Privilege;

use super::crashes;
use super::cut;

/// Names the role.
pub(crate) const VARIABLE: &str = "LINERATE_TEST_ROLE";

pub(crate) fn play(role: &OsStr) -> ExitCode {
    match role.to_str() {
        Some("lab-with-sleepers") => lab_with_sleepers(),
        Some("ask-for-a-buffer") => ask_for_a_buffer(),
        Some("forbid-namespaces") => forbid_namespaces(),
        Some("lab-command") => lab_command(),
        Some("say-isolation") => say_isolation(),
        Some("change-settings") => crashes::change_settings(),
        Some("restore-settings") => crashes::restore_settings(),
        Some(role @ (cut::FAR_TUNER | cut::LOCAL_TUNER)) => cut::play(role),
        _ => ExitCode::FAILURE,
    }
}

/// For a person who looks for the reason of a failure.
pub(crate) fn report(what: &str) {
    eprintln!("{what}");
}

/// Opens a lab, starts a command in each host, one of them in the background of a shell, says
/// "standing", and waits for the first.
fn lab_with_sleepers() -> ExitCode {
    let isolation = Isolation::enter();
    let Ok(lab) = Lab::open(&isolation, &LabPlan::default()) else {
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

/// Says what the kernel gave unasked, asks for 4 MiB and says what it gave then.
fn ask_for_a_buffer() -> ExitCode {
    let Ok(socket) = UdpSocket::bind("127.0.0.1:0") else {
        return ExitCode::FAILURE;
    };
    let socket = socket2::SockRef::from(&socket);
    println!("{}", socket.recv_buffer_size().unwrap_or(0));
    let _less = socket.set_recv_buffer_size(4 << 20);
    println!("{}", socket.recv_buffer_size().unwrap_or(0));
    ExitCode::SUCCESS
}

#[derive(clap::Parser)]
struct Words {
    #[command(flatten)]
    lab: LabArgs,
}

/// The command `lab`, as the command line has it.
fn lab_command() -> ExitCode {
    let words = <Words as clap::Parser>::parse();
    match lab::run(&words.lab) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("{failure}");
            linerate::exit::Exit::from(failure.kind).into()
        }
    }
}

/// In a user namespace of its own, which it may spoil, forbids further ones.
fn forbid_namespaces() -> ExitCode {
    let Isolation::Namespaces(_) = Isolation::enter_with(Some(Privilege::UserNamespace)) else {
        return ExitCode::FAILURE;
    };
    if std::fs::write("/proc/sys/user/max_user_namespaces", "0").is_err() {
        println!("unwritable");
        return ExitCode::SUCCESS;
    }
    let again = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .env(VARIABLE, "say-isolation")
            .status()
    });
    again.map_or(ExitCode::FAILURE, |_| ExitCode::SUCCESS)
}

/// Tries to get a lab without privilege and says what became of it.
fn say_isolation() -> ExitCode {
    let isolation = Isolation::enter_with(Some(Privilege::UserNamespace));
    println!("{isolation}");
    let faults = "loss".parse().into_iter().collect();
    for plan in [
        LabPlan::default(),
        LabPlan {
            faults,
            ..LabPlan::default()
        },
    ] {
        match Lab::open(&isolation, &plan) {
            Ok(lab) => println!("a lab at {}", lab.hosts()[1].ipv4),
            Err(error) => println!("{error}"),
        }
    }
    ExitCode::SUCCESS
}
