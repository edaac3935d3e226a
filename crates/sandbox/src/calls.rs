//! The system calls that a profile does not have, as one seccomp filter.
//!
//! A deny list, because a plugin links libraries whose calls we cannot foresee. Three tables: what no tool ever needs,
//! what makes sockets, what makes processes. A refused call fails with `EPERM` (or as if the kernel did not have it,
//! where libraries then fall back), it does not kill.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::confine::Sockets;
use crate::{Profile, SandboxError};

/// Ways around the other rules or into the kernel that no tool needs.
const NEVER: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// A user namespace hands out every privilege inside itself, and with it parts of the kernel that only root should meet.
const NAMESPACE: u64 = libc::CLONE_NEWUSER as u64;

/// Asynchronous IO by shared memory opens files and sockets without a system call that a filter sees.
const UNFILTERABLE: &[i64] =
    &[libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

const PROGRAMS: &[i64] = &[libc::SYS_execve, libc::SYS_execveat];

#[cfg(target_arch = "x86_64")]
const FORKS: &[i64] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const FORKS: &[i64] = &[];

/// The address families of ordinary programs: the internet, local services, and the kernel's own answers about
/// interfaces, which name resolution asks for.
const FAMILIES: [i32; 4] = [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX, libc::AF_NETLINK];

/// What is enough to speak to oneself. Local services are not among them: their files lie in no network of one's own.
const INTERNET: [i32; 2] = [libc::AF_INET, libc::AF_INET6];
/// The usual ones, of which 0 is the default: a rarer one is only more of the kernel to attack.
const PROTOCOLS: [i32; 3] = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP];

/// Set in the number of a call made by the x32 convention, which shares the architecture of the normal one.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

pub(crate) fn apply(profile: &Profile, sockets: Sockets) -> Result<(), SandboxError> {
    // Two filters because a filter has one answer; the kernel takes the strictest of both.
    install(refused(profile, sockets)?, libc::EPERM)?;
    install(absent(), libc::ENOSYS)
}

fn refused(profile: &Profile, sockets: Sockets) -> Result<Rules, SandboxError> {
    let mut rules = Rules::new();
    let mut deny = |calls: &[i64]| {
        for call in calls {
            rules.insert(*call, Vec::new());
        }
    };
    deny(NEVER);
    if !profile.execute_programs {
        deny(PROGRAMS);
        deny(FORKS);
    }
    let outside = match sockets {
        Sockets::None => Vec::new(),
        Sockets::OwnLoopback => vec![none_of(0, &INTERNET)?, none_of(2, &PROTOCOLS)?],
        Sockets::Any => vec![none_of(0, &FAMILIES)?],
    };
    rules.insert(libc::SYS_socket, outside);
    let namespace = || -> Result<SeccompRule, SandboxError> {
        Ok(SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(NAMESPACE), NAMESPACE)?])?)
    };
    rules.insert(libc::SYS_unshare, vec![namespace()?]);
    let mut clones = vec![namespace()?];
    if !profile.execute_programs {
        // A thread is a clone too; what does not share the thread group is a new process.
        let thread = libc::CLONE_THREAD as u64;
        let process = condition(0, SeccompCmpOp::MaskedEq(thread), 0)?;
        clones.push(SeccompRule::new(vec![process])?);
    }
    rules.insert(libc::SYS_clone, clones);
    Ok(rules)
}

fn absent() -> Rules {
    let mut rules: Rules = UNFILTERABLE.iter().map(|call| (*call, Vec::new())).collect();
    // Its flags lie in memory, where a filter cannot look; the C library then uses `clone`.
    rules.insert(libc::SYS_clone3, Vec::new());
    rules
}

/// Holds where an argument is none of these.
fn none_of(argument: u8, values: &[i32]) -> Result<SeccompRule, SandboxError> {
    let conditions = values.iter().map(|value| condition(argument, SeccompCmpOp::Ne, *value as u64));
    Ok(SeccompRule::new(conditions.collect::<Result<Vec<_>, _>>()?)?)
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, SandboxError> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}

fn install(rules: Rules, errno: i32) -> Result<(), SandboxError> {
    let architecture = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(
        with_x32(rules),
        SeccompAction::Allow,
        SeccompAction::Errno(errno as u32),
        architecture,
    )?;
    let program = BpfProgram::try_from(filter)?;
    seccompiler::apply_filter(&program).map_err(|error| SandboxError::Seccomp { message: error.to_string() })
}

#[cfg(target_arch = "x86_64")]
fn with_x32(mut rules: Rules) -> Rules {
    let doubled: Vec<_> = rules.iter().map(|(call, chain)| (call | X32, chain.clone())).collect();
    rules.extend(doubled);
    rules
}

#[cfg(not(target_arch = "x86_64"))]
fn with_x32(rules: Rules) -> Rules {
    rules
}

impl From<seccompiler::BackendError> for SandboxError {
    fn from(error: seccompiler::BackendError) -> Self {
        Self::Seccomp { message: error.to_string() }
    }
}
