//! A machine of its own for one test: a workspace, a home, a state folder and a plugin folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{Run, Started};
use crate::served::Served;
use crate::terminal::Terminal;
use crate::{built, clean, left};

/// Everything is removed when it is dropped.
#[derive(Debug)]
pub struct World {
    root: TempDir,
    environment: Vec<(String, String)>,
}

impl World {
    /// The four plugins of the product, all trusted, and an empty workspace.
    pub fn new() -> Self {
        Self::with_plugins(&["scan", "file_rw", "shell", "dotnet"])
    }

    /// Chosen plugins by the name of their library.
    pub fn with_plugins(libraries: &[&str]) -> Self {
        let root = tempfile::Builder::new().prefix("foehn-test-").tempdir().expect("a temporary folder");
        let world = Self { root, environment: Vec::new() };
        for folder in ["work", "home", "state", "config", "plugins"] {
            fs::create_dir(world.path(folder)).expect("a folder in the temporary folder");
        }
        for library in libraries {
            world.add_plugin(library, &format!("lib{library}.so"));
        }
        world.env("FOEHN_PLUGINS__TRUST", "any")
    }

    /// Another variable of the environment of every run; empty removes it.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.environment.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// A file of the workspace, with its folders.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(&format!("work/{path}"), content);
        self
    }

    /// The project's settings: `foehn.toml` of the workspace.
    pub fn project_config(self, text: &str) -> Self {
        self.file("foehn.toml", text)
    }

    /// The user's own settings, which may set everything.
    pub fn user_config(self, text: &str) -> Self {
        self.write("config/foehn/foehn.toml", text);
        self
    }

    /// A script for the stand-in, kept outside of the workspace.
    pub fn script(self, text: &str) -> Self {
        self.write("script.toml", text);
        self.env("FOEHN_PROVIDER", "offline").with_script_path()
    }

    fn with_script_path(self) -> Self {
        let path = self.path("script.toml").display().to_string();
        self.env("FOEHN_OFFLINE_SCRIPT", &path)
    }

    /// Starts a server that plays a script over HTTP, and has every later run use it.
    pub fn serve(self, script: &str) -> (Self, Served) {
        let served = self.server(script);
        let world = self
            .env("FOEHN_PROVIDER", "openai-compatible")
            .env("FOEHN_MODEL", "scripted")
            .env("FOEHN_BASE_URL", served.url());
        (world, served)
    }

    /// Starts a server that plays a script over HTTP.
    pub fn server(&self, script: &str) -> Served {
        self.write("served.toml", script);
        let record = self.path("requests.jsonl");
        let _ = fs::remove_file(&record);
        let mut command = Command::new(built().foehn());
        command.arg("script-server").arg(self.path("served.toml")).args(["--port", "0", "--requests"]);
        command.arg(&record).current_dir(self.root.path()).stdin(Stdio::null());
        Served::new(Started::spawn(&mut command, self.root.path()), record)
    }

    /// Copies a built plugin into the plugin folder under a file name.
    pub fn add_plugin(&self, library: &str, file: &str) {
        let (from, to) = (built().plugin(library), self.path("plugins").join(file));
        fs::copy(&from, &to).unwrap_or_else(|error| panic!("copying {}: {error}", from.display()));
    }

    /// A path below this world's root.
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    pub fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().expect("below the root")).expect("folders");
        fs::write(path, content).expect("a file");
    }

    /// The text of a workspace file, `None` when there is none.
    pub fn read(&self, path: &str) -> Option<String> {
        fs::read(self.work().join(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Runs to the end, with an empty stdin.
    pub fn foehn(&self, arguments: &[&str]) -> Run {
        self.start(arguments, Stdio::null()).finish()
    }

    /// Starts and returns at once.
    pub fn start(&self, arguments: &[&str], stdin: Stdio) -> Started {
        Started::spawn(self.command(arguments).stdin(stdin), self.root.path())
    }

    /// Starts at a terminal.
    pub fn at_terminal(&self, arguments: &[&str]) -> Terminal {
        Terminal::spawn(self.command(arguments), self.root.path().to_owned())
    }

    /// Runs a command of the test's own in this world's folder and environment.
    pub fn run_command(&self, mut command: Command) -> Run {
        self.place(&mut command);
        Started::spawn(&mut command, self.root.path()).finish()
    }

    /// Runs one tool as a model would, approved beforehand, and gives what a model would read.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.foehn(&["tools", "call", "--yes", tool, &arguments.to_string()]).envelope()
    }

    /// Waits until nothing of this world runs any more; what does not end is the answer.
    pub fn left_running(&self) -> Vec<String> {
        left::wait_until_gone(self.root.path())
    }

    /// Text without what differs from run to run.
    pub fn clean(&self, text: &str) -> String {
        clean::clean(text, self.root.path())
    }

    /// The command, not yet started. The environment is only what a test put there: no key of the machine's owner
    /// reaches a test.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(built().foehn());
        self.place(command.args(arguments));
        command
    }

    fn place(&self, command: &mut Command) {
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("FOEHN_STATE_DIR", self.path("state"))
            .env("FOEHN_PLUGINS_PATH", self.path("plugins"))
            .envs(self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}
