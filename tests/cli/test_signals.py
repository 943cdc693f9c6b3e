"""Two signals: the first asks, a second SIGINT insists."""

from __future__ import annotations

import os
import signal
from importlib import import_module

import pytest
import typer

from retention.cli import main
from retention.cli.ending import ending
from retention.cli.signals import asked_to_stop

app = import_module("retention.cli.app")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with asked_to_stop() as asked:
        assert not asked()
        os.kill(os.getpid(), number)
        assert asked()
    assert signal.getsignal(number) == before


def test_a_second_interrupt_stops_at_once() -> None:
    with asked_to_stop() as asked:
        os.kill(os.getpid(), signal.SIGINT)
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_second_sigterm_only_asks_again() -> None:
    with asked_to_stop() as asked:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert asked()


def test_an_interrupt_ends_the_command_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, ending(debug=False):
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err.startswith("retention: stopped at once; ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_before_the_command_began_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(app, "app", lambda: os.kill(os.getpid(), number))
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (ended.value.code, capsys.readouterr().err) == (130, "retention: stopped before anything was done.\n")
