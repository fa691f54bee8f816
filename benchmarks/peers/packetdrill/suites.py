"""The collections of scripts, and the scripts of each that are left out, with the reason."""

import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import freebsd


@dataclass(frozen=True)
class Excluded:
    """A class of scripts that cannot pass: patterns of their names, or of their text, and why."""

    title: str
    why: str
    names: tuple[str, ...] = ()
    text: str = ""

    def has(self, name: str, text: str) -> bool:
        """Whether this script is of the class."""
        named = any(fnmatch.fnmatch(name, pattern) for pattern in self.names)
        return named or bool(self.text) and re.search(self.text, text, re.MULTILINE) is not None


@dataclass(frozen=True)
class Suite:
    """A collection. `known` says why scripts fail, by patterns of their names."""

    title: str
    excluded: tuple[Excluded, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    # Flags of our library, and the MTU of the device, for one script.
    flags: Mapping[str, str] = field(default_factory=dict)
    mtu: Mapping[str, int] = field(default_factory=dict)
    # Options of the tool for all scripts; FOLDER stands for the script's.
    options: tuple[str, ...] = ()
    # The families of addresses, if the scripts do not run over all.
    families: tuple[str, ...] = ()
    translate: Callable[[str], str] | None = None

    def exclusion(self, folder: Path, name: str) -> Excluded | None:
        """Returns the class of scripts that cannot pass, if the script is of one."""
        text = (folder / name).read_text("utf-8")
        return next((excluded for excluded in (MPTCP, *self.excluded) if excluded.has(name, text)), None)


MPTCP = Excluded(
    "MPTCP",
    "RFC 8684: this TCP has no MPTCP, and socket() with IPPROTO_MPTCP returns EPROTONOSUPPORT",
    text=r"IPPROTO_MPTCP|\bmp_?(capable|join|fail|prio|fastclose|reset|tcprst)\b|\b(add|remove)_(address|addr)\b|\bdss\b",
)

_ZERO_COPY = (
    "MSG_ZEROCOPY sends the application's pages, and an error queue of the kernel says when the device has let go of them: "
    "outside the kernel nobody holds pages for a device"
)
_TIMESTAMPS = (
    "SO_TIMESTAMPING tells when the packet scheduler and the driver took a packet: packets of a user-space stack pass "
    "neither"
)
_DISCIPLINES = (
    "fq on the device paces, or a queue without room refuses, and the kernel's TCP hears of it: no packet of ours reaches "
    "the device"
)
_TABLES = "the script looks for its listener in /proc/net/tcp"
_COUNTERS = "the script wants nstat to show what the kernel counted: our packets reach no kernel"

GOOGLE = Suite(
    "google/packetdrill",
    excluded=(
        Excluded("zero copy", _ZERO_COPY, ("zerocopy/*",)),
        Excluded("kernel timestamps", _TIMESTAMPS, ("timestamping/*",)),
        Excluded(
            "queueing disciplines",
            _DISCIPLINES,
            (
                "slow_start/slow-start-fq-*", "cubic/cubic-bulk-166k-idle-restart.pkt",
                "cubic/cubic-rack-reo-timeout-retrans-failed-incoming-data.pkt", "user_timeout/user-timeout-probe.pkt",
            ),
        ),
        Excluded(
            "routes",
            "the script changes MTU, MSS and first window in the kernel's table of routes while the connection lives, and "
            "offloads of the device",
            ("mtu_probe/*",),
        ),
        Excluded(
            "offloads",
            "the device hands the kernel several segments as one and tells their size beside the packet: the interface "
            "takes packets alone",
            ("gro/*",),
        ),
        Excluded("tables of the kernel", _TABLES, ("md5/*",)),
        Excluded(
            "counters of the kernel",
            _COUNTERS,
            ("fastopen/server/icmp-before-accept.pkt", "fastopen/server/opt34/icmp-before-accept.pkt"),
        ),
        Excluded(
            "other kernels",
            "kernel 6.18, after which profile linux is built, fails the script, too: it wants PRR without RFC 9937's "
            "segment for an ACK that shows progress, bursts cut at the ends of writes as before 6.10 (three scripts), no "
            "answer to an ACK of what was never sent, a setting that only Google's kernels have (tcp_fastopen_cookies), a "
            "receive window that no longer is",
            (
                "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700.pkt", "epoll/epoll_out_edge*",
                "notsent_lowat/notsent-lowat-default.pkt", "ts_recent/invalid_ack.pkt",
                "fastopen/client/nonblocking-sendto.pkt",
                "fastopen/server/client-ack-dropped-then-recovery-ms-timestamps.pkt",
            ),
        ),
    ),
    known={
        "eor/no-coalesce-retrans.pkt": (
            "wants the wait for reordering: the kernel takes the ACK of half a segment, and then of its rest, for a sign "
            "of reordering"
        ),
        "splice/tcp_splice_loop_test.pkt": "urgent data is not told from other data",
    },
    # Written for a kernel with 250 ticks a second; the others are for 1,000.
    flags={"fast_retransmit/fr-4pkt-fack-last-mss.pkt": "hz=250"},
    # Its numbers are those of an ordinary MTU.
    mtu={"fastopen/client/syn-data-icmp-unreach-frag-needed-with-seq-ipv6.pkt": 1500},
)  # fmt: skip

KERNEL = Suite(
    "kernel's selftests",
    excluded=(
        Excluded("zero copy", _ZERO_COPY, ("tcp_zerocopy_*",)),
        Excluded("kernel timestamps", _TIMESTAMPS, ("tcp_timestamping_*",)),
        Excluded(
            "queueing disciplines", _DISCIPLINES, ("tcp_slow_start_slow-start-fq-*", "tcp_user_timeout_user-timeout-probe.pkt")
        ),
        Excluded("tables of the kernel", _TABLES, ("tcp_md5_*",)),
        Excluded("counters of the kernel", _COUNTERS, ("tcp_fastopen_server_icmp-before-accept.pkt",)),
    ),
)

GVISOR = Suite(
    "gVisor",
    # As its own runner does.
    options=("--init_scripts=FOLDER/packetdrill_setup.sh", "--tolerance_usecs=100000"),
    families=("v4",),
)

FREEBSD = Suite("FreeBSD", families=("v4",), translate=freebsd.translate)
