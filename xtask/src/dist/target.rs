// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is built for which machines, and what each build needs.

use super::emulator;
use crate::build::{self, Binary, Place, Recipe};

/// One machine that is built for.
#[derive(Debug)]
pub(crate) struct Target {
    /// Target triple.
    pub(crate) triple: &'static str,
    /// How its program is run here: by the machine itself, or by these emulators (the newest
    /// that is installed).
    pub(crate) emulators: &'static [&'static str],
    /// Among those of `dist --check`.
    pub(crate) checked: bool,
    /// What packages call it.
    pub(crate) names: Names,
    linker: Linker,
}

/// The architecture in the words of each kind of package.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) deb: &'static str,
    pub(crate) rpm: &'static str,
    /// None where Alpine has no such port.
    pub(crate) apk: Option<&'static str>,
    /// Architecture and variant of a container image (GOARCH, GOARM); none where Go has no such port.
    pub(crate) image: Option<(&'static str, Option<&'static str>)>,
}

impl Names {
    /// With the same word for apk as for rpm.
    const fn new(deb: &'static str, rpm: &'static str, image: &'static str) -> Self {
        Self {
            deb,
            rpm,
            apk: Some(rpm),
            image: Some((image, None)),
        }
    }
}

/// Who links.
#[derive(Debug, PartialEq, Eq)]
enum Linker {
    /// rustc's lld: needs no cross compiler, as musl's start files come with the target.
    RustLld,
    /// A cross gcc of the distribution, with its static glibc.
    Gcc(&'static str),
    /// The same, with a standard library built from rust-src: rustup has none.
    GccAndSource(&'static str),
    /// cargo-zigbuild, with a standard library built from rust-src.
    Zig,
}

pub(crate) const TARGETS: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-musl",
        emulators: &["qemu-x86_64-static", "qemu-x86_64"],
        checked: true,
        names: Names::new("amd64", "x86_64", "amd64"),
        linker: Linker::RustLld,
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        emulators: &["qemu-aarch64-static", "qemu-aarch64"],
        checked: true,
        names: Names::new("arm64", "aarch64", "arm64"),
        linker: Linker::RustLld,
    },
    Target {
        triple: "armv7-unknown-linux-gnueabihf",
        emulators: &["qemu-arm-static", "qemu-arm"],
        checked: true,
        names: Names {
            apk: Some("armv7"),
            image: Some(("arm", Some("v7"))),
            ..Names::new("armhf", "armv7hl", "arm")
        },
        linker: Linker::Gcc("arm-linux-gnueabihf-gcc"),
    },
    Target {
        triple: "i686-unknown-linux-musl",
        emulators: &["qemu-i386-static", "qemu-i386"],
        checked: false,
        names: Names {
            apk: Some("x86"),
            ..Names::new("i386", "i686", "386")
        },
        linker: Linker::RustLld,
    },
    Target {
        triple: "riscv64gc-unknown-linux-gnu",
        emulators: &["qemu-riscv64-static", "qemu-riscv64"],
        checked: true,
        names: Names::new("riscv64", "riscv64", "riscv64"),
        linker: Linker::Gcc("riscv64-linux-gnu-gcc"),
    },
    Target {
        triple: "riscv64gc-unknown-linux-musl",
        emulators: &["qemu-riscv64-static", "qemu-riscv64"],
        checked: false,
        names: Names::new("riscv64", "riscv64", "riscv64"),
        linker: Linker::Zig,
    },
    Target {
        triple: "powerpc64le-unknown-linux-gnu",
        emulators: &["qemu-ppc64le-static", "qemu-ppc64le"],
        checked: false,
        names: Names::new("ppc64el", "ppc64le", "ppc64le"),
        linker: Linker::Gcc("powerpc64le-linux-gnu-gcc"),
    },
    Target {
        triple: "powerpc-unknown-linux-gnu",
        emulators: &["qemu-ppc-static", "qemu-ppc"],
        checked: false,
        names: Names {
            apk: None,
            image: None,
            ..Names::new("powerpc", "ppc", "")
        },
        linker: Linker::Gcc("powerpc-linux-gnu-gcc"),
    },
    Target {
        triple: "s390x-unknown-linux-gnu",
        emulators: &["qemu-s390x-static", "qemu-s390x"],
        checked: false,
        names: Names::new("s390x", "s390x", "s390x"),
        linker: Linker::Gcc("s390x-linux-gnu-gcc"),
    },
    Target {
        triple: "mips-unknown-linux-gnu",
        emulators: &["qemu-mips-static", "qemu-mips"],
        checked: false,
        names: Names {
            apk: None,
            ..Names::new("mips", "mips", "mips")
        },
        linker: Linker::GccAndSource("mips-linux-gnu-gcc"),
    },
    Target {
        triple: "mipsel-unknown-linux-musl",
        emulators: &["qemu-mipsel-static", "qemu-mipsel"],
        checked: false,
        names: Names {
            apk: None,
            ..Names::new("mipsel", "mipsel", "mipsle")
        },
        linker: Linker::Zig,
    },
];

impl Target {
    /// What this machine lacks to build it.
    pub(crate) fn missing(&self) -> Option<String> {
        match self.linker {
            Linker::Gcc(gcc) | Linker::GccAndSource(gcc) if !build::has_program(gcc) => {
                Some(format!("{gcc} is not installed"))
            }
            Linker::Zig if !build::has_program("cargo-zigbuild") => {
                Some("cargo-zigbuild is not installed (with ziglang 0.15.2 it can)".into())
            }
            _ if self.builds_std() => (!build::has_std_source())
                .then(|| "no rust-src (rustup component add rust-src)".into()),
            _ => (!build::has_std(self.triple))
                .then(|| format!("no standard library (rustup target add {})", self.triple)),
        }
    }

    /// From its source, with an option of a nightly.
    const fn builds_std(&self) -> bool {
        matches!(self.linker, Linker::GccAndSource(_) | Linker::Zig)
    }

    /// Builds it.
    ///
    /// # Errors
    /// What cargo complained about.
    pub(crate) fn build(&self, place: &Place, profile: &str) -> Result<Binary, String> {
        let zig = self.linker == Linker::Zig;
        build::build(Recipe {
            place,
            subcommand: if zig { "zigbuild" } else { "build" },
            triple: self.triple,
            profile,
            options: self.options(),
            environment: &self.environment(place, self.without_unwinding()),
        })
    }

    /// For cargo: where there is no standard library, it is built too.
    pub(crate) fn options(&self) -> &'static [&'static str] {
        match self.builds_std() {
            true => &["-Zbuild-std=std,panic_abort"],
            false => &[],
        }
    }

    fn environment(&self, place: &Place, more: &str) -> Vec<(String, String)> {
        let flags = format!("{}{more}{}", self.flags(), build::remapped_paths(place));
        let mut environment = vec![self.variable("RUSTFLAGS", &flags)];
        match self.linker {
            Linker::RustLld => environment.push(self.variable("LINKER", "rust-lld")),
            Linker::Gcc(gcc) | Linker::GccAndSource(gcc) => {
                environment.push(self.variable("LINKER", gcc));
            }
            Linker::Zig => {}
        }
        if self.builds_std() {
            // The options of a nightly, for -Zbuild-std only.
            environment.push(("RUSTC_BOOTSTRAP".into(), "1".into()));
        }
        environment
    }

    /// For `cargo test`, where source files keep their names. Without an emulator this machine runs the tests.
    pub(crate) fn test_environment(&self, emulator: Option<&str>) -> Vec<(String, String)> {
        let nowhere = Place::default();
        let mut environment = self.environment(&nowhere, "");
        environment.extend(emulator.map(|program| self.variable("RUNNER", program)));
        environment
    }

    fn variable(&self, name: &str, value: &str) -> (String, String) {
        let triple = self.triple.replace('-', "_").to_uppercase();
        (format!("CARGO_TARGET_{triple}_{name}"), value.to_owned())
    }

    fn flags(&self) -> String {
        match self.linker {
            Linker::RustLld => self.lld_flags(),
            Linker::Gcc(_) | Linker::GccAndSource(_) => "-Ctarget-feature=+crt-static".to_owned(),
            // zig's musl counts seconds in 64 bits, and so does rustix; the libc crate must be
            // known, or every clock that is read is nonsense.
            Linker::Zig => "-Ctarget-feature=+crt-static -Clink-self-contained=no \
                            --cfg=libc_unstable_musl_v1_2"
                .to_owned(),
        }
    }

    /// What is shipped ends at a panic (profile `dist`), so it needs no tables to unwind by: a ninth of its size. Tests unwind.
    /// Without tables the unwinder and what names the frames of a backtrace are of no use either (`linerate_linux::no_unwinding`).
    /// The script is named from the workspace, where cargo links, so that every directory has the same options.
    fn without_unwinding(&self) -> &'static str {
        match self.triple.starts_with("x86_64") {
            true => {
                " -Cforce-unwind-tables=no --cfg=no_unwinding -Clink-arg=--no-eh-frame-hdr \
                 -Clink-arg=-Txtask/src/dist/no-unwinding.ld"
            }
            false => " -Cforce-unwind-tables=no",
        }
    }

    /// Functions with the same code are one, so are the ends of texts, and relocations are packed where there are any.
    fn lld_flags(&self) -> String {
        let is_pie = self.triple.starts_with("x86_64");
        let mut flags = String::new();
        if is_pie {
            flags += "-Clink-arg=--icf=all -Clink-arg=-O2";
        }
        if is_pie && build::musl_packs_relocations() {
            flags += " -Clink-arg=--pack-dyn-relocs=relr";
        }
        flags
    }

    /// The newest emulator that runs it here.
    ///
    /// # Errors
    /// None is installed.
    pub(crate) fn emulator(&self) -> Result<&'static str, String> {
        let missing = || format!("{} is not installed", self.emulators.join(" or "));
        emulator::newest(self.emulators).ok_or_else(missing)
    }

    /// Whether this machine runs it without an emulator.
    pub(crate) fn is_native(&self) -> bool {
        self.triple.starts_with(std::env::consts::ARCH)
    }
}
