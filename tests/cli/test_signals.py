"""Two signals: the first asks, a second SIGINT insists.

They are raised in this thread, and so handled before the call returns: one sent to the process may reach any thread, and any time.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import typer

from retention.cli import main
from retention.cli.ending import ending
from retention.cli.signals import asked_to_stop

app = import_module("retention.cli.app")


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Given back afterwards, whatever a test has left."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with asked_to_stop() as asked:
        assert not asked()
        signal.raise_signal(number)
        assert asked()
    assert signal.getsignal(number) == before


def test_a_second_interrupt_stops_at_once() -> None:
    with asked_to_stop() as asked:
        signal.raise_signal(signal.SIGINT)
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_second_sigterm_only_asks_again() -> None:
    with asked_to_stop() as asked:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert asked()


def test_an_interrupt_ends_the_command_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, ending(debug=False):
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err.startswith("retention: stopped at once; ")


@pytest.mark.parametrize("inherited", [signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL], ids=["raise", "ignore", "end"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_before_the_command_began_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: signal.Signals, inherited: Any
) -> None:
    """Whatever the process inherited: a shell script starts `retention run ... &` with SIGINT ignored."""
    signal.signal(number, inherited)
    monkeypatch.setattr(app, "app", lambda: signal.raise_signal(number))
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "retention: stopped before anything was done.\n")
