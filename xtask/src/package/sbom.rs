// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bill of materials: every crate that is compiled into the program, in CycloneDX 1.5
//! (<https://cyclonedx.org/docs/1.5/json/>). Build scripts, macros and what only tests use are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::{LICENSE, Release, archive, date};
use crate::{build, process};

/// Crates by name and version.
type Crates = BTreeSet<(String, String)>;

/// The bill of the program as it is built for `triples`.
pub(crate) fn build(
    release: &Release,
    metadata: &Value,
    triples: &[&str],
) -> Result<Vec<u8>, String> {
    let mut crates = Crates::new();
    for triple in triples {
        crates.extend(compiled_into_the_program(triple)?);
    }
    let lock = metadata["workspace_root"].as_str().unwrap_or(".");
    let lock = std::fs::read_to_string(format!("{lock}/Cargo.lock"))
        .map_err(|why| format!("Cargo.lock: {why}"))?;
    let mut bill = document(release, metadata, &crates, &checksums(&lock)?);
    bill["serialNumber"] = serial(&bill.to_string()).into();
    let text = serde_json::to_string_pretty(&bill).map_err(|why| format!("SBOM: {why}"))?;
    Ok((text + "\n").into_bytes())
}

/// What cargo links for `triple`, from lines such as `rustix v1.1.6` and `linerate v0.1.0 (/path)`.
fn compiled_into_the_program(triple: &str) -> Result<Crates, String> {
    let mut tree = Command::new(build::cargo());
    tree.args([
        "tree",
        "--locked",
        "--package",
        "linerate",
        "--target",
        triple,
    ])
    .args([
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let tree = process::run(&mut tree, Duration::from_secs(120))?;
    if !tree.status.success() {
        return Err(format!("cargo tree: {}", process::last_line(&tree.stderr)));
    }
    Ok(tree.stdout.lines().filter_map(name_and_version).collect())
}

fn name_and_version(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let version = words.next()?.strip_prefix('v')?;
    Some((name.to_owned(), version.to_owned()))
}

/// The SHA-256 of each crate of a registry, by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>, String> {
    let lock: toml::Table = lock.parse().map_err(|why| format!("Cargo.lock: {why}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let sum = |package: &toml::Value| {
        let text = |key: &str| package.get(key)?.as_str().map(str::to_owned);
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    Ok(packages.into_iter().flatten().filter_map(sum).collect())
}

fn document(
    release: &Release,
    metadata: &Value,
    crates: &Crates,
    checksums: &BTreeMap<(String, String), String>,
) -> Value {
    let packages = packages(metadata, crates);
    let components: Vec<Value> = packages
        .iter()
        .filter(|(key, _)| key.0 != "linerate")
        .map(|(key, package)| component(package, key, checksums.get(*key)))
        .chain([standard_library()])
        .collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": date::internet(release.time),
            "component": {
                "type": "application", "bom-ref": reference("linerate", &release.version),
                "name": "linerate", "version": release.version,
                "licenses": [{ "expression": LICENSE }],
            },
        },
        "components": components,
        "dependencies": dependencies(metadata, &packages),
    })
}

/// The entries of `cargo metadata` for `crates`.
fn packages<'a>(
    metadata: &'a Value,
    crates: &'a Crates,
) -> BTreeMap<&'a (String, String), &'a Value> {
    let all = metadata["packages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let find = |key: &'a (String, String)| {
        let package = all
            .iter()
            .find(|one| one["name"] == *key.0 && one["version"] == *key.1);
        package.map(|package| (key, package))
    };
    crates.iter().filter_map(find).collect()
}

fn component(package: &Value, (name, version): &(String, String), sum: Option<&String>) -> Value {
    let mut component = json!({
        "type": "library", "bom-ref": reference(name, version), "name": name, "version": version,
    });
    if let Some(licence) = package["license"].as_str() {
        // Older crates separate their licences by a slash.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(sum) = sum {
        component["purl"] = reference(name, version).into();
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

/// The library that every Rust program contains, from the compiler in use.
fn standard_library() -> Value {
    let version = build::rustc_version().unwrap_or_default();
    json!({
        "type": "library", "bom-ref": format!("rust-std@{version}"), "name": "rust-std",
        "version": version, "licenses": [{ "expression": "MIT OR Apache-2.0" }],
    })
}

fn dependencies(metadata: &Value, packages: &BTreeMap<&(String, String), &Value>) -> Vec<Value> {
    let by_id: BTreeMap<&str, String> = packages
        .iter()
        .filter_map(|((name, version), package)| {
            Some((package["id"].as_str()?, reference(name, version)))
        })
        .collect();
    let nodes = metadata["resolve"]["nodes"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let mut edges: Vec<Value> = nodes
        .iter()
        .filter_map(|node| {
            let from = by_id.get(node["id"].as_str()?)?;
            let normal = node["deps"].as_array()?.iter().filter(|dep| is_normal(dep));
            let to: BTreeSet<&String> = normal
                .filter_map(|dep| by_id.get(dep["pkg"].as_str()?))
                .collect();
            Some(json!({ "ref": from, "dependsOn": to }))
        })
        .collect();
    edges.sort_by_key(|edge| edge["ref"].as_str().map(str::to_owned));
    edges
}

fn is_normal(dependency: &Value) -> bool {
    let kinds = dependency["dep_kinds"].as_array();
    kinds
        .into_iter()
        .flatten()
        .any(|kind| kind["kind"].is_null())
}

/// The package URL of a crate (purl-spec, type cargo), also its name within the bill.
fn reference(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// A UUID that follows from the content (RFC 9562 §5.8), so that the same bill has the same one.
fn serial(content: &str) -> String {
    let hash = archive::sha256(content.as_bytes());
    let part = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
    format!(
        "urn:uuid:{}-{}-8{}-8{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 15),
        part(15, 18),
        part(18, 30)
    )
}
