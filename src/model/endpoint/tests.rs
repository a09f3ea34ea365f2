//! Complete and incomplete configurations.

use crate::abilities::Style;
use crate::endpoint::{Endpoint, Provider, RemoteConfig, resolve};
use crate::model_options::ToolWay;

fn config(toml: &str) -> RemoteConfig {
    toml::from_str(toml).expect(toml)
}

fn with_env(config: &RemoteConfig) -> Result<Endpoint, String> {
    let env = |name: &str| (name == "OPENAI_API_KEY" || name == "MY_KEY").then(|| format!("  {name}-value\n"));
    resolve(config, &env).map_err(|failure| failure.one_line())
}

#[test]
fn defaults_fill_what_is_not_said_and_typing_errors_are_refused() {
    let config = config("provider = 'openai'\nmodel = 'gpt-5'");
    assert_eq!((config.stall_seconds, config.max_attempts, config.manner.schema), (60, 4, true));
    let endpoint = with_env(&config).expect("key is in the environment");
    assert_eq!(endpoint.base_url, "https://api.openai.com/v1/");
    assert_eq!(endpoint.key.as_ref().map(|key| key.reveal()), Some("OPENAI_API_KEY-value"));
    for wrong in ["provider = 'openai'\nmodel = 'm'\nbase_uri = 'x'", "provider = 'bard'\nmodel = 'm'", "model = 'm'"] {
        assert!(toml::from_str::<RemoteConfig>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn how_a_model_is_talked_to_stands_beside_its_address_and_what_has_no_effect_is_refused() {
    let set = config(
        "provider = 'ollama'\nmodel = 'm'\nstyle = 'conversation'\ncontext = 32768\ntools = 'json'\n\
         reasoning_effort = 'low'\nshow_reasoning = true\nkeep_alive = '30m'\nmax_tokens = 700\n\
         price = { input = 3, output = 15, cached = 0.3 }",
    );
    assert_eq!((set.manner.style, set.manner.context), (Some(Style::Conversation), Some(32_768)));
    assert_eq!((set.manner.tools, set.max_tokens), (ToolWay::Json, Some(700)));
    assert_eq!(set.manner.price.and_then(|price| price.cached), Some(0.3));
    assert!(with_env(&set).is_ok());
    for (wrong, because) in [
        ("provider = 'anthropic'\nmodel = 'm'\napi = 'responses'", "not for anthropic"),
        ("provider = 'openai'\nmodel = 'm'\nkeep_alive = '5m'", "not for openai"),
        ("provider = 'openai'\nmodel = 'm'\ncontext = 100", "must be 1024 or more"),
        ("provider = 'openai'\nmodel = 'm'\nmax_tokens = 0", "1 or more"),
    ] {
        assert!(with_env(&config(wrong)).expect_err(wrong).contains(because), "{wrong}");
    }
    for wrong in ["style = 'chatty'", "tools = 'xml'", "api = 'rest'", "context = -1", "reasoning_effrot = 'low'"] {
        let text = format!("provider = 'openai'\nmodel = 'm'\n{wrong}");
        assert!(toml::from_str::<RemoteConfig>(&text).is_err(), "{wrong}");
    }
}

#[test]
fn a_missing_key_is_said_before_any_call() {
    for provider in ["anthropic", "gemini"] {
        let failure = with_env(&config(&format!("provider = '{provider}'\nmodel = 'm'"))).expect_err("no key");
        assert!(failure.contains(&format!("no key for {provider}")) && failure.contains("_API_KEY"), "{failure}");
    }
    let named = config("provider = 'anthropic'\nmodel = 'm'\napi_key_env = 'NOT_SET'");
    assert!(with_env(&named).expect_err("not set").contains("NOT_SET holds no key"));
    let broken = config("provider = 'openai'\nmodel = 'm'\napi_key = 'a b'");
    assert!(with_env(&broken).expect_err("blank").contains("blanks"));
}

#[test]
fn a_provider_s_key_does_not_go_to_another_server() {
    let elsewhere = config("provider = 'openai'\nmodel = 'm'\nbase_url = 'http://10.0.0.7:8000'");
    assert!(with_env(&elsewhere).expect("a server that needs no key").key.is_none());
    let asked = config("provider = 'openai_compatible'\nmodel = 'm'\nbase_url = 'http://h/v1'\napi_key_env = 'MY_KEY'");
    assert_eq!(with_env(&asked).expect("named").key.map(|key| key.reveal().to_owned()), Some("MY_KEY-value".into()));
}

#[test]
fn addresses_are_completed_and_checked() {
    let base = |provider: &str, url: &str| {
        with_env(&config(&format!("provider = '{provider}'\nmodel = 'm'\nbase_url = '{url}'\napi_key = 'k'")))
            .map(|endpoint| endpoint.base_url)
    };
    assert_eq!(base("openai_compatible", "http://127.0.0.1:8080").as_deref(), Ok("http://127.0.0.1:8080/v1/"));
    assert_eq!(base("openai_compatible", "http://h/api/v3/").as_deref(), Ok("http://h/api/v3/"));
    assert_eq!(base("openai", "http://h/v1/chat/completions").as_deref(), Ok("http://h/v1/"));
    assert_eq!(base("ollama", "http://localhost:11434").as_deref(), Ok("http://localhost:11434/v1/"));
    assert_eq!(base("gemini", "http://h").as_deref(), Ok("http://h/"));
    for (wrong, because) in [
        ("127.0.0.1:8080", "URL"),
        ("ftp://h/v1", "http://"),
        ("http://user:hunter2@h/v1", "user name or password"),
        ("nonsense", "not a URL"),
    ] {
        let failure = base("openai_compatible", wrong).expect_err(wrong);
        assert!(failure.contains(because) && !failure.contains("hunter2"), "{failure}");
    }
    let none = config("provider = 'openai_compatible'\nmodel = 'm'");
    assert!(with_env(&none).expect_err("no address").contains("set `base_url`"));
    let ollama = with_env(&config("provider = 'ollama'\nmodel = 'qwen3:8b'")).expect("no key needed");
    assert!(ollama.local && !ollama.tls && ollama.key.is_none());
}

#[test]
fn nothing_prints_the_key() {
    let mut config = RemoteConfig::new(Provider::OPENAI, "m");
    config.api_key = Some("sk-secret".into());
    config.base_url = Some("https://h/v1?token=sk-secret".into());
    let endpoint = with_env(&config).expect("valid");
    let printed = format!("{config:?} {endpoint:?} {:?} {}", endpoint.key, endpoint.shown);
    assert!(!printed.contains("sk-secret"), "{printed}");
    assert_eq!(endpoint.key.expect("key").hide_in("bad key sk-secret!"), "bad key (key)!");
}
