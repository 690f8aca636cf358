// SPDX-License-Identifier: MIT OR Apache-2.0
//! A container image from scratch as one tar: an OCI layout, with the `manifest.json` that `docker load` reads.

use serde_json::{Value, json};

use super::archive::{self, Style};
use super::{File, LICENSE, Release, SUMMARY, date};

/// A platform in the words of Go: architecture and variant.
pub(crate) type Platform = (&'static str, Option<&'static str>);

/// The image for `platform` whose only layer has `files`.
pub(crate) fn build(
    release: &Release,
    platform: Platform,
    files: &[File],
) -> Result<Vec<u8>, String> {
    let layer = archive::tar(files, Style::PLAIN, release.time)?;
    let diff_id = digest(&layer);
    let layer = Blob::new("layer.v1.tar+gzip", archive::gzip(&layer)?);
    let config = config(release, platform, &diff_id);
    let config = Blob::new("config.v1+json", config.to_string().into_bytes());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": media_type("manifest.v1+json"),
        "config": config.descriptor(),
        "layers": [layer.descriptor()],
    });
    let manifest = Blob::new("manifest.v1+json", manifest.to_string().into_bytes());
    let name = format!("linerate:{}", release.version);
    let docker = json!([{
        "Config": config.path(), "RepoTags": [name], "Layers": [layer.path()],
    }]);
    let mut index = manifest.descriptor();
    index["annotations"] = json!({ "org.opencontainers.image.ref.name": release.version });
    let index = json!({
        "schemaVersion": 2, "mediaType": media_type("index.v1+json"), "manifests": [index],
    });
    let text = |path: &str, value: &Value| File::new(path, 0o644, value.to_string());
    let mut members = vec![
        text("oci-layout", &json!({ "imageLayoutVersion": "1.0.0" })),
        text("index.json", &index),
        text("manifest.json", &docker),
    ];
    members.extend([layer, config, manifest].map(Blob::file));
    archive::tar(&members, Style::PLAIN, release.time)
}

/// What a container runtime does with the layer (OCI image-spec, config.md).
fn config(release: &Release, (architecture, variant): Platform, diff_id: &str) -> Value {
    let created = date::internet(release.time);
    let mut config = json!({
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/linerate"],
            "Env": ["PATH=/usr/bin", "HOME=/"],
            "ExposedPorts": { "5201/tcp": {}, "5201/udp": {} },
            "Labels": {
                "org.opencontainers.image.title": "linerate",
                "org.opencontainers.image.description": SUMMARY,
                "org.opencontainers.image.licenses": LICENSE,
                "org.opencontainers.image.version": release.version,
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [diff_id] },
        "history": [{ "created": created, "created_by": "cargo xtask dist --packages" }],
    });
    if let Some(variant) = variant {
        config["variant"] = json!(variant);
    }
    config
}

/// Content that is addressed by its digest.
#[derive(Debug)]
struct Blob {
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Blob {
    fn new(kind: &'static str, bytes: Vec<u8>) -> Self {
        Self { kind, bytes }
    }

    fn path(&self) -> String {
        format!("blobs/sha256/{}", archive::sha256(&self.bytes))
    }

    fn descriptor(&self) -> Value {
        json!({
            "mediaType": media_type(self.kind),
            "digest": digest(&self.bytes),
            "size": self.bytes.len(),
        })
    }

    fn file(self) -> File {
        File::new(self.path(), 0o644, self.bytes)
    }
}

fn media_type(kind: &str) -> String {
    format!("application/vnd.oci.image.{kind}")
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", archive::sha256(bytes))
}
