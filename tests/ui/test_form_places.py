import pytest

from ui.form_places import Places, labelled

PLACES = Places(origins=[(0, 0), (0, 1), (1, 0)], targets=["b"])


@pytest.mark.parametrize(
    ("sentence", "step", "told"),
    [
        ("target.url is 'x'; y.", "endpoint", "URL is 'x'; y."),
        ("targets.b.url is 'x'.", "target1", "URL is 'x'."),
        ("targets.b is used by no class.", "target1", "b is used by no class."),
        ("stages[1].concurrency is 0.", "stage1", "Level 2 is 0."),
        ("stages[2].concurrency is 0.", "stage2", "Streams in flight is 0."),
        ("stages[0] never ends.", "stage1", "Each level never ends."),
        ("stages[2] never ends.", "stage2", "This load never ends."),
        ("stages[2].rate_per_s.end is -1.", "stage2", "Requests per second, end is -1."),
        ("stages[2].file is 'x'.", "stage2", "Trace file is 'x'."),
        ("stages are all idle.", "stage1", "Stages are all idle."),
        ("classes[1].workload.prompt_tokens.sd is -1.", "class2", "Prompt tokens, standard"),
        ("classes[0].load.concurrency is 0.", "class1", "Streams in flight is 0."),
        ("classes[0].slos[1].max_ms is 0.", "class1", "Objective 2, At most is 0."),
        ("slos[0].percentile is 100.", "objective", "Objective 1, percentile is 100."),
        ("limits.dollars is 0.", "limits", "Dollars is 0."),
        ("machines.secret_env is missing.", "limits", "Secret's variable is missing."),
        ("seed is -1.", "limits", "Seed is -1."),
        ("name is ''.", "start", "Name is ''."),
        ("slos[1] limits x, as does slos[0]; k.", "objective", "Objective 2 limits x, as does O"),
        ("classes[1].name is 'a', as is classes[0].name.", "class2", "Name is 'a', as is Name of"),
        ("/tmp/x.csv cannot be read.", "start", "/tmp/x.csv cannot be read."),
        ("nonsense.field is 3.", "start", "nonsense.field is 3."),
    ],
)
def test_a_plans_sentence_names_the_field_as_the_page_does(sentence, step, told):
    problem = PLACES.problem(sentence)
    assert problem.step == step
    assert problem.text.startswith(told)


def test_an_empty_field_is_missing_and_has_a_hint():
    problem = PLACES.problem("target.model is missing.")
    assert (problem.missing, problem.text) == (True, "Model: its name as the server lists it.")


def test_a_must_be_is_said_as_one():
    told = PLACES.problem("seed is -1; input should be greater than 0.").text
    assert told == "Seed is -1; it must be greater than 0."


def test_numbers_of_a_path_count_from_one():
    assert labelled(["slos", "0", "max_ms"]) == "Objective 1, At most"
    assert labelled([]) == ""
