//! Names the sockets at which the engine reaches the servers behind proxies, and removes those of dead proxies.
//!
//! A proxy that was killed, as an editor does when it closes, leaves its socket. The next proxy of the workspace removes
//! it, and the engine where it sees a link end.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};

/// The beginning of the name of a socket; the process id of its proxy follows.
const SOCKET: &str = "proxy-";

/// The time after the end of a link in which its proxy comes to its end, too.
const DYING: Duration = Duration::from_secs(1);

/// The path of this process's socket.
pub(crate) fn of_this_process(folder: &Path) -> PathBuf {
    folder.join(format!("{SOCKET}{}.sock", std::process::id()))
}

/// Removes the sockets whose proxies are gone.
pub(crate) fn sweep(folder: &Path) {
    let dead = |pid: i32| {
        let pid = Pid::from_raw(pid)?;
        Some(test_kill_process(pid).is_err_and(|error| error == rustix::io::Errno::SRCH))
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(SOCKET)?.strip_suffix(".sock")?.parse().ok());
        if pid.and_then(dead) == Some(true) && entry.file_type().is_ok_and(|kind| kind.is_socket()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Does the same once a proxy whose link has ended is gone.
pub(crate) async fn sweep_soon(folder: PathBuf) {
    tokio::time::sleep(DYING).await;
    sweep(&folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sockets_of_dead_proxies_go_and_those_of_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let (dead, alive) = (at("proxy-2147483646.sock"), of_this_process(dir.path()));
        for path in [&dead, &alive, &at("engine.sock")] {
            drop(std::os::unix::net::UnixListener::bind(path).unwrap());
        }
        std::fs::write(at("proxy-2147483645.sock"), "no socket").unwrap();
        sweep(dir.path());
        assert!(!dead.exists());
        assert!(alive.exists() && at("engine.sock").exists() && at("proxy-2147483645.sock").exists());
    }
}
