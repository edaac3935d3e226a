//! `foehn config show`: the settings in force and where each comes from.

use anyhow::Result;
use foehn_config::render::render;
use foehn_terminal::ExitCode;
use serde_json::json;

use crate::output::{line, remark, table};
use crate::setup::Setup;

pub(crate) fn show(setup: &Setup, as_json: bool) -> Result<ExitCode> {
    let rows = render(&setup.loaded)?;
    if as_json {
        for row in rows {
            line(&json!({ "key": row.key, "value": row.value, "origin": row.origin.to_string() }))?;
        }
        return Ok(0);
    }
    for file in &setup.loaded.files {
        remark(&format!("read {}", file.display()));
    }
    let rows = rows.into_iter().map(|row| vec![row.key, row.value, row.origin.to_string()]).collect();
    table(&["SETTING", "VALUE", "FROM"], rows, "")?;
    Ok(0)
}
