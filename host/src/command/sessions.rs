//! `foehn sessions`: what is stored of this folder.

use anyhow::Result;
use foehn_terminal::ExitCode;
use serde_json::json;

use crate::output::{line, table};
use crate::setup::Setup;

pub(crate) async fn list(setup: &Setup, as_json: bool) -> Result<ExitCode> {
    let store = setup.open_store()?;
    let directory = setup.directory.to_string_lossy();
    let sessions = store.sessions().await?;
    let sessions = sessions.into_iter().filter(|session| session.workspace == directory);
    if as_json {
        for session in sessions {
            line(&json!({
                "id": session.id, "agent": session.agent, "workspace": session.workspace,
                "title": session.title, "created_ms": session.created_ms, "updated_ms": session.updated_ms,
            }))?;
        }
    } else {
        let rows = sessions.map(|session| vec![session.id.0, session.agent, session.title]).collect();
        table(&["SESSION", "AGENT", "FIRST PROMPT"], rows, "no session of this folder is stored")?;
    }
    store.flush_and_close().await?;
    Ok(0)
}
