//! A project in a folder of its own, gone with the test.

use std::fs;
use std::path::{Path, PathBuf};

use sextant::memory::store::Memory;
use sextant::workspace::record_folder::{Record, state_folder};
use sextant::workspace::root::Root;
use tempfile::TempDir;

pub struct Project {
    dir: TempDir,
    root: PathBuf,
}

impl Project {
    /// Files by path. A `pyproject.toml` that marks the root is added where there is none.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::named("project", files)
    }

    /// The same in a folder of this name.
    pub fn named(name: &str, files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        // Servers and editors speak of real paths.
        let root = dir.path().canonicalize().expect("a real path").join(name);
        fs::create_dir_all(&root).expect("a folder");
        let project = Self { dir, root };
        if !files.iter().any(|(path, _)| *path == "pyproject.toml") {
            project.write("pyproject.toml", "[tool.basedpyright]\ntypeCheckingMode = \"standard\"\n");
        }
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A copy of `tests/fixtures/shop`.
    pub fn shop() -> Self {
        Self::copy_of("tests/fixtures/shop")
    }

    /// Two crates; `shop` depends on `base`, and has an old warning.
    #[allow(dead_code, reason = "not every suite uses it")]
    pub fn crates() -> Self {
        let member = |name: &str, needs: &str| {
            let package = format!("name = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
            format!("[package]\n{package}\n[dependencies]\n{needs}")
        };
        Self::new(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"base\", \"shop\"]\nresolver = \"2\"\n"),
            ("base/Cargo.toml", &member("base", "")),
            ("base/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
            ("shop/Cargo.toml", &member("shop", "base = { path = \"../base\" }\n")),
            ("shop/src/lib.rs", "pub fn two() -> u32 {\n    let unused = 3;\n    base::one() + 1\n}\n"),
        ])
    }

    /// A copy of a folder of this repository.
    pub fn copy_of(folder: &str) -> Self {
        let project = Self::new(&[]);
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &project.root);
        project
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A folder beside the project, for homes and sockets.
    pub fn beside(&self, name: &str) -> PathBuf {
        let folder = self.dir.path().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    /// What `XDG_STATE_HOME` is for everything that runs on this project.
    pub fn state_home(&self) -> PathBuf {
        self.beside("state")
    }

    /// The record of this project, of which nothing need exist.
    pub fn record(&self) -> Record {
        Record::of(&self.state_folder(), &Root::new(&self.root).expect("a root"))
    }

    /// Sextant's own folder in [`Project::state_home`].
    pub fn state_folder(&self) -> PathBuf {
        let home = self.state_home();
        state_folder(|name| (name == "XDG_STATE_HOME").then(|| home.clone().into())).expect("a state folder")
    }

    /// Where the memory file of this project is, or will be.
    pub fn memory_file(&self) -> PathBuf {
        self.record().file()
    }

    /// The project's memory, made where there is none yet.
    pub fn memory(&self) -> Memory {
        self.record().make().expect("folders");
        Memory::open(&self.memory_file()).expect("a memory")
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Every file with its bytes, sorted by path.
    pub fn bytes(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    // What the checkers keep for themselves is not the project.
                    let own = [".ruff_cache", "__pycache__"].iter().any(|name| path.ends_with(name));
                    if !own {
                        folders.push(path);
                    }
                } else {
                    found.push((path.clone(), fs::read(path).expect("a file")));
                }
            }
        }
        found.sort();
        found
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the fixture").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
