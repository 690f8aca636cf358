// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which machines there are: a NIC that QEMU emulates, and the kernel's driver for it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A machine with one NIC.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Nic {
    /// What it is called here: QEMU's word for the NIC, or the board's name.
    pub(crate) name: &'static str,
    /// The driver that the kernel must choose.
    pub(crate) driver: &'static str,
    /// Modules that the guest loads, in this order.
    pub(crate) modules: &'static [&'static str],
    pub(crate) board: Board,
}

/// What the NIC is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Board {
    /// A PC (x86-64).
    Pc,
    /// A PC of 32 bits (i686), without the larger page tables of PAE.
    Pc32,
    /// A SABRE Lite (i.MX6Quad, armv7).
    SabreLite,
    /// A mainframe (s390x): big endian.
    Mainframe,
}

impl Board {
    /// Debian's word for the processor.
    pub(crate) const fn architecture(self) -> &'static str {
        match self {
            Self::Pc => "amd64",
            Self::Pc32 => "i386",
            Self::SabreLite => "armhf",
            Self::Mainframe => "s390x",
        }
    }

    /// For which target linerate is built.
    pub(crate) const fn triple(self) -> &'static str {
        match self {
            Self::Pc => "x86_64-unknown-linux-musl",
            Self::Pc32 => "i686-unknown-linux-musl",
            Self::SabreLite => "armv7-unknown-linux-gnueabihf",
            Self::Mainframe => "s390x-unknown-linux-gnu",
        }
    }

    /// Whether its processor runs this program (`e_machine` of elf(5)).
    pub(crate) fn runs(self, program: &Path) -> bool {
        let machine = match self {
            Self::Pc => [62, 0],
            Self::Pc32 => [3, 0],
            Self::SabreLite => [40, 0],
            Self::Mainframe => [0, 22],
        };
        let mut head = [0; 20];
        let read = File::open(program).and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && head.ends_with(&machine)
    }

    pub(crate) const fn emulator(self) -> &'static str {
        match self {
            Self::Pc => "qemu-system-x86_64",
            Self::Pc32 => "qemu-system-i386",
            Self::SabreLite => "qemu-system-arm",
            Self::Mainframe => "qemu-system-s390x",
        }
    }

    /// Debian's package that depends on the newest kernel.
    pub(crate) const fn kernel(self) -> &'static str {
        match self {
            Self::Pc => "linux-image-amd64",
            Self::Pc32 => "linux-image-686",
            Self::SabreLite => "linux-image-armmp",
            Self::Mainframe => "linux-image-s390x",
        }
    }

    /// Of its two serial ports the first is for us, the second for the kernel's messages.
    pub(crate) const fn serial_ports(self) -> [&'static str; 2] {
        match self {
            Self::Pc | Self::Pc32 => ["ttyS0", "ttyS1"],
            Self::SabreLite => ["ttymxc0", "ttymxc1"],
            // The console of a terminal, and that of lines, which only the kernel calls ttyS0.
            Self::Mainframe => ["ttysclp0", "ttyS0"],
        }
    }
}

impl Nic {
    const fn in_a_pc(name: &'static str, driver: &'static str) -> Self {
        let modules = &[];
        Self {
            name,
            driver,
            modules,
            board: Board::Pc,
        }
    }

    const fn with(self, modules: &'static [&'static str]) -> Self {
        Self { modules, ..self }
    }

    /// The machine that is called `name`.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        NICS.iter().find(|nic| nic.name == name)
    }

    /// Where its results are, below the place of all.
    pub(crate) fn directory(&self) -> String {
        self.name.to_lowercase().replace(' ', "-")
    }
}

/// Every machine, as the table has them.
pub(crate) const NICS: [Nic; 11] = [
    Nic::in_a_pc("e1000e", "e1000e").with(&["e1000e"]),
    Nic::in_a_pc("e1000", "e1000").with(&["e1000"]),
    Nic::in_a_pc("i82559er", "e100").with(&["e100"]),
    Nic::in_a_pc("rtl8139", "8139cp").with(&["8139cp"]),
    Nic::in_a_pc("vmxnet3", "vmxnet3").with(&["vmxnet3"]),
    Nic::in_a_pc("virtio-net-pci", "virtio_net").with(&["virtio_pci", "virtio_net"]),
    Nic::in_a_pc("tulip", "tulip").with(&["tulip"]),
    Nic::in_a_pc("pcnet", "pcnet32").with(&["pcnet32"]),
    Nic::in_a_pc("ne2k_pci", "ne2k-pci").with(&["ne2k-pci"]),
    Nic::in_a_pc("usb-net", "cdc_ether").with(&["xhci_pci", "cdc_ether"]),
    Nic {
        name: "sabrelite",
        driver: "fec",
        // gpio-mxc: the PHY's reset line; micrel: the PHY.
        modules: &["gpio-mxc", "micrel", "smsc", "fec"],
        board: Board::SabreLite,
    },
];

/// What only machines of `--small` have.
pub(crate) const OTHERS: [Nic; 2] = [
    Nic {
        board: Board::Pc32,
        ..Nic::in_a_pc("i82559er", "e100").with(&["e100"])
    },
    Nic {
        board: Board::Mainframe,
        ..Nic::in_a_pc("virtio-net-ccw", "virtio_net").with(&["virtio_net"])
    },
];

/// The machines of `--short`: a MAC with counters, one with few, and a small board.
pub(crate) const SHORT: [&str; 3] = ["e1000e", "i82559er", "sabrelite"];
