// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each format is read back by a reader of its own; each package has the same bytes for the same input.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::bufread::GzDecoder;
use serde_json::Value;

use super::*;

fn release() -> Release {
    Release {
        version: "1.2.3".into(),
        time: 1_795_823_533,
    }
}

fn files() -> Vec<File> {
    vec![
        File::new("usr/share/doc/linerate/copyright", 0o644, "text\n"),
        File::new("usr/bin/linerate", 0o755, vec![0x7f; 3001]),
    ]
}

type Maker = fn(&Release, &[File]) -> Result<Vec<u8>, String>;

const MAKERS: [(&str, Maker); 4] = [
    ("deb", |release, files| deb::build(release, "amd64", files)),
    ("rpm", |release, files| rpm::build(release, "x86_64", files)),
    ("apk", |release, files| apk::build(release, "x86_64", files)),
    ("image", |release, files| {
        image::build(release, ("arm", Some("v7")), files)
    }),
];

#[test]
fn the_same_input_gives_the_same_bytes_in_any_order() {
    let mut turned = files();
    turned.reverse();
    for (name, make) in MAKERS {
        let first = make(&release(), &files()).unwrap();
        assert_eq!(first, make(&release(), &files()).unwrap(), "{name}");
        // md5sums and rpm's index follow the order in which files are given.
        if !["deb", "rpm"].contains(&name) {
            assert_eq!(first, make(&release(), &turned).unwrap(), "{name}");
        }
    }
}

#[test]
fn another_input_gives_other_bytes() {
    let mut changed = files();
    changed[1].bytes[3000] = 0;
    let later = Release {
        time: release().time + 1,
        ..release()
    };
    for (name, make) in MAKERS {
        let first = make(&release(), &files()).unwrap();
        assert_ne!(first, make(&release(), &changed).unwrap(), "{name}");
        assert_ne!(first, make(&later, &files()).unwrap(), "{name}");
    }
}

#[test]
fn no_package_names_the_host_that_builds() {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim().as_bytes();
    assert!(!host.is_empty());
    for (name, make) in MAKERS {
        let bytes = make(&release(), &files()).unwrap();
        let found = bytes.windows(host.len()).any(|window| window == host);
        assert!(!found || host == b"localhost", "{name}");
    }
}

#[test]
fn a_tar_belongs_to_root_and_has_one_time() {
    let bytes = archive::tar(&files(), archive::Style::DOT, 77).unwrap();
    let mut tar = ::tar::Archive::new(bytes.as_slice());
    let mut paths = Vec::new();
    for entry in tar.entries().unwrap() {
        let entry = entry.unwrap();
        let header = entry.header();
        assert_eq!(
            (
                header.uid().unwrap(),
                header.gid().unwrap(),
                header.mtime().unwrap()
            ),
            (0, 0, 77)
        );
        assert_eq!(header.username().unwrap(), Some("root"));
        paths.push(String::from_utf8(entry.path_bytes().into_owned()).unwrap());
    }
    let expected = [
        "./usr/",
        "./usr/bin/",
        "./usr/share/",
        "./usr/share/doc/",
        "./usr/share/doc/linerate/",
        "./usr/bin/linerate",
        "./usr/share/doc/linerate/copyright",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn a_deb_has_its_three_members_and_fields() {
    let bytes = deb::build(&release(), "arm64", &files()).unwrap();
    let members = ar(&bytes);
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
    assert_eq!(members[0].1, b"2.0\n");
    let control = untar(&gunzip(&members[1].1).0);
    let fields = String::from_utf8(control["./control"].clone()).unwrap();
    assert!(
        fields.starts_with("Package: linerate\nVersion: 1.2.3\nArchitecture: arm64\n"),
        "{fields}"
    );
    // 5 bytes and 3001 bytes, each rounded up.
    assert!(fields.contains("\nInstalled-Size: 4\n"), "{fields}");
    let sums = String::from_utf8(control["./md5sums"].clone()).unwrap();
    // printf 'text\n' | md5sum
    assert!(
        sums.contains("e1cbb0c3879af8347246f12c559a86b5  usr/share/doc/linerate/copyright\n"),
        "{sums}"
    );
    let data = untar(&gunzip(&members[2].1).0);
    assert_eq!(data["./usr/bin/linerate"].len(), 3001);
}

#[test]
fn no_script_of_a_deb_starts_or_enables_the_service() {
    let bytes = deb::build(&release(), "amd64", &files()).unwrap();
    let control = untar(&gunzip(&ar(&bytes)[1].1).0);
    for (name, text) in control
        .iter()
        .filter(|(name, _)| name.contains("rm") || name.contains("inst"))
    {
        let text = String::from_utf8(text.clone()).unwrap();
        assert!(text.starts_with("#!/bin/sh\nset -e\n"), "{name}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let starts = [" start", " enable", " restart"]
                .iter()
                .any(|verb| line.contains(verb));
            assert!(!starts, "{name}: {line}");
        }
    }
}

#[test]
fn an_rpm_is_read_back_with_right_digests() {
    let bytes = rpm::build(&release(), "riscv64", &files()).unwrap();
    let package = ::rpm::Package::parse(&mut bytes.as_slice()).unwrap();
    package.verify_digests().unwrap();
    let metadata = &package.metadata;
    assert_eq!(metadata.get_name().unwrap(), "linerate");
    assert_eq!(metadata.get_version().unwrap(), "1.2.3");
    assert_eq!(metadata.get_arch().unwrap(), "riscv64");
    assert_eq!(metadata.get_build_host().unwrap(), "localhost");
    assert!(metadata.get_post_install_script().is_err());
    let entries = metadata.get_file_entries().unwrap();
    let program = entries
        .iter()
        .find(|entry| entry.path().ends_with("bin/linerate"))
        .unwrap();
    assert_eq!(program.mode().permissions(), 0o755);
}

#[test]
fn an_apk_is_two_members_that_read_as_one_tar() {
    let bytes = apk::build(&release(), "x86_64", &files()).unwrap();
    let (control, rest) = gunzip(&bytes);
    let (data, end) = gunzip(rest);
    assert!(end.is_empty());
    let info = String::from_utf8(untar(&control)[".PKGINFO"].clone()).unwrap();
    let hash = format!("datahash = {}\n", archive::sha256(rest));
    assert!(
        info.starts_with("pkgname = linerate\npkgver = 1.2.3-r0\n") && info.contains(&hash),
        "{info}"
    );
    let whole = [control, data].concat();
    let both = untar(&whole);
    assert_eq!(both.len(), 3, "{:?}", both.keys());
    let mut tar = ::tar::Archive::new(whole.as_slice());
    let mut sums = Vec::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        for record in entry.pax_extensions().unwrap().into_iter().flatten() {
            let record = record.unwrap();
            sums.push((
                record.key().unwrap().to_owned(),
                record.value().unwrap().to_owned(),
            ));
        }
    }
    // printf 'text\n' | sha1sum
    let of_text = "aa785adca3fcdfe1884ae840e13c6d294a2414e8".len();
    assert!(
        sums.iter()
            .all(|(key, value)| key == "APK-TOOLS.checksum.SHA1" && value.len() == of_text)
    );
    assert_eq!(sums.len(), 2);
}

/// apk (`apk_tar_parse`) ends at the second header without a name, whatever its kind.
#[test]
fn every_header_of_an_apk_has_a_name() {
    let bytes = apk::build(&release(), "x86_64", &files()).unwrap();
    let (control, rest) = gunzip(&bytes);
    let whole = [control, gunzip(rest).0].concat();
    let (mut at, mut kinds) = (0, String::new());
    while at + 1024 < whole.len() {
        let header = ::tar::Header::from_byte_slice(&whole[at..at + 512]);
        assert!(!header.path_bytes().is_empty(), "at {at}, after {kinds}");
        kinds.push(char::from(header.entry_type().as_byte()));
        at += 512 + header.entry_size().unwrap().next_multiple_of(512) as usize;
    }
    // .PKGINFO; directories; each file after its record.
    assert_eq!(kinds, "055555x0x0");
}

#[test]
fn a_record_counts_its_own_length() {
    let record = |name: &'static str, value: &str| archive::record(&(name, value.to_owned()));
    // The example of pax(1).
    assert_eq!(
        record("ctime", "1350244992.023960108"),
        "30 ctime=1350244992.023960108\n"
    );
    for length in 80..120 {
        let text = record("comment", &"x".repeat(length));
        assert!(text.starts_with(&format!("{} ", text.len())), "{text}");
    }
}

#[test]
fn every_digest_of_an_image_is_that_of_its_blob() {
    let bytes = image::build(&release(), ("arm", Some("v7")), &files()).unwrap();
    let members = untar(&bytes);
    let json = |path: &str| serde_json::from_slice::<Value>(&members[path]).unwrap();
    let blob = |descriptor: &Value| {
        let hash = descriptor["digest"]
            .as_str()
            .unwrap()
            .strip_prefix("sha256:")
            .unwrap();
        let blob = &members[&format!("blobs/sha256/{hash}")];
        assert_eq!(archive::sha256(blob), hash);
        assert_eq!(descriptor["size"], blob.len());
        blob
    };
    let manifest: Value =
        serde_json::from_slice(blob(&json("index.json")["manifests"][0])).unwrap();
    let config: Value = serde_json::from_slice(blob(&manifest["config"])).unwrap();
    let layer = gunzip(blob(&manifest["layers"][0])).0;
    let diff = format!("sha256:{}", archive::sha256(&layer));
    assert_eq!(config["rootfs"]["diff_ids"][0], diff);
    assert_eq!(
        (&config["architecture"], &config["variant"]),
        (&"arm".into(), &"v7".into())
    );
    assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/linerate");
    assert!(untar(&layer).contains_key("usr/bin/linerate"));
    let docker = &json("manifest.json")[0];
    assert!(members.contains_key(docker["Config"].as_str().unwrap()));
    assert!(members.contains_key(docker["Layers"][0].as_str().unwrap()));
}

#[test]
fn checksums_are_those_of_sha256sum() {
    // printf 'abc' | sha256sum
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.deb\n";
    assert_eq!(sums(&[File::new("a.deb", 0o644, "abc")]), expected);
}

/// The members of ar(5), by a reader that knows only the header's columns.
fn ar(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut rest = bytes.strip_prefix(b"!<arch>\n").unwrap();
    let mut members = Vec::new();
    while !rest.is_empty() {
        let header = std::str::from_utf8(&rest[..60]).unwrap();
        assert!(header.ends_with("`\n"), "{header:?}");
        let size: usize = header[48..58].trim().parse().unwrap();
        members.push((header[..16].trim().to_owned(), rest[60..60 + size].to_vec()));
        rest = &rest[(60 + size + size % 2).min(rest.len())..];
    }
    members
}

/// The first member, and what follows it.
fn gunzip(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut gzip = GzDecoder::new(bytes);
    let mut plain = Vec::new();
    gzip.read_to_end(&mut plain).unwrap();
    (plain, gzip.into_inner())
}

/// Regular files by path.
fn untar(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut tar = ::tar::Archive::new(bytes);
    let mut files = BTreeMap::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        if !path.ends_with('/') {
            files.insert(path, content);
        }
    }
    files
}
