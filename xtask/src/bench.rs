// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench`: linerate and its peers in turn over one veth, as ratios. Never a test:
//! a machine has good and bad minutes, so all that counts is who did better in the same ones.

pub(crate) mod bare;
mod contender;
mod explain;
mod footprint;
mod frames;
mod history;
mod load;
mod matrix;
mod meter;
mod nic_check;
mod options;
mod row;
mod sampling;
mod series;
mod stopwatch;
mod table;
mod testbed;
mod trial;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Outcome;
use crate::build;
use contender::{Contender, Program, Tool};
pub(crate) use options::Options;
use row::{Method, Row};
use table::{Entry, Results};
use testbed::Testbed;

/// `bench [OPTION...] [ROW...]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let options = Options::parse(words)?;
    let own = |name: &String| OF_THE_EXAMPLE.contains(&name.as_str());
    if !options.rows.is_empty() && options.rows.iter().all(own) {
        return of_the_example(&options);
    }
    // Built before the user namespace is entered, and handed on: see `become_root`.
    let ours = Program::ours(binary(&options)?);
    testbed::become_root(&ours.path)?;
    let peers = present(&ours, &options)?;
    let rows: Vec<Row> = row::all(&ours, &peers)
        .into_iter()
        .filter(|row| options.wants(row.name))
        .collect();
    let single = ["footprint", "history", "explain", "matrix", "nic-check"];
    let others = [&single[..], &sampling::NAMES, &OF_THE_EXAMPLE].concat();
    if rows.is_empty() && !others.iter().any(|name| options.wants(name)) {
        let names: Vec<&str> = row::all(&ours, &[]).iter().map(|row| row.name).collect();
        return Err(format!(
            "bench: no such row (there are {}, {})",
            names.join(", "),
            others.join(", ")
        )
        .into());
    }
    let testbed = Testbed::open()?;
    let mut documents = Vec::new();
    for row in &rows {
        let results = measure(&testbed, row, &options);
        table::print(row, &results);
        documents.push(table::document(row, &results));
    }
    if options.wants("footprint") {
        documents.push(footprint::run(
            &testbed,
            &ours,
            &peers,
            options.seconds.unwrap_or(3),
        ));
    }
    if options.wants("history") {
        documents.push(history::run(&ours.path));
    }
    if options.wants("explain") {
        documents.push(explain::run(&ours.path));
    }
    if options.wants("matrix") {
        documents.push(matrix::run(&ours.path));
    }
    if options.wants("nic-check") {
        documents.push(nic_check::run(&ours.path, options.rounds));
    }
    documents.extend(sampling::run(&testbed, &ours, &options));
    if OF_THE_EXAMPLE.iter().any(|name| options.wants(name)) {
        let example = build::example("linerate-linux", "ports")?;
        documents.extend(ports(&testbed, &example, &options));
    }
    store(&ours, &peers, documents)
}

/// The rows that need nothing of the program itself.
const OF_THE_EXAMPLE: [&str; 2] = ["frames", "spacing"];

fn of_the_example(options: &Options) -> Outcome {
    let example = build::example("linerate-linux", "ports")?;
    // Any file is as good: `--binary` is not looked at.
    testbed::become_root(example.as_ref())?;
    let documents = ports(&Testbed::open()?, &example, options);
    store(&Program::ours(PathBuf::new()), &[], documents)
}

fn ports(testbed: &Testbed, example: &str, options: &Options) -> Vec<Value> {
    let mut documents = Vec::new();
    if options.wants("frames") {
        documents.push(frames::run(testbed, example, options));
    }
    if options.wants("spacing") {
        documents.push(frames::spacing::run(testbed, example, options));
    }
    documents
}

/// The binary that is given away, where it can be built.
pub(crate) fn binary(options: &Options) -> Result<PathBuf, String> {
    if let Some(path) = &options.binary {
        if !path.is_file() {
            return Err(format!("{}: not a file", path.display()));
        }
        return path
            .canonicalize()
            .map_err(|why| format!("{}: {why}", path.display()));
    }
    let arch = std::env::consts::ARCH;
    let musl = format!("{arch}-unknown-linux-musl");
    let gnu = format!("{arch}-unknown-linux-gnu");
    let triple = if build::has_std(&musl) { musl } else { gnu };
    eprintln!("building linerate for {triple} in profile dist");
    let recipe = build::Recipe {
        place: &build::Place::here(),
        subcommand: "build",
        triple: &triple,
        profile: "dist",
        options: &[],
        environment: &[],
    };
    Ok(build::build(recipe)?.path)
}

/// The peers: those that are installed (the others are named), and those given.
fn present(ours: &Program, options: &Options) -> Result<Vec<Program>, String> {
    let given = options.peers.iter().map(|path| Program::given(path));
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let installed = Tool::PEERS.into_iter().filter_map(Program::installed);
    let peers: Vec<Program> = installed.chain(given).collect();
    for program in std::iter::once(ours).chain(&peers) {
        let version = program.version().unwrap_or_default();
        println!("{}: {version}", program.name());
    }
    for tool in Tool::PEERS {
        if Program::installed(tool).is_none() {
            println!("{}: absent", tool.name());
        }
    }
    println!("net.core.rmem_max: {}", sysctl("net/core/rmem_max"));
    Ok(peers)
}

fn sysctl(name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/sys/{name}"));
    text.map_or("unknown".to_owned(), |text| text.trim().to_owned())
}

/// All rounds of one row; every other round backwards, so that nobody always goes first.
fn measure(testbed: &Testbed, row: &Row, options: &Options) -> Results {
    let wanted = |contender: &&Contender| options.admits(&contender.label());
    let contenders: Vec<&Contender> = row.contenders.iter().filter(wanted).collect();
    let new_entry = |contender: &&Contender| Entry {
        label: contender.label(),
        ours: contender.is_ours(),
        rounds: Vec::new(),
    };
    let mut entries: Vec<Entry> = contenders.iter().map(new_entry).collect();
    let seconds = options.seconds.unwrap_or(default_seconds(row.method));
    for round in 0..options.rounds {
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            eprintln!("{} round {}: {}", row.name, round + 1, entries[place].label);
            entries[place]
                .rounds
                .push(trial::run(testbed, contenders[place], row.method, seconds));
        }
    }
    Results { entries }
}

fn default_seconds(method: Method) -> u32 {
    match method {
        Method::Rate(_) => 3,
        Method::Knee { .. } => 1,
        Method::Paced { .. } => 10,
    }
}

/// Keeps the values for later, by the time of the run.
fn store(ours: &Program, peers: &[Program], rows: Vec<Value>) -> Outcome {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)?
        .as_secs();
    let version = |program: &Program| json!({"name": program.name(), "version": program.version()});
    let programs: Vec<Value> = std::iter::once(ours).chain(peers).map(version).collect();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let document = json!({
        "unix_s": now, "kernel": kernel.trim(), "rmem_max": sysctl("net/core/rmem_max"),
        "cpus": std::thread::available_parallelism().map_or(0, usize::from),
        "programs": programs, "rows": rows,
    });
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../bench/results");
    std::fs::create_dir_all(&directory)?;
    let path = directory.join(format!("{now}.json"));
    std::fs::write(&path, serde_json::to_string_pretty(&document)?)?;
    println!("\nstored in bench/results/{now}.json");
    Ok(true)
}
