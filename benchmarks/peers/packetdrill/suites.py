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
        return named or (bool(self.text) and re.search(self.text, text, re.MULTILINE) is not None)


@dataclass(frozen=True)
class Suite:
    """A collection. `known` says why scripts fail, by patterns of their names."""

    title: str
    excluded: tuple[Excluded, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    # Flags of our library, and the MTU of the device, for one script.
    flags: Mapping[str, str] = field(default_factory=dict)
    mtu: Mapping[str, int] = field(default_factory=dict)
    # The MTU for all others, if it is not that of the family of addresses.
    usual_mtu: int | None = None
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
    "MSG_ZEROCOPY sends the application's pages, and an error queue of the kernel says when the device has let go of "
    "them: outside the kernel nobody holds pages for a device"
)
_TIMESTAMPS = (
    "SO_TIMESTAMPING tells when the packet scheduler and the driver took a packet: packets of a user-space stack pass "
    "neither"
)
_DISCIPLINES = (
    "fq on the device paces, or a queue without room refuses, and the kernel's TCP hears of it: no packet of ours "
    "reaches the device"
)
_TABLES = "the script looks for its listener in /proc/net/tcp"
_COUNTERS = "the script wants nstat to show what the kernel counted: our packets reach no kernel"

_URGENT = "urgent data is not told from other data here: RFC 6093 advises against its use"
_REORDERING = (
    "wants the wait for reordering: the kernel takes the ACK of half a segment, and then of its rest, for a sign of "
    "reordering"
)

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
            "the script changes MTU, MSS and first window in the kernel's table of routes while the connection lives,"
            " and offloads of the device",
            ("mtu_probe/*",),
        ),
        Excluded(
            "offloads",
            "the device hands the kernel several segments as one and tells their size beside the packet: the interface "
            "takes packets alone",
            ("gro/*",),
        ),
        Excluded("tables of the kernel", _TABLES, ("md5/*",)),
        Excluded("urgent data", _URGENT, ("splice/tcp_splice_loop_test.pkt",)),
        Excluded(
            "counters of the kernel",
            _COUNTERS,
            ("fastopen/server/icmp-before-accept.pkt", "fastopen/server/opt34/icmp-before-accept.pkt"),
        ),
        Excluded(
            "other kernels",
            "kernel 6.18, after which profile linux is built, fails the script, too: it wants PRR without RFC 9937's "
            "segment for an ACK that shows progress, bursts cut at the ends of writes as before 6.10 (three scripts),"
            " no answer to an ACK of what was never sent, a setting that only Google's kernels have "
            "(tcp_fastopen_cookies), a receive window that no longer is",
            (
                "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700.pkt", "epoll/epoll_out_edge*",
                "notsent_lowat/notsent-lowat-default.pkt", "ts_recent/invalid_ack.pkt",
                "fastopen/client/nonblocking-sendto.pkt",
                "fastopen/server/client-ack-dropped-then-recovery-ms-timestamps.pkt",
            ),
        ),
    ),
    known={
        "eor/no-coalesce-retrans.pkt": _REORDERING,
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
            "queueing disciplines",
            _DISCIPLINES,
            ("tcp_slow_start_slow-start-fq-*", "tcp_user_timeout_user-timeout-probe.pkt"),
        ),
        Excluded("tables of the kernel", _TABLES, ("tcp_md5_*",)),
        Excluded("counters of the kernel", _COUNTERS, text=r"`nstat [^`]*grep"),
        Excluded("urgent data", _URGENT, ("tcp_splice_tcp_splice_loop_test.pkt", "tcp_urg_ptr_retransmit.pkt")),
    ),
    known={
        "tcp_eor_no-coalesce-retrans.pkt": _REORDERING,
        "tcp_ooo*": (
            "an automatic buffer grows with data out of order, and by the ratio of payload to memory that the kernel "
            "measures"
        ),
        "tcp_accecn_delivered_falseoverflow_detect.pkt": "the setting tcp_ecn_option is read when a socket is created",
        "tcp_advmss_pmtu*": "the MTU that a router reported is kept for the connection, not for its destination",
    },
)

GVISOR = Suite(
    "gVisor",
    # As its own runner does.
    options=("--init_scripts=FOLDER/packetdrill_setup.sh", "--tolerance_usecs=100000"),
    families=("v4",),
)

FREEBSD = Suite(
    "FreeBSD",
    excluded=(
        Excluded(
            "TCP over UDP",
            "RFC 6951's idea for TCP, which only FreeBSD has",
            ("tcp-over-udp/*",),
            text=r"^--udp_encapsulation",
        ),
        Excluded("MD5", "RFC 2385: there are no MD5 signatures here, and Google's tool has no key for them", ("*-md5-*",)),
        Excluded(
            "socket options of FreeBSD",
            "TCP_NOOPT, TCP_KEEPINIT, TCP_FUNCTION_BLK and the RACK options exist in FreeBSD alone",
            text=r"\bTCP_(NOOPT|KEEPINIT|FUNCTION_BLK|RACK_\w+)\b",
        ),
        Excluded(
            "fast open of clients",
            "TCP_FASTOPEN on a socket that is not connected, whose first write is kept for later if there is no "
            "cookie: Linux has MSG_FASTOPEN, and keeps nothing without one. Google's scripts cover its rules",
            ("fast-open/*",),
        ),
        Excluded(
            "protection switched off",
            "with insecure_syn a SYN in the window resets the connection, which RFC 5961 §4 forbids, and with "
            "drop_synfin a SYN with FIN is ignored: Linux has no such switches",
            (
                "state-event-engine/rcv-syn-*-left-edge-insecure-*", "state-event-engine/rcv-syn-*-right-edge-insecure-*",
                "state-event-engine/*-dropping-enabled-*",
            ),
        ),
        Excluded(
            "settings of FreeBSD",
            "the number of SYNs with ECN or with options, and the search for black holes, are settings that Linux has"
            " not",
            text=r"net\.inet\.tcp\.(ecn\.maxretries|rexmit_drop_options=1|pmtud_blackhole_detection|tolerate_missing_ts)",
        ),
        Excluded(
            "closed sockets",
            "Google's tool gives the packets to a socket that neither listens nor connects no addresses, and reads "
            "TCP_INFO of no such socket",
            ("state-event-engine/rcv-[!r]*-closed/*", "snippets/closed-initially-*", "snippets/listen-*"),
        ),
        Excluded(
            "type of service and hop limit",
            "the stack writes these fields itself; they are no matter of TCP",
            ("socket-api/setsockopt/*-tos-*", "socket-api/setsockopt/*-ttl-*", "socket-api/setsockopt/*-hoplimit-*",
             "socket-api/setsockopt/*-traffic-class-*"),
        ),
        Excluded(
            "FIN again",
            "FreeBSD answers a FIN that crosses its own by its FIN again; RFC 9293 §3.10.7.4 asks for an ACK at "
            "SND.NXT, which ours (and Linux) sends: it sends the FIN again once that times out",
            ("state-event-engine/*-closing/*", "snippets/closing-*", "snippets/time-wait-via-closing-*"),
        ),
        Excluded(
            "new connections in TIME-WAIT",
            "FreeBSD answers a SYN beyond the old connection by an ACK; RFC 9293 §3.6.1 and RFC 6191 allow to open "
            "the new connection, which ours (and Linux) does",
            tuple(
                f"state-event-engine/rcv-{flags}-time-wait/*-{place}-*"
                for flags in ("syn", "syn-fin") for place in ("right-edge", "outside-right")
            ),
        ),
        Excluded(
            "segments without ACK in TIME-WAIT",
            "FreeBSD ignores a FIN without the ACK flag; RFC 9293 §3.10.7.4 looks at the number first, and answers a "
            "wrong one by an ACK, as ours does",
            tuple(
                f"state-event-engine/rcv-fin-time-wait/*-{place}-*" for place in ("outside-left", "right-edge", "outside-right")
            ),
        ),
        Excluded(
            "data in a SYN",
            "FreeBSD keeps data that comes with a SYN without fast open, as RFC 9293 §3.10.7.3 allows; ours ignores "
            "it in profile linux, as Linux does, and the peer sends it again",
            (
                "state-event-engine/rcv-syn-syn-sent/*-with-data-*",
                "state-event-engine/rcv-syn-fin-syn-sent/*-with-data-*-dropping-disabled-*",
                "state-event-engine/rcv-syn-ack-syn-sent/*-with-data-syn-sent-ack-left-edge-*",
            ),
        ),
        Excluded(
            "SYN-ACK at a listener",
            "FreeBSD ignores it; RFC 9293 §3.10.7.2 asks for a reset, which ours (and Linux) sends",
            ("state-event-engine/rcv-syn-ack-listen/*",),
        ),
        Excluded(
            "reset of a connection that both open",
            "RFC 9293 §3.10.7.4 asks for ECONNREFUSED, as FreeBSD returns it; Linux, which profile linux follows, "
            "returns ECONNRESET",
            ("state-event-engine/rcv-rst-*-via-syn-sent-left-edge-*",),
        ),
        Excluded(
            "reset in LAST-ACK",
            "FreeBSD reports ECONNRESET; RFC 9293 §3.10.7.4 asks to end the connection without a word to the user, as"
            " ours does",
            ("state-event-engine/rcv-rst-last-ack/*-left-edge-*",),
        ),
        Excluded(
            "the right edge",
            "a reset at the edge of FreeBSD's window of 65,700 bytes (whole segments), or just beyond that of a "
            "listener, where ours (and Linux) still takes an empty segment",
            (
                "state-event-engine/rcv-rst-*-via-listen-outside-right-*",
                "state-event-engine/rcv-rst-*-via-syn-sent-right-edge-*",
                *(
                    f"state-event-engine/rcv-rst-{state}/*-right-edge-*"
                    for state in ("established", "close-wait", "fin-wait-1", "fin-wait-2", "last-ack")
                ),
            ),
        ),
        Excluded(
            "errors of ICMP",
            "FreeBSD reports every hard error of a SYN as ECONNREFUSED, Linux (and ours) the one that the code names;"
            " Google's tool does not know two of the codes",
            tuple(
                f"rcv-icmp/rcv-icmp-hard-error-{name}*"
                for name in ("comm-prohibited", "host-prohibited", "net-prohibited", "ignored", "ttl-exceeded-ipv4")
            ),
        ),
        Excluded(
            "times of the SYN",
            "FreeBSD repeats a SYN after 1, 2.2 and 4.2 s (rexmit_slop); RFC 6298 §2 doubles 1 s, and Linux repeats "
            "the first four after 1 s each",
            (
                "snd-syn/snd-syn-rtx-*", "snd-syn/snd-syn-with-ecn-*", "snd-syn/snd-syn-without-sack-*",
                "snd-syn/snd-syn-without-ws-and-ts-*",
            ),
        ),
        Excluded(
            "scale of windows",
            "the largest buffer of FreeBSD decides on the scale; Linux has its own sum",
            ("snd-syn/snd-syn-with-max-ws-*", "snd-syn/snd-syn-with-min-ws-*"),
        ),
        Excluded(
            "ECN of SYNs that cross",
            "FreeBSD answers a SYN with ECE alone; RFC 3168 §6.1.1 asks for ECE and CWR",
            ("snippets/syn-rcvd-via-syn-sent-ipv4-ecn01*",),
        ),
        Excluded(
            "ACKs of small segments",
            "FreeBSD acknowledges every second segment, however small; RFC 5681 §4.2 and Linux count full ones",
            ("rcv-data-segments/reordering-12*", "rcv-data-segments/reordering-[1-3][1-3][1-3]45.pkt"),
        ),
    ),
    known={
        "rcv-data-segments/overlapping-200-32200.pkt": (
            "wants a window update for every reading of two segments (RFC 9293 §3.8.6.2.2); profile linux sends one when "
            "the window can double, as Linux does"
        ),
        "rcv-data-segments/reordering-5F4321.pkt": (
            "FreeBSD's SACK block ends before a FIN out of order; ours covers its number, too, as Linux's does"
        ),
    },
    families=("v4",),
    usual_mtu=1500,
    translate=freebsd.translate,
)  # fmt: skip
