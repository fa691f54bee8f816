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
    """A collection. `known` holds the reasons of failures, by patterns of script names."""

    title: str
    excluded: tuple[Excluded, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    # Flags of our library, and the MTU of the device, for one script.
    flags: Mapping[str, str] = field(default_factory=dict)
    mtu: Mapping[str, int] = field(default_factory=dict)
    # The MTU for all others, if it is not the default of the address family.
    usual_mtu: int | None = None
    # Options of the tool for all scripts; the placeholder stands for the script's directory.
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
    "MSG_ZEROCOPY transmits the application's pages, and the kernel's error queue reports when the device has "
    "released them; a user-space stack holds no pages for a device"
)
_TIMESTAMPS = (
    "SO_TIMESTAMPING reports when the packet scheduler and the driver took a packet; packets of a user-space stack "
    "pass neither"
)
_DISCIPLINES = (
    "fq on the device paces, or a full queue rejects packets and notifies the kernel's TCP; our packets do not "
    "reach the device"
)
_TABLES = "the script searches for its listener in /proc/net/tcp"
_COUNTERS = "the script requires nstat to show the kernel's counters; our packets do not reach the kernel"

_URGENT = "urgent data is not distinguished from other data: RFC 6093 advises against its use"
_REORDERING = (
    "requires the reordering timeout: the kernel takes the ACK of half a segment, and then of the rest, for a sign "
    "of reordering"
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
            "the script changes MTU, MSS and initial window in the kernel's routing table during the connection, "
            "and offloads of the device",
            ("mtu_probe/*",),
        ),
        Excluded(
            "offloads",
            "the device passes several segments to the kernel as one, with their size in metadata; our interface "
            "takes single packets",
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
            "the script also fails on kernel 6.18, the reference of profile linux: it requires PRR without RFC "
            "9937's segment for an ACK that shows progress, bursts cut at the ends of writes as before 6.10 (three "
            "scripts), no reply to an ACK of unsent data, a setting of Google's kernels (tcp_fastopen_cookies), or "
            "an obsolete receive window",
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
    # Written for a kernel with 250 ticks per second; the others are for 1,000.
    flags={"fast_retransmit/fr-4pkt-fack-last-mss.pkt": "hz=250"},
    # The script assumes an ordinary MTU.
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
            "an automatic buffer grows with out-of-order data, and by the ratio of payload to memory that the "
            "kernel measures"
        ),
        "tcp_accecn_delivered_falseoverflow_detect.pkt": "the setting tcp_ecn_option is read when a socket is created",
        "tcp_advmss_pmtu*": "the MTU that a router reported is stored for the connection, not for its destination",
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
            "UDP encapsulation of TCP (as RFC 6951 for SCTP) exists only in FreeBSD",
            ("tcp-over-udp/*",),
            text=r"^--udp_encapsulation",
        ),
        Excluded("MD5", "RFC 2385: lightlag has no MD5 signatures, and Google's tool has no key for them", ("*-md5-*",)),
        Excluded(
            "socket options of FreeBSD",
            "TCP_NOOPT, TCP_KEEPINIT, TCP_FUNCTION_BLK and the RACK options exist only in FreeBSD",
            text=r"\bTCP_(NOOPT|KEEPINIT|FUNCTION_BLK|RACK_\w+)\b",
        ),
        Excluded(
            "fast open of clients",
            "TCP_FASTOPEN on an unconnected socket stores the first write if there is no cookie; Linux has "
            "MSG_FASTOPEN, which stores nothing without a cookie. Google's scripts cover its rules",
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
            "the number of SYNs with ECN or with options, and black hole detection, are settings that Linux does "
            "not have",
            text=r"net\.inet\.tcp\.(ecn\.maxretries|rexmit_drop_options=1|pmtud_blackhole_detection|tolerate_missing_ts)",
        ),
        Excluded(
            "closed sockets",
            "Google's tool sets no addresses in packets for a socket that neither listens nor connects, and cannot "
            "read its TCP_INFO",
            ("state-event-engine/rcv-[!r]*-closed/*", "snippets/closed-initially-*", "snippets/listen-*"),
        ),
        Excluded(
            "type of service and hop limit",
            "the stack sets these fields itself; they are outside TCP",
            ("socket-api/setsockopt/*-tos-*", "socket-api/setsockopt/*-ttl-*", "socket-api/setsockopt/*-hoplimit-*",
             "socket-api/setsockopt/*-traffic-class-*"),
        ),
        Excluded(
            "retransmitted FIN",
            "after crossing FINs FreeBSD retransmits its FIN; RFC 9293 §3.10.7.4 requires an ACK at SND.NXT, which "
            "lightlag and Linux send: they retransmit the FIN after its timeout",
            ("state-event-engine/*-closing/*", "snippets/closing-*", "snippets/time-wait-via-closing-*"),
        ),
        Excluded(
            "new connections in TIME-WAIT",
            "FreeBSD sends an ACK for a SYN beyond the old connection; RFC 9293 §3.6.1 and RFC 6191 allow opening "
            "the new connection, as lightlag and Linux do",
            tuple(
                f"state-event-engine/rcv-{flags}-time-wait/*-{place}-*"
                for flags in ("syn", "syn-fin") for place in ("right-edge", "outside-right")
            ),
        ),
        Excluded(
            "segments without ACK in TIME-WAIT",
            "FreeBSD ignores a FIN without the ACK flag; RFC 9293 §3.10.7.4 checks the sequence number first, and "
            "sends an ACK if it is wrong, as lightlag does",
            tuple(
                f"state-event-engine/rcv-fin-time-wait/*-{place}-*" for place in ("outside-left", "right-edge", "outside-right")
            ),
        ),
        Excluded(
            "data in a SYN",
            "FreeBSD stores the data of a SYN without fast open, as RFC 9293 §3.10.7.3 allows; profile linux "
            "ignores it, as Linux does, and the peer retransmits it",
            (
                "state-event-engine/rcv-syn-syn-sent/*-with-data-*",
                "state-event-engine/rcv-syn-fin-syn-sent/*-with-data-*-dropping-disabled-*",
                "state-event-engine/rcv-syn-ack-syn-sent/*-with-data-syn-sent-ack-left-edge-*",
            ),
        ),
        Excluded(
            "SYN-ACK at a listener",
            "FreeBSD ignores it; RFC 9293 §3.10.7.2 requires a reset, which lightlag and Linux send",
            ("state-event-engine/rcv-syn-ack-listen/*",),
        ),
        Excluded(
            "reset of a simultaneous open",
            "RFC 9293 §3.10.7.4 requires ECONNREFUSED, which FreeBSD returns; Linux, which profile linux follows, "
            "returns ECONNRESET",
            ("state-event-engine/rcv-rst-*-via-syn-sent-left-edge-*",),
        ),
        Excluded(
            "reset in LAST-ACK",
            "FreeBSD reports ECONNRESET; RFC 9293 §3.10.7.4 requires ending the connection without notifying the "
            "user, as lightlag does",
            ("state-event-engine/rcv-rst-last-ack/*-left-edge-*",),
        ),
        Excluded(
            "the right edge",
            "a reset at the edge of FreeBSD's window of 65,700 bytes (a multiple of the segment size), or just "
            "beyond a listener's window, where lightlag and Linux accept an empty segment",
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
            "FreeBSD reports every hard error of a SYN as ECONNREFUSED, Linux and lightlag report the error of the "
            "code; Google's tool does not support two of the codes",
            tuple(
                f"rcv-icmp/rcv-icmp-hard-error-{name}*"
                for name in ("comm-prohibited", "host-prohibited", "net-prohibited", "ignored", "ttl-exceeded-ipv4")
            ),
        ),
        Excluded(
            "times of the SYN",
            "FreeBSD retransmits a SYN after 1, 2.2 and 4.2 s (rexmit_slop); RFC 6298 §2 doubles 1 s, and Linux "
            "retransmits the first four after 1 s each",
            (
                "snd-syn/snd-syn-rtx-*", "snd-syn/snd-syn-with-ecn-*", "snd-syn/snd-syn-without-sack-*",
                "snd-syn/snd-syn-without-ws-and-ts-*",
            ),
        ),
        Excluded(
            "scale of windows",
            "FreeBSD computes the scale from its maximum buffer, Linux by a formula of its own",
            ("snd-syn/snd-syn-with-max-ws-*", "snd-syn/snd-syn-with-min-ws-*"),
        ),
        Excluded(
            "ECN of SYNs that cross",
            "FreeBSD's reply to a SYN has ECE alone; RFC 3168 §6.1.1 requires ECE and CWR",
            ("snippets/syn-rcvd-via-syn-sent-ipv4-ecn01*",),
        ),
        Excluded(
            "ACKs of small segments",
            (
                "FreeBSD acknowledges every second segment of any size; RFC 5681 §4.2 and Linux count full-sized "
                "segments"
            ),
            ("rcv-data-segments/reordering-12*", "rcv-data-segments/reordering-[1-3][1-3][1-3]45.pkt"),
        ),
    ),
    known={
        "rcv-data-segments/overlapping-200-32200.pkt": (
            "requires a window update for every read of two segments (RFC 9293 §3.8.6.2.2); profile linux sends one "
            "when the window can double, as Linux does"
        ),
        "rcv-data-segments/reordering-5F4321.pkt": (
            "FreeBSD's SACK block ends before an out-of-order FIN; lightlag's and Linux's cover its sequence number"
        ),
    },
    families=("v4",),
    usual_mtu=1500,
    translate=freebsd.translate,
)  # fmt: skip
