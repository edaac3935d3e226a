//! The one connection of a store: how its file comes to be, how it is opened, and how a transaction is retried.

use std::path::Path;
use std::time::Duration;

use sqlx::any::AnyConnectOptions;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{AnyConnection, ConnectOptions, Connection};
use tokio::time::Instant;

use crate::Problem;

/// How long a step waits for another writer before it fails.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// SQLite takes the write lock at the start, so that a transaction that has read can never fail to write.
/// Postgres has no such word and needs none.
const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";

/// Some busy errors come back at once instead of after the timeout: those of a switch to WAL and of a recovery.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// A connection that opens when it is first needed, and again after a failure that spoilt it.
#[derive(Debug, Default)]
pub(crate) enum Lazy {
    #[default]
    Closed,
    Open(AnyConnection),
    /// Not tried again: every try would touch the file.
    Damaged(Problem),
}

impl Lazy {
    /// Runs `work` in one write transaction: all of it is kept, or nothing.
    pub(crate) async fn write<T>(
        &mut self,
        path: &Path,
        work: impl AsyncFn(&mut AnyConnection) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.retry(path, async |connection| {
            let mut transaction = connection.begin_with(BEGIN_WRITE).await?;
            let value = work(&mut transaction).await?;
            transaction.commit().await?;
            Ok(value)
        })
        .await
    }

    /// Runs `work`, a single statement, outside of a transaction: each statement more is two more changes of thread.
    pub(crate) async fn single<T>(
        &mut self,
        path: &Path,
        work: impl AsyncFn(&mut AnyConnection) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.retry(path, work).await
    }

    async fn retry<T>(
        &mut self,
        path: &Path,
        work: impl AsyncFn(&mut AnyConnection) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let deadline = Instant::now() + BUSY_TIMEOUT;
        loop {
            let result = match self.connection(path).await {
                Ok(connection) => work(connection).await,
                Err(problem) => Err(problem),
            };
            match result {
                Err(Problem::Busy) if Instant::now() < deadline => tokio::time::sleep(BUSY_PAUSE).await,
                Err(problem) => {
                    self.suffer(&problem);
                    return Err(problem);
                }
                Ok(value) => return Ok(value),
            }
        }
    }

    async fn connection(&mut self, path: &Path) -> Result<&mut AnyConnection, Problem> {
        if let Self::Closed = self {
            *self = Self::Open(open(path).await?);
        }
        match self {
            Self::Open(connection) => Ok(connection),
            Self::Damaged(problem) => Err(problem.clone()),
            Self::Closed => Err(Problem::Closed),
        }
    }

    fn suffer(&mut self, problem: &Problem) {
        if let Problem::Damaged(_) = problem {
            self.leave();
            *self = Self::Damaged(problem.clone());
        } else if problem.spoils_connection() {
            *self = Self::Closed;
        }
    }

    /// Lets go of the database without SQLite's farewell, which would flush the disk twice to tidy its log away.
    ///
    /// The log stays beside the file, as after a crash, and is read at the next start; that is quicker than the flushes
    /// at the end and the one at the next beginning. The process is about to end, and the system takes the rest back.
    pub(crate) fn leave(&mut self) {
        if let Self::Open(connection) = std::mem::take(self) {
            std::mem::forget(connection);
        }
    }
}

async fn open(path: &Path) -> Result<AnyConnection, Problem> {
    let is_new = prepare_file(path).map_err(|error| Problem::from_io(&error))?;
    sqlx::any::install_default_drivers();
    let options: AnyConnectOptions = url(path)?.parse()?;
    let mut connection = options.disable_statement_logging().connect().await?;
    let settings = format!(
        "PRAGMA busy_timeout = {}; PRAGMA synchronous = {}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
        BUSY_TIMEOUT.as_millis(),
        // The change to a log flushes the disk, for a file in which there is nothing to lose yet.
        if is_new { "OFF" } else { "NORMAL" },
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(settings)).execute(&mut connection).await?;
    bring_up_to_date(&mut connection).await?;
    Ok(connection)
}

/// Makes folder and file for their owner only, where they are missing; SQLite gives its side files the same mode.
/// Tells whether the file is empty.
fn prepare_file(path: &Path) -> std::io::Result<bool> {
    if let Some(folder) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(mode & !0o077))?;
        }
    }
    Ok(metadata.len() == 0)
}

fn url(path: &Path) -> Result<String, Problem> {
    let text = path.to_str().ok_or_else(|| Problem::NotWritable("its path is not valid UTF-8".to_owned()))?;
    let mut url = String::from("sqlite://");
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    Ok(url)
}

/// One cheap question when the tables are there; the migrations only when they are not.
async fn bring_up_to_date(connection: &mut AnyConnection) -> Result<(), Problem> {
    let known = MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0);
    match schema_version(connection).await? {
        Some(found) if found == known => Ok(()),
        Some(found) if found > known => Err(Problem::Newer { found, known }),
        _ => {
            // Under the write lock, because two hosts may start on the same empty store.
            let mut transaction = connection.begin_with(BEGIN_WRITE).await?;
            MIGRATIONS.run(&mut *transaction).await.map_err(|error| match error {
                MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
                MigrateError::VersionMissing(found) => Problem::Newer { found, known },
                other => Problem::Failed(other.to_string()),
            })?;
            transaction.commit().await?;
            Ok(())
        }
    }
}

async fn schema_version(connection: &mut AnyConnection) -> Result<Option<i64>, Problem> {
    let version = sqlx::query_scalar::<_, Option<i64>>("SELECT MAX(version) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await;
    match version {
        Ok(version) => Ok(version),
        // The table is not there yet. Everything else that can be wrong has its own code.
        Err(error) => match Problem::from(error) {
            Problem::Failed(_) => Ok(None),
            problem => Err(problem),
        },
    }
}
