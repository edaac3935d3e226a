//! `foehn contract snapshot` and `check`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use foehn_contract::change::{Change, Class, changes};
use foehn_contract::snapshot::{Acceptance, Snapshot};
use foehn_protocol::ToolSpec;
use foehn_terminal::ExitCode;

use super::{counted, read, write};
use crate::output::{line, remark, text};
use crate::setup::UsageError;

pub(super) fn snapshot(tools: &[Arc<ToolSpec>], path: &Path, accept: Option<&str>) -> Result<ExitCode> {
    let reason = reason(accept)?;
    let mut now = Snapshot::of(tools.iter().map(AsRef::as_ref));
    let Some(kept) = read(path)? else {
        write(path, &now)?;
        text(&format!("kept the contracts of {} in {}", counted(tools.len(), "tool"), path.display()))?;
        return Ok(0);
    };
    let changes = changes(&kept.tools, &now.tools);
    let breaking = breaking(&changes);
    now.history.clone_from(&kept.history);
    if !breaking.is_empty() {
        let Some(reason) = reason else {
            text(&report(&changes))?;
            remark("the snapshot is as it was: it would forget what broke; see --accept");
            return Ok(1);
        };
        now.history.push(Acceptance { reason: reason.to_owned(), changes: breaking });
    }
    if now == kept {
        text(&format!("{} is up to date", path.display()))?;
        return Ok(0);
    }
    write(path, &now)?;
    text(&format!("{}\nkept in {}", report(&changes), path.display()))?;
    Ok(0)
}

pub(super) fn check(
    tools: &[Arc<ToolSpec>],
    path: &Path,
    accept: Option<&str>,
    as_json: bool,
) -> Result<ExitCode> {
    let reason = reason(accept)?;
    let Some(mut kept) = read(path)? else {
        bail!(
            "there is no snapshot at {} to compare with; `foehn contract snapshot` takes one",
            path.display()
        );
    };
    let mut now = Snapshot::of(tools.iter().map(AsRef::as_ref));
    let changes = changes(&kept.tools, &now.tools);
    if as_json {
        for change in &changes {
            line(&serde_json::to_value(change)?)?;
        }
    } else {
        text(&report(&changes))?;
    }
    let breaking = breaking(&changes);
    match reason {
        None if breaking.is_empty() => Ok(0),
        None => {
            remark("keep the old name as an alias, take the change back, or accept it with --accept REASON");
            Ok(1)
        }
        Some(_) if breaking.is_empty() => {
            remark("there is no breaking change to accept");
            Ok(0)
        }
        Some(reason) => {
            kept.history.push(Acceptance { reason: reason.to_owned(), changes: breaking });
            now.history = kept.history;
            write(path, &now)?;
            remark(&format!("accepted, and kept in {}", path.display()));
            Ok(0)
        }
    }
}

/// A reason is for those who read it later.
fn reason(accept: Option<&str>) -> Result<Option<&str>> {
    match accept.map(str::trim) {
        Some("") => Err(UsageError("--accept needs a reason; it is kept in the snapshot".to_owned()).into()),
        reason => Ok(reason),
    }
}

fn breaking(changes: &[Change]) -> Vec<String> {
    let breaking = changes.iter().filter(|change| change.class == Class::Breaking);
    breaking.map(ToString::to_string).collect()
}

fn report(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "nothing changed that anybody could rely on".to_owned();
    }
    let width = Class::Breaking.word().len();
    let mut lines: Vec<String> =
        changes.iter().map(|change| format!("{:width$}  {change}", change.class.word())).collect();
    let count = |class| changes.iter().filter(|change| change.class == class).count();
    lines.push(String::new());
    lines.push(format!("breaking: {}, safe: {}", count(Class::Breaking), count(Class::Safe)));
    lines.join("\n")
}
