"""One run of a script: its namespace, its addresses, and the verdict."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from suites import Suite

IPV4 = [
    "--local_ip=192.168.0.1", "--gateway_ip=192.168.0.1", "--netmask_ip=255.255.0.0", "--remote_ip=192.0.2.1",
    "-D", "TFO_COOKIE=3021b9d889017eeb", "-D", "TFO_COOKIE_ZERO=b7c12350a90dc8f5", "-D", "CODE=host_unreachable",
]  # fmt: skip

# The addresses and definitions of the tool's own runner and of the kernel's, and the MTU of the device.
FAMILIES = {
    "v4": (
        1500, ["--ip_version=ipv4", *IPV4, "-D", "CMSG_LEVEL_IP=SOL_IP", "-D", "CMSG_TYPE_RECVERR=IP_RECVERR"],
    ),
    "mapped": (
        1500, [
            "--ip_version=ipv4-mapped-ipv6", *IPV4,
            "-D", "CMSG_LEVEL_IP=SOL_IPV6", "-D", "CMSG_TYPE_RECVERR=IPV6_RECVERR",
        ],
    ),
    "v6": (
        1520, [
            "--ip_version=ipv6", "--mtu=1520", "--local_ip=fd3d:0a0b:17d6::1", "--gateway_ip=fd3d:0a0b:17d6:8888::1",
            "--remote_ip=fd3d:fa7b:d17d::1",
            "-D", "TFO_COOKIE=c1d1e9742a47a9bc", "-D", "TFO_COOKIE_ZERO=82af1a8f9a205c34",
            "-D", "CMSG_LEVEL_IP=SOL_IPV6", "-D", "CMSG_TYPE_RECVERR=IPV6_RECVERR",
        ],
    ),
}  # fmt: skip

# The family of a script that names its version of IP itself.
VERSIONS = {"ipv4": "v4", "ipv4-mapped-ipv6": "mapped", "ipv6": "v6"}

# The source address of connecting sockets.
LOCAL = "local=192.168.0.1,local=fd3d:0a0b:17d6::1"

# Timeout of a script in seconds of real time: all of them take less than two.
PATIENCE = 120

# The kernel's own TCP takes no part, so plain files replace its settings: a namespace other than the first may not write
# all of them. A flush of the kernel's TCP metrics is recorded in a file next to them.
PREPARE = """
set -e
ip link set lo up
ip tuntap add dev tun0 mode tun
ip link set tun0 mtu "$MTU"
ip link set tun0 up
mount -t tmpfs none "$SHADOW"
cp /proc/sys/net/ipv4/tcp_* "$SHADOW" 2> /dev/null || true
mount --bind "$SHADOW" /proc/sys/net/ipv4
cat > "$SHADOW/ip" << 'END'
#!/bin/sh
case "$1 $2" in
"tcp_metrics flush") echo >> /proc/sys/net/ipv4/tcp_metrics_flushed ;;
*) exec "$IP" "$@" ;;
esac
END
cat > "$SHADOW/ethtool" << 'END'
#!/bin/sh
# Offloads of tun0 concern the kernel's packets alone.
END
chmod +x "$SHADOW/ip" "$SHADOW/ethtool"
IP="$(command -v ip)" PATH="$SHADOW:$PATH" exec "$@"
"""


@dataclass(frozen=True)
class Job:
    """A script to be run with one IP version."""

    suite: Suite
    folder: Path
    script: str
    family: str


@dataclass
class Verdict:
    """The outcome of a run. `suite` is the title of the collection."""

    suite: str
    script: str
    family: str
    passed: bool
    reason: str

    @property
    def area(self) -> str:
        """The directory of the script in its collection."""
        return self.script.rpartition("/")[0] or "all"


def families(suite: Suite, script: Path, wanted: list[str]) -> list[str]:
    """Returns the IP versions with which a script runs."""
    text = script.read_text("utf-8")
    own = re.findall(r"^--ip_version=(\S+)$", text, re.MULTILINE)
    if own:
        usable = [VERSIONS[version] for version in own if version in VERSIONS]
    elif suite.families and script.stem.endswith("ipv6"):
        usable = ["v6"]
    elif suite.families:
        usable = list(suite.families)
    else:
        usable = [family for family in FAMILIES if _has_family(script, text, family)]
    return [family for family in wanted if family in usable]


def _has_family(script: Path, text: str, family: str) -> bool:
    if family == "v6":
        return not (script.name.endswith("v4.pkt") or "local_ip" in _own_addresses(text) or _names_icmp_of_ipv4(text))
    return not script.name.endswith("v6.pkt")


def _names_icmp_of_ipv4(text: str) -> bool:
    """Whether the script has an ICMP message that the tool supports only for IPv4, where CODE is defined."""
    return re.search(r"icmp unreachable (CODE|frag_needed)\b", text) is not None


def _own_addresses(text: str) -> set[str]:
    """The options of a script that specify its IPv4 addresses."""
    return set(re.findall(r"^--(local_ip|remote_ip)=[0-9.]+$", text, re.MULTILINE))


def run(tool: Path, libraries: Path, job: Job, verbose: bool) -> Verdict:
    """Plays a script against our TCP in a namespace of its own."""
    suite, script = job.suite, job.folder / job.script
    text = script.read_text("utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        folder, name = script.parent, script.name
        if suite.translate:
            folder = Path(scratch) / "script"
            folder.mkdir()
            (folder / name).write_text(suite.translate(text), "utf-8")
        shadow = Path(scratch) / "settings"
        shadow.mkdir()
        own_mtu = re.search(r"^--mtu=(\d+)$", text, re.MULTILINE)
        usual_mtu = int(own_mtu[1]) if own_mtu else suite.usual_mtu or FAMILIES[job.family][0]
        mtu = suite.mtu.get(job.script, usual_mtu)
        environment = dict(os.environ, SHADOW=str(shadow), MTU=str(mtu))
        command = ["unshare", "--net", "--mount", "bash", "-c", PREPARE, "prepare"]
        command += [*_tool(tool, libraries, job, text, mtu), name]
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return Verdict(suite.title, job.script, job.family, False, f"does not end within {PATIENCE} s")
    said = done.stdout + done.stderr
    if done.returncode and verbose:
        print(f"--- {job.script} over {job.family}\n{said}")
    failed = _reason(said, done.returncode) if done.returncode else ""
    return Verdict(suite.title, job.script, job.family, done.returncode == 0, failed)


def _tool(tool: Path, libraries: Path, job: Job, text: str, mtu: int) -> list[str]:
    """Returns the command that plays a script; the caller appends the script's name."""
    flags = ",".join([LOCAL, *filter(None, [job.suite.flags.get(job.script)])])
    stack = [f"--so_filename={libraries / 'liblightlag_packetdrill.so'}", f"--so_flags={flags}"]
    # The tool's command line has precedence over the script.
    own = _own_addresses(text) if "local_ip" in _own_addresses(text) else set()
    own |= set(re.findall(r"^--(mtu)=", text, re.MULTILINE))
    addresses = [f"--mtu={mtu}" if word.startswith("--mtu=") else word for word in FAMILIES[job.family][1]]
    addresses = [word for word in addresses if word.lstrip("-").partition("=")[0] not in own]
    options = [option.replace("FOLDER", str((job.folder / job.script).parent)) for option in job.suite.options]
    preload = f"LD_PRELOAD={libraries / 'liblightlag_preload.so'}"
    return ["env", preload, str(tool), "--send_omit_free", *stack, *addresses, *options]


def _reason(said: str, status: int) -> str:
    """Returns the message of the tool, or of the failed assertion, with its line and the packets concerned."""
    lines = said.splitlines()
    for at, line in enumerate(lines):
        if "error in Python code" in line:
            about = [other.strip() for other in lines[at:] if re.match(r"\s*assert |AssertionError", other)]
            return "; ".join([re.sub(r"^\S*\.pkt:(\d+):.*", r"line \1", line), *about[:2]])
    for line in lines:
        if re.search(r"\.pkt:\d+: .*(error|warning)", line) and "error executing code" not in line:
            about = [other.strip() for other in lines if re.match(r"(script|actual) packet:", other.strip())]
            return "; ".join([re.sub(r"^\S*\.pkt:", "line ", line), *about[:2]])
    failed = [line.strip() for line in lines if line.startswith("AssertionError") or "assert " in line]
    place = [found for line in lines if (found := re.search(r'File "[^"]*\.pkt", line (\d+)', line))]
    if failed:
        at = f"line {place[-1].group(1)}: " if place else ""
        return at + " ".join(failed[-2:])
    return (lines[-1] if lines else f"exit status {status}").strip()
