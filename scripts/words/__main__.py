"""The hits of `scripts/words.toml`: a table by area, a list of places, or lower stored counts; or a sample to read."""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter

from words import counts, rules, sample


def _table(found: list[counts.Found], limits: counts.Counts) -> None:
    now = counts.count(found)
    print(f"{'area':<40}" + "".join(f"{kind:>9}" for kind in counts.KINDS) + f"{'all':>9}{'stored':>9}")
    for area in sorted({*now, *limits}):
        kinds = now.get(area, {})
        _row(area, [*(kinds.get(kind, 0) for kind in counts.KINDS), sum(kinds.values())], limits.get(area, {}))
    columns = [sum(kinds.get(kind, 0) for kinds in now.values()) for kind in counts.KINDS]
    _row("all", [*columns, counts.total(now)], {"all": counts.total(limits)})
    print()
    by_rule = Counter(one.hit.rule.name for one in found)
    for rule in sorted(rules.read().rules, key=lambda rule: -by_rule[rule.name]):
        print(f"{rule.name:<12}{by_rule[rule.name]:>6}  {rule.write}")


def _row(name: str, numbers: list[int], limits: dict[str, int]) -> None:
    print(f"{name:<40}" + "".join(f"{number or '':>9}" for number in numbers) + f"{sum(limits.values()):>9}")


def _is_there(one: counts.Found, places: list[str]) -> bool:
    return all(
        place == one.hit.rule.name or place == one.kind or one.path == place or one.path.startswith(f"{place}/")
        for place in (place.rstrip("/") for place in places)
    )


def main() -> int:
    """Prints what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m words", description=__doc__)
    parser.add_argument(
        "--where", nargs="+", metavar="RULE|PATH|KIND", help="list the hits that match all of these, with their lines"
    )
    parser.add_argument("--zero", action="store_true", help="list the hits in the places that must have none")
    parser.add_argument("--keep", action="store_true", help="store the counts where they are lower")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="print N random doc comments, to be read by somebody else"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: 1)")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for `| head`
    chosen = parser.parse_args()
    if chosen.sample is not None:
        print("\n\n".join(sample.doc_comments(chosen.sample, chosen.seed)))
        return 0
    found = counts.find()
    if chosen.keep:
        try:
            counts.write(counts.lowered(counts.count(found), counts.stored()))
        except ValueError as error:
            print(f"error: {error}; `make words WHERE=...` lists the hits", file=sys.stderr)
            return 1
    elif chosen.where or chosen.zero:
        shown = counts.in_zero(found) if chosen.zero else found
        shown = [one for one in shown if _is_there(one, chosen.where or [])]
        print("\n".join(map(str, shown)))
        print(f"{len(shown)} hits", file=sys.stderr)
    else:
        _table(found, counts.stored())
    return 0


if __name__ == "__main__":
    sys.exit(main())
