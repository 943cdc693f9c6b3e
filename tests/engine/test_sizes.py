"""Page sizes stay within their bounds whatever is measured, move towards the aim, and come back from the checkpoint."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retention.engine.sizes import CAREFUL_ROWS, FIRST_ROWS, FLOOR_ROWS, WORTH_ROWS, Sizes

seconds = st.one_of(st.just(0.0), st.floats(1e-6, 60))
events = st.lists(
    st.one_of(
        st.tuples(st.just("wrote"), st.integers(0, 50_000), seconds, st.booleans()),
        st.tuples(st.just("read"), st.integers(0, 50_000), st.floats(0, 1), seconds, st.booleans()),
        st.tuples(st.just("failed"), st.integers(0, 50_000)),
    ),
    max_size=30,
)


def happen(sizes: Sizes, what: tuple) -> None:
    match what:
        case ("wrote", rows, took, limited):
            sizes.wrote(rows, took, limited=limited)
        case ("read", seen, share, took, filled):
            sizes.read(seen, int(seen * share), took, filled=filled and seen > 0)
        case ("failed", rows):
            sizes.failed(rows)


@given(st.integers(1, 50_000), st.integers(1, 10_000), events)
def test_both_numbers_stay_between_one_and_their_caps(max_keys: int, max_writes: int, events: list[tuple]) -> None:
    sizes = Sizes.start(None, max_keys, max_writes, 0.025)
    for event in events:
        happen(sizes, event)
        assert 1 <= sizes.keys <= max_keys
        assert 1 <= sizes.writes <= max_writes


@given(st.integers(1, 50_000), st.integers(1, 10_000), events)
def test_what_was_learnt_comes_back(max_keys: int, max_writes: int, events: list[tuple]) -> None:
    sizes = Sizes.start(None, max_keys, max_writes, 0.025)
    for event in events:
        happen(sizes, event)
    stored = sizes.stored()
    again = Sizes.start((stored[0], stored[1]) if stored else None, max_keys, max_writes, 0.025)
    assert (again.keys, again.writes) == (sizes.keys, sizes.writes)


@given(st.tuples(st.integers(1, 2**53), st.integers(1, 2**53)), st.integers(1, 50_000), st.integers(1, 10_000))
def test_a_stored_size_is_capped_by_todays_policy(stored: tuple[int, int], max_keys: int, max_writes: int) -> None:
    sizes = Sizes.start(stored, max_keys, max_writes, 0.025)
    assert sizes.keys == min(stored[0], max_keys)
    assert sizes.writes == min(stored[1], max_writes)


def settle(per_row: float, fixed: float = 0.0, *, writes: int = FIRST_ROWS, patience: float = 0.0) -> Sizes:
    """A table in which every row goes, written at that speed."""
    sizes = Sizes.start((writes, writes), 50_000, 10_000, 0.025, patience)
    for _ in range(20):
        sizes.read(sizes.keys, sizes.keys, 0.001, filled=True)
        rows = min(sizes.keys, sizes.writes)
        sizes.wrote(rows, fixed + rows * per_row, limited=True)
    return sizes


def test_writes_settle_at_the_aim() -> None:
    assert 2_000 <= settle(1e-5).writes <= 3_200
    assert settle(1e-7).writes == 10_000


def test_a_write_of_few_rows_may_take_longer_where_nobody_waits() -> None:
    assert settle(5e-5, patience=0.1).writes == WORTH_ROWS
    assert 400 <= settle(2e-4, patience=0.1).writes <= 520, "patience ends"
    assert 2_000 <= settle(1e-5, patience=0.1).writes <= 3_200, "as before where the aim holds many"
    assert 200 <= settle(1e-4).writes <= 260, "no patience"


def test_a_slow_disk_ends_at_the_floor_and_not_below() -> None:
    assert settle(0.001).writes == FLOOR_ROWS


def test_rows_with_megabytes_go_below_the_floor() -> None:
    """A hundred would take a second, and nobody is to wait longer than four times the aim."""
    sizes = settle(0.01)
    assert 8 <= sizes.writes <= 10
    assert sizes.keys <= 10, "and no more are read than are written"
    assert settle(1.0).writes == 1


def test_a_write_that_others_waited_long_for_is_not_repeated() -> None:
    sizes = Sizes.start((1_000, 1_000), 50_000, 10_000, 0.025)
    sizes.wrote(1_000, 0.09, limited=True)
    assert sizes.writes == 500, "it may have been chance"
    sizes = Sizes.start((1_000, 1_000), 50_000, 10_000, 0.025)
    sizes.wrote(1_000, 0.2, limited=True)
    assert 120 <= sizes.writes <= 125


def test_a_first_write_that_somebody_may_wait_for_is_smaller() -> None:
    sizes = Sizes.start(None, 50_000, 10_000, 0.025, 0.1)
    sizes.beside(None, 0.025, 0.1)
    assert (sizes.keys, sizes.writes, sizes.patience) == (FIRST_ROWS, FIRST_ROWS, 0.1)
    sizes.beside(0.01, 0.025, 0.1)
    assert (sizes.keys, sizes.writes, sizes.target, sizes.patience) == (CAREFUL_ROWS, CAREFUL_ROWS, 0.01, 0.01)
    known = Sizes.start((4_000, 2_000), 50_000, 10_000, 0.025)
    known.beside(0.01, 0.025, 0.1)
    assert (known.keys, known.writes) == (4_000, 2_000), "an earlier run has learnt what its rows take"
    learnt = Sizes.start(None, 50_000, 10_000, 0.025)
    learnt.wrote(1_000, 0.005, limited=True)
    before = learnt.writes
    learnt.beside(0.01, 0.025, 0.1)
    assert learnt.writes == before


def test_a_slow_commit_alone_does_not_go_below_the_floor() -> None:
    assert settle(1e-6, fixed=0.3).writes >= FLOOR_ROWS


def test_a_slow_read_is_followed_by_a_shorter_one() -> None:
    """On a rollback-journal file nobody commits while we read."""
    sizes = Sizes.start((50_000, 10_000), 50_000, 10_000, 0.025)
    sizes.read(50_000, 0, 1.0, filled=True)
    assert sizes.keys == 5_000
    sizes.read(5_000, 0, 60.0, filled=True)
    assert sizes.keys == FLOOR_ROWS
    sizes.read(100, 0, 0.001, filled=True)
    assert sizes.keys == 400, "and by longer ones when it is fast again"


def test_a_fixed_part_is_no_reason_to_shrink() -> None:
    """A commit of 20 ms and 1 µs a row: small pages would only repeat the commit."""
    assert settle(1e-6, fixed=0.02).writes >= FIRST_ROWS


def stretched(aim: float | None) -> float:
    """Seconds of a write of which 11 ms are fixed, where 10 ms are aimed at."""
    sizes = Sizes.start((500, 500), 50_000, 10_000, 0.010)
    for turn in range(40):
        sizes.beside(aim, 0.010, 0.010)
        rows = sizes.writes - turn % 2 * sizes.writes // 4
        sizes.wrote(rows, 0.011 + rows * 1e-5, limited=True)
    return 0.011 + sizes.writes * 1e-5


def test_beside_another_writer_a_write_is_stretched_less() -> None:
    assert 0.0155 <= stretched(None) <= 0.0185
    assert 0.0115 <= stretched(0.010) <= 0.0125


def test_only_failures_go_below_the_floor() -> None:
    sizes = Sizes.start((FLOOR_ROWS, FLOOR_ROWS), 50_000, 10_000, 0.025)
    sizes.failed(FLOOR_ROWS)
    assert (sizes.keys, sizes.writes) == (FLOOR_ROWS // 2, FLOOR_ROWS // 2)
    sizes.failed(1)
    assert (sizes.keys, sizes.writes) == (1, 1)


def test_a_page_of_kept_rows_grows_and_one_of_expired_rows_holds_one_write() -> None:
    sizes = Sizes.start(None, 50_000, 10_000, 0.025)
    sizes.read(1_000, 0, 0.0001, filled=True)
    assert sizes.keys == 4_000
    sizes.read(4_000, 2_000, 0.0001, filled=True)
    assert sizes.keys == 1_800, "a tenth to spare, or every second page would be read twice"
    sizes.read(1_800, 1_800, 0.0001, filled=True)
    assert sizes.keys == 1_000
    sizes.read(50, 50, 0.0001, filled=False)
    assert sizes.keys == 1_000, "the last page of a traversal says nothing"


@given(st.integers(2, 50_000), st.integers(2, 50_000), st.integers(1, 10_000))
def test_fewer_keys_are_fewer(seen: int, expired: int, writes: int) -> None:
    sizes = Sizes.start((50_000, writes), 50_000, 10_000, 0.025)
    keys = sizes.fewer(seen, expired)
    assert 1 <= keys < seen
    assert keys <= min(10_000, 4 * writes), "though all of them be expired"
