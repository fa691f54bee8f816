#!/usr/bin/env bash
# Tries an installed lightlag as a new user would: try-package.sh BIN, the directory of its commands. Works in an empty
# directory.
set -euo pipefail
bin="$(cd "$1" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

"$bin/lightlag" --version
"$bin/lightlag" list scenarios >/dev/null
"$bin/lightlag" list congestion >/dev/null
"$bin/lightlag" explain hybla >/dev/null
# The papers are a package of their own, which is not there yet.
if "$bin/lightlag" list papers 2>missing.txt; then exit 1; fi
grep -qF "pip install 'lightlag[papers]'" missing.txt
"$bin/lightlag" explain geo >mine.toml
"$bin/lightlag" check mine.toml
"$bin/lightlag" run mine.toml --set duration="10 s" --quiet
"$bin/lightlag" run results/geo --quiet
"$bin/lightlag" plot results/geo -m cwnd -o cwnd.pdf
"$bin/lightlag" compare geo -c cubic,hybla -n 2 --set duration="10 s" --quiet
cat >few.toml <<'STUDY'
scenarios = ["geo"]
congestion = ["cubic", "hybla"]
replications = 2
vary = { "links.1.loss" = [0.0, 1e-3] }
set = { duration = "10 s" }
STUDY
"$bin/lightlag" study run few.toml --quiet
# The studio, if its page was built.
page="$("$bin/python" -c 'from lightlag.studio.pages import BUILT; print(BUILT)')"
if [ -e "$page/index.html" ]; then
    coproc studio { exec "$bin/lightlag" studio --no-browser --port 0; }
    pid=$studio_PID
    read -r line <&"${studio[0]}"
    "$bin/python" - "${line#lightlag studio: }" <<'PYTHON'
import sys
import urllib.request

page = urllib.request.urlopen(sys.argv[1].partition("#")[0]).read()
assert b"<title>lightlag studio</title>" in page
PYTHON
    kill -TERM "$pid"
    wait "$pid" || true
fi
"$bin/python" - <<'PYTHON'
import pickle

import lightlag as ll

net = ll.Network("pair")
net.link("client", "server", rate="5 Mbit/s", delay="20 ms", loss=1e-3)
net.flow("client", "server", transfer="1 MB")
result = ll.run(net, duration="30 s", seed=3)
assert result.flows["delivered_bytes"].to_list() == [1_000_000]
assert pickle.loads(pickle.dumps(result)).result_hash == result.result_hash
assert "<svg" in net._repr_html_()
assert ll.load("results/geo").result_hash == ll.load("results/geo-again").result_hash
assert len(ll.open_study("results/few").runs.collect()) == 8
PYTHON
test -s cwnd.pdf -a -s results/geo-compare/report.html
echo "$("$bin/python" --version): lightlag works"
