//! The system files behind each part of a profile. Paths that do not exist are skipped: systems differ.

/// What the dynamic loader and the C library read in every process.
pub(crate) const LIBRARIES: &[&str] = &[
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
];

/// Name resolution and certificates.
pub(crate) const NETWORK: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/gai.conf",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/run/systemd/resolve",
];

/// Programs, their data and settings, and what they read about the machine and themselves. Landlock itself forbids
/// looking into processes outside of the domain, so `/proc` does not show the host's environment or memory.
pub(crate) const PROGRAMS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/etc",
    "/opt",
    "/snap",
    "/run/current-system",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Devices that can be written by anyone without effect. The terminal is not among them.
pub(crate) const WRITABLE_DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];
