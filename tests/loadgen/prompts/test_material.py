"""Every worker makes the same prompts of a run, from what the leader saved in its folder."""

import numpy as np
import pytest

from loadgen.plan import parse
from loadgen.prompts.counting import WordCounter
from loadgen.prompts.entries import Entry
from loadgen.prompts.file_stock import FileStock, write_stock
from loadgen.prompts.material import FOLDER, Ask, Material, assumed, load, made_files, save
from loadgen.prompts.stock import make_stock

STOCK = make_stock(WordCounter(), seed=1)


def plan_of(*workloads):
    return parse(
        {
            "target": {"url": "http://h", "model": "m"},
            "classes": [{"name": f"c{i}", "workload": w} for i, w in enumerate(workloads)],
            "stages": [{"concurrency": 1, "requests": 1}],
        }
    )


def material(*workloads, salt="run"):
    return Material(plan_of(*workloads), salt, [STOCK] * len(workloads), [None] * len(workloads))


def words(prompt):
    return prompt.text.split()


def test_a_prompt_has_its_length_and_a_beginning_of_its_own():
    made = material({})
    prompts = [made.prompt(Ask(level, 0, i, 50)) for level in range(3) for i in range(300)]
    assert {len(words(p)) for p in prompts} == {50}
    assert {p.tokens for p in prompts} == {50}
    assert {p.prompt_no for p in prompts} == {None}
    assert len({tuple(words(p)[:9]) for p in prompts}) == 900


def test_equal_prompts_are_one_prompt_and_have_its_number():
    made = material({"unique_prompts": False})
    prompts = [made.prompt(Ask(level, 0, i, 50)) for level in range(3) for i in range(5)]
    assert len({p.text for p in prompts}) == 1
    assert {p.prompt_no for p in prompts} == {0}


def test_a_group_has_the_same_prefix_in_every_level_and_a_class_its_own():
    work = {"prefix": {"tokens": 30, "groups": 4}, "prompt_tokens": 50}
    made = material(work, work)
    starts = {
        (traffic, group): {
            tuple(words(made.prompt(Ask(level, traffic, i, 50, prefix_group=group)))[:30])
            for level in range(3)
            for i in range(5)
        }
        for traffic in range(2)
        for group in range(4)
    }
    assert all(len(found) == 1 for found in starts.values())
    assert len({text for found in starts.values() for text in found}) == 8
    without = made.prompt(Ask(0, 0, 0, 50, prefix_group=None))
    assert tuple(words(without)[:30]) not in starts[0, 0]


def test_later_turns_have_no_prefix_and_differ_from_each_other():
    made = material({"prefix": {"tokens": 30}, "unique_prompts": False})
    turns = [made.prompt(Ask(0, 0, 7, 50, turn=t, prefix_group=0)) for t in range(50)]
    assert len({tuple(words(p)[:9]) for p in turns}) == 50
    assert {len(words(p)) for p in turns} == {50}


def test_a_traces_blocks_come_first_and_the_rest_is_the_requests_own():
    made = material({})
    a, b = (made.prompt(Ask(0, 0, i, 40, blocks=((7, 16), (8, 16)))) for i in range(2))
    assert words(a)[:32] == words(b)[:32]
    assert words(a)[32:] != words(b)[32:]
    assert (len(words(a)), a.tokens) == (40, 40)


def test_another_run_has_other_prompts():
    first, second = (material({}, salt=salt).prompt(Ask(0, 0, 0, 50)) for salt in "ab")
    assert words(first)[:3] != words(second)[:3]


def test_what_was_saved_makes_the_same_prompts(tmp_path):
    tmp_path = tmp_path / FOLDER
    tmp_path.mkdir()
    plan = plan_of({}, {"prefix": {"tokens": 20}}, {"file": {"path": "x"}})
    write_stock(tmp_path, "prompts-2", [Entry((f"prompt {i}",)) for i in range(9)], None, 100)
    save(tmp_path, "run", [STOCK, STOCK, None], [None, None, "prompts-2"])
    one, other = load(tmp_path.parent, plan), load(tmp_path.parent, plan)
    here = Material(
        plan, "run", [STOCK, STOCK, None], [None, None, FileStock(tmp_path, "prompts-2")]
    )
    assert sorted(p.name for p in tmp_path.glob("stock-*")) == ["stock-0.json"]
    names = ["material.json", "prompts-2.jsonl", "prompts-2.npy", "stock-0.json"]
    assert made_files(tmp_path.parent) == [str(tmp_path / name) for name in names]
    for i in range(20):
        asks = [Ask(i % 3, traffic, i, 40 + i, prefix_group=i % 2) for traffic in range(3)]
        assert [one.prompt(a) for a in asks] == [other.prompt(a) for a in asks]
        assert [one.prompt(a) for a in asks] == [here.prompt(a) for a in asks]


def from_file(tmp_path, n, **file):
    entries = [Entry((f"prompt {i}",), outputs=(i + 1,)) for i in range(n)]
    write_stock(tmp_path, "p", entries, None, 1_000)
    plan = plan_of({"file": {"path": "x", **file}})
    return Material(plan, "run", [None], [FileStock(tmp_path, "p")])


def test_a_files_prompts_come_in_its_order_and_their_repetitions_are_known(tmp_path):
    made = from_file(tmp_path, 5)
    prompts = [made.prompt(Ask(0, 0, i, 99)) for i in range(12)]
    assert [p.prompt_no for p in prompts] == [i % 5 for i in range(12)]
    assert prompts[2] == ("prompt 2", None, None, 3, 2)
    assert prompts[7] == prompts[2]


def test_a_level_begins_elsewhere_in_the_file_than_those_before_it(tmp_path):
    made = from_file(tmp_path, 1_000)
    sent = [{made.prompt(Ask(level, 0, i, 1)).prompt_no for i in range(100)} for level in range(5)]
    assert len(set[int]().union(*sent)) == 500


def test_shuffled_prompts_each_come_once_and_in_the_same_order_again(tmp_path):
    first, second = (from_file(tmp_path, 100, order="shuffled") for _ in range(2))
    numbers = [first.prompt(Ask(0, 0, i, 1)).prompt_no for i in range(100)]
    assert sorted(numbers) == list(range(100))
    assert numbers != list(range(100))
    assert numbers == [second.prompt(Ask(0, 0, i, 1)).prompt_no for i in range(100)]


def test_a_conversations_turns_are_those_of_the_file(tmp_path):
    write_stock(tmp_path, "p", [Entry(("a", "b", "c"), outputs=(1, None, 3))], None, 100)
    plan = plan_of({"file": {"path": "x"}, "conversation": {"turns": 5}})
    made = Material(plan, "run", [None], [FileStock(tmp_path, "p")])
    assert made.turns(0, 0, np.array([4, 5])).tolist() == [3, 3]
    assert [made.prompt(Ask(0, 0, 4, 9, turn=t)).text for t in range(3)] == ["a", "b", "c"]
    assert made.prompt(Ask(0, 0, 4, 9, turn=2)).output_tokens == 3
    assert material({}).turns(0, 0, np.array([4])) is None


@pytest.mark.parametrize("n_classes", [1, 3])
def test_words_stand_for_tokens_where_there_is_no_run_folder(n_classes):
    made = assumed(plan_of(*[{}] * n_classes), "x")
    assert len(words(made.prompt(Ask(0, n_classes - 1, 5, 33)))) == 33
