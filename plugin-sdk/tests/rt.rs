//! Futures in a blocking tool: their value, and an end when the call is cancelled or late.

use std::time::Duration;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::rt;
use foehn_plugin_sdk::wire::{Reply, ReplyKind};
use foehn_plugin_testkit::{TestHost, json, run};

struct Wait;

#[args]
struct WaitArgs {
    forever: bool,
}

impl Tool for Wait {
    const NAME: &'static str = "wait";
    const DESCRIPTION: &'static str = "Awaits.";
    type Args = WaitArgs;
    type Out = &'static str;
    type Config = ();

    fn run(&self, args: WaitArgs, cx: &Cx<'_>) -> Result<&'static str> {
        rt::block_on(cx, async {
            cx.progress("waiting");
            if args.forever {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
            "done"
        })
    }
}

#[test]
fn a_future_runs_to_its_end() {
    assert_eq!(run(Wait, json!({"forever": false})).run().text(), "done");
}

#[test]
fn a_cancelled_or_late_call_drops_its_future() {
    let host = TestHost::new().cancel_at_progress("waiting");
    let cancelled = run(Wait, json!({"forever": true})).run_on(&host);
    assert_eq!(cancelled, Reply::error(ReplyKind::Cancelled, "the call was cancelled"));
    let late = run(Wait, json!({"forever": true})).time_limit(Duration::from_millis(5)).run();
    assert_eq!(late, Reply::error(ReplyKind::TimedOut, "the time of the call is up"));
}
