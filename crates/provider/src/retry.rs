//! When a failed request is sent again, and how long it waits.
//!
//! One rule above all: once anything of an answer was handed out, it is never asked for again. Within that, only what
//! can pass by itself is retried, and a server that names a time is given that time, or, when it names a long one, the
//! user is told so at once.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use backon::{ExponentialBuilder, Retryable};
use foehn_ports::{Delta, DeltaSink};

use crate::errors::Failure;

/// The longest time that a server may ask for before this gives up and says so.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) max_retries: u32,
    pub(crate) first_wait: Duration,
}

impl Policy {
    pub(crate) fn new(max_retries: u32) -> Self {
        Self { max_retries, first_wait: Duration::from_millis(500) }
    }
}

/// Runs `attempt` until it answers, fails for good or has handed something out.
pub(crate) async fn run<T, Attempt, Running>(
    policy: Policy,
    deltas: DeltaSink<'_>,
    handed_out: &AtomicBool,
    attempt: Attempt,
) -> Result<T, Failure>
where
    Attempt: FnMut() -> Running,
    Running: Future<Output = Result<T, Failure>>,
{
    let schedule = ExponentialBuilder::default()
        .with_jitter()
        .with_min_delay(policy.first_wait)
        .with_max_delay(LONGEST_WAIT / 3)
        .with_max_times(policy.max_retries as usize);
    let retries = AtomicU32::new(0);
    let may_retry = |failure: &Failure| failure.retryable && !handed_out.load(Ordering::Relaxed);
    let outcome = attempt
        .retry(schedule)
        .when(|failure| may_retry(failure) && !asks_too_long(failure))
        .adjust(|failure, own| own.map(|own| own.max(failure.wait.unwrap_or_default())))
        .notify(|failure, wait| {
            let attempt = retries.fetch_add(1, Ordering::Relaxed) + 1;
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            deltas(Delta::Retrying { attempt, wait_ms, reason: failure.message.clone() });
        })
        .await;
    outcome.map_err(|mut failure| {
        let retries = retries.load(Ordering::Relaxed);
        if may_retry(&failure) && asks_too_long(&failure) {
            let wait = words(failure.wait.unwrap_or_default());
            let most = LONGEST_WAIT.as_secs();
            failure.message =
                format!("{}; it asks to wait {wait}, and no more than {most} s are waited", failure.message);
        } else if retries > 0 && may_retry(&failure) {
            failure.message = format!("{} (gave up after {} attempts)", failure.message, retries + 1);
        }
        failure
    })
}

/// The time that a reply asks for: `retry-after-ms`, `retry-after` in seconds, or `retry-after` as a date, measured
/// from the server's own `date` where it gives one.
pub(crate) fn requested_wait(header: &dyn Fn(&str) -> Option<String>, now: SystemTime) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if let Some(milliseconds) = header("retry-after-ms").as_deref().and_then(number) {
        return Duration::try_from_secs_f64(milliseconds.max(0.0) / 1000.0).ok();
    }
    let asked = header("retry-after")?;
    if let Some(seconds) = number(&asked) {
        return Some(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX));
    }
    let date = |text: &str| {
        let instant = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
        Some(SystemTime::from(instant))
    };
    let now = header("date").as_deref().and_then(date).unwrap_or(now);
    Some(date(&asked)?.duration_since(now).unwrap_or_default())
}

fn asks_too_long(failure: &Failure) -> bool {
    failure.wait.is_some_and(|wait| wait > LONGEST_WAIT)
}

/// A duration as a person says it.
fn words(wait: Duration) -> String {
    let seconds = wait.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, ..) => format!("{days} days {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use foehn_ports::ModelErrorKind;

    use super::*;

    #[test]
    fn the_wait_is_read_in_every_form() {
        const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        type Headers = &'static [(&'static str, &'static str)];
        let rows: [(Headers, Option<Duration>); 8] = [
            (&[], None),
            (&[("retry-after", "2")], Some(Duration::from_secs(2))),
            (&[("retry-after", " 1.5 ")], Some(Duration::from_millis(1500))),
            (&[("retry-after-ms", "250"), ("retry-after", "9")], Some(Duration::from_millis(250))),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), ("date", DATE)],
                Some(Duration::from_secs(30)),
            ),
            (&[("retry-after", DATE)], Some(Duration::ZERO)),
            (&[("retry-after", "-5")], Some(Duration::ZERO)),
            (&[("retry-after", "soon")], None),
        ];
        for (headers, wait) in rows {
            let header = |name: &str| {
                headers.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(requested_wait(&header, SystemTime::now()), wait, "{headers:?}");
        }
    }

    #[test]
    fn waits_are_said_in_words() {
        let rows = [(42, "42 s"), (90, "1 min 30 s"), (14_000, "3 h 53 min"), (200_000, "2 days 7 h")];
        for (seconds, expected) in rows {
            assert_eq!(words(Duration::from_secs(seconds)), expected);
        }
    }

    fn failure(retryable: bool, wait: Option<u64>) -> Failure {
        Failure {
            kind: ModelErrorKind::Overloaded,
            message: "busy".into(),
            request_id: None,
            retryable,
            wait: wait.map(Duration::from_secs),
        }
    }

    /// Plays `failures`, then answers; gives the outcome, the attempts and what was said.
    async fn check(failures: Vec<Failure>, hands_out: bool) -> (Result<(), String>, usize, Vec<u32>) {
        let policy = Policy { max_retries: 3, first_wait: Duration::from_micros(1) };
        let handed_out = AtomicBool::new(false);
        let (left, attempts, said) = (Mutex::new(failures), AtomicU32::new(0), Mutex::new(Vec::new()));
        let sink = |delta: Delta| {
            if let Delta::Retrying { attempt, .. } = delta {
                said.lock().unwrap().push(attempt);
            }
        };
        let outcome = run(policy, &sink, &handed_out, || async {
            attempts.fetch_add(1, Ordering::Relaxed);
            handed_out.store(hands_out, Ordering::Relaxed);
            let mut left = left.lock().unwrap();
            if left.is_empty() { Ok(()) } else { Err(left.remove(0)) }
        })
        .await;
        let said = said.lock().unwrap().clone();
        (outcome.map_err(|failure| failure.message), attempts.load(Ordering::Relaxed) as usize, said)
    }

    #[tokio::test]
    async fn what_can_pass_is_tried_again_and_the_rest_is_not() {
        let busy = || failure(true, None);
        assert_eq!(check(vec![busy(), busy()], false).await, (Ok(()), 3, vec![1, 2]));
        assert_eq!(check(vec![failure(false, None)], false).await, (Err("busy".into()), 1, vec![]));
        assert_eq!(check(vec![busy()], true).await, (Err("busy".into()), 1, vec![]));
        assert_eq!(
            check(vec![busy(); 10], false).await,
            (Err("busy (gave up after 4 attempts)".into()), 4, vec![1, 2, 3])
        );
        assert_eq!(
            check(vec![failure(true, Some(14_000))], false).await,
            (Err("busy; it asks to wait 3 h 53 min, and no more than 60 s are waited".into()), 1, vec![])
        );
    }
}
