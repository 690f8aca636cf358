// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where settings are: the files and drivers of this machine, or a model of them in tests.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;

use linerate_linux::nic::{Card, Ethtool};
use linerate_linux::{sysctl, sysfs};

/// The files below `/proc`, `/sys` and `/dev`, and the drivers.
pub trait Kernel: Debug + Send {
    /// The driver of an interface.
    ///
    /// # Errors
    /// There is no such interface.
    fn card(&self, interface: &str) -> io::Result<Box<dyn Card + '_>>;

    /// The file of a sysctl.
    ///
    /// # Errors
    /// It is not one that is written here.
    fn sysctl(&self, name: &str) -> io::Result<PathBuf>;

    /// The directory of an interface in sysfs.
    ///
    /// # Errors
    /// sysfs shows another namespace.
    fn interface(&self, name: &str) -> io::Result<PathBuf>;

    /// Another file of the machine, by its path.
    fn file(&self, path: &str) -> PathBuf;

    /// The numbers of the interrupts of an interface.
    fn interrupts(&self, interface: &str) -> Vec<String>;

    /// How many queues of a direction (`rx`, `tx`) an interface has.
    fn queues(&self, interface: &str, direction: &str) -> usize {
        let folder = self
            .interface(interface)
            .map(|folder| folder.join("queues"));
        let names = folder.map_or_else(|_| Vec::new(), |folder| sysfs::names(&folder));
        let of_direction = names.iter().filter_map(|name| name.strip_prefix(direction));
        of_direction.filter(|rest| rest.starts_with('-')).count()
    }
}

/// This machine, as the calling thread's network namespace shows it.
#[derive(Debug)]
pub(crate) struct This;

impl Kernel for This {
    fn card(&self, interface: &str) -> io::Result<Box<dyn Card + '_>> {
        Ok(Box::new(Ethtool::of(interface)?))
    }

    fn sysctl(&self, name: &str) -> io::Result<PathBuf> {
        sysctl::path(name)
    }

    fn interface(&self, name: &str) -> io::Result<PathBuf> {
        sysfs::interface(name).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "/sys/class/net does not show the interfaces of this network namespace",
            )
        })
    }

    fn file(&self, path: &str) -> PathBuf {
        PathBuf::from(path)
    }

    fn interrupts(&self, interface: &str) -> Vec<String> {
        sysfs::interrupts(interface)
    }
}
