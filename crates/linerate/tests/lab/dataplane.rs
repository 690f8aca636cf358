// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate dataplane` between two hosts: traffic passes, and the device is as before afterwards, however it ends.

mod net;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use linerate_linux::rtnl::Rtnl;
use serde_json::Value;

use super::Test;
use super::scratch::Scratch;
use super::verdict::{Outcome, Verdict, ensure};
use net::{Net, PATIENCE, PORTS, UPLINK, inside, set};

pub(crate) const TESTS: &[Test] = &[
    ("data_plane_bridge_leaves_nothing", |_| a_bridge()),
    ("data_plane_route_leaves_nothing", |_| a_route()),
    ("data_plane_xdp_bridge_leaves_nothing", |_| by_xdp("bridge")),
    ("data_plane_xdp_route_leaves_nothing", |_| by_xdp("route")),
    ("data_plane_killed_is_taken_down", |_| killed()),
    ("data_plane_is_taken_down_by_tune_restore", |_| {
        killed_with_its_warden()
    }),
    ("data_plane_leaves_what_another_program_changed", |_| {
        changed_by_another()
    }),
    ("data_plane_ends_after_its_time", |_| ends_in_time()),
    ("data_plane_is_refused_with_what_to_do", |_| refused()),
];

/// One port is down before, and the other has an address.
fn a_bridge() -> Outcome {
    let net = Net::of_one_network()?;
    let place = Place::new("bridge")?;
    inside(&net.device, || Ok(Rtnl::open()?.set_up(PORTS[0], true)?))?;
    let before = net.state()?;
    net.is_cut()?;
    let mut running = Running::start(&net, &place, &["bridge", PORTS[0], PORTS[1]])?;
    let begun = running.begun()?;
    for command in [
        "ip link set dev p2 up\n",
        "ip link add dev lr-br0 up type bridge\n",
        "ip link set dev p1 master lr-br0\n",
        "bridge lr-br0: forwarding between p1 and p2 until Ctrl-C",
    ] {
        ensure(begun.contains(command), || begun.clone())?;
    }
    net.passes()?;
    let second = place.run(&net, &["dataplane", "route", PORTS[0], PORTS[1]])?;
    let said = text(&second.stderr);
    let is_refused =
        second.status.code() == Some(3) && said.contains("linerate dataplane (process");
    ensure(is_refused, || said)?;
    let ended = running.end("INT")?;
    ensure(ended.status.success(), || format!("{ended:?}"))?;
    let said = text(&ended.stdout);
    let is_named = said.contains("restored: every setting that was changed (4)");
    ensure(
        is_named && said.contains("bridge lr-br0: forwarded between p1 and p2"),
        || said,
    )?;
    net.is_as_before(&before)?;
    net.is_cut()
}

/// An interface that forwards already, and a route that a router advertised, are there before.
fn a_route() -> Outcome {
    let net = Net::of_two_networks()?;
    let place = Place::new("route")?;
    // This deletes advertised routes, too.
    inside(&net.device, || set("net.ipv6.conf.lo.forwarding", "1"))?;
    net.advertise()?;
    let before = net.state()?;
    ensure(net.learnt()?, || {
        "the kernel deleted the route before".to_owned()
    })?;
    net.is_cut()?;
    let mut running = Running::start(&net, &place, &["route", PORTS[0], PORTS[1], "--json"])?;
    running.begun()?;
    net.passes()?;
    ensure(net.learnt()?, || "the advertised route is gone".to_owned())?;
    let document = running.document("TERM")?;
    let plane = &document["dataplane"];
    ensure(
        plane["plane"] == "route" && counts(plane, "rx_packets"),
        || format!("{plane:#}"),
    )?;
    let changes = document["changes"].as_array().cloned().unwrap_or_default();
    let commands: Vec<_> = changes
        .iter()
        .filter_map(|one| one["undo"][0].as_str())
        .collect();
    let expected = [
        "sysctl -w net.ipv6.conf.all.forwarding=0 net.ipv6.conf.lo.forwarding=1",
        "sysctl -w net.ipv6.conf.up/7.accept_ra=1",
        "sysctl -w net.ipv4.conf.p2.forwarding=0",
        "sysctl -w net.ipv4.conf.p1.forwarding=0",
    ];
    ensure(commands == expected, || format!("{commands:?}"))?;
    net.is_as_before(&before)?;
    net.is_cut()
}

fn by_xdp(mode: &str) -> Outcome {
    let net = match mode {
        "bridge" => Net::of_one_network()?,
        _ => Net::of_two_networks()?,
    };
    let place = Place::new(&format!("xdp-{mode}"))?;
    let before = net.state()?;
    net.is_cut()?;
    let words = ["xdp", "--mode", mode, PORTS[0], PORTS[1], "--json"];
    let mut running = Running::start(&net, &place, &words)?;
    running.begun_or_skipped()?;
    net.passes()?;
    let document = running.document("TERM")?;
    let plane = &document["dataplane"];
    let attached = (plane["mode"].as_str(), plane["attached"].as_str());
    // The hosts' ends have neither GRO nor a program: redirected frames would be lost in the driver.
    ensure(attached == (Some(mode), Some("generic")), || {
        format!("{plane:#}")
    })?;
    let why = plane["generic_because"].as_str().unwrap_or_default();
    ensure(why.contains("redirected frames"), || why.to_owned())?;
    let verdicts = plane["verdicts"].as_array().cloned().unwrap_or_default();
    let redirected = verdicts.iter().find(|one| one["verdict"] == "redirected");
    let frames = redirected.and_then(|one| one["frames"].as_u64());
    ensure(frames > Some(0), || format!("{plane:#}"))?;
    net.is_as_before(&before)?;
    net.is_cut()
}

/// The process that watches over changes restores them.
fn killed() -> Outcome {
    for plane in ["bridge", "route"] {
        let net = Net::of_two_networks()?;
        let place = Place::new(&format!("killed-{plane}"))?;
        let before = net.state()?;
        let mut running = Running::start(&net, &place, &[plane, PORTS[0], PORTS[1]])?;
        running.begun()?;
        running.kill()?;
        net.is_as_before(&before)?;
        let deadline = Instant::now() + PATIENCE;
        while place.run(&net, &["tune", "status"])?.status.code() != Some(0) {
            ensure(Instant::now() < deadline, || {
                "the journal is not closed".to_owned()
            })?;
        }
    }
    Ok(())
}

fn killed_with_its_warden() -> Outcome {
    for plane in ["bridge", "route"] {
        let net = Net::of_two_networks()?;
        let place = Place::new(&format!("restored-{plane}"))?;
        let before = net.state()?;
        let mut running = Running::start(&net, &place, &[plane, PORTS[0], PORTS[1]])?;
        running.begun()?;
        running.kill_warden()?;
        running.kill()?;
        ensure(net.state()? != before, || "nothing was changed".to_owned())?;
        let status = place.run(&net, &["tune", "status"])?;
        ensure(status.status.code() == Some(1), || text(&status.stdout))?;
        let restored = place.run(&net, &["tune", "restore"])?;
        ensure(restored.status.success(), || text(&restored.stdout))?;
        net.is_as_before(&before)?;
        let again = place.run(&net, &["tune", "status"])?;
        ensure(again.status.success(), || text(&again.stdout))?;
    }
    Ok(())
}

fn ends_in_time() -> Outcome {
    let net = Net::of_one_network()?;
    let place = Place::new("time")?;
    let before = net.state()?;
    let ended = place.run(
        &net,
        &["dataplane", "bridge", PORTS[0], PORTS[1], "-t", "200ms"],
    )?;
    ensure(ended.status.success(), || text(&ended.stderr))?;
    net.is_as_before(&before)
}

fn refused() -> Outcome {
    let net = Net::of_two_networks()?;
    let place = Place::new("refused")?;
    let before = net.state()?;
    let session = ("SSH_CONNECTION", "198.18.0.1 50000 198.18.0.254 22");
    for (words, why, attempt) in [
        (
            ["bridge", "p1", "p2"],
            "p1 carries this session",
            "from the console",
        ),
        (["bridge", "p2", "p2"], "p2 is given twice", "two different"),
        (
            ["route", "p1", "absent"],
            "no interface is called absent",
            "ip link",
        ),
        (
            ["bridge", "p2", "lo"],
            "lo has no Ethernet address",
            "dataplane route",
        ),
    ] {
        let mut command = place.command(&net, &[&["dataplane"][..], &words].concat())?;
        let ended = command.env(session.0, session.1).output()?;
        is_refusal(&ended, why, attempt)?;
    }
    net.is_as_before(&before)?;
    inside(&net.device, || {
        let mut rtnl = Rtnl::open()?;
        rtnl.add_route("0.0.0.0".parse()?, 0, "198.18.1.1".parse()?)?;
        rtnl.bridge("br0")?;
        Ok(rtnl.enslave(UPLINK, "br0")?)
    })?;
    let before = net.state()?;
    for (words, why, attempt) in [
        (
            ["bridge", "p1", "p2"],
            "p2 has the default route",
            "ip route del default dev p2",
        ),
        (
            ["route", "p1", UPLINK],
            "up.7 belongs to br0",
            "ip link set dev up.7 nomaster",
        ),
    ] {
        is_refusal(
            &place.run(&net, &[&["dataplane"][..], &words].concat())?,
            why,
            attempt,
        )?;
    }
    net.is_as_before(&before)
}

/// It stays, and the command that restores it all the same is named.
fn changed_by_another() -> Outcome {
    let net = Net::of_two_networks()?;
    let place = Place::new("another")?;
    let before = net.state()?;
    let mut running = Running::start(&net, &place, &["bridge", PORTS[0], PORTS[1], "--json"])?;
    running.begun()?;
    inside(&net.device, || {
        let mut rtnl = Rtnl::open()?;
        rtnl.bridge("br0")?;
        rtnl.release(PORTS[0])?;
        Ok(rtnl.enslave(PORTS[0], "br0")?)
    })?;
    let ended = running.end("TERM")?;
    let document: Value = serde_json::from_slice(&ended.stdout)?;
    let is_named = document["next_commands"][0] == "linerate tune restore --force";
    ensure(ended.status.code() == Some(1) && is_named, || {
        format!("{document:#}")
    })?;
    let forced = place.run(&net, &["tune", "restore", "--force"])?;
    ensure(forced.status.success(), || text(&forced.stdout))?;
    inside(&net.device, || Ok(Rtnl::open()?.delete("br0")?))?;
    net.is_as_before(&before)
}

fn is_refusal(ended: &Output, why: &str, attempt: &str) -> Outcome {
    let said = text(&ended.stderr);
    let words: Vec<&str> = said.split_whitespace().collect();
    let flat = words.join(" ");
    let is_right = ended.status.code() == Some(2) && flat.contains(why) && flat.contains(attempt);
    ensure(is_right, || format!("{:?} {said}", ended.status))
}

/// A directory for the journal.
struct Place(Scratch);

impl Place {
    fn new(name: &str) -> Outcome<Self> {
        Ok(Self(Scratch::new(&format!("dataplane-{name}"))?))
    }

    fn command(&self, net: &Net, words: &[&str]) -> Outcome<Command> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.args(words).env("XDG_STATE_HOME", self.0.path());
        command.env_remove("SSH_CONNECTION");
        net.start(&mut command)?;
        Ok(command)
    }

    fn run(&self, net: &Net, words: &[&str]) -> Outcome<Output> {
        Ok(self.command(net, words)?.output()?)
    }
}

/// `linerate dataplane`, which is killed when a test fails.
struct Running {
    child: Child,
    said: BufReader<Box<dyn Read>>,
    is_json: bool,
}

impl Running {
    fn start(net: &Net, place: &Place, words: &[&str]) -> Outcome<Self> {
        let mut command = place.command(net, &[&["dataplane"], words].concat())?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let is_json = words.contains(&"--json");
        let said: Option<Box<dyn Read>> = match is_json {
            true => child
                .stderr
                .take()
                .map(|pipe| Box::new(pipe) as Box<dyn Read>),
            false => child
                .stdout
                .take()
                .map(|pipe| Box::new(pipe) as Box<dyn Read>),
        };
        let said = BufReader::new(said.ok_or(Verdict::Failed("no pipe".to_owned()))?);
        Ok(Self {
            child,
            said,
            is_json,
        })
    }

    /// What it printed when it began to forward.
    fn begun(&mut self) -> Outcome<String> {
        let mut text = String::new();
        while !text.contains(": forwarding between ") {
            let length = self.said.read_line(&mut text)?;
            if length == 0 {
                return Err(Verdict::Failed(format!("it has ended: {text}")));
            }
        }
        Ok(text)
    }

    /// A user namespace loads no programs.
    fn begun_or_skipped(&mut self) -> Outcome<String> {
        self.begun().map_err(|verdict| match verdict {
            Verdict::Failed(why) if why.contains("may not load BPF") || why.contains("6.6") => {
                Verdict::Skipped(why)
            }
            other => other,
        })
    }

    fn end(&mut self, signal: &str) -> Outcome<Output> {
        self.signal(signal, self.child.id())?;
        let mut output = Output {
            status: self.child.wait()?,
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        match self.is_json {
            true => {
                self.said.read_to_end(&mut output.stderr)?;
                let mut pipe = self.child.stdout.take();
                pipe.as_mut()
                    .map(|pipe| pipe.read_to_end(&mut output.stdout))
                    .transpose()?;
            }
            false => {
                self.said.read_to_end(&mut output.stdout)?;
            }
        }
        Ok(output)
    }

    fn document(&mut self, signal: &str) -> Outcome<Value> {
        let ended = self.end(signal)?;
        ensure(ended.status.success(), || format!("{ended:?}"))?;
        Ok(serde_json::from_slice(&ended.stdout)?)
    }

    fn kill(&mut self) -> Outcome {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Its child.
    fn kill_warden(&self) -> Outcome {
        let id = self.child.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"))?;
        let warden: u32 = children.trim().parse()?;
        self.signal("KILL", warden)?;
        let deadline = Instant::now() + PATIENCE;
        let state = || fs::read_to_string(format!("/proc/{warden}/stat")).unwrap_or_default();
        while !state().is_empty() && !state().contains(") Z ") {
            ensure(Instant::now() < deadline, || {
                "the warden runs on".to_owned()
            })?;
            std::thread::yield_now();
        }
        Ok(())
    }

    fn signal(&self, signal: &str, process: u32) -> Outcome {
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &process.to_string()])
            .status()?;
        ensure(sent.success(), || format!("kill -{signal}: {sent}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn counts(plane: &Value, counter: &str) -> bool {
    let ports = plane["ports"].as_array();
    ports.is_some_and(|all| all.len() == 2 && all.iter().all(|one| one[counter].as_u64() > Some(0)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
