//! What a settings file may not do that came with a folder.
//!
//! A project is often somebody else's: cloned, then opened. Its file may choose a model or a limit, but it may not
//! give itself permissions, weaken the confinement, send the user's key or words elsewhere, read the user's secrets or
//! write outside of its folder. Nothing of this is dropped silently: the load ends and names each key. The user can
//! trust a folder (`trusted_folders` in the user's own file, `FOEHN_TRUSTED_FOLDERS`); then its file may set everything.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use config::{Value, ValueKind};

use crate::layer::{Layer, Origin, path_of, reference};
use crate::settings::{Coercion, Settings};
use crate::{ConfigError, Environment};

/// One key that a project may not set so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub key: String,
    pub line: Option<usize>,
    pub reason: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        write!(formatter, "`{}`: {}", self.key, self.reason)
    }
}

/// Refuses the layer of a project's file where it oversteps; `own` is what the user set, with the defaults.
pub(crate) fn check(
    path: &Path,
    layer: &Layer,
    own: &Settings,
    user_layer: Option<&Layer>,
    user_file: Option<&PathBuf>,
    environment: &Environment,
) -> Result<(), ConfigError> {
    if is_trusted(path.parent().unwrap_or(path), own, environment) {
        return Ok(());
    }
    let mut refusals = Vec::new();
    layer.for_leaves(&mut |keys, value| {
        if let Some(reason) = refuse(keys, value, own, user_layer) {
            let key = path_of(keys);
            let line = match layer.origins.get(&key) {
                Some(Origin::File { line, .. }) => *line,
                _ => None,
            };
            refusals.push(Refusal { key, line, reason });
        }
    });
    if refusals.is_empty() {
        return Ok(());
    }
    refusals.sort_by_key(|refusal| refusal.line);
    Err(ConfigError::Project { path: path.to_owned(), refusals, user_file: user_file.cloned() })
}

fn is_trusted(folder: &Path, own: &Settings, environment: &Environment) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(folder);
    own.trusted_folders
        .iter()
        .map(|trusted| environment.expand_home(trusted))
        .filter(|trusted| trusted.is_absolute())
        .any(|trusted| folder.starts_with(real(&trusted)))
}

/// The rules, one arm each.
fn refuse(keys: &[&str], value: &Value, own: &Settings, user_layer: Option<&Layer>) -> Option<&'static str> {
    if holds_reference(value) {
        return Some("a reference could hand your secrets to somebody else");
    }
    let user_has = |keys: &[&str]| user_layer.is_some_and(|layer| layer.get(keys).is_some());
    let own_agent = |name: &str| own.agents.get(name);
    match keys {
        ["trusted_folders"] => Some("only you decide what is trusted"),
        ["plugins", "trust"] => Some("only you decide which plugins are loaded"),
        ["plugins", "isolation"] | ["plugins", _, "isolation"] if text(value) != Some("worker") => {
            Some("only you decide what runs inside the host")
        }
        ["sandbox", limit] if !is_tighter(limit, value, own) => {
            Some("a project may only tighten the sandbox")
        }
        ["log", "file"] | ["store", "path"] => Some("a project may not choose where the host writes"),
        ["api_key"] | ["agents", _, "api_key"] => {
            Some("your words would be sent under somebody else's account")
        }
        ["base_url"] | ["agents", _, "base_url"] if !is_loopback(text(value)?) => {
            Some("your key and your words would be sent to that address")
        }
        ["provider"]
            if text(value) != Some(own.provider.as_str())
                && (user_has(&["api_key"]) || user_has(&["base_url"])) =>
        {
            Some("the key or the address that you set belongs to another provider")
        }
        ["plugins_path" | "working_directory" | "system_message_file" | "offline_script"]
        | ["agents", _, "system_message_file"]
            if !is_inside(text(value)?) =>
        {
            Some("the path leads out of the folder")
        }
        ["agents", name, "enabled_tools"] => {
            let enabled = own_agent(name)?.enabled_tools.as_ref()?;
            let widens = items(value).any(|tool| !enabled.iter().any(|known| known == tool));
            widens.then_some("it enables tools that you did not")
        }
        ["coercion"] | ["agents", _, "coercion"] | ["agents", _, "tools", _, "coercion"] => {
            let loosens = text(value) != Some("strict") && is_strict(keys, own);
            loosens.then_some("a project may not accept more from a model than you do")
        }
        ["undo", "shell"] if own.undo.shell => Some("it would keep less for `foehn undo` than you do"),
        ["agents", _, "tools", _, "allow"] => Some("only you give permissions"),
        ["agents", _, "tools", _, "network"] if text(value) != Some("off") => {
            Some("only you switch the network on")
        }
        ["agents", _, "tools", _, "program" | "launcher" | "confinement", ..] => {
            Some("only you decide what programs are and who confines them")
        }
        ["agents", _, "tools", _, "env" | "env_pass", ..] => {
            Some("only you decide what programs see of your environment")
        }
        ["agents", _, "tools", _, "allowed_options" | "allowed_properties", ..] => {
            Some("a project may not allow more to a model than you do")
        }
        ["agents", name, "tools", tool, "deny"] => {
            let denied = &own_agent(name)?.tools.get(*tool)?.deny;
            let weakens = denied.iter().any(|operation| !items(value).any(|item| item == operation));
            weakens.then_some("it has to keep all that you deny")
        }
        ["agents", name, "tools", tool, ..] if user_has(&["agents", name, "tools", tool]) => {
            Some("you configure this tool yourself")
        }
        _ => None,
    }
}

fn holds_reference(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Array(items) => items.iter().any(holds_reference),
        ValueKind::Table(table) => reference(value).is_some() || table.values().any(holds_reference),
        _ => false,
    }
}

fn text(value: &Value) -> Option<&str> {
    match &value.kind {
        ValueKind::String(text) => Some(text),
        _ => None,
    }
}

fn items(value: &Value) -> impl Iterator<Item = &str> {
    let items = match &value.kind {
        ValueKind::Array(items) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(text)
}

fn is_tighter(limit: &str, value: &Value, own: &Settings) -> bool {
    let own = &own.sandbox;
    let current = match limit {
        "require" => return !own.require || value.clone().into_bool().unwrap_or(false),
        "memory_megabytes" => own.memory_megabytes,
        "program_megabytes" => own.program_megabytes,
        "file_megabytes" => own.file_megabytes,
        "open_files" => own.open_files,
        "processes" => own.processes,
        "cpu_seconds" => own.cpu_seconds,
        _ => return false,
    };
    match (current, value.clone().into_uint()) {
        (None, Ok(_)) => true,
        (Some(current), Ok(value)) => value <= current,
        (_, Err(_)) => false,
    }
}

/// A path that stays below the folder whatever it is joined to.
fn is_inside(path: &str) -> bool {
    !path.starts_with('~')
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Whether the address can only be this machine: an exact host, so that `localhost.example.com` and
/// `localhost@example.com` are not taken for it.
/// Whether what the user set makes the place of a `coercion` strict.
fn is_strict(keys: &[&str], own: &Settings) -> bool {
    let agent = keys.get(1).and_then(|name| own.agents.get(*name));
    let tool = keys.get(3).and_then(|tool| agent?.tools.get(*tool)?.coercion);
    let coercion = tool.or_else(|| agent?.coercion).unwrap_or(own.coercion);
    coercion == Coercion::Strict
}

fn is_loopback(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    !authority.contains('@') && matches!(host, "localhost" | "127.0.0.1" | "::1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for url in ["http://localhost/v1", "http://127.0.0.1:8080", "https://[::1]:1/v1"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://localhost.example.com/v1",
            "http://localhost@example.com/v1",
            "http://localhost:80@example.com",
            "http://example.com/?http://localhost",
            "http://127.0.0.1.example.com",
            "http://example.com\\@localhost",
            "localhost:80",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
