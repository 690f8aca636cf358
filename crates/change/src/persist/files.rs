// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files themselves, as settings: absent is the empty value. Only those that are linerate's by their names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use linerate_linux::file::{create_whole, replace_whole};
use linerate_linux::resolution::below;

use super::name::is_ours;
use crate::entry::{Key, Place};
use crate::world::World;

/// The files below a root directory.
#[derive(Debug, Clone)]
pub struct Files {
    root: PathBuf,
    place: Place,
}

impl Files {
    /// Those of this host: below `/`, and another directory in tests.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            place: Place::Host,
        }
    }

    /// Those of an image: of the system below a directory, which does not run here.
    #[must_use]
    pub fn of_image(root: &str) -> Self {
        let place = Place::Image {
            root: root.to_owned(),
        };
        Self {
            root: root.into(),
            place,
        }
    }

    /// The setting of a file with this path in the system.
    #[must_use]
    pub fn key(&self, path: &str) -> Key {
        Key {
            knob: format!("file {path}"),
            place: self.place.clone(),
        }
    }

    pub(super) fn is_of_image(&self) -> bool {
        self.place != Place::Host
    }

    /// Links to its directory are followed in the system that it belongs to; a link in its own place is not.
    fn path(&self, key: &Key) -> io::Result<PathBuf> {
        let path = key.knob.strip_prefix("file ").filter(|path| is_ours(path));
        let parts = path.and_then(|path| path.rsplit_once('/'));
        let (folder, name) =
            parts.ok_or_else(|| io::Error::other(format!("{} is not linerate's", key.knob)))?;
        let root = match &key.place {
            Place::Image { root } => Path::new(root),
            _ => &self.root,
        };
        Ok(below(root, folder)?.join(name))
    }
}

impl World for Files {
    fn read(&mut self, key: &Key) -> io::Result<String> {
        let path = self.path(key)?;
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => Err(io::Error::other("it is not a regular file")),
            Ok(found) if found.len() > LONG => Err(io::Error::other("it is longer than 64 KiB")),
            Ok(_) => fs::read_to_string(path),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(why) => Err(why),
        }
    }

    fn write(&mut self, key: &Key, value: &str) -> io::Result<()> {
        let path = self.path(key)?;
        let folder = path.parent().unwrap_or(&self.root);
        if value.is_empty() {
            return removed(&path, folder);
        }
        fs::create_dir_all(folder)?;
        match path.exists() {
            true => replace_whole(&path, value.as_bytes()),
            false => create_whole(&path, value.as_bytes()),
        }
    }

    fn run(&mut self, _line: &str, _directory: Option<&str>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn same(&mut self, _place: &Place) -> Result<(), String> {
        Ok(())
    }
}

/// With the directory of drop-ins, if it was the only one there.
fn removed(path: &Path, folder: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
        _ => fs::File::open(folder)?.sync_all()?,
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_of_drop_ins = DROP_INS.iter().any(|suffix| name.ends_with(suffix));
    if is_of_drop_ins {
        // Others may have one there.
        let _not_empty = fs::remove_dir(folder);
    }
    Ok(())
}

const LONG: u64 = 64 << 10;
const DROP_INS: [&str; 2] = [".link.d", ".target.d"];
