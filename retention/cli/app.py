"""The commands and their options. Each loads what it needs when it is called, so that a tick with nothing to do starts fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .ending import ending

__all__ = ["app"]

app = typer.Typer(
    name="retention",
    help="Deletes rows that have outlived their keep, on SQLite and Cloudflare D1, in bounded, resumable steps.",
    epilog="Exit status: 0 done, 1 failed, 2 usage or policy error, 3 more work left, 4 refused, 75 busy (try again).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Database = Annotated[str, typer.Argument(metavar="DB", help="A path, d1://ACCOUNT/DATABASE or libsql://HOST[:PORT].", show_default=False)]
PolicyFile = Annotated[Path | None, typer.Option("--policy", "-p", metavar="FILE", help="The policy [default: ./retention.toml].")]
PresetName = Annotated[str | None, typer.Option("--preset", metavar="NAME", help="A policy that ships with the package, instead of -p.")]
StateFile = Annotated[Path | None, typer.Option("--state", metavar="FILE", help="Where progress is kept [default: DB.retention.json].")]
Now = Annotated[str | None, typer.Option("--now", metavar="TIME", help="The clock of the run, such as 2026-09-09T14:00:00Z.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write; - for standard output.")]
Exact = Annotated[bool, typer.Option("--exact", help="Run the policy on a private copy of the file, and show what it deleted there.")]
Statements = Annotated[int | None, typer.Option("--statements", min=1, metavar="N", help="Most statements of one pass.")]
Deadline = Annotated[str | None, typer.Option("--deadline", metavar="SPAN", help="Most time of the whole command, such as 10s.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and what stands in the way; write nothing.")]
AllowLong = Annotated[bool, typer.Option("--allow-long", help="Also make indexes over more than index_rows rows, whatever it takes.")]
Vacuum = Annotated[bool, typer.Option("--vacuum", help="Rewrite a file that cannot be shrunk in steps; it locks everyone out meanwhile.")]
UntilDone = Annotated[bool, typer.Option("--until-done", help="Repeat passes until nothing is left to do.")]
Skip = Annotated[list[str] | None, typer.Option("--skip", metavar="ID|@FILE", help="Rows to leave alone, by key; @FILE has one a line.")]
AllowMass = Annotated[list[str] | None, typer.Option("--allow-mass", metavar="NAME", help="A sweep that may end most of what is live.")]


@app.command()
def demo(debug: Debug = False) -> None:
    """Make a sample database, show the plan, run it, show the receipt."""
    with ending(debug):
        from .demo import demo

        demo()


@app.command()
def init(db: Database, output: Output = Path("retention.toml"), debug: Debug = False) -> None:
    """Write a commented first policy from the live schema. Nothing in it is enabled."""
    with ending(debug):
        from .init import init

        init(db, output)


@app.command()
def plan(
    db: Database,
    policy: PolicyFile = None,
    preset: PresetName = None,
    state: StateFile = None,
    now: Now = None,
    exact: Exact = False,
    json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say what a run would do: statements, query plans, ceiling, rows to delete, runs to drain. Deletes nothing."""
    with ending(debug):
        from .policies import checked_state, chosen_policy

        chosen = chosen_policy(policy, preset)
        if exact:
            from .exact import exact_plan

            raise typer.Exit(exact_plan(db, chosen, now, checked_state(db, state, policy, preset, chosen), json))
        from .plan import plan

        plan(db, chosen, now, json)


@app.command()
def run(
    db: Database,
    policy: PolicyFile = None,
    preset: PresetName = None,
    state: StateFile = None,
    statements: Statements = None,
    deadline: Deadline = None,
    until_done: UntilDone = False,
    now: Now = None,
    json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Delete what has outlived its keep, within the limits; the next run goes on where this one ended."""
    with ending(debug):
        from .policies import checked_state, chosen_policy
        from .run import run

        chosen = chosen_policy(policy, preset)
        lies = checked_state(db, state, policy, preset, chosen)
        raise typer.Exit(run(db, chosen, lies, statements, deadline, until_done, now, json, debug))


@app.command()
def sweep(
    db: Database,
    policy: PolicyFile = None,
    preset: PresetName = None,
    state: StateFile = None,
    skip: Skip = None,
    allow_mass: AllowMass = None,
    statements: Statements = None,
    deadline: Deadline = None,
    now: Now = None,
    json: AsJson = False,
    debug: Debug = False,
) -> None:
    """End work that has stopped, as the policy's sweeps say, and nothing else of the policy."""
    with ending(debug):
        from .policies import checked_state, chosen_policy
        from .sweep import sweep

        chosen = chosen_policy(policy, preset)
        lies = checked_state(db, state, policy, preset, chosen)
        raise typer.Exit(sweep(db, chosen, lies, skip or [], allow_mass or [], statements, deadline, now, json, debug))


@app.command()
def migrate(
    db: Database,
    policy: PolicyFile = None,
    preset: PresetName = None,
    state: StateFile = None,
    statements: Statements = None,
    deadline: Deadline = None,
    dry_run: DryRun = False,
    allow_long: AllowLong = False,
    json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Make what the policy's [[migrations]] lack: tables, columns, values, indexes. Nothing is dropped or rebuilt."""
    with ending(debug):
        from .migrate import migrate
        from .policies import checked_state, chosen_policy

        chosen = chosen_policy(policy, preset)
        lies = checked_state(db, state, policy, preset, chosen)
        raise typer.Exit(migrate(db, chosen, lies, statements, deadline, dry_run, allow_long, json, debug))


@app.command()
def reclaim(db: Database, vacuum: Vacuum = False, deadline: Deadline = None, json: AsJson = False, debug: Debug = False) -> None:
    """Give free pages of a file back to the disk, in short steps where the file allows it; else say what it would take."""
    with ending(debug):
        from .reclaim import reclaim

        raise typer.Exit(reclaim(db, vacuum, deadline, json))


@app.command()
def audit(db: Database, policy: PolicyFile = None, preset: PresetName = None, json: AsJson = False, debug: Debug = False) -> None:
    """Name tables that no rule covers, missing indexes, risky keys."""
    with ending(debug):
        from .audit import audit
        from .policies import chosen_policy

        audit(db, chosen_policy(policy, preset), json)
