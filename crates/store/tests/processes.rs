//! The store when its process dies, and when the disk is full. The writers are this test binary, started again.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail like tests"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use foehn_ports::Journal;
use foehn_protocol::{Entry, SessionId, TurnId};
use foehn_store::Store;

/// Holds the path of the store in a process that is only there to write.
const WRITER: &str = "FOEHN_TEST_STORE_WRITER";

const FILLER: usize = 1000;

fn entry(number: usize) -> Entry {
    Entry::Note { turn: TurnId(1), text: format!("{number} {}", "x".repeat(FILLER)) }
}

/// What the started process does: appends until it is killed or refused, and says after each entry that it is kept.
#[tokio::test]
async fn writer() {
    let Some(path) = std::env::var_os(WRITER) else { return };
    let journal = Store::open(path).unwrap().create("default", Path::new("/workspace"));
    for number in 0.. {
        journal.append(entry(number));
        if let Err(error) = journal.committed().await {
            println!("\nrefused {error}");
            // What waits is tried again. That may help: a new connection first moves the log into the file.
            if journal.committed().await.is_err() {
                return;
            }
        }
        println!("\nkept {number} {}", journal.session());
    }
}

/// Starts a writer below a shell line that ends in `exec "$0" "$@"`.
fn start(path: &Path, shell: &str) -> Child {
    let binary = std::env::current_exe().unwrap();
    Command::new("sh")
        .args(["-c", shell])
        .arg(binary)
        .args(["--exact", "writer", "--nocapture", "--test-threads=1"])
        .env(WRITER, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Reads what the writer says until `enough` entries are kept or it ends; gives the session, the count and a refusal.
fn listen(child: &mut Child, enough: usize) -> (SessionId, usize, Option<String>) {
    let (mut session, mut kept, mut refusal) = (String::new(), 0, None);
    for line in BufReader::new(child.stdout.as_mut().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(rest) = line.strip_prefix("kept ") {
            let (number, id) = rest.split_once(' ').unwrap();
            kept = number.parse::<usize>().unwrap() + 1;
            session = id.to_owned();
        } else if let Some(text) = line.strip_prefix("refused ") {
            refusal = Some(text.to_owned());
        }
        if kept == enough {
            break;
        }
    }
    (SessionId(session), kept, refusal)
}

#[tokio::test]
async fn a_killed_writer_loses_nothing_committed_and_frees_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foehn.db");
    let mut child = start(&path, r#"exec "$0" "$@""#);
    let (session, kept, _) = listen(&mut child, 50);
    assert_eq!(kept, 50);

    let store = Store::open(&path).unwrap();
    let refused = store.resume(&session).load().await.unwrap_err().to_string();
    assert!(refused.contains(&format!("open in another Foehn (process {})", child.id())), "{refused}");

    child.kill().unwrap();
    // Not reaped yet: a process that only waits for its parent is dead all the same.
    while !std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap().contains(") Z") {
        std::thread::yield_now();
    }
    let journal = store.resume(&session);
    let entries = journal.load().await.unwrap();
    assert!(entries.len() >= kept, "{} of {kept}", entries.len());
    let expected: Vec<Entry> = (0..entries.len()).map(entry).collect();
    assert!(entries == expected, "out of order");

    journal.append(entry(entries.len()));
    journal.committed().await.unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn a_full_disk_is_told_and_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foehn.db");
    // No file may grow beyond some hundred blocks: what a full disk or a quota does to the store, in one process.
    let mut child = start(&path, r#"trap '' XFSZ; ulimit -f 600; exec "$0" "$@""#);
    let (session, kept, refusal) = listen(&mut child, usize::MAX);
    assert!(child.wait().unwrap().success());
    let refusal = refusal.unwrap();
    assert!(
        refusal.contains("Check free space, quota and the disk") || refusal.contains("disk is full"),
        "{refusal}"
    );
    // How many fit depends on how they were batched; that some did shows that the limit was met in the middle of work.
    assert!(kept > 0, "{refusal}");

    let store = Store::open(&path).unwrap();
    let expected: Vec<Entry> = (0..kept).map(entry).collect();
    assert!(store.load(&session).await.unwrap() == expected, "half of a step was stored");
    let journal = store.resume(&session);
    journal.append(entry(kept));
    journal.committed().await.unwrap();
    assert_eq!(journal.load().await.unwrap().len(), kept + 1);
}
