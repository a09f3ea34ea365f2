//! Patches `initialize` on its way: takes Sextant's options out of the request, and puts its commands into the answer.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::link::COMMANDS;
use sextant_base::path;
use sextant_base::positions::Encoding;
use sextant_store::workspace::root::Root;

/// The user's key for Sextant among the initialization options.
const OURS: &str = "sextant";

/// The server's declared capabilities that the editor gets in another form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) changes: bool,
    pub(super) saves: bool,
    pub(super) actions: bool,
    pub(super) resolves: bool,
    pub(super) hover: bool,
}

impl Declared {
    pub(super) fn of(result: &Value) -> Self {
        let capabilities = &result["capabilities"];
        let declared = |name: &str| !matches!(capabilities[name], Value::Null | Value::Bool(false));
        let sync = &capabilities["textDocumentSync"];
        let number = sync.as_u64();
        Self {
            changes: number.or(sync["change"].as_u64()).is_some_and(|kind| kind > 0),
            saves: number.is_some_and(|kind| kind > 0) || !matches!(sync["save"], Value::Null | Value::Bool(false)),
            actions: declared("codeActionProvider"),
            resolves: capabilities["codeActionProvider"]["resolveProvider"] == true,
            hover: declared("hoverProvider"),
        }
    }
}

/// Sextant's options, and the request without them; `None` if it has none.
pub(super) fn without_ours(request: &Value) -> Option<(Value, Value)> {
    let mut request = request.clone();
    let options = request.get_mut("params")?.get_mut("initializationOptions")?;
    let ours = options.as_object_mut()?.shift_remove(OURS)?;
    if options.as_object().is_some_and(Map::is_empty) {
        *options = Value::Null;
    }
    Some((ours, request))
}

/// The folder that the editor works in; the process's own if the editor names none.
pub(super) fn root(params: &Value) -> Option<PathBuf> {
    let folder = params["workspaceFolders"][0]["uri"].as_str().or(params["rootUri"].as_str());
    let named = folder.and_then(path::from_uri).or_else(|| params["rootPath"].as_str().map(PathBuf::from));
    let folder = named.or_else(|| std::env::current_dir().ok())?;
    Root::find(&folder).ok().map(|root| root.path().to_owned())
}

pub(super) fn encoding(result: &Value) -> Encoding {
    result["capabilities"]["positionEncoding"].as_str().map(Encoding::from_lsp).unwrap_or_default()
}

/// The answer as the editor gets it. `offers` is whether Sextant's commands are offered here.
pub(super) fn patched(result: &Value, offers: bool) -> Value {
    let mut result = if result.is_object() { result.clone() } else { json!({}) };
    let capabilities = &mut result["capabilities"];
    if !capabilities.is_object() {
        *capabilities = json!({});
    }
    sync(&mut capabilities["textDocumentSync"]);
    for name in ["codeActionProvider", "hoverProvider"] {
        if matches!(capabilities[name], Value::Null | Value::Bool(false)) {
            capabilities[name] = Value::Bool(true);
        }
    }
    if offers {
        let provider = &mut capabilities["executeCommandProvider"];
        if !provider.is_object() {
            *provider = json!({});
        }
        let known = provider["commands"].as_array().cloned().unwrap_or_default();
        let ours = COMMANDS.iter().map(|name| Value::from(*name));
        let new: Vec<Value> = ours.filter(|name| !known.contains(name)).collect();
        provider["commands"] = known.into_iter().chain(new).collect();
    }
    result
}

/// Sextant needs every open, change and save, whatever the server needs.
fn sync(sync: &mut Value) {
    match sync.as_u64() {
        // As a number it means that all of it is wanted.
        Some(kind) if kind > 0 => return,
        Some(_) => *sync = json!({}),
        None if !sync.is_object() => *sync = json!({}),
        None => {}
    }
    if sync["openClose"] != true {
        sync["openClose"] = Value::Bool(true);
    }
    if sync["change"].as_u64().is_none_or(|kind| kind == 0) {
        sync["change"] = Value::from(1);
    }
    if matches!(sync["save"], Value::Null | Value::Bool(false)) {
        sync["save"] = Value::Bool(true);
    }
}

/// The answer of a proxy without a server.
pub(super) fn standalone(params: &Value) -> Value {
    let offered = params["capabilities"]["general"]["positionEncodings"].as_array();
    let utf8 = offered.is_some_and(|offered| offered.iter().any(|name| name == "utf-8"));
    let encoding = if utf8 { "utf-8" } else { "utf-16" };
    let sync = json!({"openClose": true, "change": 2, "save": true});
    json!({
        "capabilities": {"positionEncoding": encoding, "textDocumentSync": sync, "definitionProvider": true},
        "serverInfo": {"name": "sextant", "version": env!("CARGO_PKG_VERSION")},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_declares_stays_and_what_we_need_is_added() {
        let result = json!({"capabilities": {
            "textDocumentSync": {"openClose": true, "change": 2, "willSave": true},
            "executeCommandProvider": {"commands": ["a.b", "agent.ask"], "workDoneProgress": true},
            "codeActionProvider": {"resolveProvider": true}, "hoverProvider": false, "x": 1,
        }, "serverInfo": {"name": "s"}});
        let declared = Declared { changes: true, saves: false, actions: true, resolves: true, hover: false };
        assert_eq!(Declared::of(&result), declared);
        let patched = patched(&result, true);
        let capabilities = &patched["capabilities"];
        let sync = json!({"openClose": true, "change": 2, "willSave": true, "save": true});
        assert_eq!(capabilities["textDocumentSync"], sync);
        assert_eq!(capabilities["codeActionProvider"], json!({"resolveProvider": true}));
        assert_eq!((&capabilities["hoverProvider"], &capabilities["x"]), (&json!(true), &json!(1)));
        let commands = capabilities["executeCommandProvider"]["commands"].as_array().unwrap();
        assert_eq!(commands.len(), COMMANDS.len() + 1, "none twice");
        assert_eq!(capabilities["executeCommandProvider"]["workDoneProgress"], true);
        assert_eq!(patched["serverInfo"], result["serverInfo"]);
    }

    #[test]
    fn the_sync_of_every_form_ends_with_what_we_need() {
        let of = |given: Value| {
            let mut value = given;
            sync(&mut value);
            value
        };
        assert_eq!(of(json!(2)), json!(2));
        let all = json!({"openClose": true, "change": 1, "save": true});
        for none in [json!(0), Value::Null, json!({}), json!({"openClose": false, "change": 0, "save": false})] {
            let got = of(none);
            assert!(["openClose", "change", "save"].iter().all(|name| got[name] == all[name]), "{got}");
        }
        assert_eq!(of(json!({"change": 2, "save": {"includeText": true}}))["save"], json!({"includeText": true}));
        assert!(!Declared::of(&json!({"capabilities": {}})).changes);
        assert!(Declared::of(&json!({"capabilities": {"textDocumentSync": 1}})).saves);
    }

    #[test]
    fn our_options_go_no_further() {
        let request = json!({"params": {"initializationOptions": {"a": 1, "sextant": {"m": 2}}}});
        let (ours, rest) = without_ours(&request).unwrap();
        assert_eq!(ours, json!({"m": 2}));
        assert_eq!(rest, json!({"params": {"initializationOptions": {"a": 1}}}));
        let alone = json!({"params": {"initializationOptions": {"sextant": 1}}});
        assert_eq!(without_ours(&alone).unwrap().1["params"]["initializationOptions"], Value::Null);
        assert_eq!(without_ours(&json!({"params": {"initializationOptions": {"a": 1}}})), None);
    }
}
