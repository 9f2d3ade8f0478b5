"""Rankings: places and nodes, the best first."""

from __future__ import annotations

import inspect

import pytest

import nearfar


@pytest.fixture(scope="module")
def record() -> nearfar.Record:
    return nearfar.simulate("two-socket-8-nodes", seed=1)


def test_a_task_runs_where_its_data_is(record: nearfar.Record) -> None:
    ranking = record.ranking()
    assert len(ranking.places) == len(ranking.nodes) == 8
    for node in ranking.nodes:
        ranked = ranking.rank({node: 1 << 30})
        best = ranked[0]
        assert ranking.places[best.place].cpu_node == node and best.ratio == 1
        rate = ranking.lone_rate(best.place, node)
        assert rate and best.seconds == pytest.approx((1 << 30) / rate)
        assert [one.seconds for one in ranked] == sorted(one.seconds for one in ranked)
        assert len(ranked) == 8 and ranked[-1].place == ranked[7].place and not ranked.absent
    with pytest.raises(IndexError):
        ranking.rank({0: 1})[8]


def test_ranked_places_are_gone_through(record: nearfar.Record) -> None:
    ranked = nearfar.rank(record, {0: 1_000_000})
    assert [place.place for place in ranked] == [ranked[at].place for at in range(len(ranked))]
    assert ranked[0] in ranked and ranked[0] != ranked[len(ranked) - 1]


def test_others_are_counted(record: nearfar.Record) -> None:
    alone, beside = nearfar.rank(record, {0: 1 << 30}), record.ranking().rank({0: 1 << 30}, [(0, 16, 0)])
    assert beside[0].seconds > 1.2 * alone[0].seconds
    with pytest.raises(nearfar.Error, match="need the flow model"):
        record.ranking(beside=False).rank({0: 1}, [(0, 16, 0)])


def test_data_lies_where_it_is_used(record: nearfar.Record) -> None:
    ranking = record.ranking()
    ranked = ranking.rank_nodes([(3, 16, 1 << 30)])
    assert ranked[0].node == ranking.places[3].cpu_node
    assert [one.ratio for one in ranked] == sorted(one.ratio for one in ranked)


def test_wrong_questions_are_errors(record: nearfar.Record) -> None:
    with pytest.raises(nearfar.Error, match="no memory node 99"):
        nearfar.rank(record, {99: 1})
    with pytest.raises(nearfar.Error, match="there is no place 8"):
        record.ranking().rank({0: 1}, [(8, 1, 0)])
    ranking = record.ranking(beside=False)
    for ask in (ranking.why_unknown, ranking.lone_rate):
        with pytest.raises(nearfar.Error, match="there is no place 99"):
            ask(99, 0)
        with pytest.raises(nearfar.Error, match="no memory node 77"):
            ask(0, 77)
    with pytest.raises(OverflowError):
        nearfar.rank(record, {0: -1})


def test_help_says_what_the_stub_says() -> None:
    assert str(inspect.signature(nearfar.Ranking.rank)) == "(self, /, data, running=())"
    for shown in (nearfar.Ranking.places, nearfar.Ranking.nodes, nearfar.Frame.columns):
        assert shown.__doc__
