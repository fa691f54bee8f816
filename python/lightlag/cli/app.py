"""The command line. Every command is one call of the Python interface; heavy packages are imported when needed."""

from __future__ import annotations

import functools
import json
import os
import shlex
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

from lightlag import _engine, _signals
from lightlag.commands import captures, compared, repeated
from lightlag.commands.application import MAX_JOBS, Entry, Group, application
from lightlag.commands.captures import Acks, Ipv6, Pcap, PcapComments, PcapFlow, Qlog, QlogSchema
from lightlag.commands.changes import changes as changes_of
from lightlag.commands.figures import Label
from lightlag.errors import AlgorithmError, CommandError, InputError, Interrupted, ScenarioError, scenario_error
from lightlag.files import destinations
from lightlag.files.writing import check_folder, reserved, speak_of_options
from lightlag.machine import memory as _memory
from lightlag.records import origin
from lightlag.records.lists import texts
from lightlag.records.summary import limit_of
from lightlag.text.quantities import number
from lightlag.text.table import print_rows
from lightlag.text.terminal import plain, print_json, printable, say

if TYPE_CHECKING:
    pass

P = ParamSpec("P")

WRONG_INPUT, FAILED = 2, 1

File = Annotated[str, typer.Argument(metavar="FILE", help="A scenario in TOML or JSON, or the name of a preset.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change the scenario: links.0.loss=1e-4. May be repeated."),
]
LAST_SEED = 2**63 - 1
Seed = Annotated[
    int | None,
    typer.Option(min=0, max=LAST_SEED, help="Seed of all random streams; replaces the seed of the scenario."),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Directory for the results.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace results that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no warnings, no table.")]


Duration = Annotated[
    str | None,
    typer.Option(
        "--duration",
        "-d",
        metavar="TIME",
        help='Maximum simulated time, such as "20 s"; default: the duration in the scenario.',
    ),
]


def _guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Wraps a command: an error prints one message on stderr and gives an exit code, never a traceback."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **options: P.kwargs) -> None:
        try:
            command(*args, **options)
        except CommandError as error:
            _fail(error.code, str(error))
        except (ScenarioError, InputError, FileExistsError) as error:
            _fail(WRONG_INPUT, str(error))
        except UnicodeEncodeError as error:
            _fail(WRONG_INPUT, f"{printable(error.object):.60}: is not valid UTF-8; write it in UTF-8")
        except (OSError, AlgorithmError) as error:
            _fail(FAILED, str(error))
        except MemoryError:
            _fail(FAILED, "out of memory; use a smaller scenario, record less, or use fewer --jobs")
        except KeyboardInterrupt:
            _fail(_signals.code(), f"interrupted; {_signals.kept()}")
        except typer.Exit:
            raise
        except BaseException as error:
            # A panic of the engine is not an Exception.
            if os.environ.get("LIGHTLAG_TRACEBACK") or isinstance(error, SystemExit):
                raise
            _fail(FAILED, f"internal error (please report): {error!r}; LIGHTLAG_TRACEBACK=1 prints where it happened")

    return wrapper


def _fail(code: int, message: str) -> None:
    for line in message.splitlines():
        print(f"error: {printable(line)}", file=sys.stderr)
    raise typer.Exit(code)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"lightlag {_engine.__version__}")
        raise typer.Exit


def run(
    file: File,
    sets: Set = None,
    duration: Duration = None,
    seed: Seed = None,
    out: Out = None,
    force: Force = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Threads that write the tables.")] = 1,
    threads: Annotated[
        str,
        typer.Option(
            metavar="N|auto",
            help="Threads of the run itself, which cut the network at long links; the result does not change.",
        ),
    ] = "1",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; write results only if --out names a directory.")
    ] = False,
    pcap: Pcap = None,
    pcap_flow: PcapFlow = None,
    pcap_comments: PcapComments = False,
    qlog: Qlog = None,
    qlog_schema: QlogSchema = None,
    ipv6: Ipv6 = False,
    acks: Acks = None,
    congestion: Annotated[
        str | None,
        typer.Option(
            "--congestion",
            "-c",
            metavar="NAME",
            help="Algorithm of flows that name none: its name, its table, mine.py:Mine or libmine.so.",
        ),
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Run twice, and compare the results.")] = False,
    with_report: Annotated[
        bool, typer.Option("--report", help="Also write report.html: what limited the flows, and events over time.")
    ] = False,
    with_why: Annotated[
        bool,
        typer.Option("--why", help="Then run without each possible cause, and print why the slowest flow is slow."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario: print its flows and links, write a results directory.

    Without --out, the results go to results/NAME, where NAME is the name of the scenario; if that exists, to NAME-2,
    NAME-3 and so on. Ctrl-C ends the run and writes the records so far.
    """
    from lightlag.running.single import check_repeats, read_with_congestion, run_read, threads_of
    from lightlag.scenario import read_scenario
    from lightlag.scenario.reading import inputs as inputs_of
    from lightlag.text import progress as _progress

    if with_why and (as_json or quiet):
        left_out = "--json" if as_json else "--quiet"
        raise InputError(f"--why: cannot be combined with {left_out}; use lightlag why with that option")
    count = threads_of(threads)
    earlier = repeated.run(file)
    changes = changes_of(sets, seed, duration)
    changes += captures.changes(pcap, pcap_flow, pcap_comments, ipv6, qlog, qlog_schema)
    changes += [] if acks is None else [("record.acks", "true")]
    if congestion is None:
        scenario = read_scenario(file, changes)
    else:
        compared.check_is_one(congestion, file)
        scenario = read_with_congestion(file, changes, congestion)
    default = Path("results") / scenario.name if earlier is None else repeated.beside(file)
    folder = out if out is not None or as_json else destinations.unused(default, force=force)
    inputs = inputs_of(file, scenario) if acks or force or qlog else []
    if acks:
        captures.check_acks(Path(acks), force, inputs)
    if qlog is not None:
        captures.check_qlog(qlog, force, inputs)
    if folder is not None:
        check_folder(folder, force, inputs=inputs)
    elif with_report:
        raise InputError("--report: cannot be combined with --json alone; name a directory with --out")
    _memory.check_network(scenario)
    captures.check(scenario, folder, qlog, wanted=pcap is not None)
    try:
        if folder is not None:
            check_folder(folder, force, space=scenario.results_size())
        memory = _memory.check_tables(scenario, printed=True)
        named = [] if quiet else scenario.named_warnings()
        # "lightlag explain" describes a warning by its name.
        warnings = [(place, f"{message} [{name}]") for name, place, message in named] + memory
    except ScenarioError as error:
        raise scenario_error(error.errors, file) from None
    _warn(warnings)
    with _signals.held(), nullcontext() if folder is None else reserved(folder) as work:
        if folder is not None:
            # Again: another command may have just ended there.
            check_folder(folder, force)
        failure: AlgorithmError | None = None
        try:
            with _progress.of_run(scenario.name, shown=not quiet) as progress:
                spool = captures.spool(scenario, work)
                result = run_read(scenario, _watched(progress), spool=spool, threads=count)
            if verify:
                check_repeats(scenario, result)
        except Interrupted as error:
            result = error.result  # type: ignore[assignment]
        except AlgorithmError as error:
            if error.result is None:
                raise
            result, failure = error.result, error
        stopped = result.interrupted and failure is None
        try:
            if folder is not None:
                result.save(folder, force=force, jobs=jobs, pages=True, report=with_report)
            if acks:
                captures.write_acks(result, Path(acks))
            if qlog is not None:
                result.qlog(qlog, force=force)
        finally:
            # Also where the disk is full: the table is what is left of the run.
            if as_json:
                for text in texts(result.parts):
                    sys.stdout.write(plain(text))
                print()
            elif not quiet:
                from lightlag.cli.summary import print_result

                print_result(result)
        if not quiet:
            notes = sys.stderr if as_json else sys.stdout
            if folder is not None:
                why = destinations.instead(folder, default) if out is None else ""
                say(f"results in {folder}{why}", file=notes)
                if earlier is None and result.repeat is not None:
                    say(f"repeat it with: {origin.again('run', folder)}", file=notes)
                if not (with_why or result.interrupted) and (limit := limit_of(result)) is not None:
                    say(f"{limit}; its causes: {origin.again('why', folder)}", file=notes)
            if acks:
                say(f"ACKs in {acks}", file=notes)
            if qlog is not None:
                say(f"qlog in {qlog}", file=notes)
        if failure is not None:
            raise failure
        if stopped:
            kept = "" if folder is None else f"; its records are in {folder}"
            again = "the same command" + (" with --force" if out is not None and not force else "")
            raise CommandError(
                _signals.code(),
                f"interrupted at {number(result.simulated_s)} s of {scenario.duration}{kept}; {again} runs it again",
            )
        if earlier is not None and not changes and congestion is None:
            same = repeated.same_run(earlier, result)
            if not quiet:
                say(same, file=sys.stderr if as_json else sys.stdout)
        if _signals.asked():
            where = "" if folder is None else f" and its results are in {folder}"
            raise CommandError(_signals.code(), f"interrupted at the end: the run is complete{where}")
    if with_why:
        from lightlag.commands.why import diagnose_run

        command = ["lightlag", "run", file, *_changing(sets, duration, seed, congestion)]
        diagnose_run(result, None if earlier is not None else command)


def _changing(sets: list[str] | None, duration: str | None, seed: int | None, congestion: str | None) -> list[str]:
    """Returns the options of a run that change its scenario."""
    options = [*(("-s", one) for one in sets or []), ("--duration", duration), ("--seed", seed), ("-c", congestion)]
    return [word for option, value in options if value is not None for word in (option, str(value))]


def _watched(progress: Callable[[float, float, int], None] | None) -> Callable[[float, float, int], bool]:
    """A progress callback that ends the run after a signal."""

    def watch(*now: Any) -> bool:
        if progress is not None:
            progress(*now)
        return not _signals.asked()

    return watch


def compare(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Scenarios in TOML or JSON, or names of presets.")
    ],
    congestion: compared.Congestion = None,
    transport: compared.Transport = None,
    vary: compared.Vary = None,
    replications: Annotated[
        int,
        typer.Option("--replications", "-n", min=1, help="Runs per algorithm and point, with consecutive seeds."),
    ] = 10,
    sets: Set = None,
    duration: Duration = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=LAST_SEED, help="First seed; replaces the seed of the scenario.")
    ] = None,
    out: Out = None,
    force: Force = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Runs at the same time; default: one per processor."),
    ] = None,
    figures: compared.Figures = None,
    label: Label = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object at the end: design, means and intervals, conclusion, directory."
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run scenarios with several algorithms, each with the same seeds.

    Prints mean and 95 % interval of goodput, completion time, fairness, retransmissions and queueing delay, and a
    conclusion: the best by goodput, what it costs, and how many seeds would decide. Writes tables and report.html to
    results/NAME-compare (or NAME-compare-2 and so on), and figures for print if --figures names formats. Each finished
    run is stored: after Ctrl-C, the same command runs the rest.
    """
    from lightlag.comparison import continuing
    from lightlag.drawing import names
    from lightlag.machine.processors import processors
    from lightlag.outcomes.variables import split_parameters
    from lightlag.scenario import check as check_scenario

    vary = compared.with_transport(vary, transport)
    chosen = ",".join(congestion) if congestion else None
    changes = changes_of(sets, seed, duration)
    formats = compared.formats(figures)
    with_report = figures is None or bool(formats)
    earlier = repeated.comparison(files, chosen, vary, changes, replications != 10)
    if earlier is None:
        plan = compared.plan(files, chosen, vary or [], replications, changes)
        default = continuing.folder(plan)
    else:
        plan, default = repeated.plan(earlier), repeated.beside(files[0])
    labels = compared.labels(label, plan, formats)
    if out is None:
        folder = destinations.unused(default, force=force, may_take=functools.partial(continuing.is_continued, plan))
    else:
        folder = out
    if not quiet:
        for file in files if earlier is None else ():
            # Parameters belong to the algorithms that are compared, not to the scenario's.
            _warn(check_scenario(file, split_parameters(changes)[0])[1])
        for note in continuing.before(plan):
            say(note, file=sys.stderr)
        _warn(_memory.check_plan(plan, processors() if jobs is None else jobs))
    continuing.goes_on(plan, folder, force)
    with _signals.held(), reserved(folder):
        # Again: another command may have just ended there.
        journal = continuing.journal(folder, goes_on=continuing.goes_on(plan, folder, force))
        # Processes for figures start now, so that they are ready when the runs end.
        with compared.helpers(plan, jobs, formats) as helpers:
            comparison = compared.run(plan, jobs, journal, shown=not quiet, fresh=force)
            if not comparison.outcomes:
                raise CommandError(
                    _signals.code(),
                    "interrupted before a run had finished; nothing was stored, and the same command starts again",
                )
            if not comparison.is_complete:
                # No figures after an interruption; the command that continues draws them.
                formats, with_report = (), False
            command = shlex.join(["lightlag", *sys.argv[1:]])
            about: dict[str, Any] = {"formats": formats, "report": with_report, "command": command}
            if earlier is None:
                about["study"] = compared.study(files, chosen, vary or [], replications, changes, folder)
            try:
                with names.within(labels):
                    comparison.save_with(helpers, folder, force=True, **about)
            finally:
                if not quiet:
                    for note in compared.notes(comparison):
                        say(note, file=sys.stderr)
                if not quiet and not as_json:
                    print_rows(comparison.rows(), f"{comparison.name}: mean ± 95 % interval")
                    if conclusion := compared.conclude(comparison):
                        say(conclusion)
        journal.unlink(missing_ok=True)
        if as_json:
            print_json(compared.record(comparison, folder), allow_nan=False)
        if not quiet:
            kept = "report, figures and tables" if formats else "report and tables" if with_report else "tables"
            why = destinations.instead(folder, default) if out is None else ""
            say(f"{kept} in {folder}{why}", file=sys.stderr if as_json else sys.stdout)
            if earlier is None and comparison.repeat is not None:
                say(f"repeat it with: {origin.again('compare', folder)}", file=sys.stderr if as_json else sys.stdout)
        if earlier is not None:
            same = repeated.same_comparison(earlier, comparison)
            if not quiet:
                say(same, file=sys.stderr if as_json else sys.stdout)
        if not comparison.is_complete:
            again = "the same command without --force" if force else "the same command"
            raise CommandError(
                _signals.code(),
                f"interrupted; {len(comparison.outcomes)} of {plan.design.run_count} runs had finished and are in "
                f"{folder}; {again} continues from there",
            )
        if _signals.asked():
            raise CommandError(
                _signals.code(), f"interrupted at the end: all {plan.design.run_count} runs are in {folder}"
            )


def explain(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="An algorithm, a queue, a model, a profile or a preset; a key such as links.loss, a value, a column, "
            "a warning; link-budget.",
        ),
    ],
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="With link-budget: its file in TOML; without it, an example of one."),
    ] = None,
    partitions: Annotated[
        bool, typer.Option("--partitions", help="For a preset or a scenario file: where --threads cuts its network.")
    ] = False,
    threads: Annotated[str, typer.Option(metavar="N|auto", help="With --partitions: number of threads.")] = "auto",
    availability: Annotated[
        float | None,
        typer.Option("--availability", metavar="PERCENT", help="With link-budget: percentage of the year."),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            "--into",
            metavar="FILE:LINK",
            help="With link-budget: write its rain as fade of a link, mine.toml:1.forward.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With link-budget: print one JSON object.")] = False,
) -> None:
    """Explain an algorithm, a queue, a model of swarms, a profile or a preset: equations, parameters, source.

    Also explain every key of a scenario, the values that a key takes, the columns of results, and the warnings.

    With --partitions: how a run on several threads partitions the network, and the speed-up that a trial run predicts.

    With link-budget FILE: C/N0, Es/N0, the margin of each MODCOD, and the rain of a link for a scenario.
    """
    if name == "link-budget":
        from lightlag.commands.link_budget import show

        show(file, availability, into, as_json)
        return
    if file is not None or availability is not None or into is not None or as_json:
        raise InputError(f"a file, --availability, --into and --json belong to link-budget, not to {name}; omit them")
    if not partitions:
        print(_explained(name))
        return
    from lightlag.cli.partitions import describe
    from lightlag.running.single import threads_of
    from lightlag.scenario import read_scenario

    print(describe(read_scenario(name, []), threads_of(threads)))


def _explained(name: str) -> str:
    """Returns what is known about a name: terms, keys, columns, warnings, and the causes of a slow transfer."""
    from lightlag.commands.why import explained
    from lightlag.words import explain as _explain
    from lightlag.words import words

    if (cause := explained(name)) is None:
        return _explain.explain(name)
    return f"{_explain.explain(name)}\n\n{cause}" if words.is_explained(name) else cause


def schema() -> None:
    """Print the JSON Schema of a scenario."""
    print(json.dumps(json.loads(_engine.schema()), indent=2))


def _warn(warnings: list[tuple[str, str]]) -> None:
    for place, message in warnings:
        say(f"warning: {place}: {message}", file=sys.stderr)


STUDIES = Group(
    "Many runs as one file, on one machine or a cluster.",
    "Many runs as one file, on one machine or a cluster.",
    {
        "run": Entry("lightlag.commands.study:run", "Run a study and write its tables."),
        "status": Entry("lightlag.commands.study:status", "Show the progress of a study."),
        "resume": Entry("lightlag.commands.study:resume", "Resume an interrupted study."),
        "add": Entry("lightlag.commands.study:add", "Add seeds, algorithms, values or scenarios."),
        "merge": Entry("lightlag.commands.study:merge", "Copy the runs of stores into one."),
        "export": Entry("lightlag.commands.study:export", "Write the tables and the report from the store."),
        "rerun": Entry("lightlag.commands.study:rerun", "Rerun one run of a study."),
    },
)
NEWS = Group(
    "Write a scenario or an algorithm to start from.",
    "Write a scenario or an algorithm to start from.",
    {
        "scenario": Entry("lightlag.commands.new:scenario", "A scenario file, by four questions."),
        "congestion": Entry("lightlag.commands.new:congestion", "A congestion control in Python, Rust or C."),
    },
)
COURSE = Group(
    "Labs for a class on networks.",
    "Labs for a class on networks: scenarios, questions, and a checker of answers.",
    {
        "list": Entry("lightlag.commands.course:list_", "List the labs."),
        "new": Entry("lightlag.commands.course:new", "Write the files of a lab."),
        "check": Entry("lightlag.commands.course:check", "Check answers by simulation."),
        "solution": Entry("lightlag.commands.course:solution", "Compute the solution, for teachers."),
    },
)
COMMANDS: dict[str, Entry | Group] = {
    "run": Entry(
        "lightlag.cli.app:run", "Run a scenario, write its results.", "lightlag.commands.captures:OptionalPlaces"
    ),
    "compare": Entry("lightlag.cli.app:compare", "Run several algorithms side by side."),
    "plot": Entry("lightlag.commands.plot:plot", "Plot one or several results."),
    "report": Entry("lightlag.commands.report:report", "Write the report of results as a web page."),
    "diff": Entry("lightlag.commands.diff:diff", "Show what differs between two results or scenarios."),
    "why": Entry("lightlag.commands.why:why", "Show why a transfer is slow, and the fix."),
    "reproduce": Entry("lightlag.commands.papers:reproduce", "Reproduce the figures of a paper."),
    "validate": Entry(
        "lightlag.commands.papers:validate", "Compare lightlag with closed forms, papers and the kernel."
    ),
    "list": Entry("lightlag.commands.listing:list_", "List congestion, queues, profiles, scenarios or papers."),
    "explain": Entry("lightlag.cli.app:explain", "Explain a name, a key, a column or a warning."),
    "check": Entry("lightlag.commands.check:check", "Check a scenario for errors."),
    "schema": Entry("lightlag.cli.app:schema", "Print the JSON Schema of a scenario."),
    "emulate": Entry("lightlag.commands.emulate:emulate", "Forward real packets through a scenario."),
    "replay": Entry("lightlag.commands.replay:replay", "Repeat a real run, packet by packet."),
    "serve-tcp": Entry("lightlag.commands.serve:serve_tcp", "Serve the simulated TCP to real clients on a TUN device."),
    "connect": Entry("lightlag.commands.serve:connect", "Connect the simulated TCP to a real server, on a TUN device."),
    "orbit": Entry("lightlag.commands.orbit:orbit", "Inspect a constellation without a run."),
    "inspect": Entry("lightlag.commands.inspect:inspect", "Describe a capture or a log in qlog."),
    "compare-capture": Entry(
        "lightlag.commands.compare_capture:compare_capture", "Compare a real connection with a simulated one."
    ),
    "study": STUDIES,
    "course": COURSE,
    "studio": Entry("lightlag.commands.studio:studio", "Open the studio in a browser."),
    "new": NEWS,
    "import": Entry("lightlag.commands.imports:import_", "Convert measurements to a scenario."),
    "export": Entry("lightlag.commands.export:export", "Write a path over time for testbeds."),
}
speak_of_options()
app = application(
    COMMANDS,
    _guarded,
    name="lightlag",
    help="Simulates transport protocols over satellite, wireless and other long or lossy paths.",
    epilog="""\b
Examples:
  lightlag run geo                             a preset; results go to results/geo
  lightlag run geo.toml -s links.1.loss=1e-3   a scenario file, with a change
  lightlag run geo.toml --seed 7 --json        one JSON object on stdout
                                               as do compare, diff, check, list, validate
  lightlag run geo --pcap --pcap-comments      packets for Wireshark, in results/geo/captures
  lightlag compare geo -c cubic,hybla -n 10    the same seeds for both, 95 % intervals
  lightlag compare geo leo -c cubic/bbr --vary links.1.loss=0,1e-4,1e-3
                                               two competing algorithms, at every point
  lightlag report results/geo                  what limited the flows, and events over time
  lightlag plot results/geo -m cwnd -o cwnd.pdf
  lightlag diff results/geo results/geo-2      differences in the input, then in each metric
  lightlag explain cubic                       equations, parameters, source
  lightlag explain geo > mine.toml             a scenario file to start from
""",
)


@_guarded
def _show_completion(shell: str | None) -> None:
    if shell is not None:
        from lightlag.cli import shells

        print(shells.script(shells.shell_of(shell)))
        raise typer.Exit


@_guarded
def _install_completion(shell: str | None) -> None:
    if shell is not None:
        from lightlag.cli import shells

        say(f"completion installed in {shells.install(shells.shell_of(shell))}; start a new shell")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
    install_completion: Annotated[
        str | None,
        typer.Option(
            metavar="[SHELL]",
            help="Install completion for bash, zsh or fish; default: the current shell.",
            is_eager=True,
            callback=_install_completion,
        ),
    ] = None,
    show_completion: Annotated[
        str | None,
        typer.Option(metavar="[SHELL]", help="Print the completion script.", is_eager=True, callback=_show_completion),
    ] = None,
) -> None:
    pass


def main() -> None:
    """The command ``lightlag``."""
    _signals.install()
    try:
        app(prog_name="lightlag")
    finally:
        _signals.finish()


if __name__ == "__main__":
    main()
