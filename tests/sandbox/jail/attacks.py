"""Attacks on the jail as data: programs that a hostile guest would run, and how each must end.

`bites` says that the same program works without a jail, as root or as anybody, so that a refusal means something; the
battery checks that too. Canaries (`given`) are planted by the battery: a secret file, listeners, a victim process, a
shared memory segment. Data only, standard library only.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Any, Final

EPERM: Final = {"errno": errno.EPERM}
ENOSYS: Final = {"errno": errno.ENOSYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One program."""

    name: str
    source: str
    expect: Any = None
    """How it ends in the jail: what `echo_engine.run` answers."""
    bites: bool = True
    """Whether it succeeds without a jail, whoever runs it."""


def _attack(name: str, source: str, expect: Any = EPERM, *, bites: bool = True) -> Attack:
    return Attack(name=name, source=source, expect=expect, bites=bites)


_SOCKET = "import socket as s; out = s.socket(s.{family}, s.{kind}, {protocol}).close()"

FILES: Final = (
    _attack("read_etc_passwd", "open('/etc/passwd').read()"),
    _attack("read_the_secret", "open(given['secret']).read()"),
    _attack("read_by_raw_open", "import ctypes; syscall(2, ctypes.c_char_p(given['secret'].encode()), 0)"),
    _attack("read_own_source", "open(given['source']).read()"),
    _attack("read_proc_maps", "open('/proc/self/maps').read()"),
    _attack("read_proc_environ", "open('/proc/self/environ', 'rb').read()"),
    _attack("read_victim_environ", "open(f\"/proc/{given['victim']}/environ\", 'rb').read()"),
    _attack("read_own_memory", "open('/proc/self/mem', 'rb').read(0)"),
    _attack("list_root", "import os; os.listdir('/')"),
    _attack("list_own_descriptors", "import os; os.listdir('/proc/self/fd')"),
    _attack("stat_the_secret", "import os; os.stat(given['secret'])"),
    _attack("stat_what_is_not_there", "import os; os.stat('/no/such/file')", bites=False),
    _attack("lstat", "import os; os.lstat('/etc')"),
    _attack("stat_an_empty_path", "import os; os.stat(0)"),
    _attack("access", "import os\nif not os.access('/etc', 4): raise PermissionError(1, '')"),
    _attack("statvfs", "import os; os.statvfs('/')"),
    _attack("readlink", "import os; os.readlink('/proc/self/exe')"),
    _attack("getcwd", "import os; os.getcwd()"),
    _attack("chdir", "import os; os.chdir('/tmp')"),
    _attack("getxattr", "import os; os.listxattr('/etc')"),
    _attack("write_tmp", "open(given['folder'] + '/planted', 'w').write('x')"),
    _attack("append_the_secret", "open(given['secret'], 'a').write('x')"),
    _attack("unlink", "import os; os.unlink(given['spare'])"),
    _attack("mkdir", "import os; os.mkdir(given['folder'] + '/made')"),
    _attack("rename", "import os; os.rename(given['folder'] + '/here', given['folder'] + '/there')", bites=False),
    _attack("symlink", "import os; os.symlink('/etc', given['folder'] + '/link')"),
    _attack("hardlink", "import os; os.link(given['secret'], given['folder'] + '/hard')"),
    _attack("chmod", "import os; os.chmod(given['secret'], 0o644)"),
    _attack("chown", "import os; os.chown(given['secret'], os.getuid(), -1)"),
    _attack("utime", "import os; os.utime(given['secret'])"),
    _attack("truncate", "import os; os.truncate(given['secret'], 4)"),
    _attack("mknod", "import os; os.mknod(given['folder'] + '/pipe')"),
    _attack("mkfifo", "import os; os.mkfifo(given['folder'] + '/fifo')"),
    _attack("open_dev_mem", "open('/dev/mem', 'rb')", bites=False),
    _attack("open_tty", "open('/dev/tty')", bites=False),
    _attack("dev_shm", "open('/dev/shm/planted', 'w')", bites=False),
    _attack("memfd", "import os; os.close(os.memfd_create('x'))"),
    _attack("inotify", "import ctypes; out = ctypes.CDLL(None).inotify_init1(0)\nif out < 0: raise OSError(1, '')"),
)

NETWORK: Final = (
    *(
        _attack(f"socket_{family.lower()}_{kind.lower()}", _SOCKET.format(family=family, kind=kind, protocol=0))
        for family, kind in (
            ("AF_INET", "SOCK_STREAM"),
            ("AF_INET", "SOCK_DGRAM"),
            ("AF_INET6", "SOCK_STREAM"),
            ("AF_UNIX", "SOCK_STREAM"),
            ("AF_UNIX", "SOCK_DGRAM"),
            ("AF_NETLINK", "SOCK_RAW"),
        )
    ),
    _attack("socket_raw", _SOCKET.format(family="AF_INET", kind="SOCK_RAW", protocol=1), bites=False),
    _attack("socket_packet", _SOCKET.format(family="AF_PACKET", kind="SOCK_RAW", protocol=0), bites=False),
    _attack("socket_vsock", _SOCKET.format(family="AF_VSOCK", kind="SOCK_STREAM", protocol=0), bites=False),
    _attack("socket_mptcp", _SOCKET.format(family="AF_INET", kind="SOCK_STREAM", protocol=262), bites=False),
    _attack("socket_any_family", "syscall(given['nr']['socket'], given['family'], 1, 0)", bites=False),
    _attack("connect_tcp", "import socket; socket.create_connection(('127.0.0.1', given['tcp'])).close()"),
    _attack("connect_unix", "import socket as s; s.socket(s.AF_UNIX).connect(given['unix'])"),
    _attack("connect_abstract", "import socket as s; s.socket(s.AF_UNIX).connect(chr(0) + given['abstract'])"),
    _attack("socketpair", "import socket; [end.close() for end in socket.socketpair()]"),
    _attack("reconnect_the_channel", "syscall(given['nr']['connect'], 3, 0, 0)", bites=False),
    _attack("send_a_descriptor_to_the_host", "syscall(given['nr']['sendmsg'], 3, 0, 0)", bites=False),
    _attack("receive_a_descriptor", "syscall(given['nr']['recvmsg'], 3, 0, 0)", bites=False),
    _attack("io_uring", "import ctypes; syscall(425, 1, ctypes.create_string_buffer(120))", bites=False),
    _attack("resolve", "import socket; socket.getaddrinfo('localhost', 80)", {"errno": -3}, bites=False),
)

PROCESSES: Final = (
    _attack("fork", "import os\nif os.fork() == 0: os._exit(0)\nos.wait()"),
    _attack("vfork", "syscall(given['nr']['vfork'])", bites=False),
    _attack("clone", "syscall(given['nr']['clone'], 17, 0, 0, 0, 0)", bites=False),
    _attack("clone_thread", "syscall(given['nr']['clone'], 0x3D0F00, 0, 0, 0, 0)", bites=False),
    _attack("clone3", "syscall(435, 0, 0)", ENOSYS, bites=False),
    _attack(
        "thread", "import threading; t = threading.Thread(target=int); t.start(); t.join()", {"raised": "RuntimeError"}
    ),
    _attack("exec", "import os; os.execv('/bin/true', ['true'])", bites=False),
    _attack(
        "execveat",
        "import ctypes; syscall(given['nr']['execveat'], 0, ctypes.c_char_p(b''), 0, 0, 0x1000)",
        bites=False,
    ),
    _attack("subprocess", "import subprocess; subprocess.run(['/bin/true'], check=True)"),
    _attack("posix_spawn", "import os; os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)"),
    _attack("system", "import os\nif os.system('true') != 0: raise PermissionError(1, '')"),
    *(_attack(f"signal_{who}", f"import os; os.kill(given['{who}'], 0)") for who in ("host", "zygote", "victim")),
    _attack("signal_itself", "import os; os.kill(given['self'], 0)", bites=False),
    _attack("signal_its_group", "import os; os.killpg(0, 0)"),
    _attack("signal_everybody", "import os; os.kill(-1, 0)", bites=False),
    _attack("tgkill_host", "syscall(given['nr']['tgkill'], given['host'], given['host'], 0)"),
    _attack("sigqueue", "syscall(given['nr']['rt_sigqueueinfo'], given['victim'], 0, 0)", bites=False),
    _attack("pidfd", "syscall(434, given['victim'], 0)"),
    _attack("ptrace_victim", "syscall(given['nr']['ptrace'], 16, given['victim'], 0, 0)", bites=False),
    _attack("ptrace_me", "syscall(given['nr']['ptrace'], 0, 0, 0, 0)", bites=False),
    _attack("read_victim_memory", "syscall(given['nr']['process_vm_readv'], given['victim'], 0, 0, 0, 0, 0)"),
    _attack("kcmp", "syscall(given['nr']['kcmp'], given['victim'], given['victim'], 1, 0, 0)", bites=False),
    _attack("prlimit_victim", "import resource; resource.prlimit(given['victim'], resource.RLIMIT_CPU)"),
    _attack("nice_victim", "import os; os.setpriority(os.PRIO_PROCESS, given['victim'], 10)"),
    _attack("scheduler", "import os; os.sched_setaffinity(0, {0})"),
    _attack("new_session", "import os; os.setsid()", bites=False),
    _attack("shm", "syscall(given['nr']['shmget'], given['shm'], 4096, 0o1600)"),
    _attack("semaphores", "syscall(given['nr']['semget'], 0, 1, 0o1600)"),
    _attack("message_queue", "syscall(given['nr']['msgget'], 0, 0o1600)"),
)

POWERS: Final = (
    _attack(
        "raise_the_cpu_limit",
        "import resource as r; r.setrlimit(r.RLIMIT_CPU, (r.RLIM_INFINITY,) * 2)",
        {"raised": "ValueError"},
        bites=False,
    ),
    _attack("lower_a_limit", "import resource as r; r.setrlimit(r.RLIMIT_CORE, (0, 0))", {"raised": "ValueError"}),
    _attack("survive_the_host", "syscall(given['nr']['prctl'], 1, 0, 0, 0, 0)"),
    _attack("become_dumpable", "syscall(given['nr']['prctl'], 4, 1, 0, 0, 0)"),
    _attack("leave_seccomp", "syscall(given['nr']['prctl'], 22, 0, 0, 0, 0)", bites=False),
    _attack("own_filter", "syscall(given['nr']['seccomp'], 1, 0, 0)", bites=False),
    _attack("setuid", "import os; os.setuid(os.getuid())"),
    _attack("setgroups", "import os; os.setgroups([])", bites=False),
    _attack("capset", "syscall(given['nr']['capset'], 0, 0)", bites=False),
    *(
        _attack(f"unshare_{flag:x}", f"syscall(given['nr']['unshare'], {flag})", bites=False)
        for flag in (0x10000000, 0x20000000, 0x40000000, 0x20000, 0x400, 0x8000000)
    ),
    _attack("setns", "syscall(given['nr']['setns'], 0, 0)", bites=False),
    _attack("mount", "syscall(given['nr']['mount'], 0, 0, 0, 0, 0)", bites=False),
    _attack("fsopen", "import ctypes; syscall(430, ctypes.c_char_p(b'tmpfs'), 0)", bites=False),
    _attack("chroot", "import os; os.chroot('/')", bites=False),
    _attack("machine_code", "import mmap; mmap.mmap(-1, 4096, prot=7).close()"),
    _attack(
        "machine_code_later",
        "import ctypes, mmap\n"
        "page = mmap.mmap(-1, 4096); at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "syscall(given['nr']['mprotect'], at, 4096, 5)",
    ),
    _attack("personality", "syscall(given['nr']['personality'], 0x0400000)", bites=False),
    _attack("userfaultfd", "syscall(given['nr']['userfaultfd'], 1)", bites=False),
    _attack("perf", "syscall(given['nr']['perf_event_open'], 0, 0, 0, 0, 0)", bites=False),
    _attack("bpf", "syscall(given['nr']['bpf'], 0, 0, 0)", bites=False),
    _attack("keyring", "syscall(given['nr']['keyctl'], 0, -3, 1)", bites=False),
    _attack("kernel_log", "syscall(given['nr']['syslog'], 10, 0, 0)", bites=False),
    _attack("clock", "import time; time.clock_settime(time.CLOCK_REALTIME, time.time())", bites=False),
    _attack("timer", "import signal; signal.setitimer(signal.ITIMER_REAL, 0)"),
    _attack("kernel_version", "import os; os.uname()"),
    _attack("machine_load", "import os; os.sched_getaffinity(0)"),
    _attack("descriptor_flags", "import fcntl; fcntl.fcntl(0, fcntl.F_SETFL, 0)"),
    _attack("descriptor_owner", "import fcntl; fcntl.fcntl(3, fcntl.F_SETOWN, given['victim'])", bites=False),
    _attack("duplicate", "import os; os.close(os.dup(0))"),
    _attack("more_descriptors", "import os; [os.close(end) for end in os.pipe()]"),
    _attack("epoll", "import select; select.epoll().close()"),
    _attack("event_descriptor", "import os; os.close(os.eventfd(0))"),
    _attack("x32_table", "syscall(0x40000000 | 39)", bites=False),
    _attack("memory", "bytearray(1 << 30)", {"raised": "MemoryError"}),
    _attack("shared_memory", "import mmap; mmap.mmap(-1, 1 << 30)", {"errno": errno.ENOMEM}),
)

LEAKS: Final = (
    _attack("environment", "import os; out = dict(os.environ)", {"value": {}}, bites=False),
    _attack(
        "environment_of_libc",
        "import ctypes; out = [bool(ctypes.CDLL(None).getenv(name)) for name in (b'PATH', b'SECRET', b'HOME')]",
        {"value": [False, False, False]},
        bites=False,
    ),
    _attack(
        "inherited_descriptors",
        "import fcntl\n"
        "def is_open(fd):\n"
        "  try: return fcntl.fcntl(fd, fcntl.F_GETFD) >= 0\n"
        "  except OSError: return False\n"
        "out = [fd for fd in range(2000) if is_open(fd)]",
        {"value": [0, 1, 2, 3]},
        bites=False,
    ),
    _attack("arguments", "import sys; out = [sys.argv, sys.orig_argv, sys.executable, sys.path]", {"value": [[""], [""], "", []]}, bites=False),
    _attack("parent", "import os; out = os.getppid()", {"value": -1}, bites=False),
)  # fmt: skip

CONTROL: Final = (
    _attack("arithmetic", "out = sum(range(10))", {"value": 45}, bites=False),
    _attack("memory_within_the_limit", "out = len(bytearray(100 << 20))", {"value": 100 << 20}, bites=False),
    _attack("memory_comes_back", "for _ in range(20): bytearray(100 << 20)", {"value": None}, bites=False),
    _attack("clocks", "import time; time.sleep(0.001); out = time.time() > 1e9 and time.monotonic() > 0", {"value": True}, bites=False),
    _attack("chance", "import os, random; out = len(os.urandom(16)) + (random.random() < 1)", {"value": 17}, bites=False),
    _attack("digest", "import hashlib; out = len(hashlib.sha256(b'x').hexdigest())", {"value": 64}, bites=False),
    _attack("signals_of_its_own", "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)", {"value": None}, bites=False),
    _attack("locks", "import threading; l = threading.Lock(); l.acquire(); out = l.acquire(timeout=0.01)", {"value": False}, bites=False),
)  # fmt: skip

ATTACKS: Final = (*FILES, *NETWORK, *PROCESSES, *POWERS, *LEAKS, *CONTROL)
