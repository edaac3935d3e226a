//! Reads all layers, checks each, and lays them over each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use config::{Config, Value, ValueKind};

use crate::layer::{Layer, one, path_of};
use crate::settings::plugin_name;
use crate::strict::{self, FILE_NAMES};
use crate::{ConfigError, Environment, Origin, Settings, environment, hint, project};

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The folder of the project, absolute: where its settings file is looked for.
    pub folder: PathBuf,
    pub environment: Environment,
    /// A settings file that the user named; it is read instead of the project's and, as the user's own choice, may set
    /// everything. It has to exist.
    pub file: Option<PathBuf>,
    /// In the order of the command line: the last one wins.
    pub flags: Vec<Flag>,
}

/// One setting given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// As the user wrote it, for messages: `--model`.
    pub name: String,
    /// The key path: `model`, `plugins.trust`.
    pub key: String,
    pub value: String,
}

/// Settings with the origin of each value.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Settings,
    /// Key path to origin; what is not in it has its default.
    pub origins: BTreeMap<String, Origin>,
    /// The files that were read, the user's first.
    pub files: Vec<PathBuf>,
    /// The folder of the project, absolute.
    pub folder: PathBuf,
    pub environment: Environment,
}

/// Loads all layers; the first thing that is wrong ends it.
pub fn load(request: Request) -> Result<Loaded, ConfigError> {
    let Request { folder, environment, file, flags } = request;
    let mut files = Vec::new();
    let mut layers = Vec::new();

    let user_file = match environment.config_dir() {
        Ok(config_dir) => settings_file(&config_dir)?.or_else(|| Some(config_dir.join(FILE_NAMES[0]))),
        // Without a home there is no user file, and nothing to complain about.
        Err(_) => None,
    };
    if let Some(path) = &user_file
        && let Some(document) = strict::read(path)?
    {
        files.push(path.clone());
        layers.push(Layer::of_file(path, document, &environment));
    }

    let commands = commands(&environment, &flags)?;
    let project_file = match &file {
        Some(file) => Some(folder.join(file)),
        None => settings_file(&folder)?.filter(|path| Some(path) != user_file.as_ref()),
    };
    if let Some(path) = project_file {
        let document = strict::read(&path)?.ok_or_else(|| ConfigError::Read {
            path: path.clone(),
            reason: "there is no such file".to_owned(),
        })?;
        let layer = Layer::of_file(&path, document, &environment);
        if file.is_none() {
            let own = merge(layers.iter().chain(&commands))?;
            project::check(&path, &layer, &own, layers.first(), user_file.as_ref(), &environment)?;
        }
        files.push(path);
        layers.push(layer);
    }
    layers.extend(commands);

    let mut settings = merge(&layers)?;
    let origins = origins(&layers);
    validate(&settings, &origins)?;
    expand(&mut settings, &environment);
    Ok(Loaded { settings, origins, files, folder, environment })
}

impl Loaded {
    /// Where the value at this key path came from.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or_default()
    }

    /// The folder in which tools work, absolute.
    pub fn working_directory(&self) -> PathBuf {
        match &self.settings.working_directory {
            // To join an empty path would leave a slash at the end.
            current if current.as_os_str().is_empty() => self.folder.clone(),
            directory => self.folder.join(directory),
        }
    }

    /// The folder with the plugins, absolute.
    pub fn plugins_path(&self) -> PathBuf {
        self.folder.join(&self.settings.plugins_path)
    }

    /// The file with the sessions, absolute.
    pub fn store_path(&self) -> Result<PathBuf, ConfigError> {
        match &self.settings.store.path {
            Some(path) => Ok(self.folder.join(path)),
            None => Ok(self.environment.state_dir()?.join("foehn.db")),
        }
    }

    pub fn state_dir(&self) -> Result<PathBuf, ConfigError> {
        self.environment.state_dir()
    }
}

/// The one settings file of a folder.
fn settings_file(folder: &Path) -> Result<Option<PathBuf>, ConfigError> {
    let mut paths: Vec<PathBuf> =
        FILE_NAMES.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect();
    match paths.len() {
        0 | 1 => Ok(paths.pop()),
        _ => Err(ConfigError::SeveralFiles { paths }),
    }
}

/// The layers of variables and flags, in rising order.
fn commands(environment: &Environment, flags: &[Flag]) -> Result<Vec<Layer>, ConfigError> {
    const PREFIX: &str = "FOEHN_";
    let mut layers = Vec::new();
    for (name, value) in environment.with_prefix(PREFIX) {
        if environment::RESERVED.contains(&name) {
            continue;
        }
        let failed = |problem: String| ConfigError::Variable { name: name.to_owned(), problem };
        let value = value.map_err(|_| failed("is not valid UTF-8".to_owned()))?;
        let keys: Vec<String> = name[PREFIX.len()..].split("__").map(str::to_ascii_lowercase).collect();
        layers.push(command(keys, value, Origin::Variable(name.to_owned())).map_err(failed)?);
    }
    for flag in flags {
        let keys = flag.key.split('.').map(str::to_owned).collect();
        let failed = |problem: String| ConfigError::Flag { name: flag.name.clone(), problem };
        layers.push(command(keys, &flag.value, Origin::Flag(flag.name.clone())).map_err(failed)?);
    }
    Ok(layers)
}

/// A layer with one value, checked alone so that what is wrong with it has a name.
fn command(mut keys: Vec<String>, text: &str, origin: Origin) -> Result<Layer, String> {
    // A variable's name has no `-`; a map's key is the only place where one could be meant.
    let count = keys.len();
    if let Some(name) = keys.get_mut(1).filter(|_| count > 2) {
        *name = plugin_name(name);
    }
    if keys.iter().any(String::is_empty) {
        return Err("its name has an empty part".to_owned());
    }
    let layer = Layer::of_value(&keys, value(&keys, text), origin);
    let values = Value::from(layer.values.clone());
    match one::<Settings, _>(values) {
        Ok(_) => Ok(layer),
        Err(error) => {
            let (problem, _) = strict::explain(&error);
            // Variables are spelt in capitals, and so is what is near to them.
            let is_variable = layer.origins.values().any(|origin| matches!(origin, Origin::Variable(_)));
            Err(if is_variable { in_capitals(&problem) } else { problem })
        }
    }
}

/// Lists are written with commas. What only a plugin understands is read as JSON where it is JSON.
fn value(keys: &[String], text: &str) -> ValueKind {
    const LISTS: &[&str] = &["trusted_folders", "offline_habits", "enabled_tools", "allow", "deny"];
    let last = keys.last().map(String::as_str).unwrap_or_default();
    let is_permission = matches!(last, "allow" | "deny");
    let is_sandbox_folder = keys.len() == 2 && keys[0] == "sandbox" && matches!(last, "read" | "write");
    let is_list =
        LISTS.contains(&last) && (keys.len() == 1 || keys.len() == 3 || (keys.len() == 5 && is_permission));
    if is_sandbox_folder || is_list {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        return ValueKind::Array(items.map(|item| Value::new(None, item)).collect());
    }
    if keys.len() > 4
        && let Ok(free) = serde_json::from_str::<serde_json::Value>(text)
        && let Ok(value) = one::<Value, _>(free)
    {
        return value.kind;
    }
    ValueKind::String(text.to_owned())
}

fn in_capitals(problem: &str) -> String {
    let Some((start, rest)) = problem.split_once("did you mean `") else { return problem.to_owned() };
    let Some((name, rest)) = rest.split_once('`') else { return problem.to_owned() };
    format!("{start}did you mean `{}`{rest}", name.to_ascii_uppercase())
}

fn merge<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> Result<Settings, ConfigError> {
    let mut builder = Config::builder();
    let mut last = Origin::Default;
    for layer in layers {
        builder = builder.add_source(layer.clone());
        last = layer.origins.values().next().cloned().unwrap_or(last);
    }
    builder.build().and_then(Config::try_deserialize).map_err(|error| {
        // Each layer was right alone, so this is about two of them together.
        let (problem, key) = strict::explain(&error);
        ConfigError::Value { key: key.unwrap_or_default(), origin: last, problem }
    })
}

/// A value hides what lies at its key or below it.
fn origins(layers: &[Layer]) -> BTreeMap<String, Origin> {
    let mut all: BTreeMap<String, Origin> = BTreeMap::new();
    for layer in layers {
        for (key, origin) in &layer.origins {
            let below = format!("{key}.");
            all.retain(|known, _| !known.starts_with(&below));
            all.insert(key.clone(), origin.clone());
        }
    }
    all
}

fn validate(settings: &Settings, origins: &BTreeMap<String, Origin>) -> Result<(), ConfigError> {
    let wrong = |key: String, problem: &str| {
        let origin = origins.get(&key).cloned().unwrap_or_default();
        Err(ConfigError::Value { key, origin, problem: problem.to_owned() })
    };
    let at_least_one = |key: String, value: Option<u64>| match value {
        Some(0) => wrong(key, "is 0; it has to be at least 1"),
        _ => Ok(()),
    };
    let at_least_two = |key: String, value: Option<u32>| match value {
        Some(0 | 1) => wrong(key, "has to be at least 2: a single call equals no other"),
        _ => Ok(()),
    };
    let temperature = |key: String, value: Option<f64>| match value {
        Some(value) if !(0.0..=2.0).contains(&value) => wrong(key, "has to be from 0 to 2"),
        _ => Ok(()),
    };
    let address = |key: String, value: Option<&str>| match value {
        Some(url) if !url.starts_with("http://") && !url.starts_with("https://") => {
            wrong(key, "has to begin with `http://` or `https://`")
        }
        _ => Ok(()),
    };

    // A relative path would trust whatever folder the host is started in.
    if settings.trusted_folders.iter().any(|folder| !folder.is_absolute() && !folder.starts_with("~")) {
        return wrong("trusted_folders".to_owned(), "holds a relative path; write it from `/` or `~/`");
    }
    at_least_one("max_tool_iterations".to_owned(), Some(settings.max_tool_iterations.into()))?;
    at_least_two("equal_calls_warn".to_owned(), Some(settings.equal_calls_warn))?;
    at_least_two("equal_calls_stop".to_owned(), Some(settings.equal_calls_stop))?;
    at_least_one("timeout_seconds".to_owned(), Some(settings.timeout_seconds))?;
    at_least_one("max_output_tokens".to_owned(), settings.max_output_tokens)?;
    temperature("temperature".to_owned(), settings.temperature)?;
    address("base_url".to_owned(), settings.base_url.as_ref().and_then(crate::Text::plain))?;
    at_least_one("plugins.max_parallel".to_owned(), Some(settings.plugins.max_parallel.into()))?;
    for (name, plugin) in &settings.plugins.each {
        at_least_one(path_of(&["plugins", name, "max_parallel"]), plugin.max_parallel.map(u64::from))?;
    }
    let sandbox = &settings.sandbox;
    for (name, limit) in [
        ("memory_megabytes", sandbox.memory_megabytes),
        ("program_megabytes", sandbox.program_megabytes),
        ("file_megabytes", sandbox.file_megabytes),
        ("open_files", sandbox.open_files),
        ("processes", sandbox.processes),
        ("cpu_seconds", sandbox.cpu_seconds),
    ] {
        at_least_one(path_of(&["sandbox", name]), limit)?;
    }
    for (name, agent) in &settings.agents {
        let key = |last: &str| path_of(&["agents", name.as_str(), last]);
        at_least_one(key("max_tool_iterations"), agent.max_tool_iterations.map(u64::from))?;
        at_least_two(key("equal_calls_warn"), agent.equal_calls_warn)?;
        at_least_two(key("equal_calls_stop"), agent.equal_calls_stop)?;
        at_least_one(key("max_output_tokens"), agent.max_output_tokens)?;
        temperature(key("temperature"), agent.temperature)?;
        address(key("base_url"), agent.base_url.as_ref().and_then(crate::Text::plain))?;
    }
    Ok(())
}

fn expand(settings: &mut Settings, environment: &Environment) {
    let agents = settings.agents.values_mut().filter_map(|agent| agent.system_message_file.as_mut());
    [&mut settings.plugins_path, &mut settings.working_directory, &mut settings.system_message_file]
        .into_iter()
        .chain(&mut settings.offline_script)
        .chain(&mut settings.log.file)
        .chain(&mut settings.store.path)
        .chain(&mut settings.trusted_folders)
        .chain(&mut settings.sandbox.read)
        .chain(&mut settings.sandbox.write)
        .chain(agents)
        .for_each(|path| *path = environment.expand_home(path));
}

/// The hint for a name that is not among the agents.
pub(crate) fn unknown_agent(name: &str, settings: &Settings) -> ConfigError {
    let mut known: Vec<&str> = settings.agents.keys().map(crate::settings::AgentName::as_str).collect();
    if !known.contains(&crate::DEFAULT_AGENT) {
        known.push(crate::DEFAULT_AGENT);
    }
    ConfigError::UnknownAgent { name: name.to_owned(), hint: hint::suggestion(name, &known) }
}
