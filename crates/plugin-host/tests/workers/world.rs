//! Folders of one test and the plugin set in them.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use foehn_plugin_host::{PluginSet, Settings, Trust, TrustMode};
use foehn_ports::{CallContext, CancellationToken, Outcome, ToolRequest, Toolbox};
use foehn_protocol::Part;
use tempfile::TempDir;

/// Name and body of one test.
pub(crate) type Case = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

/// A table of tests out of `async fn`s.
macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        pub(crate) const CASES: &[crate::world::Case] =
            &[$((concat!(module_path!(), "::", stringify!($name)), || Box::pin($name()))),+];
    };
}
pub(crate) use cases;

pub(crate) struct World {
    root: TempDir,
    pub settings: Settings,
}

impl World {
    /// Plugins as `(LIBRARY, FILE)`; every one is trusted.
    pub(crate) fn new(plugins: &[(&str, &str)]) -> Self {
        let root = tempfile::Builder::new().prefix("foehn-workers-").tempdir().unwrap();
        let path = |folder: &str| root.path().join(folder);
        for folder in ["plugins", "work"] {
            fs::create_dir(path(folder)).unwrap();
        }
        let mut settings = Settings::new(path("plugins"), path("state"), path("work"));
        settings.trust = TrustMode::Any;
        settings.plugin.grace = Duration::from_millis(300);
        // Before any limit of the machine.
        settings.sandbox.limits.address_space = Some(512 << 20);
        let world = Self { root, settings };
        for (library, file) in plugins {
            world.add(library, file);
        }
        world
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn plugin(&self, file: &str) -> PathBuf {
        self.path("plugins").join(file)
    }

    /// Copies a built library the careful way: beside, then into place.
    pub(crate) fn add(&self, library: &str, file: &str) {
        let (beside, place) = (self.plugin(".copying"), self.plugin(file));
        fs::copy(built(library), &beside).unwrap();
        fs::rename(&beside, &place).unwrap();
    }

    pub(crate) fn trust(&self, file: &str) {
        Trust::open(&self.path("state")).accept(&self.plugin(file)).unwrap();
    }

    pub(crate) async fn load(&self) -> PluginSet {
        PluginSet::load(self.settings.clone()).await
    }

    /// The listing as `NAME: STATE`, with this world's folder cut out.
    pub(crate) fn listing(&self, set: &PluginSet) -> Vec<String> {
        let root = format!("{}/", self.root.path().display());
        set.listing()
            .into_iter()
            .map(|listed| format!("{}: {:?}", listed.name, listed.state).replace(&root, ""))
            .collect()
    }
}

/// The call of a tool, as the engine makes it.
pub(crate) struct Asked {
    pub tool: &'static str,
    pub arguments: &'static str,
    pub timeout: Duration,
    pub cancel: CancellationToken,
    pub cancel_at_progress: bool,
    pub progress: Mutex<Vec<String>>,
}

impl Asked {
    pub(crate) fn new(tool: &'static str) -> Self {
        Self {
            tool,
            arguments: "{}",
            timeout: Duration::from_secs(60),
            cancel: CancellationToken::new(),
            cancel_at_progress: false,
            progress: Mutex::default(),
        }
    }

    pub(crate) fn request(&self, set: &PluginSet) -> ToolRequest {
        ToolRequest {
            spec: set
                .find(self.tool)
                .unwrap_or_else(|| panic!("no tool `{}`: {:?}", self.tool, set.warnings())),
            call: "abc123def".into(),
            session: "session-1".into(),
            agent: "default".to_owned(),
            caller: Some("ada".to_owned()),
            arguments: self.arguments.to_owned(),
            timeout: self.timeout,
        }
    }

    pub(crate) async fn run(&self, set: &PluginSet) -> Outcome {
        let sink = |line: String| {
            self.progress.lock().unwrap().push(line);
            if self.cancel_at_progress {
                self.cancel.cancel();
            }
        };
        let request = self.request(set);
        set.execute(&request, CallContext { cancel: self.cancel.clone(), progress: &sink }).await
    }
}

/// `KIND MESSAGE | TEXT | NOTES`, empty parts left out.
pub(crate) fn brief(outcome: &Outcome) -> String {
    let texts = outcome.parts.iter().map(|part| match part {
        Part::Text { text } => text.clone(),
        other => format!("{other:?}"),
    });
    let parts = std::iter::once(outcome.message.clone()).chain(texts).chain(outcome.notes.iter().cloned());
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    format!("{:?} {}", outcome.kind, parts.join(" | ")).trim_end().to_owned()
}

pub(crate) async fn call(set: &PluginSet, tool: &'static str) -> String {
    brief(&Asked::new(tool).run(set).await)
}

/// Processes whose command line or folder lies in this world, this one left out.
pub(crate) fn left_running(world: &World) -> Vec<String> {
    let root = world.root.path();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let processes = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.parse::<u32>().is_ok_and(|id| id != std::process::id())
    });
    processes
        .filter(|path| {
            let command = fs::read(path.join("cmdline")).unwrap_or_default();
            let folder = fs::read_link(path.join("cwd")).unwrap_or_default();
            let named = String::from_utf8_lossy(&command).contains(&*root.to_string_lossy());
            named || folder.starts_with(root)
        })
        .map(|path| {
            String::from_utf8_lossy(&fs::read(path.join("cmdline")).unwrap_or_default()).replace('\0', " ")
        })
        .collect()
}

/// Makes this program a host of its own over a world's folder, with a child of a plugin's running, for a test to kill.
pub(crate) const HOST_OF: &str = "FOEHN_WORKERS_HOST_OF";

pub(crate) fn be_a_host(root: PathBuf) {
    let mut settings = Settings::new(root.join("plugins"), root.join("state"), root.join("work"));
    settings.trust = TrustMode::Any;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let set = PluginSet::load(settings).await;
        let left = call(&set, "leave_child").await;
        println!("{left}");
        call(&set, "loop_forever").await;
    });
}

/// A library of the fixtures, built first where the runner did not.
pub(crate) fn built(library: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        // This binary lies in `target/PROFILE/deps`.
        let binary = std::env::current_exe().unwrap();
        let folder = binary.parent().and_then(Path::parent).unwrap().to_owned();
        // Set by a runner that builds everything once before it starts.
        if std::env::var_os("FOEHN_TESTS_BUILT").is_none() {
            build(&folder);
        }
        folder
    });
    folder.join(format!("{}{library}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

fn build(folder: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet"]);
    for fixture in ["hostile", "no-root", "sdk-two", "upcalls"] {
        cargo.args(["--package", &format!("foehn-fixture-{fixture}")]);
    }
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    cargo.arg("--target-dir").arg(folder.parent().unwrap());
    assert!(cargo.status().unwrap().success(), "the fixtures cannot be built");
}
