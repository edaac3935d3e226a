//! Real plugins in real workers. This binary is its own worker program, hence its own `main`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a host of its own tells its test that it is ready")]

mod bad_files;
mod calls;
mod hostile;
mod reload;
mod world;

use libtest_mimic::{Arguments, Trial};

fn main() {
    foehn_plugin_host::become_worker_if_asked();
    if let Some(folder) = std::env::var_os(world::HOST_OF) {
        return world::be_a_host(folder.into());
    }
    let arguments = Arguments::from_args();
    let cases = [bad_files::CASES, calls::CASES, hostile::CASES, reload::CASES].concat();
    let trials = cases.into_iter().map(|(name, case)| {
        Trial::test(name, move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(case());
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
