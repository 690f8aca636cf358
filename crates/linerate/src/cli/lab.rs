// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate lab … -- COMMAND`: runs a command in host A of a lab, with a peer in host B.

use std::io::{self, IsTerminal};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::proc;
use linerate_linux::process::{Reader, ends_with_parent};
use linerate_linux::sandbox::Privilege;
use linerate_linux::seccomp;
use linerate_linux::signal::{Interrupt, SIGKILL, SIGTERM};

use crate::output;
use linerate_endpoint::PORT;

use linerate_lab::{
    Ceiling, FAULTS, Fault, Host, Isolation, Lab, LabError, LabPlan, LabToken, Nic, Topology,
    WireSpec, cannot,
};
use linerate_model::printable::Printable;

/// Run a command between two hosts created on this machine, without root
///
/// Runs COMMAND in host A and exits with its exit code; host B runs `linerate serve`. In
/// COMMAND, {peer} stands for host B's address and {peer6} for its IPv6 address; its environment
/// has them as LINERATE_PEER and LINERATE_PEER6. Without COMMAND, a shell starts in host A. No
/// interface or process remains afterwards.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = examples(), after_long_help = examples())]
pub struct LabArgs {
    /// What lies between the hosts: pair, bridge or route
    #[arg(long, default_value_t = Topology::Pair, value_name = "KIND")]
    pub topology: Topology,
    /// Inject a fault (repeatable)
    #[arg(long = "fault", value_name = "NAME[=VALUE]")]
    pub faults: Vec<Fault>,
    /// Use the user-space wire even if no fault needs it
    #[arg(long)]
    pub wire: bool,
    /// As --wire, with a NIC at each end that completes checksums and segments
    #[arg(long)]
    pub nic: bool,
    /// Log to FILE what the wire does with each UDP datagram, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub wire_log: Option<PathBuf>,
    /// Measure the capacity of the wire on this machine, and exit
    #[arg(long, conflicts_with = "command")]
    pub wire_ceiling: bool,
    /// Seed of the wire's decisions
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// MTU of every interface (IPv6 needs 1280 or more)
    #[arg(long, default_value_t = 1500, value_name = "BYTES",
          value_parser = clap::value_parser!(u32).range(68..=65535))]
    pub mtu: u32,
    /// Do not start a server in host B
    #[arg(long)]
    pub no_serve: bool,
    /// Run this shell command in host B instead of `linerate serve`
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_serve")]
    pub peer: Option<String>,
    /// Emulate the features of Linux 4.4 for COMMAND and the peer
    #[arg(long, hide = true)]
    pub old_kernel: bool,
    /// Use a user namespace even as root
    #[arg(long, hide = true)]
    pub user_namespace: bool,
    /// As `tune restore` needs it: COMMAND as it is, in private namespaces or not at all, and nothing said
    #[arg(long, hide = true)]
    pub restoring: bool,
    /// The command to run in host A
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl LabArgs {
    fn plan(&self) -> LabPlan {
        let wired = self.wire
            || self.nic
            || self.wire_log.is_some()
            || self.faults.iter().any(Fault::needs_wire);
        let spec = WireSpec {
            seed: self.seed,
            nic: self.nic.then(Nic::default),
            ..WireSpec::default()
        };
        LabPlan {
            topology: self.topology,
            mtu_bytes: self.mtu,
            wire: wired.then_some(spec),
            wire_log: self.wire_log.clone(),
            faults: self.faults.clone(),
        }
    }

    /// What host B runs, if anything.
    fn peer(&self) -> io::Result<Option<Command>> {
        if let Some(text) = &self.peer {
            let mut shell = Command::new("sh");
            shell.args(["-c", text]);
            return Ok(Some(shell));
        }
        if self.no_serve {
            return Ok(None);
        }
        let mut serve = Command::new(crate::itself::program()?);
        serve.arg("serve");
        // COMMAND may draw its progress over itself: lines of the server would land in the middle.
        if io::stderr().is_terminal() {
            serve.arg("--quiet");
        }
        Ok(Some(serve))
    }

    /// What host A runs; without a command the user's shell.
    fn command(&self, b: &Host) -> io::Result<Command> {
        let addresses = [("{peer}", b.address(false)), ("{peer6}", b.address(true))];
        let fill_in = |word: &String| {
            addresses.iter().filter(|_| !self.restoring).fold(
                word.clone(),
                |word, (name, address)| match address {
                    Some(address) => word.replace(name, &address.to_string()),
                    None => word,
                },
            )
        };
        let mut command = match self.command.first().map(String::as_str) {
            None => Command::new(std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())),
            Some("linerate") => Command::new(crate::itself::program()?),
            Some(program) => Command::new(program),
        };
        command.args(self.command.iter().skip(1).map(fill_in));
        for (name, (_, address)) in ["LINERATE_PEER", "LINERATE_PEER6"].iter().zip(addresses) {
            match address {
                Some(address) => command.env(name, address.to_string()),
                None => command.env_remove(name),
            };
        }
        Ok(command)
    }
}

/// Runs the command; returns the exit code to end with (128 + n: it died of signal n).
/// What the lab itself measures goes to stdout, its notes to stderr.
///
/// Must be called before any thread exists: see [`Isolation::enter`].
///
/// # Errors
/// [`LabError`]: the lab could not be built, or a command not be started.
pub fn run(args: &LabArgs) -> Result<u8, LabError> {
    let isolation = Isolation::enter_with(args.user_namespace.then_some(Privilege::UserNamespace));
    if args.wire_ceiling {
        return state_ceiling(&isolation);
    }
    let interrupt = Interrupt::install().map_err(cannot("catch signals"))?;
    match args.restoring {
        true => is_private(&isolation)?,
        false => note(&format!("lab: {}, {isolation}", args.topology)),
    }
    let lab = Lab::open(&isolation, &args.plan())?;
    let [a, b] = lab.hosts();
    let token = LabToken::make();
    let mut peer = start_peer(args, b, token.as_ref())?;
    let mut command = args.command(b).map_err(cannot("find this program"))?;
    LabToken::hand(token.as_ref(), &mut command);
    if args.old_kernel {
        seccomp::see_old_kernel(&mut command);
    }
    let what = format!("run {}", command.get_program().display());
    let child = a
        .spawn(command)
        .map_err(|why| LabError::measuring(&what, why));
    let status = child
        .and_then(|child| attend(child, &interrupt).map_err(|why| LabError::measuring(&what, why)));
    if let Some(peer) = &mut peer {
        end(peer);
    }
    if let Some(report) = lab.close() {
        note(report.to_string().trim_end());
    }
    status.map(exit_code)
}

/// On the loopback, what restores a lab would set this host.
fn is_private(isolation: &Isolation) -> Result<(), LabError> {
    match isolation {
        Isolation::Namespaces(_) => Ok(()),
        Isolation::Loopback { because } => {
            Err(LabError::measuring("restore in a lab", because).hint(because.remedy()))
        }
    }
}

/// Waits for COMMAND, which decides what a signal means: it may have to end a test well before the
/// lab goes. What the terminal sends it gets from there.
fn attend(mut child: Child, interrupt: &Interrupt) -> io::Result<ExitStatus> {
    let reader = Reader::of(&child);
    let from_terminal = io::stdin().is_terminal();
    let mut passed_on = 0;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let arrived = u8::from(interrupt.requested().is_some()) + u8::from(interrupt.impatient());
        if let Some(signal) = interrupt.requested().filter(|_| passed_on < arrived) {
            passed_on += 1;
            if signal == SIGTERM || !from_terminal {
                // It may have ended since.
                let _gone = reader.signal(signal);
            }
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn state_ceiling(isolation: &Isolation) -> Result<u8, LabError> {
    for frame_bytes in [60, 1514] {
        let ceiling = Ceiling::measure(isolation, frame_bytes)?;
        output::print(&Printable::of(&format!("the wire carries {ceiling}")))
            .map_err(cannot("write the result to stdout"))?;
    }
    Ok(0)
}

/// To stderr. A closed stderr does not stop the lab.
fn note(text: &str) {
    output::note(&Printable::of(text));
}

fn start_peer(
    args: &LabArgs,
    b: &Host,
    token: Option<&LabToken>,
) -> Result<Option<Child>, LabError> {
    let Some(mut command) = args.peer().map_err(cannot("find this program"))? else {
        return Ok(None);
    };
    LabToken::hand(token, &mut command);
    if args.old_kernel {
        seccomp::see_old_kernel(&mut command);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    // Ctrl-C at a terminal is for COMMAND, which may still need its peer to end well.
    command.process_group(0);
    // Without namespaces, it would go on alone.
    ends_with_parent(&mut command);
    let mut peer = b.spawn(command).map_err(cannot("start the peer"))?;
    wait_until_it_listens(b, &mut peer, args.peer.is_none().then_some(PORT))?;
    Ok(Some(peer))
}

/// Until host B has a listening TCP or a bound UDP socket, our server its own port. (Over the
/// loopback another program's socket is taken for that of a peer that is not ours.)
fn wait_until_it_listens(b: &Host, peer: &mut Child, port: Option<u16>) -> Result<(), LabError> {
    let end = Instant::now() + PEER_STARTS_WITHIN;
    while Instant::now() < end {
        if b.enter(|| is_listening(port))
            .map_err(cannot("enter host b"))?
        {
            return Ok(());
        }
        if let Ok(Some(status)) = peer.try_wait() {
            let why = format!("it ended with {status}");
            return Err(LabError::measuring("start the peer", why));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err(LabError::measuring(
        "start the peer",
        "it listens on no port after 10 s",
    ))
}

fn is_listening(port: Option<u16>) -> bool {
    let ending = port.map_or_else(String::new, |port| format!(":{port:04X}"));
    let has = |table: &str, state: &str| {
        let text = proc::net(table).unwrap_or_default();
        text.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().take(4).collect();
            words.len() == 4 && words[1].ends_with(&ending) && words[3] == state
        })
    };
    has("tcp", LISTEN) || has("tcp6", LISTEN) || has("udp", BOUND) || has("udp6", BOUND)
}

fn end(peer: &mut Child) {
    // With what its shell started; it may have ended already.
    let _gone = Reader::of(peer).signal_group(SIGKILL);
    let _status = peer.wait();
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn examples() -> String {
    let mut text = String::from(
        "Examples:\n  \
         linerate lab -- linerate udp {peer} -b 100M\n  \
         linerate lab --fault delay=20ms --fault loss=0.1% --peer 'iperf3 -s' -- iperf3 -c {peer}\n  \
         linerate lab --topology route -- ping -c 3 {peer}\n\n\
         Faults (with their default values):\n",
    );
    for kind in FAULTS {
        let named = match kind.default {
            "" => kind.name.to_owned(),
            default => format!("{}={default}", kind.name),
        };
        text.push_str(&format!("  {named:<21} {}\n", kind.effect));
    }
    text
}

/// The states of `/proc/net/tcp` and `udp`.
const LISTEN: &str = "0A";
const BOUND: &str = "07";
const PEER_STARTS_WITHIN: Duration = Duration::from_secs(10);
