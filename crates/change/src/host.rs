// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of this host, as the calling thread's network namespace shows them.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::ownership::only_own_write_to;

use crate::coupled;
use crate::entry::{Device, Key, Place};
use crate::kernel::{Kernel, This};
use crate::knob::Knob;
use crate::persist::Files;
use crate::world::World;

/// This host.
#[derive(Debug)]
pub struct Host {
    netns: u64,
    kernel: Box<dyn Kernel>,
}

impl Host {
    /// This host, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// `/proc` is not mounted.
    pub fn here() -> io::Result<Self> {
        Self::with(Box::new(This))
    }

    /// The same interfaces, with the files and drivers of `kernel`.
    ///
    /// # Errors
    /// As [`Host::here`].
    pub fn with(kernel: Box<dyn Kernel>) -> io::Result<Self> {
        let netns = NetNs::current()?.inode()?.into();
        Ok(Self { netns, kernel })
    }

    /// A setting of this namespace, or of the whole machine.
    #[must_use]
    pub fn key(&self, knob: &str) -> Key {
        let place = match Knob::of(knob).is_some_and(Knob::is_of_the_machine) {
            true => Place::Host,
            false => Place::Namespace { netns: self.netns },
        };
        Key {
            knob: knob.to_owned(),
            place,
        }
    }

    /// A setting of one interface.
    ///
    /// # Errors
    /// There is no such interface.
    pub fn key_of(&self, knob: &str, interface: &str) -> io::Result<Key> {
        Ok(Key {
            knob: knob.to_owned(),
            place: Place::Interface {
                netns: self.netns,
                device: device(interface)?,
            },
        })
    }

    /// The largest value that is worth trying: the driver's of a ring, one for each processor of queues, what the memory allows.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn most(&self, key: &Key) -> io::Result<Option<String>> {
        knob(key)?.most(&*self.kernel, &name(key)?)
    }

    fn is_here(&self, netns: u64) -> Result<(), String> {
        match netns == self.netns {
            true => Ok(()),
            false => Err(format!(
                "it is in the network namespace net:[{netns}], and this is net:[{}]",
                self.netns
            )),
        }
    }
}

impl World for Host {
    fn read(&mut self, key: &Key) -> io::Result<String> {
        if !key.is_volatile() {
            return Files::below(Path::new("/")).read(key);
        }
        match coupled::main_of(&key.knob) {
            Some(main) => coupled::read(&*self.kernel, main, &name(key)?),
            None => knob(key)?.read(&*self.kernel, &name(key)?),
        }
    }

    fn write(&mut self, key: &Key, value: &str) -> io::Result<()> {
        if !key.is_volatile() {
            return Files::below(Path::new("/")).write(key, value);
        }
        match coupled::main_of(&key.knob) {
            Some(_) => coupled::write(&*self.kernel, &name(key)?, value),
            None => knob(key)?.write(&*self.kernel, &name(key)?, value),
        }
    }

    fn coupled(&mut self, key: &Key) -> Option<Key> {
        coupled::key_of(key)
    }

    fn run(&mut self, line: &str, directory: Option<&str>) -> io::Result<()> {
        let mut shell = Command::new("/bin/sh");
        // The program that undoes: the one that recorded the command may have been replaced.
        shell.env(PROGRAM, format!("/proc/{}/exe", std::process::id()));
        if let Some(directory) = directory {
            may_run_in(directory)?;
            shell.current_dir(directory);
        }
        let ended = shell.args(["-c", line]).stdin(Stdio::null()).output()?;
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        let said = said.lines().map(str::trim).find(|line| !line.is_empty());
        Err(io::Error::other(match said {
            Some(said) => format!("{}: {said}", ended.status),
            None => ended.status.to_string(),
        }))
    }

    fn same(&mut self, place: &Place) -> Result<(), String> {
        match place {
            Place::Host | Place::Image { .. } => Ok(()),
            Place::Namespace { netns } => self.is_here(*netns),
            Place::Interface { netns, device } => {
                self.is_here(*netns)?;
                still(device)
            }
        }
    }
}

/// The command may be relative: who can put files there decides what is run. And the failed start of a shell does not tell whether
/// it or the directory is missing.
fn may_run_in(directory: &str) -> io::Result<()> {
    let failed = |what: &str, why: io::Error| {
        io::Error::new(why.kind(), format!("{what} {directory}: {why}"))
    };
    let refused = |why| failed("no command is run in", why);
    match std::fs::metadata(directory).map(|found| found.is_dir()) {
        Ok(true) => only_own_write_to(Path::new(directory)).map_err(refused),
        Ok(false) => Err(failed("cannot enter", io::ErrorKind::NotADirectory.into())),
        Err(why) => Err(failed("cannot enter", why)),
    }
}

/// The environment variable by which a command that undoes a change calls linerate.
const PROGRAM: &str = "LINERATE";

fn knob(key: &Key) -> io::Result<Knob<'_>> {
    Knob::of(&key.knob).ok_or_else(|| io::Error::other(format!("no setting `{}`", key.knob)))
}

/// The interface's name now: it may have been renamed.
fn name(key: &Key) -> io::Result<String> {
    match key.place.device() {
        None => Ok(String::new()),
        Some(device) => {
            let named = |link: nic::Link| (link.index == device.index).then_some(link.name);
            nic::list()?
                .into_iter()
                .find_map(named)
                .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the interface is gone"))
        }
    }
}

fn device(interface: &str) -> io::Result<Device> {
    let link = nic::link(interface)?;
    Ok(Device {
        index: link.index,
        // Without ethtool (the loopback) neither is known.
        permanent_address: nic::permanent_address(interface).unwrap_or(None),
        bus: nic::bus(interface).unwrap_or(None),
        name: link.name,
    })
}

fn still(before: &Device) -> Result<(), String> {
    let all = nic::list().map_err(|why| why.to_string())?;
    let Some(link) = all.into_iter().find(|link| link.index == before.index) else {
        return Err(format!("the interface {} is gone", before.name));
    };
    let now = device(&link.name).map_err(|why| why.to_string())?;
    match before.is(&now) {
        true => Ok(()),
        false => Err(format!("{} is another device now", link.name)),
    }
}
