//! One writer per session: a row with owner, expiry and epoch.
//!
//! The owner's process is looked up first: on the same running system a dead owner loses its lease at once and a
//! living one keeps it, however long it sleeps. Only where that cannot be told (another container, another system)
//! does the expiry decide. Either way the epoch fences: a writer that was replaced finds out before it stores anything.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sqlx::{AnyConnection, Row};

use crate::Problem;

/// How long a lease lasts without a sign of life, where the owner's process cannot be looked up.
pub(crate) const LEASE: Duration = Duration::from_secs(90);

pub(crate) const RENEW_EVERY: Duration = Duration::from_secs(30);

/// Who wants or holds a lease.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) name: String,
    /// Unique for each holder, also within one process.
    pub(crate) owner: String,
    pub(crate) process: Process,
}

/// Why a lease was not given.
#[derive(Debug)]
pub(crate) enum Refused {
    /// ` (process 123)`, or empty.
    Held(String),
    Store(Problem),
}

impl From<sqlx::Error> for Refused {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Claim {
    /// Takes the lease if it is free; gives its new epoch.
    pub(crate) async fn acquire(&self, connection: &mut AnyConnection) -> Result<i64, Refused> {
        let now = now_ms();
        let row = sqlx::query("SELECT owner, process, until_ms, epoch FROM leases WHERE name = $1")
            .bind(self.name.as_str())
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else {
            sqlx::query(
                "INSERT INTO leases (name, owner, process, until_ms, epoch) VALUES ($1, $2, $3, $4, 1)",
            )
            .bind(self.name.as_str())
            .bind(self.owner.as_str())
            .bind(self.process.to_text())
            .bind(expiry(now))
            .execute(connection)
            .await?;
            return Ok(1);
        };
        let (owner, process): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let (until, epoch): (i64, i64) = (row.try_get(2)?, row.try_get(3)?);
        let held = match self.process.judge(&process) {
            _ if owner.is_empty() => None,
            Liveness::Dead => None,
            Liveness::Alive(pid) => Some(format!(" (process {pid})")),
            Liveness::Unknown => (until > now).then(String::new),
        };
        if let Some(by) = held {
            return Err(Refused::Held(by));
        }
        let taken = sqlx::query(
            "UPDATE leases SET owner = $1, process = $2, until_ms = $3, epoch = $4 WHERE name = $5 AND epoch = $6",
        )
        .bind(self.owner.as_str())
        .bind(self.process.to_text())
        .bind(expiry(now))
        .bind(epoch + 1)
        .bind(self.name.as_str())
        .bind(epoch)
        .execute(connection)
        .await?
        .rows_affected();
        // Zero rows: another host was quicker, in a database that lets two transactions read at once.
        if taken == 1 { Ok(epoch + 1) } else { Err(Refused::Held(String::new())) }
    }

    /// Proves that the lease is still ours and prolongs it; `false` when it is not.
    pub(crate) async fn renew(&self, epoch: i64, connection: &mut AnyConnection) -> Result<bool, Problem> {
        self.set_expiry(expiry(now_ms()), epoch, connection).await
    }

    pub(crate) async fn release(&self, epoch: i64, connection: &mut AnyConnection) -> Result<(), Problem> {
        sqlx::query(
            "UPDATE leases SET owner = '', until_ms = 0 WHERE name = $1 AND owner = $2 AND epoch = $3",
        )
        .bind(self.name.as_str())
        .bind(self.owner.as_str())
        .bind(epoch)
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn set_expiry(
        &self,
        until: i64,
        epoch: i64,
        connection: &mut AnyConnection,
    ) -> Result<bool, Problem> {
        let rows =
            sqlx::query("UPDATE leases SET until_ms = $1 WHERE name = $2 AND owner = $3 AND epoch = $4")
                .bind(until)
                .bind(self.name.as_str())
                .bind(self.owner.as_str())
                .bind(epoch)
                .execute(connection)
                .await?
                .rows_affected();
        Ok(rows == 1)
    }
}

/// Milliseconds since 1970; 0 for a clock before that.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn expiry(now: i64) -> i64 {
    now.saturating_add(i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX))
}

/// A process, told apart from a later one with the same number: system start, process namespace, number, start time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    boot: String,
    namespace: String,
    pid: u32,
    started: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Liveness {
    Alive(u32),
    Dead,
    Unknown,
}

impl Process {
    /// This process. Where the system has no `/proc`, the parts are empty and nobody can judge it.
    pub(crate) fn current() -> Self {
        let pid = std::process::id();
        Self {
            boot: std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
                .map(|text| text.trim().to_owned())
                .unwrap_or_default(),
            namespace: std::fs::read_link("/proc/self/ns/pid")
                .map(|link| link.to_string_lossy().into_owned())
                .unwrap_or_default(),
            pid,
            started: started(pid).unwrap_or_default(),
        }
    }

    fn to_text(&self) -> String {
        format!("{}|{}|{}|{}", self.boot, self.namespace, self.pid, self.started)
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut parts = text.split('|');
        let process = Self {
            boot: parts.next()?.to_owned(),
            namespace: parts.next()?.to_owned(),
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.to_owned(),
        };
        let known = !process.boot.is_empty() && !process.namespace.is_empty() && !process.started.is_empty();
        (known && parts.next().is_none()).then_some(process)
    }

    /// Whether the process in `text`, seen from this one, still runs.
    fn judge(&self, text: &str) -> Liveness {
        let Some(other) = Self::from_text(text) else { return Liveness::Unknown };
        if self.boot.is_empty() {
            return Liveness::Unknown;
        }
        // A SQLite file serves one system only, so an owner from before its last start is gone.
        if other.boot != self.boot {
            return Liveness::Dead;
        }
        if other.namespace != self.namespace {
            return Liveness::Unknown;
        }
        if started(other.pid).is_some_and(|started| started == other.started) {
            Liveness::Alive(other.pid)
        } else {
            Liveness::Dead
        }
    }
}

/// When a living process started, in ticks since the system did; `None` for one that is gone or only waits to be reaped.
fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may itself hold blanks and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_judged_by_start_and_namespace() {
        let me = Process::current();
        let dead = Process { started: "1".to_owned(), ..me.clone() };
        let other_namespace = Process { namespace: "pid:[1]".to_owned(), ..dead.clone() };
        let earlier_boot = Process { boot: "earlier".to_owned(), ..me.clone() };
        let rows = [
            (me.to_text(), Liveness::Alive(std::process::id())),
            (dead.to_text(), Liveness::Dead),
            (other_namespace.to_text(), Liveness::Unknown),
            (earlier_boot.to_text(), Liveness::Dead),
            (String::new(), Liveness::Unknown),
            ("||1|".to_owned(), Liveness::Unknown),
        ];
        for (text, expected) in rows {
            assert_eq!(me.judge(&text), expected, "{text}");
        }
    }
}
