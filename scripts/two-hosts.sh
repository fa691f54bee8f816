#!/bin/bash
# Two hosts on this machine with a simulated network between them: two network namespaces, a TUN device in each, routes
# by their addresses, and the clean-up. Needs root, iproute2, and lightlag; nothing outside the namespaces changes.
#
#     scripts/two-hosts.sh SCENARIO [COMMAND ...]
#
# runs `lightlag emulate SCENARIO` between the namespaces "left" (10.77.0.1, fd77::1) and "right" (10.77.0.2, fd77::2), and
# COMMAND in the left one (default: a shell). To reach the right one from elsewhere: ip netns exec right COMMAND.
# The text of EMULATE is added to the options of lightlag emulate.
#
#     scripts/two-hosts.sh geo ping -c 5 10.77.0.2
#     EMULATE="--set links.1.loss=0.01" scripts/two-hosts.sh geo
set -euo pipefail

SCENARIO=${1:?usage: scripts/two-hosts.sh SCENARIO [COMMAND ...]}
shift
LIGHTLAG=${LIGHTLAG:-lightlag}
LEFT=${LEFT:-left}
RIGHT=${RIGHT:-right}

[ "$(id -u)" = 0 ] || { echo "error: network namespaces need root" >&2; exit 1; }
command -v ip > /dev/null || { echo "error: the command ip is missing: install iproute2" >&2; exit 1; }
command -v "${LIGHTLAG%% *}" > /dev/null || { echo "error: $LIGHTLAG is missing: source .venv/bin/activate" >&2; exit 1; }

made=()
emulation=
clean_up() {
  [ -z "$emulation" ] || { kill "$emulation" 2> /dev/null || true; wait "$emulation" || true; }
  for namespace in "${made[@]}"; do ip netns del "$namespace"; done
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

for namespace in "$LEFT" "$RIGHT"; do
  ip netns add "$namespace"
  made+=("$namespace")
  ip -n "$namespace" link set lo up
  # Metrics of one connection would change the next.
  ip netns exec "$namespace" sysctl -qw net.ipv4.tcp_no_metrics_save=1
done

# The devices exist as long as the emulation; their addresses bring the routes. TUN devices have no offloads of their own:
# what the kernel's TCP sends is cut into packets before we see it.
# shellcheck disable=SC2086  # several options
$LIGHTLAG emulate "$SCENARIO" --between "ns:$LEFT" "ns:$RIGHT" ${EMULATE:-} &
emulation=$!
until ip -n "$LEFT" link show lightlag0 > /dev/null 2>&1 && ip -n "$RIGHT" link show lightlag0 > /dev/null 2>&1; do
  kill -0 "$emulation" 2> /dev/null || { wait "$emulation" || true; emulation=; exit 1; }
  sleep 0.1
done

if [ $# -eq 0 ]; then set -- "${SHELL:-/bin/bash}"; fi
ip netns exec "$LEFT" "$@"
