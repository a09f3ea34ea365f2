//! TypeScript's packages: those of Node's index that ship their sources.

use std::path::Path;

use crate::reach::language::{fetched, node_folder};
use crate::reach::packages::{Package, texts};

/// Plain functions and types, an index of many small files, classes with old errors.
pub const USUAL: &[&str] = &["immer@10.1.1", "rxjs@7.8.2", "mobx@6.13.7"];

const STRICT: &str = "{\"compilerOptions\": {\"strict\": true, \"noUnusedLocals\": true, \"noEmit\": true, \
    \"target\": \"es2022\", \"lib\": [\"es2022\", \"dom\", \"dom.iterable\"], \"module\": \"esnext\", \
    \"moduleResolution\": \"bundler\", \"types\": []}, \"include\": [\"src\"]}\n";

/// The named packages, `name@version`, which are fetched where they are missing.
pub async fn list(names: Vec<&str>) -> Vec<Package> {
    let mut packages = Vec::new();
    for name in names {
        let place = fetched("").join("reach").join(name);
        let sources = place.join("node_modules").join(name.split('@').next().unwrap_or_default()).join("src");
        if !sources.is_dir() {
            install(&place, name).await;
        }
        let is_own = |path: &str| !path.ends_with(".d.ts") || path.contains("types");
        let own = texts(&sources, "ts").into_iter().filter(|(path, _)| is_own(path));
        let mut files: Vec<_> = own.map(|(path, text)| (format!("src/{path}"), text)).collect();
        files.push(("tsconfig.json".to_owned(), STRICT.to_owned()));
        packages.push(Package { name: name.to_owned(), files });
    }
    packages
}

async fn install(place: &Path, name: &str) {
    std::fs::create_dir_all(place).expect("a folder");
    let folder = node_folder();
    let mut npm = tokio::process::Command::new(folder.join("bin/node"));
    npm.arg(folder.join("lib/node_modules/npm/bin/npm-cli.js"));
    npm.args(["install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--no-package-lock", "--prefix"]);
    let done = npm.arg(place).arg(name).output().await.expect("npm runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{name} is needed: check the network and npm's configuration: {said}");
}
