//! Options that cannot be used: named on the status line at the start, with the file that has them.

use serde_json::{Value, json};

use super::Place;
use crate::support::helix_client::{HelixClient, HelixVersion};

/// The line at the start of an editor with these options and this configuration file.
fn said_at_the_start(options: &Value, file: &str) -> String {
    let place = Place::new(&[("a.py", "x = 1\n")]);
    let folder = place.path().join("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), file).expect("a file");
    let mut command = place.proxy(&[], &[]);
    command.env("XDG_CONFIG_HOME", place.path().join("config"));
    let config = json!({"sextant": options});
    let helix = HelixClient::configured(HelixVersion::Master, &mut command, &place.root, config);
    let said =
        helix.wait("a line at the start", |seen| seen.said.iter().find(|said| said.contains("sextant: ")).cloned());
    assert!(said.chars().count() < 80, "{said}");
    helix.quit();
    said
}

#[test]
fn a_misspelt_option_is_named_at_the_start_with_its_own_file() {
    let model = "[model]\nprovider = \"openai\"\nmodel = \"m\"\nmod = 3\n";
    for (options, file, wanted) in [
        (json!({"mode": "superviced"}), "", "unknown variant `superviced` in languages.toml"),
        (json!({"nonsense": 1}), "mode = \"supervised\"\n", "unknown field `nonsense` in languages.toml"),
        (json!({}), model, "unknown field `mod` in sextant/config.toml"),
        (json!({"mode": "planner"}), model, "unknown field `mod` in sextant/config.toml"),
    ] {
        let said = said_at_the_start(&options, file);
        assert!(said.contains(wanted) && said.ends_with("(see the README)"), "{said}");
    }
}
