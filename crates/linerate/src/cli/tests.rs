// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables: a command line and its plan, or a command line and its exact refusal. Every example in
//! the help and in the documents is a command line that parses.

use std::path::Path;

use clap::{CommandFactory, Parser};

use super::args::{Cli, Command};
use super::examples_last;
use super::{misunderstood, plan};
use linerate_endpoint::{Direction, Family, IoMode, Protocol, ServeOptions, TestPlan};

fn words(line: &str) -> Vec<String> {
    line.split_whitespace()
        .map(|word| word.trim_matches('\'').to_owned())
        .collect()
}

fn parsed(line: &str) -> Command {
    match Cli::try_parse_from(words(line)) {
        Ok(cli) => cli.command,
        Err(error) => panic!("{line}: {error}"),
    }
}

fn plan_of(line: &str) -> TestPlan {
    match parsed(line) {
        Command::Tcp(args) => plan::tcp(&args, args.server.host.as_deref().unwrap()).unwrap(),
        Command::Udp(args) => plan::udp(&args, args.server.host.as_deref().unwrap()).unwrap(),
        other => panic!("{line}: {other:?}"),
    }
}

/// The reason that the user reads.
fn refusal(line: &str) -> String {
    match Cli::try_parse_from(words(line)) {
        Err(error) => misunderstood(&error, &words(line)[1]).why,
        Ok(Cli {
            command: Command::Udp(args),
        }) => plan::udp(&args, "h").unwrap_err().why,
        Ok(cli) => panic!("{line} was understood: {cli:?}"),
    }
}

#[test]
fn the_defaults_are_those_of_iperf3() {
    assert_eq!(plan_of("linerate tcp h"), TestPlan::tcp("h"));
    let udp = plan_of("linerate udp h");
    assert_eq!(
        udp,
        TestPlan {
            counters_64bit: false,
            ..TestPlan::udp("h")
        }
    );
    assert_eq!(
        (udp.bits_per_second, udp.duration_ms, udp.port),
        (Some(1_048_576), 10_000, 5201)
    );
}

#[test]
fn the_letters_of_tcp() {
    let line = "linerate tcp h -p 5202 -t 30 -P 4 -R -i 0.5 -w 1M -M 1400 -N -C bbr -O 2 -4 -A 2,3 \
                -B 10.0.0.1 --bind-dev eth0 --cport 6000 --dscp ef -Z -b 100M/8 -l 64K -T note \
                --get-server-output --connect-timeout 300ms";
    assert_eq!(
        plan_of(line),
        TestPlan {
            port: 5202,
            duration_ms: 30_000,
            streams: 4,
            direction: Direction::Down,
            interval_ms: 500,
            window_bytes: Some(1 << 20),
            mss: Some(1400),
            nodelay: true,
            congestion: Some("bbr".to_owned()),
            omit_ms: 2000,
            family: Family::V4,
            affinity: Some((2, Some(3))),
            bind_address: Some("10.0.0.1".parse().unwrap()),
            bind_device: Some("eth0".to_owned()),
            client_port: Some(6000),
            dscp: Some(46),
            tx_mode: IoMode::Sendfile,
            bits_per_second: Some(100_000_000),
            burst: Some(8),
            payload_bytes: Some(65_536),
            title: Some("note".to_owned()),
            server_output: true,
            connect_timeout_ms: 300,
            ..TestPlan::tcp("h")
        }
    );
}

#[test]
fn the_letters_of_udp() {
    let line = "linerate udp h --bidir -n 10M -6 -S 0xb8 -b 500M --burst 16 --mode gso/gro \
                --udp-counters-64bit --dont-fragment -l 1400";
    let plan = plan_of(line);
    assert_eq!(
        (plan.protocol, plan.direction, plan.family),
        (Protocol::Udp, Direction::Both, Family::V6)
    );
    assert_eq!(
        (plan.bytes, plan.tos, plan.dscp),
        (Some(10 << 20), Some(184), None)
    );
    assert_eq!(
        (plan.bits_per_second, plan.burst),
        (Some(500_000_000), Some(16))
    );
    assert_eq!((plan.tx_mode, plan.rx_mode), (IoMode::Gso, IoMode::Gro));
    assert!(plan.counters_64bit && plan.dont_fragment);
    assert_eq!(plan_of("linerate udp h -k 1000").blocks, Some(1000));
    assert_eq!(plan_of("linerate udp h -b 0").bits_per_second, None);
    assert_eq!(
        plan_of("linerate udp h -b 100kpps -l 64").bits_per_second,
        Some(51_200_000)
    );
}

#[test]
fn iperf2_has_its_own_port_and_limits() {
    assert_eq!(plan_of("linerate udp h --iperf2").port, 5001);
    assert_eq!(plan_of("linerate udp h --iperf2 -p 5201").port, 5201);
    assert!(plan_of("linerate tcp h --iperf2 -P 4 -n 1M").iperf2);
    for flags in [
        "-R",
        "--bidir",
        "-O 1",
        "-l 39",
        "-A 0,1",
        "--mode plain/gro",
        "--get-server-output",
    ] {
        let Command::Udp(args) = parsed(&format!("linerate udp h --iperf2 {flags}")) else {
            panic!("not udp");
        };
        let failure = plan::udp(&args, "h").unwrap_err();
        assert_eq!(
            failure.kind,
            linerate_model::failure::Kind::Usage,
            "{flags}"
        );
        assert!(failure.try_.is_some(), "{flags}");
    }
}

#[test]
fn what_serve_offers() {
    let Command::Serve(args) = parsed(
        "linerate serve -1 -p 6000 --max-rate 500M --max-time 1m --bind ::1 -q --metrics 9101",
    ) else {
        panic!("not serve");
    };
    assert_eq!(
        plan::serve(&args),
        ServeOptions {
            one_off: true,
            port: 6000,
            max_bits_per_second: Some(500_000_000),
            max_duration_s: Some(60),
            bind: Some("::1".parse().unwrap()),
            quiet: true,
            metrics: Some("127.0.0.1:9101".parse().unwrap()),
            ..ServeOptions::default()
        }
    );
    let Command::Serve(args) = parsed("linerate serve") else {
        panic!("not serve")
    };
    assert_eq!(plan::serve(&args), ServeOptions::default());
    let Command::Serve(args) = parsed("linerate serve --iperf2") else {
        panic!("not serve")
    };
    let options = plan::serve(&args);
    assert_eq!((options.port, options.iperf2), (5001, true));
}

#[test]
fn refusals_name_the_flag_the_value_and_the_range() {
    for (line, wanted) in [
        (
            "linerate udp h -l 15",
            "invalid value '15' for '--length <BYTES>': expected 16 to 65507 bytes",
        ),
        (
            "linerate tcp h -P 0",
            "invalid value '0' for '--parallel <STREAMS>': 0 is not in 1..=128",
        ),
        (
            "linerate tcp h -P 129",
            "invalid value '129' for '--parallel <STREAMS>': 129 is not in 1..=128",
        ),
        (
            "linerate tcp h -t 25h",
            "invalid value '25h' for '--time <TIME>': expected a time from 100ms to 24h",
        ),
        (
            "linerate udp h -b 2T",
            "invalid value '2T' for '--bitrate <RATE[/BURST]>': expected 1 bit/s to 1T",
        ),
        (
            "linerate udp h -b 1M/0",
            "invalid value '1M/0' for '--bitrate <RATE[/BURST]>': expected 1 to 1000 packets",
        ),
        (
            "linerate tcp h -R --bidir",
            "the argument '--reverse' cannot be used with '--bidir'",
        ),
        (
            "linerate tcp h --dscp ef -S 1",
            "the argument '--dscp <DSCP>' cannot be used with '--tos <TOS>'",
        ),
        (
            "linerate tcp h --dscp 64",
            "invalid value '64' for '--dscp <DSCP>': expected 0 to 63, or a name such as ef, cs6 or af41",
        ),
        (
            "linerate tcp h -M 87",
            "invalid value '87' for '--set-mss <BYTES>': expected 88 to 32767 bytes",
        ),
        (
            "linerate tcp h --expect 940M",
            "invalid value '940M' for '--expect <EXPRESSION>': `940M` is not an expectation: it has no comparison (>= <= = < >); write '>=940M' or 'loss<=0.1%'",
        ),
        (
            "linerate tcp h --mode gso",
            "invalid value 'gso' for '--mode <SEND[/RECEIVE]>': expected auto, copy, zerocopy or sendfile for sending",
        ),
        (
            "linerate udp h -b 1kpps",
            "--bitrate in packets per second needs the payload of each",
        ),
        (
            "linerate udp h -b 1M/2 --burst 3",
            "--bitrate RATE/BURST and --burst both name it",
        ),
        (
            "linerate check h --goal-loss 1",
            "invalid value '1' for '--goal-loss <RATIO>': expected a ratio from 0 to below 1, such as 0.5% or 1e-5",
        ),
        (
            "linerate sweep h --confirm 50ms",
            "invalid value '50ms' for '--confirm <TIME>': expected a time from 100ms to 24h, or 0 for none",
        ),
        (
            "linerate check",
            "the following required arguments were not provided: <HOST>",
        ),
        (
            "linerate check h --lab",
            "the argument '[HOST]' cannot be used with '--lab'",
        ),
        (
            "linerate tune h --settle 50",
            "invalid value '50' for '--settle <TIME>': a number without a unit is in seconds: write 50s, or 50ms",
        ),
        (
            "linerate completions tcsh",
            "invalid value 'tcsh' for '<SHELL>': expected bash, zsh or fish",
        ),
        ("linerate measure", "unrecognized subcommand 'measure'"),
        (
            "linerate tcp h -t 1 -n 1M",
            "the argument '--time <TIME>' cannot be used with '--bytes <BYTES>'",
        ),
    ] {
        assert_eq!(refusal(line), wanted, "{line}");
    }
}

#[test]
fn a_short_settle_time_needs_no_unit() {
    for time in ["0", "1", "5", "0.5", "19", "50s", "50ms", "1m"] {
        parsed(&format!("linerate tune h --settle {time}"));
        parsed(&format!("linerate matrix h --axes size=64 --settle {time}"));
        parsed(&format!("linerate ab --a x --b y --settle {time} -- tcp h"));
    }
}

#[test]
fn a_word_that_no_setting_has_is_refused_with_all_names() {
    let refused = refusal("linerate tune h --explore=no-such-word");
    for name in ["sysctl net.ipv4.tcp_rmem", "ethtool -G rx", "tc qdisc root"] {
        assert!(refused.contains(name), "{name} in {refused}");
    }
    for word in ["", "=rmem", "=qdisc"] {
        parsed(&format!("linerate tune h --explore{word}"));
    }
}

#[test]
fn the_record_knows_every_option_with_its_default() {
    let matches = Cli::command()
        .try_get_matches_from(words("linerate udp h -b 5M --expect loss=0 --expect >=4M"))
        .unwrap();
    let options = super::options(&matches);
    let value = |name: &str| options.get(name).map(String::as_str);
    assert_eq!(
        (value("host"), value("bitrate"), value("expect")),
        (Some("h"), Some("5M"), Some("loss=0 >=4M"))
    );
    assert_eq!(
        (value("parallel"), value("reverse"), value("time")),
        (Some("1"), Some("false"), None)
    );
}

#[test]
fn no_two_flags_clash() {
    Cli::command().debug_assert();
}

#[test]
fn every_example_of_the_help_parses() {
    let top = Cli::command();
    let commands = std::iter::once(&top).chain(top.get_subcommands());
    for command in commands {
        let help = command.clone().render_long_help().to_string();
        let examples = command_lines(&help);
        assert!(
            !examples.is_empty(),
            "{} has no example",
            command.get_name()
        );
        examples.iter().for_each(|line| understood(line));
    }
}

#[test]
fn every_example_of_the_documents_parses() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let pages = docs.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    for page in pages.chain([root.join("README.md")]) {
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        fenced(&text)
            .iter()
            .flat_map(|block| command_lines(block))
            .for_each(|line| understood(&line));
    }
}

#[test]
fn examples_are_found() {
    let text = "```\n$ linerate udp 192.0.2.7 -b 1M | tee log\n  linerate tcp h   # ten seconds\nother\n```\nlinerate is a tool";
    assert_eq!(
        fenced(text)
            .iter()
            .flat_map(|block| command_lines(block))
            .collect::<Vec<_>>(),
        ["linerate udp 192.0.2.7 -b 1M", "linerate tcp h"]
    );
}

/// The blocks between fences.
fn fenced(text: &str) -> Vec<String> {
    let inside = text.split("```").skip(1).step_by(2);
    inside.map(str::to_owned).collect()
}

/// The lines that call linerate, without prompts, pipes, redirections and remarks.
fn command_lines(text: &str) -> Vec<String> {
    text.replace(" \\\n  ", " ")
        .lines()
        .map(|line| {
            line.trim()
                .trim_start_matches("$ ")
                .trim_start_matches("sudo ")
        })
        .map(|line| line.replace("cargo run --release --", "linerate"))
        .filter(|line| line.starts_with("linerate "))
        .map(|line| {
            let end = [" | ", " > ", " # ", "   "]
                .iter()
                .filter_map(|stop| line.find(stop))
                .min();
            line[..end.unwrap_or(line.len())].trim_end().to_owned()
        })
        .collect()
}

fn understood(line: &str) {
    // What a lab runs is a command line of its own.
    let parts: Vec<&str> = line.splitn(2, " -- linerate ").collect();
    if let [_, inner] = parts[..] {
        understood(&format!("linerate {inner}"));
    }
    let unquoted = unquote(line);
    let translated = super::translated(unquoted.into_iter().map(Into::into).collect());
    let words = translated.unwrap_or_else(|failure| panic!("{line}: {failure}"));
    // `ab --lab` adds HOST.
    if let Err(error) = Cli::try_parse_from(&words) {
        use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
        assert!(
            matches!(error.kind(), DisplayHelp | DisplayVersion),
            "{line}: {error}"
        );
    }
}

/// Words as a shell splits them, with single and double quotes.
fn unquote(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            (' ', None) => words.push(String::new()),
            _ => words.iter_mut().last().unwrap().push(letter),
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// `LINERATE_BLESS=1 cargo test` writes the texts anew.
#[test]
fn the_help_is_as_committed() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    let mut top = examples_last(Cli::command()).term_width(100);
    top.build();
    let top = top;
    let named = top
        .get_subcommands()
        .map(|command| (command.get_name().to_owned(), command.clone()));
    for (name, command) in std::iter::once(("linerate".to_owned(), top.clone())).chain(named) {
        let path = dir.join(format!("{name}.txt"));
        let help = command.term_width(100).render_long_help().to_string();
        if std::env::var_os("LINERATE_BLESS").is_some() {
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(&path, &help).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == help,
            "{} differs; LINERATE_BLESS=1 writes it anew:\n{help}",
            path.display()
        );
    }
}
