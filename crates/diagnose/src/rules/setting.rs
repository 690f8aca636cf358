// SPDX-License-Identifier: MIT OR Apache-2.0
//! A command that sets something → what it sets, to which value, and how to read what is in force.
//!
//! ```text
//! sysctl -w net.core.rmem_max=4194304   ethtool -K eth0 tso on gso on   ip link set dev eth0 mtu 9000
//! echo 1 > /sys/class/net/eth0/threaded   tc qdisc replace dev eth0 root fq
//! ```

/// A command that sets values, and the comment after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    tool: Tool,
    /// What stands before the values: `sysctl -w`, `ethtool -K eth0`.
    head: String,
    interface: Option<String>,
    pub(super) sets: Vec<Assignment>,
    note: String,
}

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    /// As the command names it.
    pub(super) name: String,
    /// As the command writes it, without quotes.
    pub(super) value: String,
}

/// Where a value can be read: the setting's source, its interface, and its name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) source: &'static str,
    pub(super) interface: Option<String>,
    pub(super) key: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Tool {
    Sysctl,
    /// Of a flag such as `-K`, with pairs of names and values.
    Ethtool(&'static Flag),
    Link,
    Qdisc,
    /// Back to the kernel's default.
    NoQdisc,
    Echo,
}

/// A flag of `ethtool` that sets, the one that shows, and the names of values there.
#[derive(Debug, PartialEq, Eq)]
struct Flag {
    sets: &'static str,
    shows: &'static str,
    names: &'static [(&'static str, &'static str)],
}

impl Command {
    /// `None` for a command that only shows something, or of which it is not known what it sets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (typed, note) = match text.split_once("   #") {
            Some((typed, note)) => (typed, format!("   #{note}")),
            None => (text, String::new()),
        };
        let words = words(typed.trim());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (tool, head, interface, sets) = match words.as_slice() {
            ["sysctl", "-w", sets @ ..] => (Tool::Sysctl, 2, None, equations(sets)?),
            ["ethtool", flag, name, sets @ ..] => {
                (Tool::Ethtool(Flag::of(flag)?), 3, Some(name), pairs(sets)?)
            }
            ["ip", "link", "set", "dev", name, sets @ ..] => {
                (Tool::Link, 5, Some(name), pairs(sets)?)
            }
            ["tc", "qdisc", "replace", "dev", name, "root", kind @ ..] => {
                (Tool::Qdisc, 5, Some(name), root(kind)?)
            }
            ["tc", "qdisc", "del", "dev", name, "root"] => (
                Tool::NoQdisc,
                6,
                Some(name),
                vec![Assignment::new("root", "")],
            ),
            ["echo", value, ">", path] => (Tool::Echo, 1, None, vec![Assignment::new(path, value)]),
            _ => return None,
        };
        Some(Self {
            tool,
            head: words[..head].join(" "),
            interface: interface.map(|name| (*name).to_owned()),
            sets,
            note,
        })
    }

    /// The command that sets other values of the same names; `None` without any.
    pub(super) fn back(&self, sets: Vec<Assignment>) -> Option<String> {
        let first = sets.first()?;
        if self.tool == Tool::NoQdisc {
            let interface = self.interface.as_deref()?;
            let (kind, note) = (&first.value, "   # with its options");
            return Some(format!(
                "tc qdisc replace dev {interface} root {kind}{note}"
            ));
        }
        if self.tool == Tool::Qdisc && DEFAULT_QDISCS.contains(&first.value.as_str()) {
            let interface = self.interface.as_deref()?;
            return Some(format!("tc qdisc del dev {interface} root"));
        }
        let note = match self.tool {
            Tool::Qdisc => "   # with its options",
            _ => "",
        };
        let note = note.to_owned();
        let back = Self {
            sets,
            note,
            ..self.clone()
        };
        Some(back.to_string())
    }

    /// The same command with the values that `keeps` keeps.
    pub(super) fn only(&self, keeps: impl Fn(&Assignment) -> bool) -> Option<Self> {
        let sets: Vec<Assignment> = self.sets.iter().filter(|set| keeps(set)).cloned().collect();
        (!sets.is_empty()).then(|| Self {
            sets,
            ..self.clone()
        })
    }

    /// What a value is of: `ethtool -A eth0 rx`.
    pub(super) fn id(&self, set: &Assignment) -> String {
        if self.tool == Tool::NoQdisc {
            return self.head.replacen("qdisc del", "qdisc replace", 1);
        }
        format!("{} {}", self.head, set.name)
    }

    /// Where what is in force stands; `None` where nothing reads it.
    pub(super) fn reading(&self, set: &Assignment) -> Option<Reading> {
        let (source, interface, key) = match &self.tool {
            Tool::Sysctl => ("sysctl", None, set.name.clone()),
            Tool::Ethtool(flag) => (flag.shows, self.interface.clone(), flag.key(&set.name)?),
            Tool::Link => ("ip link", self.interface.clone(), set.name.clone()),
            Tool::Qdisc | Tool::NoQdisc => ("tc qdisc", self.interface.clone(), "root".to_owned()),
            Tool::Echo => {
                let path = set.name.strip_prefix("/sys/class/net/")?;
                let (interface, file) = path.split_once('/')?;
                let (source, key) = match file.strip_prefix("queues/") {
                    Some(queue) => ("/sys/class/net/queues", queue.replace('/', ".")),
                    None => ("/sys/class/net", file.to_owned()),
                };
                (source, Some(interface.to_owned()), key)
            }
        };
        Some(Reading {
            source,
            interface,
            key,
        })
    }

    /// The command that shows what is in force.
    pub(super) fn shows(&self) -> String {
        let interface = self.interface.as_deref().unwrap_or_default();
        match &self.tool {
            Tool::Sysctl => {
                let names = self.sets.iter().map(|set| set.name.as_str());
                format!("sysctl {}", names.collect::<Vec<_>>().join(" "))
            }
            Tool::Ethtool(flag) => format!("{} {interface}", flag.shows),
            Tool::Link => format!("ip -d link show dev {interface}"),
            Tool::Qdisc | Tool::NoQdisc => format!("tc qdisc show dev {interface}"),
            Tool::Echo => {
                let paths = self.sets.iter().map(|set| set.name.as_str());
                format!("cat {}", paths.collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// Whether a value helps only if it is larger than the one in force.
    pub(super) fn is_more(&self, set: &Assignment) -> bool {
        let name = set.name.as_str();
        match &self.tool {
            Tool::Sysctl => LARGER.contains(&name),
            Tool::Ethtool(flag) => matches!(
                (flag.sets, name),
                ("-G", _) | ("-L", _) | ("-C", "rx-usecs")
            ),
            Tool::Link => name == "txqueuelen",
            Tool::Qdisc | Tool::NoQdisc | Tool::Echo => false,
        }
    }

    /// Whether the kernel's default takes the place of something else.
    pub(super) fn is_default_already(&self, now: &str) -> bool {
        self.tool == Tool::NoQdisc && DEFAULT_QDISCS.contains(&now)
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.head)?;
        for Assignment { name, value } in &self.sets {
            match self.tool {
                Tool::Sysctl if value.contains([' ', '<']) => write!(out, " {name}='{value}'")?,
                Tool::Sysctl => write!(out, " {name}={value}")?,
                Tool::Echo => write!(out, " {value} > {name}")?,
                Tool::Ethtool(_) | Tool::Link | Tool::Qdisc => write!(out, " {name} {value}")?,
                Tool::NoQdisc => {}
            }
        }
        out.write_str(&self.note)
    }
}

impl Assignment {
    pub(super) fn new(name: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: value.to_owned(),
        }
    }
}

impl Flag {
    fn of(flag: &str) -> Option<&'static Self> {
        FLAGS.iter().find(|known| known.sets == flag)
    }

    /// The name that `ethtool` shows for one that it takes.
    fn key(&self, name: &str) -> Option<String> {
        let known = self.names.iter().find(|(taken, _)| *taken == name)?;
        Some(known.1.to_owned())
    }
}

/// Blanks separate words, unless in quotes or angle brackets.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quoted, mut depth) = (false, 0_u32);
    for (at, letter) in text.char_indices() {
        let opens = letter == '<' && !text[at + 1..].starts_with([' ', '(']);
        match letter {
            '\'' if depth == 0 => quoted = !quoted,
            ' ' if !quoted && depth == 0 => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        depth += u32::from(opens);
        depth -= u32::from(letter == '>' && depth > 0);
        if let Some(last) = words.last_mut().filter(|_| letter != '\'' || depth > 0) {
            last.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn equations(words: &[&str]) -> Option<Vec<Assignment>> {
    let set = |word: &&str| {
        let (name, value) = word.split_once('=')?;
        Some(Assignment::new(name, value))
    };
    words.iter().map(set).collect()
}

fn pairs(words: &[&str]) -> Option<Vec<Assignment>> {
    let sets = words.chunks(2).map(|pair| match pair {
        [name, value] => Some(Assignment::new(name, value)),
        _ => None,
    });
    sets.collect()
}

/// The kind of a root qdisc with its options; a handle names no kind.
fn root(words: &[&str]) -> Option<Vec<Assignment>> {
    let named = words.first().is_some_and(|kind| *kind != "handle");
    named.then(|| vec![Assignment::new("root", &words.join(" "))])
}

/// What the kernel puts there itself. What is read of a root qdisc is its kind alone: any options of it, and the classes
/// below it, are not restored.
const DEFAULT_QDISCS: &[&str] = &["noqueue", "mq", "pfifo_fast"];

/// Limits and sizes: less than what is in force makes it worse.
const LARGER: &[&str] = &[
    "net.core.rmem_max",
    "net.core.rmem_default",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.ipv4.tcp_max_reordering",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.neigh.default.gc_thresh2",
    "net.ipv4.neigh.default.gc_thresh3",
    "net.ipv6.neigh.default.gc_thresh2",
    "net.ipv6.neigh.default.gc_thresh3",
    "net.ipv4.neigh.default.unres_qlen_bytes",
    "net.netfilter.nf_conntrack_max",
];

const FLAGS: &[Flag] = &[
    Flag {
        sets: "-K",
        shows: "ethtool -k",
        names: &[
            ("rx", "rx-checksumming"),
            ("tx", "tx-checksumming"),
            ("sg", "scatter-gather"),
            ("tso", "tcp-segmentation-offload"),
            ("gso", "generic-segmentation-offload"),
            ("gro", "generic-receive-offload"),
            ("lro", "large-receive-offload"),
        ],
    },
    Flag {
        sets: "-A",
        shows: "ethtool -a",
        names: &[("autoneg", "Autonegotiate"), ("rx", "RX"), ("tx", "TX")],
    },
    Flag {
        sets: "-C",
        shows: "ethtool -c",
        names: &[("adaptive-rx", "Adaptive RX"), ("rx-usecs", "rx-usecs")],
    },
    Flag {
        sets: "-G",
        shows: "ethtool -g",
        names: &[("rx", "RX.current")],
    },
    Flag {
        sets: "-L",
        shows: "ethtool -l",
        names: &[("combined", "Combined.current")],
    },
    Flag {
        sets: "--set-eee",
        shows: "ethtool --show-eee",
        names: &[("eee", "EEE status")],
    },
];
