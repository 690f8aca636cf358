// SPDX-License-Identifier: MIT OR Apache-2.0
//! The longest time in microseconds that a processor may need to wake up: `/dev/cpu_dma_latency`
//! (Documentation/power/pm_qos_interface.rst). A request lasts as long as its file is open: it ends with the process, however
//! that ends. The smallest request of all is in force.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::knob::invalid;

/// The request of this process.
static HELD: Mutex<Option<File>> = Mutex::new(None);

/// What is in force.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut bytes = [0; 4];
    File::open(path)?.read_exact(&mut bytes)?;
    Ok(i32::from_ne_bytes(bytes).to_string())
}

/// Ends the request of this process; makes another one where more than `value` is in force without it.
pub(crate) fn write(path: &Path, value: &str) -> io::Result<()> {
    let wanted: i32 = value.parse().map_err(invalid)?;
    if wanted < 0 {
        return Err(invalid("less than 0"));
    }
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    *held = None;
    let without: i32 = read(path)?.parse().map_err(invalid)?;
    if without <= wanted {
        return Ok(());
    }
    let mut request = OpenOptions::new().write(true).open(path)?;
    request.write_all(&wanted.to_ne_bytes())?;
    *held = Some(request);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It lasts for a moment, and no longer than this process.
    #[test]
    fn a_request_is_in_force_while_it_is_held() {
        let path = Path::new("/dev/cpu_dma_latency");
        let Ok(before) = read(path) else {
            println!("skipped: no {}", path.display());
            return;
        };
        if let Err(why) = write(path, "50") {
            println!("skipped: {why}");
            return;
        }
        let held: i32 = read(path).unwrap().parse().unwrap();
        assert!(held <= 50, "{held}");
        write(path, &before).unwrap();
        assert_eq!(read(path).unwrap(), before);
        assert!(write(path, "-1").is_err() && write(path, "soon").is_err());
    }
}
