// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files that make changes permanent: written and removed below a directory, and read by the programs for which they are.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use linerate_change::{
    Config, Device, End, Files, Interface, Journal, Kept, Key, Memory, Place, Refusal, Restored,
    Surroundings, Trace, Written, persist, restore, restore_kept, write,
};

/// A root directory on a disk, with a journal, which is removed with what is in it.
struct Root(PathBuf);

impl Root {
    fn new(name: &str) -> Self {
        let folder = format!("persist-{name}-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        let _old = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn journal(&self) -> Journal {
        Journal::at(&self.0.join("state/journal"), BOOT)
    }

    fn files(&self) -> Files {
        Files::below(&self.0)
    }

    fn below(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.below(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn write(&self, kept: &Kept, around: &Surroundings) -> Result<Vec<Written>, Refusal> {
        let planned = persist(std::slice::from_ref(kept), around).remove(0)?;
        write(&mut self.journal(), &mut self.files(), kept, &planned).unwrap()
    }

    fn undo(&self, boot: &str, force: bool) -> Vec<Restored> {
        restore_kept(&mut self.journal(), &mut self.files(), boot, force).unwrap()
    }

    /// All files below `etc`, by name.
    fn etc(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut folders = vec![self.0.join("etc")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => folders.push(entry.path()),
                    false => all.push(entry.file_name().into_string().unwrap()),
                }
            }
        }
        all.sort_unstable();
        all
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}

fn around() -> Surroundings {
    let v0 = Interface {
        is_virtual: true,
        sysfs: Some("/sys/devices/virtual/net/v0".to_owned()),
        ..Interface::default()
    };
    let tool = |name: &str| (name.to_owned(), "/bin/true".to_owned());
    Surroundings {
        date: "2026-11-29T02:00:00Z".to_owned(),
        systemd: Some(252),
        tuned_reapplies: true,
        interfaces: [("v0".to_owned(), v0)].into(),
        interrupts: [(31, "v0-rx-0".to_owned())].into(),
        tools: ["ethtool", "ip", "tc"].map(tool).into(),
        ..Surroundings::default()
    }
}

fn kept(knob: &str, value: &str) -> Kept {
    let device = Device {
        name: "v0".to_owned(),
        index: 2,
        permanent_address: None,
        bus: None,
    };
    let place = match knob.split(' ').next() {
        Some("sysctl") => Place::Namespace { netns: 1 },
        Some("irq" | "cpufreq") => Place::Host,
        _ => Place::Interface { netns: 1, device },
    };
    Kept {
        key: Key {
            knob: knob.to_owned(),
            place,
        },
        value: value.to_owned(),
        because: "B05: +12 % (8 … 16 %), 95 %".to_owned(),
    }
}

fn rmem() -> Kept {
    kept("sysctl net.ipv4.tcp_rmem", "4096 65536 777216")
}

/// One of each kind of file.
fn each_kind() -> [Kept; 6] {
    [
        rmem(),
        kept("ip link txqueuelen", "77"),
        kept("sysfs queues/rx-0/rps_cpus", "1"),
        kept("ethtool -K rx-gro-list", "on"),
        kept("ethtool -A rx tx", "on on"),
        kept("irq 31", "0-1"),
    ]
}

#[test]
fn files_are_written_and_removed_in_any_boot_and_no_directory_is_left() {
    let root = Root::new("written");
    let paths: Vec<String> = each_kind()
        .iter()
        .flat_map(|kept| root.write(kept, &around()).unwrap())
        .map(|written| written.path)
        .collect();
    assert_eq!(paths.len(), 8, "two of them are units with a drop-in");
    for path in &paths {
        let text = fs::read_to_string(root.below(path)).unwrap();
        assert!(text.starts_with("# Written by linerate, 2026-11-29T02:00:00Z.\n# Why: B05"));
        assert!(text.contains("\n# Remove: linerate tune restore --kept\n"));
        let mode = fs::metadata(root.below(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
    }
    assert_eq!(root.etc().len(), paths.len(), "and no other file");
    assert!(root.journal().open().unwrap().is_empty(), "they are kept");
    let other = restore(&mut root.journal(), &mut root.files(), BOOT, true).unwrap();
    assert!(other.is_empty(), "restore alone leaves them");
    let ended = root.undo("the next boot", false);
    assert!(
        ended.iter().all(|one| matches!(one.end, End::Undone)),
        "{ended:?}"
    );
    assert!(root.etc().is_empty());
    assert!(
        !root
            .below("/etc/systemd/system/multi-user.target.d")
            .exists()
    );
    assert!(root.below("/etc/systemd/system").exists());
}

#[test]
fn a_file_that_was_edited_is_reported_and_not_removed() {
    let root = Root::new("edited");
    let path = root.write(&rmem(), &around()).unwrap().remove(0).path;
    root.put(&path, "net.ipv4.tcp_rmem = 1 2 3\n");
    let ended = root.undo("the next boot", false);
    assert!(matches!(&ended[0].end, End::Foreign { value } if value.contains("1 2 3")));
    assert!(root.below(&path).exists());
    let ended = root.undo("the next boot", true);
    assert!(matches!(ended[0].end, End::Undone));
    assert!(root.etc().is_empty());
}

#[test]
fn a_file_that_is_not_linerates_is_not_overwritten() {
    let root = Root::new("foreign");
    let path = "/etc/sysctl.d/90-linerate-net.ipv4.tcp_rmem.conf";
    let refused = || {
        let refusal = root.write(&rmem(), &around()).unwrap_err();
        refusal.why.starts_with(path) && root.journal().standing().unwrap().is_empty()
    };
    root.put(path, "somebody's\n");
    assert!(refused());
    assert_eq!(
        fs::read_to_string(root.below(path)).unwrap(),
        "somebody's\n"
    );
    fs::remove_file(root.below(path)).unwrap();
    root.put("/etc/passwd", "root\n");
    symlink(root.below("/etc/passwd"), root.below(path)).unwrap();
    assert!(refused());
    assert_eq!(
        fs::read_to_string(root.below("/etc/passwd")).unwrap(),
        "root\n"
    );
}

/// The second value replaces the first one's file, and both are undone.
#[test]
fn a_further_value_of_a_setting_replaces_its_own_file() {
    let root = Root::new("again");
    root.write(&rmem(), &around()).unwrap();
    let mut later = around();
    later.date = "2026-12-01T00:00:00Z".to_owned();
    root.write(&rmem(), &later).unwrap();
    assert_eq!(
        root.journal().standing().unwrap().len(),
        1,
        "the same again"
    );
    let further = kept("sysctl net.ipv4.tcp_rmem", "4096 65536 888888");
    let path = root.write(&further, &around()).unwrap().remove(0).path;
    assert!(
        fs::read_to_string(root.below(&path))
            .unwrap()
            .contains("888888")
    );
    assert_eq!(root.etc().len(), 1);
    assert!(root.undo(BOOT, true).iter().all(|one| one.end.is_closed()));
    assert!(root.etc().is_empty());
}

/// After a power cut nothing would know of the file.
#[test]
fn nothing_is_written_if_the_journal_is_in_memory() {
    let root = Root::new("memory");
    let planned = persist(&[rmem()], &around()).remove(0).unwrap();
    let ended = write(&mut Memory::default(), &mut root.files(), &rmem(), &planned).unwrap();
    assert!(ended.unwrap_err().why.contains("in memory"));
    assert!(root.etc().is_empty());
    let shared = Path::new("/dev/shm");
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    if !mounts.lines().any(|line| line.contains(" /dev/shm tmpfs ")) {
        eprintln!("skipped: /dev/shm is not a tmpfs");
        return;
    }
    let journal = Journal::at(&shared.join("linerate-none/journal"), BOOT);
    assert!(!journal.is_lasting() && root.journal().is_lasting());
}

/// Of two files that belong together there are both or none.
#[test]
fn a_unit_without_what_wants_it_is_not_left() {
    let root = Root::new("half");
    root.put("/etc/systemd/system/multi-user.target.d", "not a directory");
    let refusal = root.write(&kept("irq 31", "0-1"), &around()).unwrap_err();
    assert!(refusal.why.contains("multi-user.target.d"), "{refusal:?}");
    assert_eq!(root.etc(), ["multi-user.target.d"]);
    assert!(root.journal().standing().unwrap().is_empty());
}

#[test]
fn the_surroundings_are_read_below_a_directory() {
    let root = Root::new("around");
    for (path, text) in [
        ("/run/systemd/system/none", ""),
        (
            "/usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-255.4-1.so",
            "",
        ),
        ("/etc/sysctl.d/50-x.conf", "a=1"),
        ("/usr/lib/sysctl.d/50-x.conf", "a=2"),
        ("/usr/lib/sysctl.d/60-y.conf", "a=3"),
        ("/etc/sysctl.conf", "a=4"),
        ("/sys/class/net/eth0/ifindex", "7\n"),
        ("/sys/class/net/eth0/dev_port", "1\n"),
        (
            "/run/udev/data/n7",
            "E:ID_PATH=pci-0000:00:03.0\nE:ID_NET_LINK_FILE=/etc/systemd/network/10-lan.link\n",
        ),
        ("/etc/systemd/network/10-lan.link", "[Match]\n"),
        (
            "/proc/interrupts",
            "   CPU0 CPU1\n 31: 1 2 PCI-MSIX 3-edge eth0-rx-0\nNMI: 0 0 Non-maskable interrupts\n",
        ),
        ("/usr/sbin/ethtool", ""),
        ("/usr/sbin/ifup", ""),
        (
            "/etc/network/interfaces",
            "source /etc/network/interfaces.d/*\n",
        ),
        ("/etc/network/interfaces.d/lan", "iface eth0 inet dhcp\n"),
        (
            "/run/systemd/netif/links/7",
            "ADMIN_STATE=configured\nNETWORK_FILE=/etc/systemd/network/10-lan.network\n\
             NETWORK_FILE_DROPINS=\"/etc/systemd/network/10-lan.network.d/x.conf\"\n",
        ),
        ("/etc/systemd/network/10-lan.network", "[Match]\n"),
        (
            "/etc/systemd/network/10-lan.network.d/x.conf",
            "[Link]\nMTUBytes=1400\n",
        ),
        ("/etc/tuned/active_profile", "mine\n"),
        ("/etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n"),
        (
            "/usr/lib/tuned/base/tuned.conf",
            "[sysctl]\nnet.core.rmem_max=1\n",
        ),
        ("/etc/tuned/tuned-main.conf", "reapply_sysctl = 0\n"),
    ] {
        root.put(path, text);
    }
    let programs = vec!["tuned".to_owned()];
    let read = Surroundings::read(&root.0, &["eth0".to_owned()], programs);
    assert_eq!((read.systemd, read.tuned_reapplies), (Some(255), false));
    let texts = |all: &[Config]| all.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&read.sysctls), ["a=1", "a=3", "a=4"]);
    assert_eq!(read.tuned.len(), 2);
    assert_eq!(read.interrupts[&31], "eth0-rx-0");
    assert_eq!(read.tools["ethtool"], "/usr/sbin/ethtool");
    let eth0 = &read.interfaces["eth0"];
    assert_eq!(eth0.id_path.as_deref(), Some("pci-0000:00:03.0"));
    assert_eq!(eth0.port.as_deref(), Some("1"));
    assert_eq!(eth0.sysfs.as_deref(), Some("/sys/class/net/eth0"));
    assert_eq!(eth0.link.as_ref().unwrap().name(), "10-lan.link");
    assert_eq!(
        texts(&eth0.network),
        ["[Match]\n", "[Link]\nMTUBytes=1400\n"]
    );
    assert_eq!(texts(&read.ifupdown)[1..], ["iface eth0 inet dhcp\n"]);
    let bare = Surroundings::read(&root.0.join("none"), &[], Vec::new());
    assert_eq!((bare.systemd, bare.sysctls.len()), (None, 0));
}

/// In a network namespace of its own, with the interface that the file names.
#[test]
fn sysctl_applies_the_file_also_of_an_interface_with_a_dot() {
    let root = Root::new("sysctl");
    let vlan = kept("sysctl net.ipv4.conf.v0/100.rp_filter", "2");
    let files = [rmem(), vlan].map(|kept| root.write(&kept, &around()).unwrap().remove(0));
    let [rmem, vlan] = files.map(|file| root.below(&file.path).display().to_string());
    let script = format!(
        "ip link add v0.100 type veth peer name v1 || exit 77
         show() {{ cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/conf/v0.100/rp_filter; }}
         for file in {rmem} {vlan}; do sysctl --load=$file >&2 || exit 1; done
         show
         sysctl -w net.ipv4.tcp_rmem='1 2 3' net/ipv4/conf/v0.100/rp_filter=0 >&2 || exit 1
         boot=/usr/lib/systemd/systemd-sysctl
         for file in {rmem} {vlan}; do
             if [ -x $boot ]; then $boot $file; else sysctl -p $file; fi >&2 || exit 1
         done
         show"
    );
    let Some(said) = inside(&["sysctl", "ip"], &script) else {
        return;
    };
    assert_eq!(said, "4096\t65536\t777216\n2\n".repeat(2));
}

/// With another file that sets the same: the one with the chosen number wins, as sysctl(8) reads them.
#[test]
fn the_file_wins_over_the_others_of_the_system() {
    let root = Root::new("order");
    let other = "/etc/sysctl.d/95-buffers.conf";
    root.put(
        other,
        "net.ipv4.tcp_rmem = 4096 4096 4096\nnet.ipv4.tcp_wmem = 4096 4096 4097\n",
    );
    let mut around = around();
    let text = fs::read_to_string(root.below(other)).unwrap();
    let path = other.to_owned();
    around.sysctls = vec![Config { path, text }];
    let written = root.write(&rmem(), &around).unwrap().remove(0).path;
    assert!(written.contains("/99-linerate-"), "{written}");
    let root = root.0.display();
    let script = format!(
        "for d in /run/sysctl.d /usr/local/lib/sysctl.d /usr/lib/sysctl.d /lib/sysctl.d; do
             [ ! -d $d ] || mount -t tmpfs none $d || exit 77
         done
         [ ! -e /etc/sysctl.conf ] || mount --bind /dev/null /etc/sysctl.conf || exit 77
         mount --bind {root}/etc/sysctl.d /etc/sysctl.d || exit 77
         sysctl --system >&2 || exit 77
         cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem"
    );
    let Some(said) = inside(&["sysctl"], &script) else {
        return;
    };
    assert_eq!(said, "4096\t65536\t777216\n4096\t4096\t4097\n");
}

#[test]
fn systemd_accepts_the_units_and_what_wants_them() {
    let root = Root::new("units");
    for kept in [
        kept("ethtool -A rx tx", "on on"),
        kept("irq 31", "0-1"),
        kept("cpufreq scaling_governor", "performance"),
    ] {
        root.write(&kept, &around()).unwrap();
    }
    let units = root.below("/etc/systemd/system");
    let instance = "sys-devices-virtual-net-v0";
    let of_device =
        ["ethtool-A-rx-tx"].map(|name| format!("linerate-v0-{name}@{instance}.service"));
    let verify = || {
        let mut command = Command::new("systemd-analyze");
        command
            .arg("verify")
            .args(&of_device)
            .arg("multi-user.target");
        command.env("SYSTEMD_UNIT_PATH", format!("{}:", units.display()));
        command.output()
    };
    let Ok(ended) = verify() else {
        eprintln!("skipped: no systemd-analyze(1)");
        return;
    };
    let ours = |ended: &Output| {
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        said.lines()
            .filter(|line| line.contains("linerate"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(ours(&ended), "");
    // Would it be reported?
    root.put(
        "/etc/systemd/system/multi-user.target.d/90-linerate-irq-31.conf",
        "[Unit]\nWishes=x\n",
    );
    assert!(ours(&verify().unwrap()).contains("Wishes"));
}

/// `udevadm verify` since 254, and `udevadm test` on the interface, which shows what would be run.
#[test]
fn udev_accepts_the_rules_and_applies_them_to_the_interface() {
    let root = Root::new("rules");
    for kept in [
        kept("ip link txqueuelen", "77"),
        kept("sysfs queues/rx-0/rps_cpus", "1"),
        kept("ethtool -K rx-gro-list", "on"),
        kept("ethtool -A rx tx", "on on"),
    ] {
        root.write(&kept, &around()).unwrap();
    }
    let rules = root.below("/etc/udev/rules.d");
    let script = format!(
        "mount -t sysfs none /sys && mount -t tmpfs none /run || exit 77
         mkdir -p /etc/udev/rules.d && mount --bind {0} /etc/udev/rules.d || exit 77
         ip link add v0 type veth peer name v1 || exit 77
         if udevadm verify --help >/dev/null 2>&1; then udevadm verify {0}/*.rules >&2 || exit 1; fi
         udevadm test --action=add /sys/class/net/v0 2>&1",
        rules.display()
    );
    let Some(said) = inside(&["udevadm", "ip"], &script) else {
        return;
    };
    for shown in [
        "ip-link-txqueuelen.rules:5 ATTR '/sys/devices/virtual/net/v0/tx_queue_len' writing '77'",
        "/bin/sh -c 'echo 1 > /sys/class/net/v0/queues/rx-0/rps_cpus'",
        "/bin/true -K v0 rx-gro-list on",
        "SYSTEMD_WANTS=linerate-v0-ethtool-A-rx-tx@.service",
    ] {
        // Version 257 shows the values of attributes, not their files.
        let is_shown =
            said.contains(shown) || (shown.contains("ATTR") && said.contains("txqueuelen.rules:5"));
        assert!(is_shown, "{shown}: {said}");
    }
}

/// As drop-ins of a file that matches the interface: one key that systemd did not know would be reported.
#[test]
fn udev_knows_every_key_of_the_link_files() {
    let root = Root::new("links");
    let mut around = around();
    if let Some(v0) = around.interfaces.get_mut("v0") {
        v0.id_path = Some("platform-x".to_owned());
        v0.link = Some(Config {
            path: "/etc/systemd/network/10-x.link".to_owned(),
            text: "[Match]\nPath=platform-x\n".to_owned(),
        });
    }
    let all = [
        ("ethtool -G rx rx-mini rx-jumbo tx", "64 64 64 64"),
        ("ethtool -L rx tx other combined", "1 1 1 1"),
        (
            "ethtool -C adaptive-rx adaptive-tx rx-usecs tx-usecs rx-frames tx-frames",
            "on on 50 50 9 9",
        ),
        ("ethtool -K tx-tcp-segmentation", "off"),
        ("ethtool -K tx-tcp6-segmentation", "off"),
        ("ethtool -K generic-segmentation-offload", "off"),
        ("ethtool -K generic-receive-offload", "on"),
        ("ethtool -K rx-gro-hw", "off"),
        ("ethtool -K large-receive-offload", "off"),
        ("ip link txqueuelen", "77"),
    ];
    for (knob, value) in all {
        let path = root
            .write(&kept(knob, value), &around)
            .unwrap()
            .remove(0)
            .path;
        assert!(
            path.starts_with("/etc/systemd/network/10-x.link.d/"),
            "{path}"
        );
    }
    root.put(
        "/etc/systemd/network/10-x.link",
        "[Match]\nOriginalName=v0\n",
    );
    let drop_ins = root.below("/etc/systemd/network/10-x.link.d");
    let script = format!(
        "mount -t sysfs none /sys && mount -t tmpfs none /run || exit 77
         mkdir -p /etc/systemd/network && mount --bind {} /etc/systemd/network || exit 77
         ip link add v0 type veth peer name v1 || exit 77
         case $(udevadm --version) in 2[0-4]?) exit 77;; esac
         builtin() {{ SYSTEMD_LOG_LEVEL=debug udevadm test-builtin net_setup_link /sys/class/net/v0 2>&1; }}
         builtin; echo ----
         printf '[Link]\nWishes=1\n' > {}/90-linerate-z.conf; builtin; exit 0",
        drop_ins.parent().unwrap().display(),
        drop_ins.display(),
    );
    let Some(said) = inside(&["udevadm", "ip"], &script) else {
        return;
    };
    let (own, wrong) = said.split_once("----").unwrap();
    let is_refused = |line: &&str| line.contains("linerate") && line.contains("gnoring");
    assert_eq!(own.lines().filter(is_refused).collect::<Vec<_>>(), [""; 0]);
    assert!(own.contains("10-x.link"), "{own}");
    assert!(wrong.lines().any(|line| is_refused(&line)), "{wrong}");
}

/// What a shell prints in a user, network and mount namespace of its own; nothing where a program or a namespace is missing.
fn inside(programs: &[&str], script: &str) -> Option<String> {
    let has = |name: &&str| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {name}")])
            .output();
        found.is_ok_and(|found| found.status.success())
    };
    if let Some(missing) = programs.iter().find(|name| !has(name)) {
        eprintln!("skipped: no {missing}");
        return None;
    }
    let ended = Command::new("unshare")
        .args(["-Urnm", "sh", "-c", script])
        .output();
    let Ok(ended) = ended else {
        eprintln!("skipped: no unshare(1)");
        return None;
    };
    let refused = String::from_utf8_lossy(&ended.stderr);
    match ended.status.code() {
        Some(77) => eprintln!("skipped: {refused}"),
        _ if refused.starts_with("unshare") => eprintln!("skipped: {refused}"),
        Some(0) => return Some(String::from_utf8_lossy(&ended.stdout).into_owned()),
        code => panic!("{code:?}: {refused}"),
    }
    None
}

const BOOT: &str = "this boot";
