//! An edit of a header and then of a file that includes it: what clangd kept of the header is no answer.

use serde_json::{Value, json};

use super::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::language_tools;

/// The library's headers take a while to read, so that an answer from what was kept comes first.
const HEADER: &str = "#pragma once\n#include <map>\n#include <string>\n#include <vector>\n\nstruct Shape {\n    \
                      virtual ~Shape() = default;\n    virtual int area() const;\n};\n";
const SQUARE: &str = "#include \"shape.h\"\n\nstruct Square : Shape {\n    int area() const override;\n};\n";
const OTHER: &str =
    "#include <vector>\n\nint other(const std::vector<int> &list) {\n    return list.empty() ? 0 : 1;\n}\n";

pub(crate) fn project() -> Project {
    Project::new(&[
        ("compile_flags.txt", "-std=c++17\n"),
        ("shape.h", HEADER),
        ("square.cc", SQUARE),
        ("other.cc", OTHER),
    ])
}

/// The same rename in the header and in the file that overrides, there and back.
pub(crate) fn steps() -> Vec<(Value, Value)> {
    let step = |from: &str, to: &str| {
        let (from, to) = (format!("int {from}() const"), format!("int {to}() const"));
        (replace("shape.h", &from, &to), replace("square.cc", &from, &to))
    };
    (0..4).map(|at| if at % 2 == 0 { step("area", "size") } else { step("size", "area") }).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_judged_by_the_header_that_was_just_written() {
    let project = project();
    let folder = language_tools("clangd").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    for (at, (header, user)) in steps().into_iter().enumerate() {
        let broken = client.edit("edit_file", header).await;
        let found = broken["new_diagnostics"].as_array().expect("a list");
        assert!(found.iter().any(|one| one["path"] == "square.cc"), "{at}: {broken:#}");
        let repaired = client.edit("edit_file", user).await;
        assert_eq!(repaired["diagnostics_status"], "complete", "{at}: {repaired:#}");
        assert_eq!(repaired["new_diagnostics"], json!([]), "{at}: {repaired:#}");
    }
    assert!(client.end().await.success());
}

/// A header, what another header has beside it, a source that includes both, and an edit of the first header that breaks
/// the source.
const BESIDE: &[(&str, &str, &str, &str, &str)] = &[
    ("enum E { A, B };\n", "", "int g() { return A; }\n", "enum E", "enum class E"),
    ("struct A { int x; };\n", "struct M { A a; };\n", "int g(M m) { return m.a.x; }\n", "int x", "int y"),
    ("int f();\n", "#pragma once\nstruct Q {};\n", "", "int f();\n", "int f();\nstruct Q {};\n"),
    ("int f();\n", "int limit();\n", "", "int f();\n", "int f();\n#define limit 3\n"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_header_is_judged_by_the_sources_that_include_another_one_with_it() {
    let folder = language_tools("clangd").display().to_string();
    for (header, beside, source, old, new) in BESIDE {
        let source = format!("#include \"a.hpp\"\n#include \"m.hpp\"\n{source}");
        let files = [("compile_flags.txt", "-std=c++17\n"), ("a.hpp", *header), ("m.hpp", *beside), ("b.cpp", &source)];
        let project = Project::new(&files);
        let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
        let answer = client.edit("edit_file", replace("a.hpp", old, new)).await;
        let found = answer["new_diagnostics"].as_array().expect("a list");
        assert!(found.iter().any(|one| one["path"] == "b.cpp"), "{new}: {answer:#}");
        assert!(client.end().await.success());
    }
}

/// A header, further files, and a source.
type Spelled = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// A header, further files, and the source that includes them and calls `total(1)` in its own way.
const SPELLED: &[Spelled] = &[
    ("a.hpp", &[], "#inc\\\nlude \"a.hpp\"\nint one() { return to\\\ntal(1); }\n"),
    ("a.hpp", &[], "#include /*\n\n*/ \"a.hpp\"\nint one() { return total(1); }\n"),
    ("a.hpp", &[], "// one\r#include \"a.hpp\"\rint one() { return total(1); }\r"),
    ("+-+.hpp", &[], "#include \"+-+.hpp\"\nint one() { return total(1); }\n"),
    (
        "a.hpp",
        &[("m.hpp", "#define JOIN(a) to##a\n")],
        "#include \"a.hpp\"\n#include \"m.hpp\"\nint one() { return JOIN(tal)(1); }\n",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_spells_an_include_or_a_name_in_another_way_is_in_reach_of_its_header() {
    let folder = language_tools("clangd").display().to_string();
    for (header, further, source) in SPELLED {
        let mut files = vec![("compile_flags.txt", "-std=c++17\n"), (*header, "int total(int);\n"), ("b.cpp", source)];
        files.extend_from_slice(further);
        let project = Project::new(&files);
        let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
        let answer = client.edit("edit_file", replace(header, "(int)", "(const char *)")).await;
        let found = answer["new_diagnostics"].as_array().expect("a list");
        assert!(found.iter().any(|one| one["path"] == "b.cpp"), "{source}: {answer:#}");
        assert!(client.end().await.success());
    }
}

const MISSING: &str = "'geo/shape.hpp' file not found; compile_commands.json has to name its include path";

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_an_include_that_clangd_does_not_find_is_not_known_until_it_is_found() {
    let folder = language_tools("clangd").display().to_string();
    let user = "#include \"geo/shape.hpp\"\n\nint one() { return total(1); }\n";
    let unit = "#include \"geo/shape.hpp\"\n\nint Shape::area() const { return side_; }\n";
    let header = "#pragma once\nint total(int);\nstruct Shape {\n    int area() const;\n    int side_;\n};\n";
    let files = [("include/geo/shape.hpp", header), ("src/user.cpp", user), ("src/shape.cpp", unit)];
    let project = Project::new(&files);
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    for (path, old, new, unknown) in [
        ("src/shape.cpp", "side_", "sides_", "src/shape.cpp"),
        ("include/geo/shape.hpp", "total(int)", "total(const char *)", "src/user.cpp"),
    ] {
        let answer = client.edit("edit_file", replace(path, old, new)).await;
        assert_eq!(answer["diagnostics_status"], "partial", "{answer:#}");
        let pending = answer["pending"].to_string();
        assert!(pending.contains(unknown) && pending.contains(MISSING), "{answer:#}");
    }
    assert!(client.end().await.success());

    let project = Project::new(&[&files[..], &[("compile_flags.txt", "-Iinclude\n")]].concat());
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    let answer = client.edit("edit_file", replace("src/shape.cpp", "side_", "sides_")).await;
    assert_eq!(answer["diagnostics_status"], "complete", "{answer:#}");
    assert_eq!(answer["new_diagnostics"].as_array().map(Vec::len), Some(1), "{answer:#}");
    assert!(client.end().await.success());
}
