"""Translates FreeBSD's scripts to Linux's settings and names.

The scripts of FreeBSD's suite name FreeBSD's settings and commands, and compare numbers that no RFC fixes. `translate`
rewrites the words and takes out these numbers, so that what remains is what an RFC or the interface of sockets fixes:
which segments a TCP sends, with which sequence numbers, flags, options and times, and what its calls return.

- Settings become Linux's. A setting without a counterpart is dropped where it has FreeBSD's default;
  `suites.py` excludes the scripts that choose another value.
- Advertised windows and buffer sizes are dropped, except a window of 0.
- The options of a SYN have Linux's order, with Linux's padding. Their values are compared.
- Names of states in TCP_INFO are Linux's.
- sockstat, which lists a kernel's connections, and tcpdrop, which removes them, are dropped.
- Accepted and connected sockets get TCP_QUICKACK = 0, as FreeBSD delays ACKs from the first segment and Linux from the
  seventeenth. The ACK of a FIN may come 40 ms later: FreeBSD does not delay that one.
- Of the branches STANDARD and FreeBSD, STANDARD is taken.
"""

import re

# Settings by name and value, as commands of Linux. A switch that Linux does not have is left out at its default.
_SETTINGS = {
    "net.inet.tcp.rfc1323": {
        "0": "net.ipv4.tcp_timestamps=0 net.ipv4.tcp_window_scaling=0",
        "1": "net.ipv4.tcp_timestamps=1 net.ipv4.tcp_window_scaling=1",
    },
    "net.inet.tcp.sack.enable": {"0": "net.ipv4.tcp_sack=0", "1": "net.ipv4.tcp_sack=1"},
    # 1: requests and accepts ECN, 2: accepts it; the values are Linux's.
    "net.inet.tcp.ecn.enable": {"1": "net.ipv4.tcp_ecn=1", "2": "net.ipv4.tcp_ecn=2"},
    "net.inet.tcp.syncookies": {"1": "net.ipv4.tcp_syncookies=1"},
    "net.inet.tcp.syncookies_only": {"1": "net.ipv4.tcp_syncookies=2"},
    # The largest buffer decides on the scale of windows.
    # The first window is 65,535 bytes, as FreeBSD's.
    "kern.ipc.maxsockbuf": {"2097152": 'net.ipv4.tcp_rmem="4096 540000 2097152"'},
    "net.inet.tcp.keepidle": {
        "15000": "net.ipv4.tcp_keepalive_time=15",
        "7200000": "net.ipv4.tcp_keepalive_time=7200",
    },
    "net.inet.tcp.keepintvl": {"15000": "net.ipv4.tcp_keepalive_intvl=15", "75000": "net.ipv4.tcp_keepalive_intvl=75"},
    "net.inet.tcp.keepcnt": {"2": "net.ipv4.tcp_keepalive_probes=2", "8": "net.ipv4.tcp_keepalive_probes=8"},
}

_STATES = {
    "TCPI_CLOSED": "TCP_CLOSE",
    "TCPI_LISTEN": "TCP_LISTEN",
    "TCPI_SYN_SENT": "TCP_SYN_SENT",
    "TCPI_SYN_RECEIVED": "TCP_SYN_RECV",
    "TCPI_ESTABLISHED": "TCP_ESTABLISHED",
    "TCPI_FIN_WAIT_1": "TCP_FIN_WAIT1",
    "TCPI_FIN_WAIT_2": "TCP_FIN_WAIT2",
    "TCPI_CLOSE_WAIT": "TCP_CLOSE_WAIT",
    "TCPI_CLOSING": "TCP_CLOSING",
    "TCPI_LAST_ACK": "TCP_LAST_ACK",
    "TCPI_TIME_WAIT": "TCP_TIME_WAIT",
}

_SETTING = re.compile(r"`sysctl -w (?P<name>[\w.]+)=(?P<value>[^`]*)`")
_FOREIGN_COMMAND = re.compile(r"`(sockstat|tcpdrop)\b[^`]*`")
_BUFFER_SIZE = re.compile(r"getsockopt\(\d+, *SOL_SOCKET, *SO_(RCV|SND)BUF\b.*")
_LEAVES = re.compile(r"^(?P<when>\s*[-+*0-9.~ ]*)>(?P<packet>.*)$")
_OPENED = re.compile(
    r"^[^/>`]*\b(?:accept\(\d+, \.\.\., \.\.\.\) = (?P<accepted>\d+)"
    r"|connect\((?P<socket>\d+), \.\.\., \.\.\.\) = (?:-1 EINPROGRESS|0))"
)
_FIN_ARRIVES = re.compile(r"^[-+*0-9.~ ]*<\s*P?F")
_ACK_AT_ONCE = re.compile(r"^\+0\.00( *> +\. )")
_WINDOW = re.compile(r" win +[1-9]\d*")
_NOTHING = "`true`"


def translate(script: str) -> str:
    """Returns a FreeBSD script with Linux's settings and names."""
    lines, before = [], ""
    for line in _standard(script.splitlines()):
        lines.append(_line(line))
        if _FIN_ARRIVES.match(before):
            lines[-1] = _ACK_AT_ONCE.sub(r"+0~+0.04\1", lines[-1])
        if opened := _OPENED.match(line):
            socket = opened["accepted"] or opened["socket"]
            lines.append(f"+0 setsockopt({socket}, SOL_TCP, TCP_QUICKACK, [0], 4) = 0")
        before = line
    return "\n".join(lines) + "\n"


def _standard(lines: list[str]) -> list[str]:
    """Returns the lines; lines of branches other than STANDARD are empty."""
    kept, branch = [], "STANDARD"
    for line in lines:
        directive = line.strip()
        if directive.startswith("#ifdef "):
            branch = directive.removeprefix("#ifdef ").strip()
        elif directive == "#endif":
            branch = "STANDARD"
        kept.append(line if branch == "STANDARD" and not directive.startswith("#") else "")
    return kept


def _line(line: str) -> str:
    if line.lstrip().startswith("//"):
        return line
    if leaves := _LEAVES.match(line):
        return f"{leaves['when']}>{_packet(leaves['packet'])}"
    line = _SETTING.sub(_setting, line)
    line = _FOREIGN_COMMAND.sub(_NOTHING, line)
    line = _BUFFER_SIZE.sub(_NOTHING, line)
    for theirs, ours in _STATES.items():
        line = re.sub(rf"\b{theirs}\b", ours, line)
    return line


def _setting(match: re.Match[str]) -> str:
    command = _SETTINGS.get(match["name"], {}).get(match["value"])
    return f"`sysctl -q {command}`" if command else _NOTHING


def _packet(packet: str) -> str:
    packet = _WINDOW.sub("", packet)
    if re.match(r"\s*(\(.*?\)|\[.*?\])?\s*S", packet):
        return re.sub(r"<([^>]*)>", lambda options: f"<{_in_order(options[1])}>", packet)
    return packet


def _in_order(options: str) -> str:
    """Returns the options of a SYN in Linux's order and with Linux's padding (`tcp_options_write`)."""
    given = {option.split()[0]: option for option in map(str.strip, options.split(",")) if option}
    known = {"mss", "sackOK", "TS", "wscale", "FO", "nop", "eol"}
    if not given.keys() <= known:
        return options
    ordered = [given["mss"]] if "mss" in given else []
    if "TS" in given:
        ordered += ["sackOK"] if "sackOK" in given else ["nop", "nop"]
        ordered.append(given["TS"])
    elif "sackOK" in given:
        ordered += ["nop", "nop", "sackOK"]
    if "wscale" in given:
        ordered += ["nop", given["wscale"]]
    if "FO" in given:
        digits = given["FO"].removeprefix("FO").strip()
        ordered.append(given["FO"])
        ordered += ["nop"] * (-(2 + len(digits) // 2) % 4)
    return ",".join(ordered)
