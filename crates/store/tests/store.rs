//! What a store keeps, and what it says when it cannot.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail like tests"
)]

use std::path::Path;

use foehn_ports::{Journal, JournalError};
use foehn_protocol::{Entry, SessionId, TurnId, TurnStatus, Usage};
use foehn_store::{Problem, SessionJournal, Store, StoreError, Versioned};
use sqlx::Connection;

const AGENT: &str = "default";

fn note(text: impl Into<String>) -> Entry {
    Entry::Note { turn: TurnId(1), text: text.into() }
}

fn prompt(text: &str) -> Entry {
    Entry::Prompt { turn: TurnId(1), text: text.to_owned() }
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> std::path::PathBuf {
        // Blanks, percent and question marks must not be taken for parts of a URL.
        self.folder.path().join("state of 100%?").join("foehn.db")
    }

    fn store(&self) -> Store {
        Store::open(self.path()).unwrap()
    }

    fn journal(&self, store: &Store) -> SessionJournal {
        store.create(AGENT, self.folder.path())
    }

    async fn sql(&self, text: &'static str) -> Result<(), sqlx::Error> {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(self.path());
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await?;
        sqlx::raw_sql(text).execute(&mut connection).await?;
        connection.close().await
    }
}

#[tokio::test]
async fn what_is_committed_is_read_back_in_order_by_the_next_process() {
    let place = Place::new();
    let entries = vec![
        Entry::Instructions {
            agent: AGENT.to_owned(),
            system: "Be brief.".to_owned(),
            tools: "[]".to_owned(),
        },
        prompt("  Which files are large?\nTell me."),
        note("10000000000000000000000001 \u{0}\u{7f} ä \"quoted\""),
        Entry::TurnEnded {
            turn: TurnId(1),
            status: TurnStatus::Answered,
            reason: None,
            usage: Usage { input_tokens: Some(7), ..Usage::default() },
        },
    ];

    let store = place.store();
    let journal = place.journal(&store);
    let id = journal.session().clone();
    assert_eq!(journal.load().await.unwrap(), []);
    for entry in &entries {
        journal.append(entry.clone());
    }
    journal.committed().await.unwrap();
    assert_eq!(journal.load().await.unwrap(), entries);
    store.flush_and_close().await.unwrap();

    let store = place.store();
    assert_eq!(store.load(&id).await.unwrap(), entries);
    let stored = store.load_stored(&id).await.unwrap();
    let shape: Vec<_> = stored.iter().map(|entry| (entry.seq, entry.kind.as_str())).collect();
    assert_eq!(shape, [(1, "instructions"), (2, "prompt"), (3, "note"), (4, "turn_ended")]);
    for (stored, entry) in stored.iter().zip(&entries) {
        assert_eq!(stored.body, serde_json::to_string(entry).unwrap());
    }

    let journal = store.resume(&id);
    journal.append(note("later"));
    journal.committed().await.unwrap();
    assert_eq!(store.load_stored(&id).await.unwrap().last().unwrap().seq, 5);

    let latest = store.latest(place.folder.path()).await.unwrap().unwrap();
    assert_eq!((latest.id, latest.title), (id, "Which files are large?".to_owned()));
}

#[tokio::test]
async fn a_session_without_entries_leaves_no_trace() {
    let place = Place::new();
    let store = place.store();
    let journal = place.journal(&store);
    journal.committed().await.unwrap();
    assert_eq!(store.sessions().await.unwrap(), []);
    assert_eq!(store.latest(Path::new("/elsewhere")).await.unwrap(), None);
}

#[tokio::test]
async fn the_session_used_last_is_the_latest_of_its_workspace() {
    let place = Place::new();
    let store = place.store();
    let mut ids = Vec::new();
    for workspace in ["/a", "/b", "/a"] {
        let journal = store.create(AGENT, Path::new(workspace));
        journal.append(prompt(workspace));
        journal.committed().await.unwrap();
        ids.push(journal.session().clone());
    }
    let latest =
        async |workspace: &str| store.latest(Path::new(workspace)).await.unwrap().map(|found| found.id);
    assert_eq!(latest("/a").await.as_ref(), Some(&ids[2]));
    assert_eq!(latest("/b").await.as_ref(), Some(&ids[1]));
    assert_eq!(latest("/c").await, None);
    let mut listed: Vec<_> = store.sessions().await.unwrap().into_iter().map(|session| session.id).collect();
    listed.sort();
    assert_eq!(listed, ids, "ids sort by time of creation");
}

#[tokio::test]
async fn an_entry_of_a_newer_host_is_kept_and_read_as_unknown() {
    let place = Place::new();
    let store = place.store();
    let journal = place.journal(&store);
    journal.append(note("known"));
    journal.committed().await.unwrap();
    place.sql(r#"UPDATE entries SET kind = 'dream', body = '{"type":"dream","of":[1]}'"#).await.unwrap();
    assert_eq!(journal.load().await.unwrap(), [Entry::Unknown]);

    place.sql("UPDATE entries SET body = '{\"type\":\"note\"'").await.unwrap();
    let error = store.load(journal.session()).await.unwrap_err();
    assert!(matches!(error.problem, Problem::BadEntry { seq: 1, .. }), "{error}");
}

#[tokio::test]
async fn a_session_has_one_writer() {
    let place = Place::new();
    let (first, second) = (place.store(), place.store());
    let journal = place.journal(&first);
    journal.append(note("mine"));
    journal.committed().await.unwrap();
    let id = journal.session().clone();

    for store in [&first, &second] {
        let other = store.resume(&id);
        let JournalError::Store { message, .. } = other.load().await.unwrap_err() else {
            panic!("wrong kind")
        };
        let expected = format!(
            "has session `{id}` open in another Foehn (process {}). End that one first, or start a new session",
            std::process::id()
        );
        assert_eq!(message, expected);
        assert_eq!(store.load(&id).await.unwrap(), [note("mine")], "reading needs no lease");
    }

    // The other's words wait for the lease and then follow.
    let other = second.resume(&id);
    other.append(note("theirs"));
    assert!(other.committed().await.is_err());
    journal.append(note("mine again"));
    journal.committed().await.unwrap();
    drop(journal);
    first.sessions().await.unwrap();
    other.committed().await.unwrap();
    assert_eq!(second.load(&id).await.unwrap(), [note("mine"), note("mine again"), note("theirs")]);
}

#[tokio::test]
async fn a_writer_that_was_replaced_stores_nothing_more() {
    let place = Place::new();
    let store = place.store();
    let journal = place.journal(&store);
    journal.append(note("before"));
    journal.committed().await.unwrap();
    place.sql("UPDATE leases SET owner = 'other', epoch = epoch + 1").await.unwrap();
    journal.append(note("after"));
    for _ in 0..2 {
        let error = journal.committed().await.unwrap_err().to_string();
        assert!(error.contains("taken over by another Foehn"), "{error}");
    }
    assert_eq!(store.load(journal.session()).await.unwrap(), [note("before")]);
}

#[tokio::test]
async fn a_lease_that_nobody_can_judge_ends_by_time() {
    let place = Place::new();
    let store = place.store();
    let journal = place.journal(&store);
    journal.append(note("before"));
    journal.committed().await.unwrap();

    place.sql("UPDATE leases SET owner = 'other', process = 'elsewhere', epoch = 9").await.unwrap();
    let next = store.resume(journal.session());
    assert!(next.load().await.unwrap_err().to_string().contains("open in another Foehn."));
    place.sql("UPDATE leases SET until_ms = 1").await.unwrap();
    assert_eq!(next.load().await.unwrap(), [note("before")]);
}

#[tokio::test]
async fn a_session_that_does_not_exist_is_named() {
    let place = Place::new();
    let store = place.store();
    let id = SessionId::from("nothing");
    let journal = store.resume(&id);
    journal.append(note("lost"));
    assert!(matches!(journal.committed().await, Err(JournalError::NoSuchSession(named)) if named == id));
    assert!(matches!(journal.load().await, Err(JournalError::NoSuchSession(named)) if named == id));
    assert_eq!(store.load(&id).await.unwrap_err().problem, Problem::NoSuchSession(id));
}

#[tokio::test]
async fn a_damaged_file_is_named_and_kept() {
    let healthy = {
        let place = Place::new();
        let store = place.store();
        let journal = place.journal(&store);
        (0..200).for_each(|number| journal.append(note(format!("{number}{}", "x".repeat(500)))));
        store.flush_and_close().await.unwrap();
        place.sql("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
        std::fs::read(place.path()).unwrap()
    };
    let rows: [(&str, Vec<u8>); 3] = [
        ("text", b"this is no database, and it is longer than one hundred bytes. ".repeat(40)),
        ("cut", healthy[..healthy.len() / 2].to_vec()),
        ("overwritten", [&healthy[..100], &vec![0x5a; healthy.len() - 100]].concat()),
    ];
    for (name, bytes) in rows {
        let place = Place::new();
        std::fs::create_dir_all(place.path().parent().unwrap()).unwrap();
        std::fs::write(place.path(), &bytes).unwrap();
        let store = place.store();
        let journal = place.journal(&store);
        journal.append(note("new"));
        let error = journal.committed().await.unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("the session journal {} is damaged", place.path().display())),
            "{error}"
        );
        let error = store.sessions().await.unwrap_err();
        assert!(matches!(error.problem, Problem::Damaged(_)), "{name}: {error}");
        assert!(store.flush_and_close().await.is_err());
        assert!(std::fs::read(place.path()).unwrap() == bytes, "{name}: the file was changed");
    }
}

#[tokio::test]
async fn a_store_of_a_newer_version_is_left_alone() {
    let place = Place::new();
    let store = place.store();
    store.sessions().await.unwrap();
    store.flush_and_close().await.unwrap();
    place.sql("UPDATE _sqlx_migrations SET version = 4000 WHERE version = 1").await.unwrap();
    let error = place.store().sessions().await.unwrap_err();
    assert_eq!(error, StoreError { path: place.path(), problem: Problem::Newer { found: 4000, known: 2 } });
}

#[tokio::test]
async fn a_store_of_an_older_version_is_brought_up_to_date() {
    let place = Place::new();
    let store = place.store();
    let journal = place.journal(&store);
    // More than one statement takes.
    for number in 0..250 {
        journal.append(prompt(&format!("prompt {number}")));
    }
    journal.committed().await.unwrap();
    store.flush_and_close().await.unwrap();
    for statement in [
        "DROP INDEX sessions_by_workspace",
        "ALTER TABLE sessions ADD COLUMN updated_ms BIGINT NOT NULL DEFAULT 7",
        "CREATE INDEX sessions_by_workspace ON sessions (workspace, updated_ms)",
        "DELETE FROM _sqlx_migrations WHERE version = 2",
    ] {
        place.sql(statement).await.unwrap();
    }
    let sessions = place.store().sessions().await.unwrap();
    let stored = place.store().load_stored(journal.session()).await.unwrap();
    let told: Vec<_> = sessions.iter().map(|info| (info.title.as_str(), info.updated_ms)).collect();
    assert_eq!((told, stored.len()), (vec![("prompt 0", stored.last().unwrap().at_ms)], 250));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_place_that_cannot_be_written_is_named() {
    let place = Place::new();
    let file = place.folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [Path::new("/sys/foehn/foehn.db"), &file.join("foehn.db"), place.folder.path()] {
        let store = Store::open(path).unwrap();
        let error = store.sessions().await.unwrap_err();
        assert!(matches!(error.problem, Problem::NotWritable(_)), "{error}");
        assert_eq!(error.path, path);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let place = Place::new();
    let store = place.store();
    store.plugin_state("scan").put("key", Vec::new()).await.unwrap();
    assert_eq!(mode(place.path().parent().unwrap()), 0o700);
    assert_eq!(mode(&place.path()), 0o600);
    assert_eq!(mode(&place.path().with_extension("db-wal")), 0o600);

    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    place.store().sessions().await.unwrap();
    assert_eq!(mode(&place.path()), 0o600);
}

#[tokio::test]
async fn a_step_waits_for_another_writer() {
    let place = Place::new();
    let store = place.store();
    let journal = place.journal(&store);
    journal.append(note("first"));
    journal.committed().await.unwrap();

    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(place.path());
    let mut other = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    journal.append(note("second"));
    let committed = journal.committed();
    transaction.rollback().await.unwrap();
    committed.await.unwrap();
    // A reader that does not end is in nobody's way.
    let mut transaction = other.begin().await.unwrap();
    let before: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM entries").fetch_one(&mut *transaction).await.unwrap();
    journal.append(note("third"));
    journal.committed().await.unwrap();
    let after: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM entries").fetch_one(&mut *transaction).await.unwrap();
    assert_eq!((before, after), (2, 2));
    assert_eq!(journal.load().await.unwrap(), [note("first"), note("second"), note("third")]);
}

#[tokio::test]
async fn many_writers_on_one_file_keep_their_order() {
    const WRITERS: usize = 6;
    const ENTRIES: usize = 60;
    let place = Place::new();
    let stores: Vec<Store> = (0..3).map(|_| place.store()).collect();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let journal = place.journal(&stores[writer % stores.len()]);
            tokio::spawn(async move {
                for number in 0..ENTRIES {
                    journal.append(note(number.to_string()));
                    if number % 3 == 0 {
                        journal.committed().await.unwrap();
                    }
                }
                journal.committed().await.unwrap();
                journal.session().clone()
            })
        })
        .collect();
    let expected: Vec<Entry> = (0..ENTRIES).map(|number| note(number.to_string())).collect();
    for writer in writers {
        let id = writer.await.unwrap();
        assert_eq!(stores[0].load(&id).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn plugin_state_is_versioned_and_apart() {
    let place = Place::new();
    let store = place.store();
    let (scan, shell) = (store.plugin_state("scan"), store.plugin_state("shell"));
    let value = |text: &str, version| Some(Versioned { value: text.as_bytes().to_vec(), version });

    assert_eq!(scan.get("key").await.unwrap(), None);
    assert_eq!(scan.put("key", b"one".to_vec()).await.unwrap(), 1);
    assert_eq!(scan.put("key", b"two".to_vec()).await.unwrap(), 2);
    assert_eq!(scan.get("key").await.unwrap(), value("two", 2));
    assert_eq!(shell.get("key").await.unwrap(), None);

    assert_eq!(scan.compare_and_set("key", 1, b"late".to_vec()).await.unwrap(), None);
    assert_eq!(scan.compare_and_set("key", 0, b"late".to_vec()).await.unwrap(), None);
    assert_eq!(scan.compare_and_set("key", 2, b"three".to_vec()).await.unwrap(), Some(3));
    assert_eq!(scan.compare_and_set("a_b", 0, b"\0\xff".to_vec()).await.unwrap(), Some(1));
    assert_eq!(scan.compare_and_set("gone", 7, b"late".to_vec()).await.unwrap(), None);
    assert_eq!(scan.get("a_b").await.unwrap(), Some(Versioned { value: b"\0\xff".to_vec(), version: 1 }));

    assert_eq!(scan.list("").await.unwrap(), ["a_b", "key"]);
    assert_eq!(scan.list("a%").await.unwrap(), Vec::<String>::new());
    assert_eq!(scan.list("a_").await.unwrap(), ["a_b"]);
    assert!(scan.delete("a_b").await.unwrap());
    assert!(!scan.delete("a_b").await.unwrap());
    assert_eq!(scan.get("key").await.unwrap(), value("three", 3));
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let place = Place::new();
    let store = place.store();
    let journal = place.journal(&store);
    journal.append(note("kept"));
    store.flush_and_close().await.unwrap();
    journal.append(note("too late"));
    assert!(journal.committed().await.unwrap_err().to_string().ends_with("is closed"));
    assert_eq!(store.sessions().await.unwrap_err().problem, Problem::Closed);
    assert_eq!(place.store().load(journal.session()).await.unwrap(), [note("kept")]);
}
