//! The folder that a command names files from: rustc names those of a package from the root of Cargo's workspace, which
//! may be above Sextant's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::run_program;
use crate::finding::Finding;

/// Makes the names of files in findings absolute. `arguments` make the program print a file in the folder that it names
/// files from; without any it is the root.
///
/// # Errors
/// The reason why the folder is not known.
pub(super) async fn resolve(
    program: &Path,
    arguments: &[String],
    root: &Path,
    findings: &mut [Finding],
    limit: Duration,
) -> Result<(), String> {
    let is_relative = |name: &String| !name.starts_with('/');
    let mut relative: Vec<&mut String> =
        findings.iter_mut().filter_map(|one| one.file.as_mut()).filter(|name| is_relative(name)).collect();
    if arguments.is_empty() || relative.is_empty() {
        return Ok(());
    }
    let unknown = || "it does not say where the names of its files begin".to_owned();
    let ran = run_program::run(program, arguments, root, None, limit).await.map_err(|_| unknown())?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let folder = folder(&text).filter(|_| ran.status == 0).ok_or_else(unknown)?;
    for name in &mut relative {
        **name = folder.join(name.as_str()).to_str().ok_or_else(unknown)?.to_owned();
    }
    Ok(())
}

fn folder(printed: &str) -> Option<PathBuf> {
    let file = Path::new(printed.trim()).parent()?;
    // The root has no links in its path.
    file.is_absolute().then(|| file.canonicalize().unwrap_or_else(|_| file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn resolved(script: &str, names: &[&str]) -> Result<Vec<String>, String> {
        let finding = |name: &&str| Finding { file: Some((*name).to_owned()), ..Finding::default() };
        let mut findings: Vec<Finding> = names.iter().map(finding).collect();
        let arguments = ["-c", script].map(str::to_owned);
        let limit = Duration::from_secs(60);
        resolve(Path::new("/bin/sh"), &arguments, Path::new("/"), &mut findings, limit).await?;
        Ok(findings.into_iter().filter_map(|one| one.file).collect())
    }

    #[tokio::test]
    async fn relative_names_begin_in_the_folder_that_the_command_prints() {
        let found = resolved("echo /no/such/Cargo.toml", &["core/a.rs", "/else/b.rs"]).await;
        assert_eq!(found, Ok(vec!["/no/such/core/a.rs".to_owned(), "/else/b.rs".to_owned()]));
        assert_eq!(resolved("exit 1", &["/else/b.rs"]).await, Ok(vec!["/else/b.rs".to_owned()]), "nothing to ask");
        for wrong in ["echo Cargo.toml", "echo /w/Cargo.toml; exit 1", "true"] {
            assert!(resolved(wrong, &["a.rs"]).await.is_err(), "{wrong}");
        }
    }
}
