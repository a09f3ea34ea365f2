//! The uses of a name in C++ templates, where clangd knows no meaning of it.

use serde_json::json;

use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::language_tools;

const SHAPE: &str = "\
#pragma once
struct Shape {
  virtual ~Shape() = default;
  virtual int area() const { return 1; }
};
";
const USERS: &str = "\
#include \"shape.hpp\"
struct Square : Shape {
  int area() const override { return 2; }
};
template <typename T>
int twice(const T &shape) {
  return shape.area() * 2;
}
int main() { Square square; return twice(square) + square.area(); }
";

#[tokio::test(flavor = "multi_thread")]
async fn the_uses_that_the_server_does_not_name_are_listed_as_possible() {
    let project = Project::new(&[
        ("compile_flags.txt", "-std=c++20\n"),
        ("shape.hpp", SHAPE),
        ("users.cpp", USERS),
        ("notes.md", "area\n"),
    ]);
    let folder = language_tools("clangd").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "60000"]).await;
    client.read("read_file", json!({"path": "users.cpp"})).await;
    let uses = client.read("find_references", json!({"symbol": "shape.hpp::Shape::area"})).await;
    assert!(uses.contains("uses may be missing: area stands on"), "{uses}");
    assert!(uses.contains("users.cpp:7") && !uses.contains("notes.md"), "{uses}");
    assert!(client.end().await.success());
}
