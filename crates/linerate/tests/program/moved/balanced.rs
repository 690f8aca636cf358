// SPDX-License-Identifier: MIT OR Apache-2.0
//! irqbalance itself, where it is installed: it moves the interrupts of a network card of this machine. A lab has none.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use linerate_diagnose::moved::named;
use linerate_endpoint::sampler;
use linerate_model::output::MovedKind;
use linerate_model::run::Run;
use linerate_model::state::difference;

use crate::support::PATIENCE;

/// The affinity of every interrupt, as it was: written back at the end.
struct Affinities(Vec<(String, String)>);

impl Affinities {
    fn read() -> Self {
        let numbers = fs::read_dir("/proc/irq").into_iter().flatten().flatten();
        let files = numbers.map(|entry| entry.path().join("smp_affinity_list"));
        let one = |file: std::path::PathBuf| {
            Some((file.display().to_string(), fs::read_to_string(&file).ok()?))
        };
        Self(files.filter_map(one).collect())
    }
}

impl Drop for Affinities {
    fn drop(&mut self) {
        for (file, value) in &self.0 {
            // Those that the kernel manages itself are refused, to irqbalance too.
            let _ = fs::write(file, value.trim());
        }
    }
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// An interface whose interrupts root may move: written back, its affinity is accepted.
fn interface() -> Option<String> {
    let names = fs::read_dir("/sys/class/net").ok()?.flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut movable = names.filter(|name| {
        let state = sampler::state(std::slice::from_ref(name));
        let mut own = state
            .iter()
            .filter(|one| one.source.starts_with("/proc/irq/"));
        own.any(|irq| {
            let file = Path::new(&irq.source).join("smp_affinity_list");
            let value = irq.values.get("smp_affinity_list");
            value.is_some_and(|value| fs::write(file, value).is_ok())
        })
    });
    movable.next()
}

#[test]
fn an_interrupt_that_irqbalance_moves_is_named_as_its_work() {
    let Some(name) = interface() else {
        return println!("skipped: no interface with interrupts that may be moved");
    };
    let names = [name];
    let before_irqbalance = Affinities::read();
    let first = sampler::setup(&names);
    let started = Command::new("irqbalance")
        .args(["-f", "-t", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let irqbalance = match started {
        Ok(child) => Process(child),
        Err(why) => return println!("skipped: irqbalance cannot run here: {why}"),
    };
    let deadline = Instant::now() + PATIENCE;
    let moved = loop {
        let mut moved = difference(&first, &sampler::state(&names));
        moved.retain(|one| one.kind == MovedKind::Setting);
        if !moved.is_empty() || Instant::now() > deadline {
            break moved;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    let run = Run {
        settings: sampler::setup(&names),
        moved,
        ..Run::default()
    };
    drop(irqbalance);
    drop(before_irqbalance);
    let all = named(&run);
    if all.is_empty() {
        return println!("skipped: irqbalance leaves the interrupts of {names:?} where they are");
    }
    for one in &all {
        assert!(one.source.starts_with("/proc/irq/"), "{one:?}");
        assert_eq!(one.owner.as_deref(), Some("irqbalance"), "{one:?}");
        assert_ne!(one.before, one.after);
    }
}
