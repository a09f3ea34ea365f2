//! A header that the editor has not saved: clangd reads it from the disk for every other file.

use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::Freshness;

use super::Place;
use super::before::{own_engine, with_text};
use crate::support::helix_client::{HelixClient, HelixVersion};
use crate::support::servers::{PATIENCE_MS, language_tools};

const HEADER: &str = "#pragma once\nstruct Shape {\n    int area() const;\n};\n";
const SQUARE: &str = "#include \"shape.h\"\n\nint Shape::area() const { return 1; }\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_not_known_while_a_header_stands_in_its_buffer_alone() {
    let place = Place::new(&[("compile_flags.txt", "-std=c++17\n"), ("shape.h", HEADER), ("square.cc", SQUARE)]);
    let mut own = own_engine(&place);
    let command = vec![language_tools("clangd").join("clangd").display().to_string()];
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &command), &place.root);
    let agent = (&mut own.agent).await.expect("a session");
    let uri = helix.open("shape.h", "cpp");
    helix.open("square.cc", "cpp");
    helix.replace(&uri, "area()", "area(int times)");
    let changed = HEADER.replace("area()", "area(int times)");
    with_text(&agent, "shape.h", &changed).await;
    let (edited, beside) = (["shape.h".to_owned()], ["square.cc".to_owned()]);
    let ask = || agent.editor().diagnostics(&edited, &beside, Deadline::after_ms(PATIENCE_MS));
    let reports = ask().await;
    let of = |file: &str| reports.iter().find(|report| report.file == file).expect("a report");
    assert!(of("shape.h").freshness.is_fresh(), "{reports:?}");
    assert_eq!(of("square.cc").freshness, Freshness::Unavailable, "{reports:?}");
    let note = of("square.cc").note.as_deref().unwrap_or_default();
    assert_eq!(note, "it reads the project from the disk, and shape.h is not saved");
    drop(agent);
    helix.quit();
    own.ended.await.expect("it ends").expect("in order");
}
