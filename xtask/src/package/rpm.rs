// SPDX-License-Identifier: MIT OR Apache-2.0
//! An RPM package of format 4, which every rpm since 4.14 reads: by the crate `rpm`.

use rpm::{BuildConfig, CompressionWithLevel, FileOptions, PackageBuilder, Timestamp};

use super::{DESCRIPTION, File, LICENSE, Release, SUMMARY};

/// The package for `architecture` that installs `files`.
pub(crate) fn build(
    release: &Release,
    architecture: &str,
    files: &[File],
) -> Result<Vec<u8>, String> {
    packed(release, architecture, files).map_err(|why| format!("rpm: {why}"))
}

fn packed(release: &Release, architecture: &str, files: &[File]) -> Result<Vec<u8>, rpm::Error> {
    let time = Timestamp(u32::try_from(release.time).unwrap_or(u32::MAX));
    let config = BuildConfig::v4()
        .compression(CompressionWithLevel::Gzip(9))
        .source_date(time);
    let mut builder =
        PackageBuilder::new("linerate", &release.version, LICENSE, architecture, SUMMARY);
    builder
        .using_config(config)
        .release("1")
        .description(DESCRIPTION)
        .group("Applications/Internet")
        // The name of the host that builds is none of the reader's.
        .build_host("localhost")
        .pre_uninstall_script(PREUN);
    for directory in OWNED {
        builder.with_dir_entry(FileOptions::dir(*directory).permissions(0o755))?;
    }
    for file in files {
        builder.with_file_contents(file.bytes.as_slice(), options(file))?;
    }
    let mut bytes = Vec::new();
    builder.build()?.write(&mut bytes)?;
    Ok(bytes)
}

fn options(file: &File) -> rpm::FileOptionsBuilder {
    let options = FileOptions::new(format!("/{}", file.path))
        .permissions(u16::try_from(file.mode).unwrap_or(0o644));
    match file.path.as_str() {
        path if path.starts_with("usr/share/licenses/") => options.license(),
        path if path.starts_with("usr/share/doc/") || path.starts_with("usr/share/man/") => {
            options.doc()
        }
        _ => options,
    }
}

/// Directories that belong to this package alone.
const OWNED: &[&str] = &["/usr/share/doc/linerate", "/usr/share/licenses/linerate"];

/// What `%systemd_preun` of systemd.macros does: a removed package leaves no server and no link.
const PREUN: &str = "\
if [ $1 -eq 0 ] && [ -d /run/systemd/system ]; then
    systemctl --no-reload disable --now --no-warn linerate.service || :
fi
";
