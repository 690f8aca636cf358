// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of this host, as the calling thread's network namespace shows them.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;

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
        if let Some(directory) = directory {
            is_directory(directory)?;
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

/// The failed start of a shell does not tell which of both is missing.
fn is_directory(path: &str) -> io::Result<()> {
    let failed = |why: io::Error| io::Error::new(why.kind(), format!("cannot enter {path}: {why}"));
    match std::fs::metadata(path).map_err(failed)?.is_dir() {
        true => Ok(()),
        false => Err(failed(io::ErrorKind::NotADirectory.into())),
    }
}

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
