//! What a confined program can do, told by the program itself: once as root, where the tests run as root, and once as an
//! ordinary user. A process of its own for each, because a user namespace needs one without other threads.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, and the program that it starts")]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("inside") => linux::inside(&arguments[2..]),
        // What runners ask a test for.
        Some("--list") if arguments.iter().any(|argument| argument == "--ignored") => {}
        Some("--list") => println!("users: test"),
        _ => linux::outside(),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io::{self, Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::net::UnixDatagram;
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use foehn_sandbox::{
        Confinement, Enforcement, Limits, NetworkNamespace, ProcessBound, Profile, confine, support,
    };

    use rustix::net::{AddressFamily, SocketType};

    const NOBODY: u32 = 65_534;
    /// What an ordinary user's programs may be in number, where the kernel counts them apart.
    const PROCESSES: u64 = 40;

    pub(crate) fn outside() {
        if support().landlock_abi < Some(6) || !support().seccomp {
            return;
        }
        let own = rustix::process::geteuid().as_raw();
        if own == 0 {
            check(0);
        }
        check(if own == 0 { NOBODY } else { own });
    }

    fn check(user: u32) {
        let root = tempfile::tempdir().unwrap();
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        open(root.path(), 0o755);
        for folder in ["work", "elsewhere"] {
            let path = root.path().join(folder);
            fs::create_dir(&path).unwrap();
            open(&path, 0o777);
        }
        let program = root.path().join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        open(&program, 0o755);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut command = Command::new(&program);
        command.arg("inside").arg(root.path()).arg(port.to_string()).env("PATH", "/usr/bin:/bin");
        if rustix::process::geteuid().is_root() {
            command.uid(user).gid(user);
        }
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "user {user}: {}\n{found}", output.status);
        let (system, found) = found.split_once('\n').unwrap();
        let (processes, found) = found.split_once('\n').unwrap();
        // What a container or an old system does not give cannot be tested there.
        let is_alone = system == "Loopback";
        let interfaces = if is_alone || system == "Empty" { "lo" } else { "of the host" };
        let itself = if is_alone { "allowed" } else { "refused" };
        let processes: ProcessBound = serde_json::from_str(processes).unwrap();
        let is_bounded = !matches!(processes, ProcessBound::Nothing(_) | ProcessBound::Outer(_));
        let bomb = if is_bounded { "bounded" } else { "unlimited" };
        let expected = format!(
            "interfaces: {interfaces}\nstart a program: allowed\nwrite the workspace: allowed\nwrite elsewhere: refused\n\
             connect to the host: refused\nconnect to itself: {itself}\nconnect to itself by IPv6: {itself}\n\
             make a local socket: refused\nmake a raw socket: refused\nask the kernel about interfaces: refused\nread the environment of the host: refused\nmake a user namespace: refused\n\
             start programs without end: {bomb}\n"
        );
        assert_eq!(found, expected, "user {user}, {system}, {processes:?}");
        processes.release();
        if let ProcessBound::Group(folder) = processes {
            assert!(!folder.exists(), "what was made for the bound is gone");
        }
        let written = fs::metadata(root.path().join("work/file")).unwrap();
        assert_eq!(written.uid(), user, "what a program writes belongs to its user");
    }

    /// Confines itself and tells what works.
    pub(crate) fn inside(arguments: &[String]) {
        let (root, port) = (Path::new(&arguments[0]), &arguments[1]);
        let profile = Profile {
            read: vec![root.join("elsewhere")],
            write: vec![root.join("work")],
            execute_programs: true,
            limits: Limits { processes: Some(PROCESSES), ..Limits::default() },
            ..Profile::default()
        };
        let confinement: Confinement = confine(&profile).unwrap();
        assert!(confinement.landlock == Enforcement::Fully && confinement.seccomp, "{confinement:?}");
        println!("{:?}", confinement.network);
        println!("{}", serde_json::to_string(&confinement.processes).unwrap());
        let network = fs::read_to_string("/proc/self/net/dev").unwrap();
        let names: Vec<&str> =
            network.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim).collect();
        let is_own = !matches!(confinement.network, NetworkNamespace::Refused(_) | NetworkNamespace::Shared);
        println!("interfaces: {}", if is_own { names.join(" ") } else { "of the host".to_owned() });
        say("start a program", shell("true"));
        say("write the workspace", shell(&format!("echo text > {}", root.join("work/file").display())));
        say("write elsewhere", shell(&format!("echo text > {}", root.join("elsewhere/file").display())));
        say("connect to the host", TcpStream::connect(format!("127.0.0.1:{port}")).map(drop));
        say("connect to itself", speak_to_itself("127.0.0.1:0"));
        say("connect to itself by IPv6", speak_to_itself("[::1]:0"));
        say("make a local socket", UnixDatagram::unbound().map(drop));
        let open = |family, kind| Ok(rustix::net::socket(family, kind, None).map(drop)?);
        say("make a raw socket", open(AddressFamily::INET, SocketType::RAW));
        say("ask the kernel about interfaces", open(AddressFamily::NETLINK, SocketType::DGRAM));
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero();
        say("read the environment of the host", shell(&format!("cat /proc/{parent}/environ")));
        say("make a user namespace", shell("unshare --user true"));
        println!("start programs without end: {}", bomb());
    }

    fn speak_to_itself(address: &str) -> io::Result<()> {
        let listener = TcpListener::bind(address)?;
        let mut calling = TcpStream::connect(listener.local_addr()?)?;
        let (mut answering, _) = listener.accept()?;
        answering.write_all(b"x")?;
        calling.read_exact(&mut [0])
    }

    fn shell(command: &str) -> io::Result<()> {
        let status =
            Command::new("sh").args(["-c", command]).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        if status.success() { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    fn say(what: &str, result: io::Result<()>) {
        println!("{what}: {}", if result.is_ok() { "allowed" } else { "refused" });
    }

    fn bomb() -> &'static str {
        let mut children: Vec<Child> = Vec::new();
        let mut is_bounded = false;
        while !is_bounded && children.len() < 2 * PROCESSES as usize {
            match Command::new("sleep").arg("600").spawn() {
                Ok(child) => children.push(child),
                Err(_) => is_bounded = true,
            }
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        if is_bounded { "bounded" } else { "unlimited" }
    }
}
