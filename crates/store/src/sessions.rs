//! The statements about sessions and their entries.

use foehn_protocol::{Entry, SessionId};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use crate::Problem;
use crate::lease::Claim;

const TITLE_CHARACTERS: usize = 80;

/// The most entries of one statement: databases limit how many values it may carry.
pub(crate) const AT_ONCE: usize = 100;

/// A session as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    pub id: SessionId,
    pub agent: String,
    pub workspace: String,
    /// The first line of the first prompt, shortened; empty before there is one.
    pub title: String,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Milliseconds since 1970 of the last entry.
    pub updated_ms: i64,
}

/// An entry exactly as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Counts from 1 without gaps.
    pub seq: i64,
    /// Milliseconds since 1970, when it was appended.
    pub at_ms: i64,
    /// The entry's `type`.
    pub kind: String,
    /// The JSON text, byte for byte.
    pub body: String,
}

/// An entry that waits to be stored.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) at_ms: i64,
    pub(crate) body: String,
}

impl StoredEntry {
    /// The entry; [`Entry::Unknown`] when a newer host wrote a kind that this one does not know.
    pub(crate) fn decode(&self, session: &SessionId) -> Result<Entry, Problem> {
        serde_json::from_str(&self.body).map_err(|error| Problem::BadEntry {
            session: session.clone(),
            seq: self.seq,
            reason: error.to_string(),
        })
    }
}

impl Pending {
    /// The tag comes first in the text because that is how serde writes it.
    fn kind(&self) -> &str {
        self.body
            .strip_prefix(r#"{"type":""#)
            .and_then(|rest| rest.split_once('"'))
            .map_or("unknown", |(kind, _)| kind)
    }
}

/// The title that a first prompt gives its session.
pub(crate) fn title(entry: &Entry) -> Option<String> {
    let Entry::Prompt { text, .. } = entry else { return None };
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let clean: String = line.chars().filter(|letter| !letter.is_control()).collect();
    Some(match clean.char_indices().nth(TITLE_CHARACTERS) {
        Some((end, _)) => format!("{}…", clean[..end].trim_end()),
        None => clean,
    })
}

pub(crate) async fn insert(connection: &mut AnyConnection, session: &SessionInfo) -> Result<(), Problem> {
    sqlx::query("INSERT INTO sessions (id, agent, workspace, title, created_ms) VALUES ($1, $2, $3, $4, $5)")
        .bind(session.id.as_str())
        .bind(session.agent.as_str())
        .bind(session.workspace.as_str())
        .bind(session.title.as_str())
        .bind(session.created_ms)
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn exists(connection: &mut AnyConnection, id: &SessionId) -> Result<bool, Problem> {
    let row = sqlx::query("SELECT id FROM sessions WHERE id = $1")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(row.is_some())
}

pub(crate) async fn last_seq(connection: &mut AnyConnection, id: &SessionId) -> Result<i64, Problem> {
    let seq = sqlx::query_scalar::<_, Option<i64>>("SELECT MAX(seq) FROM entries WHERE session = $1")
        .bind(id.as_str())
        .fetch_one(connection)
        .await?;
    Ok(seq.unwrap_or(0))
}

/// Stores at most [`AT_ONCE`] entries in one statement, if the lease is still held; tells whether it was.
pub(crate) async fn append(
    connection: &mut AnyConnection,
    id: &SessionId,
    last_seq: i64,
    entries: &[Pending],
    claim: &Claim,
    epoch: i64,
) -> Result<bool, Problem> {
    let text = append_text(entries.len());
    let mut statement = sqlx::query(AssertSqlSafe(text))
        .bind(claim.name.as_str())
        .bind(claim.owner.as_str())
        .bind(epoch)
        .bind(id.as_str());
    for (seq, entry) in (last_seq + 1..).zip(entries) {
        statement = statement.bind(seq).bind(entry.at_ms).bind(entry.kind()).bind(entry.body.as_str());
    }
    let stored = statement.execute(connection).await?.rows_affected();
    Ok(stored > 0)
}

/// The statement that stores so many entries. Not by the library's builder: its `?` is not Postgres's.
fn append_text(entries: usize) -> String {
    let rows: Vec<String> = (0..entries)
        .map(|entry| 5 + 4 * entry)
        .map(|first| format!("($4, ${first}, ${}, ${}, ${})", first + 1, first + 2, first + 3))
        .collect();
    format!(
        "INSERT INTO entries (session, seq, at_ms, kind, body) SELECT * FROM (VALUES {}) AS pending \
         WHERE EXISTS (SELECT 1 FROM leases WHERE name = $1 AND owner = $2 AND epoch = $3)",
        rows.join(", ")
    )
}

/// Gives the session its title, where it has none yet.
pub(crate) async fn entitle(
    connection: &mut AnyConnection,
    id: &SessionId,
    title: &str,
) -> Result<(), Problem> {
    sqlx::query("UPDATE sessions SET title = $1 WHERE id = $2 AND title = ''")
        .bind(title)
        .bind(id.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn entries(
    connection: &mut AnyConnection,
    id: &SessionId,
) -> Result<Vec<StoredEntry>, Problem> {
    let rows = sqlx::query("SELECT seq, at_ms, kind, body FROM entries WHERE session = $1 ORDER BY seq")
        .bind(id.as_str())
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| {
            Ok(StoredEntry {
                seq: row.try_get(0)?,
                at_ms: row.try_get(1)?,
                kind: row.try_get(2)?,
                body: row.try_get(3)?,
            })
        })
        .collect()
}

/// All sessions, or those of one workspace; the one used last comes first.
pub(crate) async fn list(
    connection: &mut AnyConnection,
    workspace: Option<&str>,
    limit: i64,
) -> Result<Vec<SessionInfo>, Problem> {
    let rows = sqlx::query(
        "SELECT id, agent, workspace, title, created_ms, COALESCE(( \
             SELECT at_ms FROM entries WHERE session = id ORDER BY seq DESC LIMIT 1 \
         ), created_ms) AS updated_ms FROM sessions \
         WHERE $1 = '' OR workspace = $2 ORDER BY updated_ms DESC, id DESC LIMIT $3",
    )
    .bind(workspace.unwrap_or_default())
    .bind(workspace.unwrap_or_default())
    .bind(limit)
    .fetch_all(connection)
    .await?;
    rows.iter().map(info).collect()
}

fn info(row: &AnyRow) -> Result<SessionInfo, Problem> {
    Ok(SessionInfo {
        id: SessionId(row.try_get(0)?),
        agent: row.try_get(1)?,
        workspace: row.try_get(2)?,
        title: row.try_get(3)?,
        created_ms: row.try_get(4)?,
        updated_ms: row.try_get(5)?,
    })
}

#[cfg(test)]
mod tests {
    use foehn_protocol::TurnId;

    use super::*;

    #[test]
    fn a_title_is_one_clean_short_line() {
        let rows = [
            ("\n  Fix the build \nplease", Some("Fix the build".to_owned())),
            ("   ", None),
            ("a\u{1b}[31mb", Some("a[31mb".to_owned())),
            (&"ä".repeat(200), Some(format!("{}…", "ä".repeat(TITLE_CHARACTERS)))),
        ];
        for (text, expected) in rows {
            assert_eq!(title(&Entry::Prompt { turn: TurnId(1), text: text.to_owned() }), expected);
        }
        assert_eq!(title(&Entry::Note { turn: TurnId(1), text: "no prompt".to_owned() }), None);
    }

    #[test]
    fn the_kind_of_an_entry_is_its_tag() {
        let entry = Entry::Note { turn: TurnId(1), text: r#"{"type":"prompt"}"#.to_owned() };
        let pending = Pending { at_ms: 0, body: serde_json::to_string(&entry).unwrap() };
        assert_eq!(pending.kind(), "note");
    }
}
