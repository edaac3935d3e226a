//! What a good plugin gets from its host, in a worker and in this process alike.

use foehn_plugin_host::{Isolation, PluginSet};
use foehn_ports::Toolbox;
use foehn_protocol::Risk;
use serde_json::json;

use crate::world::{Asked, World, brief, call, cases};

cases![
    everything_a_call_can_ask,
    the_same_in_this_process,
    a_warm_start_does_nothing,
    a_bad_configuration_is_the_plugins_own_text,
    an_alias_calls_the_same_tool,
    parallel_calls_have_workers_of_their_own,
    idle_workers_are_ended,
    nothing_after_the_end,
    an_undivided_answer_of_a_megabyte,
];

fn world() -> World {
    let mut world = World::new(&[("upcalls", "upcalls.so")]);
    world.settings.tools.insert("whoami".to_owned(), json!({"greeting": "hi"}));
    world
}

async fn check_calls(set: &PluginSet) {
    assert_eq!(call(set, "whoami").await, r#"Ok agent default, caller ada, a deadline, greeting "hi""#);
    assert_eq!(call(set, "count").await, r#"Ok 1, keys ["count", "last"]"#);
    assert_eq!(call(set, "count").await, r#"Ok 2, keys ["count", "last"]"#);
    let chatter = Asked::new("chatter");
    assert_eq!(brief(&chatter.run(set).await), "Ok said");
    assert_eq!(chatter.progress.into_inner().unwrap(), ["half way"]);
    let asked = call(set, "ask").await;
    assert!(asked.contains("puts no questions of plugins to the user"), "{asked}");
    assert!(asked.contains("puts no questions of plugins to a model"), "{asked}");
    let wrong = Asked { arguments: r#"{"surplus":1}"#, ..Asked::new("fine") };
    assert!(brief(&wrong.run(set).await).starts_with("InvalidArguments "));
}

async fn everything_a_call_can_ask() {
    let world = world();
    let set = world.load().await;
    assert_eq!(set.warnings(), [""; 0]);
    check_calls(&set).await;
    // One worker to learn the manifest, one for all calls.
    assert_eq!(set.stats().workers_spawned, 2);
    assert!(set.check("upcalls").await.unwrap().confinement.is_some());
}

async fn the_same_in_this_process() {
    let mut world = world();
    world.settings.plugin.isolation = Isolation::InProcess;
    let set = world.load().await;
    check_calls(&set).await;
    assert_eq!(set.stats().workers_spawned, 1);
    assert_eq!(set.check("upcalls").await.unwrap().confinement, None);
}

async fn a_warm_start_does_nothing() {
    let world = world();
    let cold = world.load().await;
    assert_eq!((cold.stats().workers_spawned, cold.stats().hashes_computed), (1, 1));
    let warm = world.load().await;
    assert_eq!(world.listing(&warm), ["upcalls: Ready"]);
    assert_eq!(warm.tools(), cold.tools());
    assert_eq!(warm.stats(), foehn_plugin_host::Stats::default());
    let names: Vec<_> = warm.tools().iter().map(|tool| tool.name.clone()).collect();
    assert!(names.is_sorted() && names.len() >= 5, "{names:?}");
}

async fn a_bad_configuration_is_the_plugins_own_text() {
    let mut world = world();
    world.settings.tools.insert("whoami".to_owned(), json!({"greting": "hi"}));
    world.settings.configured_tools.insert("nobody".to_owned());
    let set = world.load().await;
    assert_eq!(
        set.warnings(),
        ["the configuration of tool `nobody` is not used: no loaded plugin brings that tool"]
    );
    let error = set.check("upcalls").await.unwrap_err();
    assert!(error.starts_with("plugin `upcalls` does not accept its configuration: "), "{error}");
    assert!(error.contains("greting"), "{error}");
    let refused = call(&set, "fine").await;
    assert!(
        refused
            .starts_with("Unavailable plugin `upcalls` cannot run: it does not accept its configuration: ")
    );
    assert_eq!(
        set.check("nobody").await.unwrap_err().split(" in ").next(),
        Some("there is no plugin `nobody`")
    );
}

async fn an_alias_calls_the_same_tool() {
    let world = world();
    let set = world.load().await;
    assert_eq!(set.find("who_am_i"), set.find("whoami"));
    assert!(call(&set, "who_am_i").await.starts_with("Ok agent default"));
}

async fn parallel_calls_have_workers_of_their_own() {
    let world = world();
    let set = world.load().await;
    let counts =
        tokio::join!(call(&set, "count"), call(&set, "count"), call(&set, "count"), call(&set, "count"));
    let mut counts =
        [counts.0, counts.1, counts.2, counts.3].map(|count| count.split(',').next().unwrap().to_owned());
    counts.sort();
    assert_eq!(counts, ["Ok 1", "Ok 2", "Ok 3", "Ok 4"]);
}

async fn idle_workers_are_ended() {
    let mut world = world();
    world.settings.plugin.idle = std::time::Duration::ZERO;
    let set = world.load().await;
    call(&set, "fine").await;
    while !crate::world::left_running(&world).is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(call(&set, "fine").await, "Ok fine");
    assert_eq!(set.stats().workers_spawned, 3);
}

async fn nothing_after_the_end() {
    let world = world();
    let set = world.load().await;
    set.shutdown().await;
    assert_eq!(call(&set, "fine").await, "Unavailable the host is shutting down");
}

async fn an_undivided_answer_of_a_megabyte() {
    let world = world();
    let set = world.load().await;
    let text: &'static str = format!(r#"{{"surplus":"{}"}}"#, "x".repeat(1 << 20)).leak();
    let large = Asked { arguments: text, ..Asked::new("fine") };
    assert!(brief(&large.run(&set).await).starts_with("InvalidArguments "));
    assert_eq!(set.find("fine").unwrap().risk, Risk::ReadOnly);
}
