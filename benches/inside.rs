//! A measuring program in the place of the binary: Neovim starts it, and it uses the product's own editor and channel.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use nvim_rs::{Handler, Neovim, Value};
use serde_json::json;
use sextant::editors::nvim::editor::NvimEditor;
use sextant::editors::nvim::lua_channel::{Channel, ChannelWriter};
use tokio::sync::{Notify, mpsc};

/// The name of the variable that holds the path of the job.
pub const VARIABLE: &str = "SEXTANT_BENCH_JOB";

/// The state of the process inside Neovim.
pub struct Inside {
    channel: OnceLock<Arc<Channel>>,
    editor: OnceLock<Arc<NvimEditor>>,
    times: mpsc::UnboundedSender<f64>,
    measured: tokio::sync::Mutex<mpsc::UnboundedReceiver<f64>>,
    /// Notified when the script reports `shown`.
    pub shown: Notify,
    /// Notified by an answer after its deadline.
    pub late: Notify,
}

impl Inside {
    fn new() -> Self {
        let (times, measured) = mpsc::unbounded_channel();
        Self {
            channel: OnceLock::new(),
            editor: OnceLock::new(),
            times,
            measured: tokio::sync::Mutex::new(measured),
            shown: Notify::new(),
            late: Notify::new(),
        }
    }

    /// The next time that the script measures, in milliseconds.
    #[allow(dead_code)]
    pub async fn measured(&self) -> f64 {
        self.measured.lock().await.recv().await.expect("the channel is held here")
    }

    /// The editor of the workspace.
    pub fn editor(&self, root: &str) -> Arc<NvimEditor> {
        let channel = || Arc::clone(self.channel.get().expect("a greeting came first"));
        Arc::clone(self.editor.get_or_init(|| Arc::new(NvimEditor::new(PathBuf::from(root), channel()))))
    }
}

struct Ears<F> {
    inside: Arc<Inside>,
    run: Arc<F>,
}

impl<F> Clone for Ears<F> {
    fn clone(&self) -> Self {
        Self { inside: Arc::clone(&self.inside), run: Arc::clone(&self.run) }
    }
}

#[async_trait]
impl<F, R> Handler for Ears<F>
where
    F: Fn(Arc<Inside>, Neovim<ChannelWriter>) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    type Writer = ChannelWriter;

    async fn handle_notify(&self, name: String, args: Vec<Value>, nvim: Neovim<ChannelWriter>) {
        let text = args.first().and_then(Value::as_str).unwrap_or_default();
        match name.as_str() {
            "reply" => {
                if let Some(channel) = self.inside.channel.get() {
                    channel.take_piece(&args);
                }
            }
            "late" => {
                if let Some(editor) = self.inside.editor.get() {
                    editor.take_late(serde_json::from_str(text).expect("a late answer"));
                    self.inside.late.notify_one();
                }
            }
            "measured" => {
                let _ = self.inside.times.send(args.first().and_then(Value::as_f64).unwrap_or(f64::NAN));
            }
            "shown" => self.inside.shown.notify_one(),
            "hello" => {
                let channel = Arc::clone(self.inside.channel.get_or_init(|| Arc::new(Channel::new(nvim))));
                let welcome = json!({"version": env!("CARGO_PKG_VERSION"), "root": "", "model": "none",
                    "servers": sextant::diagnostics::server_facts::handshake()});
                tokio::spawn(async move {
                    channel
                        .tell("require('sextant.rpc.dispatch').welcome(...)", welcome.to_string())
                        .await
                        .expect("a greeting");
                });
            }
            "measure" => {
                let (inside, run) = (Arc::clone(&self.inside), Arc::clone(&self.run));
                tokio::spawn(async move {
                    // A panic ends the measuring, and Neovim in any case; the missing result is reported outside.
                    if let Err(error) = tokio::spawn(run(inside, nvim.clone())).await {
                        let _ = std::fs::write(job_path().with_extension("failed"), error.to_string());
                    }
                    let _ = nvim.command("qa!").await;
                });
            }
            _ => {}
        }
    }
}

fn job_path() -> PathBuf {
    std::env::var_os(VARIABLE).map(PathBuf::from).expect("a job")
}

/// The job, as it was passed to `start`.
pub fn job<T: serde::de::DeserializeOwned>() -> T {
    serde_json::from_slice(&std::fs::read(job_path()).expect("the job")).expect("a readable job")
}

/// True if Neovim started this program.
pub fn is_inside() -> bool {
    std::env::args().nth(1).as_deref() == Some("nvim")
}

/// Serves the Neovim that started this process, until it ends; its `measure` starts `run`.
pub async fn serve<F, R>(run: F)
where
    F: Fn(Arc<Inside>, Neovim<ChannelWriter>) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let ears = Ears { inside: Arc::new(Inside::new()), run: Arc::new(run) };
    let (_nvim, io) = nvim_rs::create::tokio::new_parent(ears).await.expect("Neovim on standard input");
    let _ = io.await;
}

/// Runs a Neovim with the plugin and a script until it ends by itself.
pub async fn start(
    base: &Path,
    root: &Path,
    script: &str,
    job: &impl serde::Serialize,
    limit: Duration,
) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let nvim = match std::env::var("SEXTANT_NVIM") {
        Ok(path) => path,
        Err(_) => "nvim".to_owned(),
    };
    let (job_file, script_file) = (base.join("job.json"), base.join("start.lua"));
    std::fs::write(&job_file, serde_json::to_string(job).map_err(|error| error.to_string())?).map_err(text)?;
    std::fs::write(&script_file, script).map_err(text)?;
    let home = base.join("home");
    let mut command = tokio::process::Command::new(&nvim);
    command
        .args(["--clean", "--headless", "-n", "--cmd", &format!("set runtimepath^={}", env!("CARGO_MANIFEST_DIR"))])
        .args(["-c", &format!("luafile {}", script_file.display())])
        .current_dir(root)
        .env(VARIABLE, &job_file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(base.join("messages")).map_err(text)?)
        .kill_on_drop(true);
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env(name, home.join(name));
    }
    let mut child = command.spawn().map_err(|error| format!("{nvim} is needed: {error}"))?;
    let ended = tokio::time::timeout(limit, child.wait()).await;
    if let Ok(problem) = std::fs::read_to_string(job_file.with_extension("failed")) {
        return Err(problem);
    }
    if !matches!(ended, Ok(Ok(status)) if status.success()) {
        let messages = std::fs::read_to_string(base.join("messages")).unwrap_or_default();
        return Err(format!("Neovim did not end well ({ended:?}): {messages}"));
    }
    Ok(())
}
