// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files for an image: where they go below its root, what is read there, and that nothing leads out of it.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use linerate_change::{
    Files, Host, Journal, Kept, Key, Memory, Place, Refusal, Surroundings, Trace, World, Written,
    persist, restore_kept, write,
};

/// A directory with an image and a place out of it, which is removed with what is in it.
struct Image(PathBuf);

impl Image {
    fn new(name: &str) -> Self {
        let folder = format!("image-{name}-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        let _old = fs::remove_dir_all(&path);
        for folder in ["root", "outside"] {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        Self(fs::canonicalize(path).unwrap())
    }

    fn root(&self) -> PathBuf {
        self.0.join("root")
    }

    fn put(&self, path: &str, text: &str) -> &Self {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) -> &Self {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    fn around(&self) -> Surroundings {
        let here = Surroundings {
            netns: Some(NETNS + 1),
            programs: vec!["irqbalance".to_owned()],
            interrupts: [(31, "eth0-rx-0".to_owned())].into(),
            ..Surroundings::default()
        };
        here.of_image(&self.root())
    }

    fn write_by(&self, trace: &mut impl Trace, kept: &Kept) -> Result<Vec<Written>, Refusal> {
        let planned = persist(std::slice::from_ref(kept), &self.around()).remove(0)?;
        let mut files = Files::of_image(self.root().to_str().unwrap());
        write(trace, &mut files, kept, &planned).unwrap()
    }

    fn write(&self) -> Result<Vec<Written>, Refusal> {
        self.write_by(&mut self.journal(), &rmem())
    }

    fn journal(&self) -> Journal {
        Journal::at(&self.0.join("state/journal"), "this boot")
    }

    fn is_nothing_outside(&self) -> bool {
        fs::read_dir(self.0.join("outside")).unwrap().count() == 0
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}

fn kept(knob: &str, place: Place, value: &str) -> Kept {
    Kept {
        key: Key {
            knob: knob.to_owned(),
            place,
        },
        value: value.to_owned(),
        because: "S05".to_owned(),
    }
}

fn rmem() -> Kept {
    let place = Place::Namespace { netns: NETNS };
    kept("sysctl net.ipv4.tcp_rmem", place, "4096 65536 777216")
}

/// Neither the namespace of the setting, nor a journal in memory, nor the absence of systemd matters.
#[test]
fn a_file_is_written_below_the_root_and_removed_in_any_boot() {
    let image = Image::new("written");
    let written = image.write().unwrap().remove(0);
    assert_eq!((&*written.path, written.activates.len()), (FILE, 0));
    let file = image.root().join(FILE.trim_start_matches('/'));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(&format!(
        "\n# Why: S05\n# Remove: rm {FILE}\nnet.ipv4.tcp_rmem = "
    )));
    let standing = image.journal().standing().unwrap().remove(0);
    assert_eq!(standing.key.file().as_deref(), file.to_str());
    assert!(standing.kept && standing.outlives("the next boot"));
    // Any program that has the journal finds it.
    let mut host = Host::here().unwrap();
    assert_eq!(host.read(&standing.key).unwrap(), text);
    let ended = restore_kept(&mut image.journal(), &mut host, "the next boot", false).unwrap();
    assert!(ended.iter().all(|one| one.end.is_closed()), "{ended:?}");
    assert!(!file.exists());
    image.write_by(&mut Memory::default(), &rmem()).unwrap();
    assert!(file.exists());
}

/// The image may have been deleted meanwhile.
#[test]
fn a_file_of_an_image_that_is_gone_is_no_longer_in_the_journal() {
    let image = Image::new("gone");
    image.write().unwrap();
    fs::remove_dir_all(image.root()).unwrap();
    let mut host = Host::here().unwrap();
    let ended = restore_kept(&mut image.journal(), &mut host, "the next boot", false).unwrap();
    assert!(ended.iter().all(|one| one.end.is_closed()), "{ended:?}");
    assert!(image.journal().standing().unwrap().is_empty());
}

/// As in a chroot: both would lead out of the image otherwise.
#[test]
fn a_link_leads_where_it_leads_in_the_image() {
    let image = Image::new("links");
    image.link("etc", image.0.join("outside"));
    let up = "../".repeat(64) + "data/sysctl";
    image.link(&below_outside(&image, "sysctl.d"), up);
    fs::create_dir_all(image.root().join("data/sysctl")).unwrap();
    image.write().unwrap();
    let name = FILE.rsplit('/').next().unwrap();
    assert!(image.root().join("data/sysctl").join(name).is_file());
    assert!(image.is_nothing_outside());
}

/// A path of the image with the name of the directory that is out of it.
fn below_outside(image: &Image, name: &str) -> String {
    let path = image.0.join("outside").join(name).display().to_string();
    path.trim_start_matches('/').to_owned()
}

#[test]
fn links_in_a_circle_and_in_the_place_of_the_file_are_refused() {
    let image = Image::new("circle");
    image
        .link("etc/sysctl.d", "other")
        .link("etc/other", "sysctl.d");
    let refusal = image.write().unwrap_err();
    assert!(refusal.why.contains("symbolic links"), "{refusal:?}");
    let image = Image::new("in-place");
    image
        .put("etc/passwd", "root\n")
        .link(FILE.trim_start_matches('/'), "/etc/passwd");
    let refusal = image.write().unwrap_err();
    let path = format!("{}{FILE}: ", image.root().display());
    assert!(refusal.why.starts_with(&path), "{refusal:?}");
    assert_eq!(
        fs::read_to_string(image.root().join("etc/passwd")).unwrap(),
        "root\n"
    );
    assert!(image.journal().standing().unwrap().is_empty());
}

#[test]
fn what_the_image_has_decides_and_not_what_runs_here() {
    let image = Image::new("around");
    let bare = image.around();
    assert!(bare.is_image && bare.programs.is_empty());
    assert_eq!(
        (bare.netns, bare.systemd, bare.interrupts.len()),
        (None, Some(0), 1)
    );
    let irq = kept("irq 31", Place::Host, "0-1");
    image.write_by(&mut image.journal(), &irq).unwrap();

    image
        .put("usr/lib/systemd/libsystemd-shared-255.so", "")
        .put("usr/lib/sysctl.d/50-default.conf", SET)
        .put("usr/lib/sysctl.d/95-other.conf", SET)
        .link("etc/sysctl.d/95-other.conf", "/dev/null")
        .link(
            "etc/systemd/system/multi-user.target.wants/irqbalance.service",
            "/none",
        );
    let around = image.around();
    assert_eq!(
        (around.systemd, &*around.programs),
        (Some(255), &["irqbalance".to_owned()][..])
    );
    let refusal = image.write_by(&mut image.journal(), &irq).unwrap_err();
    assert!(refusal.why.starts_with("irqbalance"), "{refusal:?}");
    let path = image.write().unwrap().remove(0).path;
    assert_eq!(path, FILE, "the other one is masked");

    fs::remove_file(image.root().join("etc/sysctl.d/95-other.conf")).unwrap();
    let path = image.write().unwrap().remove(0).path;
    assert!(path.contains("/99-linerate-"), "{path}");
}

const NETNS: u64 = 1;
const FILE: &str = "/etc/sysctl.d/90-linerate-net.ipv4.tcp_rmem.conf";
const SET: &str = "net.ipv4.tcp_rmem = 1 2 3\n";
