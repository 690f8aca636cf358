// SPDX-License-Identifier: MIT OR Apache-2.0
//! A link that is lost while a change is in force: this host sees it, and a far agent undoes the change alone, as nobody
//! reaches it any more.

use std::thread;
use std::time::Duration;

use linerate_change::remote::Terms;
use linerate_change::{Change, Guarded, Hand, Local, Memory, Outcome as Applied, Undo};
use linerate_lab::{Isolation, Lab, LabPlan};
use linerate_linux::alarm::Alarm;
use linerate_linux::rtnl::Rtnl;
use linerate_linux::sysctl;

use super::Test;
use super::cut::{INTERFACE, Scene, connected, joined};
use super::traffic::eventually;
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_link_that_is_lost_under_a_change_raises_an_alarm",
        a_link_that_is_lost_under_a_change_raises_an_alarm,
    ),
    (
        "a_far_agent_whose_link_is_lost_undoes_its_changes",
        a_far_agent_whose_link_is_lost_undoes_its_changes,
    ),
];

fn a_link_that_is_lost_under_a_change_raises_an_alarm(isolation: &Isolation) -> Outcome {
    let lab = Lab::open(isolation, &LabPlan::default())?;
    let [near, far_host] = lab.hosts();
    let begin = |names: &[String]| {
        let mut alarm = Alarm::of_links(names.iter().map(String::as_str));
        let watch: linerate_change::Watch = Box::new(move || alarm.raised());
        watch
    };
    let why = near.enter(|| {
        let here = Local::here(Memory::default())?;
        let mut hand = Guarded::new(here, vec![INTERFACE.to_owned()], Box::new(begin));
        let change = made(&mut hand)?;
        ensure(hand.alarm()?.is_none(), || "an alarm before".to_owned())?;
        far_host.enter(|| Rtnl::open()?.set_up(INTERFACE, false))??;
        let mut why = None;
        let mut is_raised = || {
            thread::sleep(STEP);
            why = hand.alarm().ok().flatten();
            why.is_some()
        };
        let _raised = eventually(&mut is_raised) || eventually(&mut is_raised);
        hand.undo(change)?;
        Ok::<_, Verdict>(why)
    })??;
    let expected = "eth0 has had no link for 10 s";
    ensure(why.as_deref() == Some(expected), || format!("{why:?}"))?;
    let now = near.enter(|| sysctl::read(KNOB))??;
    ensure(now == "1", || now.clone())
}

/// The connection is not closed, and the agent waits 3 minutes for a word.
fn a_far_agent_whose_link_is_lost_undoes_its_changes(isolation: &Isolation) -> Outcome {
    let scene = Scene::open(isolation)?;
    let [near, far_host] = scene.lab.hosts();
    let (address, agent) = scene.agent()?;
    let mut far = near.enter(|| connected(address, Terms::default()))??;
    let mut agent = joined(agent)?;
    far.watch(&[INTERFACE.to_owned()])?;
    made(&mut far)?;
    let value = || far_host.enter(|| sysctl::read(KNOB)).ok()?.ok();
    ensure(value().as_deref() == Some("0"), || format!("{:?}", value()))?;
    near.enter(|| Rtnl::open()?.set_up(INTERFACE, false))??;
    let is_undone = || {
        thread::sleep(STEP);
        value().as_deref() == Some("1")
    };
    // After the 10 s that a link may take to negotiate.
    let ended = eventually(is_undone) || eventually(is_undone);
    ensure(ended, || "it is still in force".to_owned())?;
    let still_runs = agent.try_wait()?.is_none();
    ensure(still_runs, || "the agent has ended".to_owned())?;
    agent.kill()?;
    agent.wait()?;
    Ok(())
}

fn made(hand: &mut impl Hand) -> Result<u64, Verdict> {
    let change = Change {
        key: hand.key(&format!("sysctl {KNOB}"), None)?,
        new: "0".to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    };
    match hand.apply(change)? {
        Applied::Applied { change, .. } => Ok(change),
        other => Err(Verdict::Failed(format!("{other:?}"))),
    }
}

/// Each look enters a namespace.
const STEP: Duration = Duration::from_millis(100);
const KNOB: &str = "net.ipv4.tcp_sack";
