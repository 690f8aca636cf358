// SPDX-License-Identifier: MIT OR Apache-2.0
//! The recipes of `packaging/`: make reads the makefiles with stubs of their build systems, and each recipe agrees with the
//! workspace in version, licences and profile. No test here builds with a build system.
#![cfg(test)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use md5::{Digest, Md5};
use sha2::Sha256;

#[test]
fn make_reads_the_recipe_of_openwrt() {
    let top = Stubs::new("openwrt");
    top.write("rules.mk", "INCLUDE_DIR:=$(TOPDIR)/include\n");
    top.write("include/package.mk", "define BuildPackage\n$(info @start)$(info $(Package/$(1)))$(info $(call Package/$(1)/install,ROOT))$(info $(Build/Compile))$(info @end)\nendef\n");
    top.write(
        "feeds/packages/lang/rust/rust-package.mk",
        "RUST_ARCH_DEPENDS:=@(x86_64)\nCARGO_PKG_PROFILE:=release\n\
         Build/Compile/Cargo=cargo install --profile $(CARGO_PKG_PROFILE) --path $(1) --locked $(2)\nPKG_INSTALL_DIR:=PKG\nINSTALL_BIN:=cp\n",
    );
    let Some(text) = top.make(
        &packaging("openwrt/Makefile"),
        &["print-PKG_VERSION", "print-PKG_SOURCE"],
    ) else {
        return println!("skipped: make is not installed");
    };
    for expected in [
        "TITLE:=Measure a network link",
        "DEPENDS:=@(x86_64)",
        // cargo refuses an option twice: `--locked` is the build system's.
        "cargo install --profile dist --path crates/linerate --locked \n",
        "cp PKG/bin/linerate ROOT/usr/bin/",
        &format!("PKG_VERSION={}\n", version()),
        &format!("PKG_SOURCE=linerate-{}.tar.gz\n", version()),
    ] {
        assert!(text.contains(expected), "no {expected:?} in:\n{text}");
    }
    assert!(root().join("crates/linerate/Cargo.toml").exists());
}

#[test]
fn make_reads_the_recipe_of_buildroot() {
    let top = Stubs::new("buildroot");
    top.write(
        "stub.mk",
        "qstrip=$(subst \",,$(1))\nBR2_PACKAGE_LINERATE_SITE=\"file:///src\"\nRUSTC_TARGET_NAME=riscv64gc-unknown-linux-musl\n\
         TARGET_DIR=ROOT\nINSTALL=install\ncargo-package=$(info @$(LINERATE_BUILD_CMDS))$(info @$(LINERATE_INSTALL_TARGET_CMDS))\n",
    );
    let makefile = top.0.join("Makefile");
    top.write(
        "Makefile",
        &format!(
            "include $(TOPDIR)/stub.mk\ninclude {}\n",
            packaging("buildroot/linerate.mk").display()
        ),
    );
    let names = [
        "print-LINERATE_SITE",
        "print-LINERATE_SOURCE",
        "print-LINERATE_LICENSE_FILES",
        "print-BR_NO_CHECK_HASH_FOR",
    ];
    let Some(text) = top.make(&makefile, &names) else {
        return println!("skipped: make is not installed");
    };
    for expected in [
        "--profile dist",
        "--package linerate",
        "/target/riscv64gc-unknown-linux-musl/dist/linerate",
        "ROOT/usr/bin/linerate",
        "LINERATE_SITE=file:///src\n",
        &format!("LINERATE_SOURCE=linerate-{}.tar.gz\n", version()),
        "LINERATE_LICENSE_FILES=LICENSE-MIT LICENSE-APACHE\n",
        // A file without a checksum is refused, unless it is named here.
        &format!("BR_NO_CHECK_HASH_FOR=linerate-{}.tar.gz\n", version()),
    ] {
        assert!(text.contains(expected), "no {expected:?} in:\n{text}");
    }
}

#[test]
fn the_options_of_buildroot_are_complete() {
    let text = read(&packaging("buildroot/Config.in"));
    let entries: Vec<&str> = text.split("config ").skip(1).collect();
    assert_eq!(entries.len(), 2, "{text}");
    for entry in &entries {
        assert!(entry.starts_with("BR2_PACKAGE_LINERATE"), "{entry}");
        assert!(
            entry.contains("\n\tbool \"") || entry.contains("\n\tstring \""),
            "{entry}"
        );
        assert!(entry.contains("\n\thelp\n\t  "), "{entry}");
    }
    assert!(entries[0].contains("\tselect BR2_PACKAGE_HOST_RUSTC\n"));
    assert_eq!(
        text.matches("\nif ").count(),
        text.matches("\nendif").count()
    );
}

#[test]
fn the_hashes_of_buildroot_are_those_of_the_licences() {
    let text = read(&packaging("buildroot/linerate.hash"));
    let mut checked = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["sha256", sum, file] = words[..] else {
            panic!("{line}");
        };
        assert_eq!(
            sum,
            hex(&Sha256::digest(read(&root().join(file)))),
            "{file}"
        );
        checked += 1;
    }
    assert_eq!(checked, 2);
}

#[test]
fn the_recipe_of_yocto_has_what_bitbake_requires() {
    let path = packaging("yocto").join(format!("linerate_{}.bb", version()));
    let recipe = assignments(&read(&path));
    for name in [
        "SUMMARY",
        "DESCRIPTION",
        "SECTION",
        "LICENSE",
        "LIC_FILES_CHKSUM",
        "SRC_URI",
        "inherit",
    ] {
        assert!(recipe.contains_key(name), "no {name}: {recipe:#?}");
    }
    assert_eq!(recipe["SRC_URI"], "file://linerate-${PV}.tar.gz");
    assert_eq!(recipe["CARGO_PROFILE"], "dist");
    assert_eq!(recipe["BUILD_MODE"], "--profile dist");
    assert_eq!(recipe["SYSTEMD_AUTO_ENABLE"], "disable");
    let mut checked = 0;
    for one in recipe["LIC_FILES_CHKSUM"].split_whitespace() {
        let (file, sum) = one
            .strip_prefix("file://")
            .unwrap()
            .split_once(";md5=")
            .unwrap();
        assert_eq!(sum, hex(&Md5::digest(read(&root().join(file)))), "{file}");
        checked += 1;
    }
    assert_eq!(checked, 2);
}

#[test]
fn a_mistake_in_a_recipe_of_yocto_is_found() {
    for wrong in [
        "SUMMARY = \"open\n",
        "SUMMARY\n",
        "do_install() {\n    true\n",
    ] {
        assert!(
            std::panic::catch_unwind(|| assignments(wrong)).is_err(),
            "{wrong:?}"
        );
    }
}

#[test]
fn every_recipe_is_of_this_version_and_builds_a_profile_that_exists() {
    let manifest = read(&root().join("Cargo.toml"));
    assert!(manifest.contains("\n[profile.dist]\n"));
    for file in [
        "openwrt/Makefile",
        "buildroot/Config.in",
        "buildroot/linerate.mk",
    ] {
        let text = read(&packaging(file));
        let named = text.matches(&format!("linerate-{}", version())).count()
            + text.matches(&format!("= {}\n", version())).count();
        assert!(named > 0, "{file} names another version");
    }
}

/// Assignments, `inherit` and the lines of functions, as bitbake's manual (chapter 3) defines them; it panics on other lines.
fn assignments(text: &str) -> BTreeMap<String, String> {
    let joined = text.replace("\\\n", "");
    let mut found = BTreeMap::new();
    let mut function = false;
    for line in joined.lines() {
        match line {
            "}" => function = false,
            _ if function || line.is_empty() || line.starts_with('#') => {}
            _ if line.ends_with("() {") => function = true,
            _ if line.starts_with("inherit ") || line.starts_with("include ") => {
                let (word, rest) = line.split_once(' ').unwrap_or_default();
                found.insert(word.to_owned(), rest.to_owned());
            }
            _ => {
                let (name, value) = line
                    .split_once(" = ")
                    .unwrap_or_else(|| panic!("not an assignment: {line}"));
                let value = value
                    .strip_prefix('"')
                    .and_then(|value| value.strip_suffix('"'));
                found.insert(
                    name.to_owned(),
                    value
                        .unwrap_or_else(|| panic!("not quoted: {line}"))
                        .trim()
                        .to_owned(),
                );
            }
        }
    }
    assert!(!function, "a function has no end");
    found
}

/// A directory with stubs, removed when dropped.
struct Stubs(PathBuf);

impl Stubs {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}", std::process::id()));
        directory(&path);
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        directory(path.parent().unwrap_or(&self.0));
        fs::write(&path, text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }

    /// What make prints; each goal `print-NAME` prints a variable. None where there is no make.
    fn make(&self, makefile: &Path, goals: &[&str]) -> Option<String> {
        let print = "print-%: ; @echo '$*=$($*)'";
        let output = Command::new("make")
            .args(["--no-print-directory", "--warn-undefined-variables", "-f"])
            .arg(makefile)
            .args(["--eval", print])
            .arg(format!("TOPDIR={}", self.0.display()))
            .args(goals)
            .current_dir(&self.0)
            .output();
        let Ok(output) = output else {
            return None;
        };
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        // A directory in `target`.
        let _removed = fs::remove_dir_all(&self.0);
    }
}

fn directory(path: &Path) {
    fs::create_dir_all(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn packaging(file: &str) -> PathBuf {
    root().join("packaging").join(file)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
