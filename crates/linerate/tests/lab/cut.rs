// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes that really cut the path by which they are made: the interface of the connection to the far agent, or of this host,
//! gets an MTU at which it discards all but the shortest frames of the other end, as after a wrong MTU anywhere. The path is there
//! again without any help, whatever becomes of the program that made the change.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use linerate_change::remote::Terms;
use linerate_change::{
    Change, Confirming, Far, Hand, Journal, Local, Open, Outcome as Applied, Provisional, Trace,
    Undo, Warded,
};
use linerate_lab::{Host, Isolation, Lab, LabPlan};
use linerate_linux::nic;
use linerate_linux::process::Reader;
use linerate_linux::signal::SIGKILL;

use super::Test;
use super::role::VARIABLE;
use super::scratch::Scratch;
use super::traffic::{eventually, udp};
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_change_that_cuts_its_way_is_refused",
        a_change_that_cuts_its_way_is_refused,
    ),
    (
        "a_way_that_a_change_cuts_is_there_again",
        a_way_that_a_change_cuts_is_there_again,
    ),
    (
        "a_tuner_killed_while_its_way_is_cut_leaves_nothing",
        |isolation| killed_tuner(isolation, FAR_TUNER, Duration::from_secs(8)),
    ),
    (
        "a_tuner_killed_while_its_own_path_is_cut_leaves_nothing",
        |isolation| killed_tuner(isolation, LOCAL_TUNER, NEVER),
    ),
    (
        "a_tuner_that_hangs_while_its_own_path_is_cut_leaves_nothing",
        hanging_tuner,
    ),
    (
        "a_far_agent_that_hears_nothing_ends",
        a_far_agent_that_hears_nothing_ends,
    ),
];

/// The far agent, reached through the link, and its journal.
pub(super) struct Scene {
    pub(super) lab: Lab,
    place: Scratch,
}

impl Scene {
    pub(super) fn open(isolation: &Isolation) -> Outcome<Self> {
        let plan = LabPlan {
            mtu_bytes: WITHOUT_IPV6_BYTES,
            ..LabPlan::default()
        };
        Ok(Self {
            lab: Lab::open(isolation, &plan)?,
            place: Scratch::new("cut")?,
        })
    }

    fn far(&self) -> &Host {
        &self.lab.hosts()[1]
    }

    /// An agent in the far host for the next connection to this address.
    pub(super) fn agent(
        &self,
    ) -> Outcome<(SocketAddr, std::thread::JoinHandle<std::io::Result<Child>>)> {
        let host = self.far();
        let listener = host.enter(|| TcpListener::bind((host.ipv4, 0)))??;
        let address = listener.local_addr()?;
        let mut command = Command::new(OURS);
        command
            .args(["agent", "--stdio", "--changes"])
            .env("XDG_STATE_HOME", self.place.path());
        // The lab's own commands are started in their namespace by a thread of it.
        let inside = host
            .namespace()
            .map(|namespace| namespace.start_inside(&mut command));
        inside.transpose()?;
        let accept = move || {
            let (stream, _) = listener.accept()?;
            command
                .stdin(Stdio::from(OwnedFd::from(stream.try_clone()?)))
                .stdout(Stdio::from(OwnedFd::from(stream)))
                .spawn()
        };
        Ok((address, std::thread::spawn(accept)))
    }

    fn open_changes(&self, journal: &Path) -> Vec<Open> {
        let journal = Journal::at(&self.place.join(journal), BOOT);
        journal.open().unwrap_or_default()
    }
}

/// Whether the interface discards long frames.
fn is_cut(host: &Host) -> bool {
    let link = host.enter(|| nic::link(INTERFACE));
    let link = link.ok().and_then(Result::ok);
    link.is_some_and(|link| link.mtu_bytes == SHORT_MTU_BYTES)
}

/// Whether a datagram of 100 bytes arrives.
fn is_reached(from: &Host, to: &Host) -> bool {
    let arrives = || {
        let (sender, receiver) = udp(from, to)?;
        receiver.set_read_timeout(Some(Duration::from_millis(20)))?;
        for _ in 0..20 {
            sender.send(&[0; 100])?;
            if receiver.recv(&mut [0; 100]).is_ok() {
                return Ok::<_, Verdict>(true);
            }
        }
        Ok(false)
    };
    arrives().is_ok_and(|arrives| arrives)
}

pub(super) fn connected(address: SocketAddr, terms: Terms) -> std::io::Result<Far> {
    let stream = TcpStream::connect(address)?;
    Far::over(stream.try_clone()?, stream, terms)
}

/// net/core/dev.c, `__is_skb_forwardable`: a veth discards a frame longer than the MTU and its headers, as most cards do.
fn cut(hand: &mut impl Provisional, within: Duration) -> std::io::Result<Applied> {
    let change = Change {
        key: hand.key("ip link mtu", Some(INTERFACE))?,
        new: SHORT_MTU_BYTES.to_string(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    };
    hand.apply_within(change, within)
}

fn a_way_that_a_change_cuts_is_there_again(isolation: &Isolation) -> Outcome {
    let scene = Scene::open(isolation)?;
    let [near, far_host] = scene.lab.hosts();
    let (address, agent) = scene.agent()?;
    ensure(is_reached(near, far_host), || {
        "not reached before".to_owned()
    })?;
    let mut far = near.enter(|| connected(address, Terms::default()))??;
    let mut agent = joined(agent)?;
    let late = std::thread::scope(|scope| {
        let confirmed = scope.spawn(|| match cut(&mut far, Duration::from_secs(5))? {
            // It does not arrive before the change is undone.
            Applied::Applied { change, .. } => far.confirm(change),
            other => Err(std::io::Error::other(format!("{other:?}"))),
        });
        let went = eventually(|| is_cut(far_host));
        let was_cut = went && !is_reached(near, far_host);
        let is_back = eventually(|| !is_cut(far_host));
        let confirmed = confirmed
            .join()
            .map_err(|_| Verdict::Failed("panicked".to_owned()))?;
        ensure(went, || format!("never cut: {confirmed:?}"))?;
        ensure(was_cut, || "the path carried a datagram".to_owned())?;
        ensure(is_back, || "the path stayed cut".to_owned())?;
        Ok::<_, Verdict>(confirmed.err().map(|why| why.to_string()))
    })?;
    let is_rolled_back = late.as_ref().is_some_and(|why| why.contains("rolled back"));
    ensure(is_rolled_back, || format!("{late:?}"))?;
    ensure(is_reached(near, far_host), || {
        "not reached after".to_owned()
    })?;
    let open = scene.open_changes(Path::new(FAR_JOURNAL));
    ensure(open.is_empty(), || format!("{open:?}"))?;
    drop(far);
    ensure(agent.wait()?.success(), || "the agent failed".to_owned())
}

/// As a campaign makes it: a candidate that is not possible, and no more.
fn a_change_that_cuts_its_way_is_refused(isolation: &Isolation) -> Outcome {
    let scene = Scene::open(isolation)?;
    let [near, far_host] = scene.lab.hosts();
    let (address, agent) = scene.agent()?;
    let far = near.enter(|| connected(address, Terms::default()))??;
    let mut agent = joined(agent)?;
    let mut hand = Confirming::new(far, Duration::from_secs(5));
    let change = Change {
        key: hand.key("ip link mtu", Some(INTERFACE))?,
        new: SHORT_MTU_BYTES.to_string(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    };
    let refused = hand.apply(change)?;
    let is_refused =
        matches!(&refused, Applied::Refused(why) if why.to_string().contains("it cut the path"));
    ensure(is_refused, || format!("{refused:?}"))?;
    ensure(!is_cut(far_host), || "the path is still cut".to_owned())?;
    drop(hand);
    ensure(agent.wait()?.success(), || "the agent failed".to_owned())
}

pub(super) fn joined(agent: std::thread::JoinHandle<std::io::Result<Child>>) -> Outcome<Child> {
    let started = agent.join();
    Ok(started.map_err(|_| Verdict::Failed("panicked".to_owned()))??)
}

/// Killed at once when the path is cut.
fn killed_tuner(isolation: &Isolation, role: &str, within: Duration) -> Outcome {
    let scene = Scene::open(isolation)?;
    let [near, far_host] = scene.lab.hosts();
    let (cut_host, journal) = match role {
        FAR_TUNER => (far_host, Path::new(FAR_JOURNAL)),
        _ => (near, Path::new(OWN_JOURNAL)),
    };
    let (address, agent) = scene.agent()?;
    let mut tuner = near.spawn(tuner(&scene, role, address, within)?)?;
    ensure(eventually(|| is_cut(cut_host)), || said(&scene))?;
    // With all of its group, as a terminal that is closed would.
    Reader::of(&tuner).signal_group(SIGKILL)?;
    tuner.wait()?;
    ensure(eventually(|| !is_cut(cut_host)), || {
        format!("the path stayed cut: {}", said(&scene))
    })?;
    let is_closed = || scene.open_changes(journal).is_empty();
    ensure(eventually(is_closed), || {
        format!("{:?}", scene.open_changes(journal))
    })?;
    if role == FAR_TUNER {
        // The connection's end reaches it now.
        let mut agent = joined(agent)?;
        ensure(
            eventually(|| matches!(agent.try_wait(), Ok(Some(_)))),
            || "the agent did not end".to_owned(),
        )?;
    }
    Ok(())
}

/// It can undo nothing, and it is not dead: only the deadline helps.
fn hanging_tuner(isolation: &Isolation) -> Outcome {
    let scene = Scene::open(isolation)?;
    let near = &scene.lab.hosts()[0];
    let nowhere = SocketAddr::from((near.ipv4, 9));
    let within = Duration::from_secs(5);
    let mut tuner = near.spawn(tuner(&scene, LOCAL_TUNER, nowhere, within)?)?;
    ensure(eventually(|| is_cut(near)), || said(&scene))?;
    Reader::of(&tuner).pause()?;
    ensure(eventually(|| !is_cut(near)), || {
        format!("the path stayed cut: {}", said(&scene))
    })?;
    // It may have been stopped with the journal locked.
    Reader::of(&tuner).signal_group(SIGKILL)?;
    tuner.wait()?;
    let journal = Path::new(OWN_JOURNAL);
    ensure(
        eventually(|| scene.open_changes(journal).is_empty()),
        || format!("{:?}", scene.open_changes(journal)),
    )?;
    Ok(())
}

/// A connection that carries nothing any more and never ends, as one through a router that was switched off.
fn a_far_agent_that_hears_nothing_ends(isolation: &Isolation) -> Outcome {
    let scene = Scene::open(isolation)?;
    let [near, far_host] = scene.lab.hosts();
    let (address, agent) = scene.agent()?;
    let terms = Terms {
        silence: Duration::from_secs(6),
        ..Terms::default()
    };
    let mut far = near.enter(|| connected(address, terms))??;
    let mut agent = joined(agent)?;
    let key = far.key("sysctl net.ipv4.tcp_sack", None)?;
    let change = Change {
        key,
        new: "0".to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    };
    let made = far.apply(change)?;
    ensure(matches!(made, Applied::Applied { .. }), || {
        format!("{made:?}")
    })?;
    near.enter(|| linerate_linux::rtnl::Rtnl::open()?.set_up(INTERFACE, false))??;
    let ended = eventually(|| matches!(agent.try_wait(), Ok(Some(status)) if status.success()));
    ensure(ended, || "the agent did not end".to_owned())?;
    let now = far_host.enter(|| linerate_linux::sysctl::read("net.ipv4.tcp_sack"))??;
    ensure(now == "1", || now.clone())
}

fn tuner(scene: &Scene, role: &str, address: SocketAddr, within: Duration) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .env(VARIABLE, role)
        .args([address.to_string(), within.as_secs().to_string()])
        .arg(scene.place.path())
        .stdin(Stdio::null())
        .stderr(File::create(scene.place.join("said"))?)
        .process_group(0);
    Ok(command)
}

fn said(scene: &Scene) -> String {
    fs::read_to_string(scene.place.join("said")).unwrap_or_default()
}

/// The roles: cuts its way, and hangs.
pub(crate) fn play(role: &str) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, within, place] = words.as_slice() else {
        return ExitCode::FAILURE;
    };
    match cut_and_hang(role, address, within, Path::new(place)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            super::role::report(&why);
            ExitCode::FAILURE
        }
    }
}

fn cut_and_hang(role: &str, address: &str, within: &str, place: &Path) -> Result<(), String> {
    let text = |why: &dyn std::fmt::Display| why.to_string();
    let within = Duration::from_secs(within.parse().map_err(|_| "no time")?);
    if role != FAR_TUNER {
        return hang_locally(within, place).map_err(|why| text(&why));
    }
    let address = address.parse().map_err(|_| "no address")?;
    let mut far = connected(address, Terms::default()).map_err(|why| text(&why))?;
    let made = cut(&mut far, within).map_err(|why| text(&why))?;
    hang(&made)
}

/// With its connections and its warden.
fn hang(made: &Applied) -> ! {
    super::role::report(&format!("{made:?}"));
    loop {
        std::thread::park();
    }
}

fn hang_locally(within: Duration, place: &Path) -> std::io::Result<()> {
    let journal = Journal::at(&place.join(OWN_JOURNAL), BOOT);
    let mut helper = Command::new(OURS);
    helper.args(["agent", "--stdio", "--warden"]);
    let path = journal.path().to_owned();
    let mut hand = Warded::begin(Local::here(journal)?, &path, helper)?;
    let made = cut(&mut hand, within)?;
    hang(&made)
}

pub(crate) const FAR_TUNER: &str = "far-tuner";
pub(crate) const LOCAL_TUNER: &str = "local-tuner";
const OURS: &str = env!("CARGO_BIN_EXE_linerate");
const FAR_JOURNAL: &str = "linerate/journal";
const OWN_JOURNAL: &str = "own-journal";
pub(super) const INTERFACE: &str = "eth0";
/// RFC 791: every link carries packets of 68 bytes.
const SHORT_MTU_BYTES: u32 = 68;
/// A shorter MTU removes no address then.
const WITHOUT_IPV6_BYTES: u32 = 1200;
const BOOT: &str = "this boot";
const NEVER: Duration = Duration::from_secs(3600);
