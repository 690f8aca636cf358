// SPDX-License-Identifier: MIT OR Apache-2.0
//! The secret of a lab's hosts, random for each lab. It is in a memory file of this process that only its user's
//! processes can open.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::process::{self, Command};
use std::sync::Arc;

use linerate_linux::{memory_file, random};
use linerate_wire::linerate::token::{Digits, FILE_VARIABLE, Nonce, Secret};

/// Valid as long as the lab.
#[derive(Debug, Clone)]
pub struct LabToken {
    secret: Secret,
    file: Arc<File>,
}

impl LabToken {
    /// `None` before Linux 3.17: then the lab's client is not authenticated.
    pub fn make() -> Option<Self> {
        Self::create().ok()
    }

    fn create() -> io::Result<Self> {
        let mut nonce: Nonce = Digits([0; 32]);
        random::fill(&mut nonce.0)?;
        let line = nonce.to_string();
        let secret = Secret::new(line.as_bytes());
        let mut file = memory_file::create()?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(line.as_bytes())?;
        let secret = secret.ok_or(io::ErrorKind::InvalidData)?;
        let file = Arc::new(file);
        Ok(Self { secret, file })
    }

    /// For a client in this process.
    pub fn secret(&self) -> Secret {
        self.secret.clone()
    }

    /// Passes the token to a program of the lab; without a token, removes any other from its environment.
    pub fn hand(token: Option<&Self>, command: &mut Command) {
        match token {
            None => command.env_remove(FILE_VARIABLE),
            Some(token) => {
                let (process, number) = (process::id(), token.file.as_raw_fd());
                command.env(FILE_VARIABLE, format!("/proc/{process}/fd/{number}"))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_endpoint::token;

    #[test]
    fn a_program_of_the_lab_reads_the_token() {
        let token = LabToken::make().unwrap();
        let mut command = Command::new("true");
        LabToken::hand(Some(&token), &mut command);
        let path = command.get_envs().next().unwrap().1.unwrap();
        assert_eq!(token::read(path.as_ref()), Ok(token.secret()));
        assert_eq!(token::read(path.as_ref()), Ok(token.secret()), "twice");
        let mut command = Command::new("true");
        LabToken::hand(None, &mut command);
        assert_eq!(command.get_envs().next().unwrap().1, None);
        assert_ne!(LabToken::make().unwrap().secret(), token.secret());
    }
}
