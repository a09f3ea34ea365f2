//! Symbols as models spell them, in languages beside Python, and questions about the names of such symbols.

use serde_json::json;

use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::language_tools;

const CART: &str = "pub struct Cart<T> {\n    items: Vec<T>,\n}\n\npub trait Total {\n    fn total(&self) -> u64;\n}\n\nimpl Total for Cart<u64> {\n    fn total(&self) -> u64 {\n        1\n    }\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_block_of_rust_is_edited_by_its_header_and_its_type_never_is() {
    let project = Project::new(&[("src/cart.rs", CART)]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let block = "impl Total for Cart<u64> {\n    fn total(&self) -> u64 {\n        7\n    }\n}";
    for symbol in ["src/cart.rs::impl Total for Cart<u64>", "impl crate::Total for Cart<u64>"] {
        let replace = json!({"symbol": symbol, "action": "replace", "content": block});
        client.call("edit_symbol", replace).await;
        assert_eq!(project.read("src/cart.rs"), CART.replace("        1\n", "        7\n"), "{symbol}");
        client
            .call(
                "edit_symbol",
                json!({"symbol": "src/cart.rs::Cart::total", "action": "replace",
            "content": "    fn total(&self) -> u64 {\n        1\n    }"}),
            )
            .await;
    }
    let delete = json!({"symbol": "impl Clone for Cart<u64>", "action": "delete", "content": ""});
    let refused = client.refused("edit_symbol", delete).await;
    assert!(refused.contains("no single symbol"), "{refused}");
    for symbol in ["crate::cart::Cart::total", "cart.rs::Cart.total", "src/cart.rs#Cart.total"] {
        let source = client.read("read_symbol", json!({"symbol": symbol})).await;
        assert!(source.starts_with("src/cart.rs::Cart::total"), "{symbol}: {source}");
    }
    let source = client.read("read_symbol", json!({"symbol": "struct Cart<T>"})).await;
    assert!(source.contains("items: Vec<T>"), "{source}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_is_defined_outside_of_its_class_is_asked_about_by_its_own_name() {
    let project = Project::new(&[
        ("compile_flags.txt", "-std=c++17\n"),
        ("shape.h", "#pragma once\nstruct Circle {\n    double area() const;\n};\n"),
        (
            "shape.cc",
            "#include \"shape.h\"\n\ndouble Circle::area() const { return 3; }\n\ndouble two(const Circle &c) { return c.area(); }\n",
        ),
    ]);
    let folder = language_tools("clangd").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    let uses = client.read("find_references", json!({"symbol": "shape.cc::Circle::area"})).await;
    assert!(uses.contains("shape.h") && uses.contains("two"), "{uses}");
    let renamed =
        client.edit("rename_symbol", json!({"symbol": "shape.cc::Circle::area", "new_name": "surface"})).await;
    assert_eq!(renamed["new_diagnostics"], json!([]), "{renamed:#}");
    let symbols = renamed["symbols"].to_string();
    assert!(symbols.contains("shape.cc::Circle::surface") && !symbols.contains("area"), "{symbols}");
    assert!(project.read("shape.h").contains("double surface() const"), "{}", project.read("shape.h"));
    assert!(project.read("shape.cc").contains("Circle::surface() const { return 3; }"));
    assert!(project.read("shape.cc").contains("c.surface()"));
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_name_is_judged_in_the_place_of_the_old_one() {
    let project = Project::new(&[("deploy.sh", "greet() {\n  echo hi\n}\n\ngreet\n")]);
    let folder = language_tools("bash-language-server").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    for wrong in ["if", "two words", "$(ls)"] {
        let refused = client.refused("rename_symbol", json!({"symbol": "deploy.sh::greet", "new_name": wrong})).await;
        assert!(refused.contains("is not a name"), "{refused}");
    }
    // The second one asks a server that has reported nothing for a while: there is no shellcheck.
    for (old, new) in [("greet", "hail"), ("hail", "wave")] {
        let symbol = format!("deploy.sh::{old}");
        let renamed = client.edit("rename_symbol", json!({"symbol": symbol, "new_name": new})).await;
        let symbols = renamed["symbols"].to_string();
        assert!(symbols.contains(&format!("deploy.sh::{new}")) && !symbols.contains(old), "{renamed:#}");
        assert_eq!(project.read("deploy.sh"), format!("{new}() {{\n  echo hi\n}}\n\n{new}\n"));
    }
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overload_is_named_by_its_parameters_or_by_the_new_text() {
    let shape = "struct Shape {\n    void scale(double by) { w *= by; }\n    void scale(int by) { w = by; }\n    double w;\n};\n";
    let cart =
        "export class Cart {\n  get locked(): boolean {\n    return true;\n  }\n  set locked(on: boolean) {}\n}\n";
    let project = Project::new(&[("shape.cc", shape), ("cart.ts", cart)]);
    let mut client = McpClient::open(&project, "codex", &["--servers", "none"]).await;
    let replace = |symbol: &str, content: &str| json!({"symbol": symbol, "action": "replace", "content": content});
    let refused = client.refused("edit_symbol", replace("shape.cc::Shape::scale", "void scale(float by) {}")).await;
    let proposals =
        "Shape::scale#1 (void scale(double by) { w *= by; }), Shape::scale#2 (void scale(int by) { w = by; })";
    assert!(refused.contains(proposals), "{refused}");
    for (symbol, content) in [
        ("shape.cc::Shape::scale(int)", "void scale(long by) { w = by; }"),
        ("shape.cc::Shape::scale", "void scale(double by) { w = w * by; }"),
        ("cart.ts::Cart.locked", "get locked(): boolean {\n    return false;\n  }"),
    ] {
        client.edit("edit_symbol", replace(symbol, content)).await;
    }
    let (cc, ts) = (project.read("shape.cc"), project.read("cart.ts"));
    assert!(cc.contains("scale(double by) { w = w * by; }") && cc.contains("scale(long by) { w = by; }"), "{cc}");
    assert_eq!(ts, cart.replace("true", "false"));
    assert!(client.end().await.success());
}
