// SPDX-License-Identifier: MIT OR Apache-2.0
//! A booted machine: commands go to it over its serial port, files come back over its network.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::image::Image;
use super::network::{GUEST, HOST, TAP};
use super::nic::{Board, Nic};
use crate::process::Server;

/// What a machine has in addition to its NIC.
#[derive(Debug)]
pub(crate) struct Hardware {
    pub(crate) memory_mib: u32,
    pub(crate) processors: u32,
    /// Pairs of queues of a NIC that can have several; its tap must have been made for them.
    pub(crate) queues: u32,
    /// The host's tap takes only finished frames: the emulated card computes the checksums and segments that are left to it.
    pub(crate) is_a_wire: bool,
    /// The rest of the kernel's command line.
    pub(crate) kernel_words: String,
    /// The rest of the emulator's.
    pub(crate) emulator_words: Vec<String>,
}

impl Default for Hardware {
    fn default() -> Self {
        Self {
            memory_mib: 512,
            processors: 1,
            queues: 1,
            is_a_wire: false,
            kernel_words: String::new(),
            emulator_words: Vec::new(),
        }
    }
}

/// A machine that runs; it ends when dropped.
pub(crate) struct Guest {
    emulator: Server,
    port: UnixStream,
    unread: Vec<u8>,
    /// What it said when it could be spoken to: after how many seconds of its own.
    pub(crate) ready: String,
}

impl Guest {
    /// Boots `image` with `nic` on the tap of this namespace; what QEMU and the kernel say goes to `directory`.
    ///
    /// # Errors
    /// The emulator does not start, or the guest does not answer.
    pub(crate) fn boot(nic: &Nic, image: &Image, directory: &Path) -> Result<Self, String> {
        Self::boot_with(nic, image, &Hardware::default(), directory)
    }

    /// The same on other hardware.
    pub(crate) fn boot_with(
        nic: &Nic,
        image: &Image,
        hardware: &Hardware,
        directory: &Path,
    ) -> Result<Self, String> {
        let socket = directory.join("serial");
        let _old = fs::remove_file(&socket);
        let mut emulator = Server(start(nic, image, hardware, directory)?);
        let port = connect(&socket, &mut emulator)?;
        let mut guest = Self {
            emulator,
            port,
            unread: Vec::new(),
            ready: String::new(),
        };
        guest.ready = guest.line("ready", BOOT).map_err(|why| {
            let console = fs::read_to_string(directory.join("console")).unwrap_or_default();
            let last = crate::process::last_line(&console);
            format!("the guest is not ready: {why}; its console: {last}")
        })?;
        Ok(guest)
    }

    /// Runs `command` for at most `limit`; its exit status (of a command that was ended: 143).
    pub(crate) fn run(
        &mut self,
        name: &str,
        command: &str,
        limit: Duration,
    ) -> Result<i32, String> {
        writeln!(self.port, "{name} {} {command}", limit.as_secs())
            .map_err(|why| format!("{name}: {why}"))?;
        // Time passes slowly in an emulator that gets little of the processor.
        let said = self.line("ended", limit + Duration::from_secs(30))?;
        said.strip_prefix(name)
            .and_then(|rest| rest.trim().parse().ok())
            .ok_or_else(|| format!("{name}: the guest says {said:?}"))
    }

    /// Resets the card if the host does not answer; whether it did so. An emulated card may stop under load (ne2k_pci).
    pub(crate) fn is_reset(&mut self) -> Result<bool, String> {
        let answers = format!("ping -c 1 -W 2 {HOST}");
        let reset = "ip link set eth0 down; ip link set eth0 up";
        let command =
            format!("{answers} || {{ {reset}; until {answers}; do sleep 1; done; (exit 7); }}");
        let status = self.run("reset", &command, Duration::from_secs(60))?;
        Ok(status == 7)
    }

    /// Unpacks all that the guest has in its place of outputs to `to`.
    pub(crate) fn fetch(&mut self, to: &Path) -> Result<(), String> {
        let listener = TcpListener::bind((HOST, FILES)).map_err(|why| why.to_string())?;
        let receiver = thread::spawn(move || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            listener.accept()?.0.read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        self.is_reset()?;
        let command = format!("tar -c -C $OUT . | nc {HOST} {FILES}");
        let status = self.run("fetch", &command, Duration::from_secs(120))?;
        if status != 0 {
            return Err(format!("its files cannot be fetched: status {status}"));
        }
        let bytes = receiver.join().map_err(|_| "no files came")?;
        let bytes = bytes.map_err(|why| why.to_string())?;
        tar::Archive::new(bytes.as_slice())
            .unpack(to)
            .map_err(|why| format!("its files: {why}"))
    }

    /// The rest of the next line that begins with `word`.
    fn line(&mut self, word: &str, limit: Duration) -> Result<String, String> {
        let end = Instant::now() + limit;
        loop {
            while let Some(at) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=at).collect();
                let line = String::from_utf8_lossy(&line);
                if let Some(rest) = line.trim().strip_prefix(word) {
                    return Ok(rest.trim().to_owned());
                }
            }
            if Instant::now() > end {
                return Err(format!("no answer after {limit:?}"));
            }
            self.read()?;
        }
    }

    /// What has come; nothing after a second without.
    fn read(&mut self) -> Result<(), String> {
        let mut bytes = [0; 4096];
        match self.port.read(&mut bytes) {
            Ok(0) => Err("the emulator has ended".into()),
            Ok(count) => {
                self.unread.extend(bytes.iter().take(count));
                Ok(())
            }
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(why) => Err(why.to_string()),
        }
    }

    /// Whether the emulator still runs.
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.emulator.try_wait(), Ok(None))
    }
}

fn start(nic: &Nic, image: &Image, hardware: &Hardware, directory: &Path) -> Result<Child, String> {
    let log = fs::File::create(directory.join("qemu")).map_err(|why| why.to_string())?;
    let again = log.try_clone().map_err(|why| why.to_string())?;
    let emulator = image.board.emulator();
    Command::new(emulator)
        .args(arguments(nic, image, hardware, directory))
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(again)
        .spawn()
        .map_err(|why| format!("start {emulator}: {why}"))
}

fn arguments(nic: &Nic, image: &Image, hardware: &Hardware, directory: &Path) -> Vec<String> {
    let [port, console] = image.board.serial_ports();
    let header = if hardware.is_a_wire {
        ",vnet_hdr=off"
    } else {
        ""
    };
    let tap = format!("tap,ifname={TAP},script=no,downscript=no{header}");
    let kernel = format!(
        "console={console},115200 quiet loglevel=4 rdinit=/init panic=-1 net.ifnames=0 iomem=relaxed mitigations=off \
         PORT={port} MODULES={} ADDRESS={GUEST}/24 {}",
        nic.modules.join(","),
        hardware.kernel_words
    );
    let memory = format!("{}M", hardware.memory_mib);
    let processors = hardware.processors.to_string();
    let file = |name: &str| directory.join(name).display().to_string();
    let path = |path: &Path| path.display().to_string();
    let serial = format!("unix:{},server=on,wait=off", file("serial"));
    let console = format!("file:{}", file("console"));
    let mut arguments: Vec<String> = match image.board {
        Board::Pc | Board::Pc32 => {
            let (of_tap, of_device) = queues(hardware.queues);
            let device = format!("{},netdev=n0{of_device}", nic.name);
            let mut words = vec!["-accel", "tcg,thread=multi", "-nodefaults"];
            words.extend(match image.board {
                Board::Pc32 => ["-M", "pc", "-cpu", "qemu32"],
                _ => ["-M", "q35", "-cpu", "max"],
            });
            if nic.name.starts_with("usb") {
                words.extend(["-device", "qemu-xhci"]);
            }
            let words = words.into_iter().map(str::to_owned);
            words
                .chain([
                    "-netdev".into(),
                    format!("{tap},id=n0{of_tap}"),
                    "-device".into(),
                    device,
                ])
                .collect()
        }
        Board::SabreLite => vec!["-M".into(), "sabrelite".into(), "-nic".into(), tap],
        // With event_idx QEMU 7.2 stops this card under load, in each of two runs; without, in none of two.
        Board::Mainframe => [
            "-nodefaults".into(),
            "-netdev".into(),
            format!("{tap},id=n0"),
            "-device".into(),
            format!("{},netdev=n0,event_idx=off", nic.name),
        ]
        .into(),
    };
    if let Some(tree) = &image.device_tree {
        arguments.extend(["-dtb".into(), path(tree)]);
    }
    let common = [
        ["-kernel", &path(&image.kernel)],
        ["-initrd", &path(&image.initramfs)],
        ["-append", &kernel],
        ["-serial", &serial],
        ["-serial", &console],
        ["-smp", &processors],
        ["-m", &memory],
        ["-display", "none"],
        ["-monitor", "none"],
    ];
    arguments.extend(common.iter().flatten().map(|word| (*word).to_owned()));
    arguments.push("-no-reboot".into());
    arguments.extend(hardware.emulator_words.iter().cloned());
    arguments
}

/// Words of a tap and a virtio NIC with this many pairs: a vector for each queue, one for settings, one for control.
fn queues(pairs: u32) -> (String, String) {
    match pairs {
        1 => (String::new(), String::new()),
        _ => (
            format!(",queues={pairs}"),
            format!(",mq=on,vectors={}", 2 * pairs + 2),
        ),
    }
}

fn connect(socket: &Path, emulator: &mut Server) -> Result<UnixStream, String> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        if let Ok(port) = UnixStream::connect(socket) {
            let second = Some(Duration::from_secs(1));
            port.set_read_timeout(second)
                .map_err(|why| why.to_string())?;
            return Ok(port);
        }
        if let Ok(Some(status)) = emulator.try_wait() {
            return Err(format!("the emulator ended with {status}"));
        }
        if Instant::now() > end {
            return Err("the emulator opens no serial port".into());
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Where the host waits for files.
const FILES: u16 = 5300;
/// A board boots in 3 s on an idle machine, a PC in 10 s.
const BOOT: Duration = Duration::from_secs(300);
