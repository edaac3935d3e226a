//! `foehn plugins`: what lies in the plugin folder, what it declares, and what the user accepts.

use std::path::Path;

use anyhow::{Result, bail};
use foehn_plugin_host::{Listed, PluginState, Trust};
use foehn_terminal::ExitCode;
use serde_json::{Value, json};

use crate::output::{line, remark, table, text};
use crate::setup::Setup;

pub(crate) async fn list(setup: &Setup, as_json: bool) -> Result<ExitCode> {
    let plugins = setup.load_plugins(None).await?;
    let listing = plugins.listing();
    if as_json {
        for listed in &listing {
            line(&as_value(listed))?;
        }
    } else {
        let rows = listing
            .iter()
            .map(|listed| {
                let (state, reason) = state_words(&listed.state);
                let file = listed.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                vec![listed.name.clone(), file, state.to_owned(), reason]
            })
            .collect();
        let empty = format!(
            "no plugin in {}; put a compiled one there, or name another folder with --plugins",
            setup.loaded.plugins_path().display()
        );
        table(&["PLUGIN", "FILE", "STATE", ""], rows, &empty)?;
        for warning in plugins.warnings() {
            remark(&format!("warning: {warning}"));
        }
    }
    plugins.shutdown().await;
    Ok(0)
}

pub(crate) async fn inspect(setup: &Setup, name: &str, as_json: bool) -> Result<ExitCode> {
    let plugins = setup.load_plugins(None).await?;
    let listing = plugins.listing();
    let Some(listed) = listing.iter().find(|listed| listed.name == name) else {
        let known = listing.iter().map(|listed| listed.name.as_str());
        bail!("{}", no_such_plugin(name, &setup.loaded.plugins_path(), known));
    };
    let checked = plugins.check(name).await;
    if as_json {
        let mut value = as_value(listed);
        if let (Value::Object(fields), Some(manifest)) = (&mut value, &listed.manifest) {
            fields.insert("manifest".to_owned(), serde_json::to_value(&**manifest)?);
        }
        line(&value)?;
    } else {
        text(&details(listed))?;
    }
    plugins.shutdown().await;
    match checked {
        Ok(_) => Ok(0),
        Err(error) => {
            remark(&format!("it cannot run: {error}"));
            Ok(1)
        }
    }
}

pub(crate) async fn trust(setup: &Setup, names: &[String]) -> Result<ExitCode> {
    let settings = setup.plugin_settings()?;
    let found = foehn_plugin_host::plugin_files(&settings.plugins_dir)?;
    let mut trust = Trust::open(&settings.state_dir);
    for name in names {
        let Some((_, path)) = found.iter().find(|(found, _)| found == name) else {
            let known = found.iter().map(|(name, _)| name.as_str());
            bail!("{}", no_such_plugin(name, &settings.plugins_dir, known));
        };
        let accepted = trust.accept(path)?;
        let word = if accepted.new { "trusted" } else { "was already trusted" };
        text(&format!("{} {word} ({})", accepted.name, accepted.hash))?;
    }
    Ok(0)
}

fn no_such_plugin<'a>(name: &str, folder: &Path, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
    format!("there is no plugin `{name}` in {}; it holds: {known}", folder.display())
}

/// A word, and one line why when there is a why.
pub(crate) fn state_words(state: &PluginState) -> (&'static str, String) {
    match state {
        PluginState::Ready => ("ready", String::new()),
        PluginState::NotTrusted { .. } => {
            ("not trusted", "nothing of it runs until `foehn plugins trust` accepts it".to_owned())
        }
        PluginState::Refused { reason } => ("refused", reason.clone()),
        PluginState::Disabled { reason } => ("disabled", reason.clone()),
    }
}

fn as_value(listed: &Listed) -> Value {
    let (state, reason) = state_words(&listed.state);
    let tools: Vec<&str> =
        listed.manifest.iter().flat_map(|manifest| &manifest.tools).map(|tool| tool.name.as_str()).collect();
    json!({
        "name": listed.name,
        "file": listed.file,
        "state": state.replace(' ', "_"),
        "reason": if reason.is_empty() { Value::Null } else { reason.into() },
        "hash": listed.hash,
        "isolation": listed.isolation,
        "version": listed.manifest.as_ref().map(|manifest| manifest.version.clone()),
        "tools": tools,
    })
}

fn details(listed: &Listed) -> String {
    let (state, reason) = state_words(&listed.state);
    let mut lines = vec![
        format!("plugin     {}", listed.name),
        format!("file       {}", listed.file.display()),
        format!("state      {state}{}{reason}", if reason.is_empty() { "" } else { ": " }),
        format!("hash       {}", listed.hash.as_deref().unwrap_or("-")),
    ];
    let Some(manifest) = &listed.manifest else { return lines.join("\n") };
    lines.push(format!("version    {} (SDK {}, ABI {})", manifest.version, manifest.sdk, manifest.abi));
    if !manifest.description.is_empty() {
        lines.push(format!("about      {}", manifest.description));
    }
    for tool in &manifest.tools {
        lines.push(String::new());
        let risk = serde_json::to_value(tool.risk).unwrap_or_default();
        lines.push(format!("tool       {} ({})", tool.name, risk.as_str().unwrap_or("undefined")));
        lines.push(format!("           {}", tool.description));
        if !tool.aliases.is_empty() {
            lines.push(format!("           also {}", tool.aliases.join(", ")));
        }
        let capabilities = serde_json::to_value(tool.capabilities).unwrap_or_default();
        lines.push(format!("           may touch {capabilities}"));
        lines.push(format!("           arguments {}", tool.schema));
    }
    lines.join("\n")
}
