"""The New run page under AppTest: whatever the form shows is the plan that would start."""

import tomllib

import pytest

from loadgen.plan import parse
from loadgen.run_folder import runs_folder
from tests.ui.conftest import open_page, words_of
from tests.ui.plans_of_all_kinds import (
    EVERYTHING,
    ONE_LEVEL,
    PLANS,
    SLOS,
    STAGES,
    TARGET,
    WORKLOADS,
)
from ui.form_load import KINDS
from ui.plan_toml import plan_toml
from ui.presets import PRESETS, preset_plan

pytestmark = pytest.mark.slow  # hundreds of widgets, on a data folder each
UID = "11111111-2222-4333-8444-555555555555"


@pytest.fixture(autouse=True)
def _keys(data, monkeypatch):
    monkeypatch.setenv("THE_KEY", "secret")
    monkeypatch.setenv("SECRET", "secret")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with the files that plans name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.csv").write_text("t_s,prompt_tokens,output_tokens\n" + "60,100,10\n" * 20)
    (tmp_path / "a.pem").touch()
    (tmp_path / "load.csv").write_text("0,1\n10,5\n")
    (tmp_path / "lengths.csv").write_text("out\n10\n20\n")
    (tmp_path / "prompts.jsonl").write_text('{"q": "Why?", "n": 5}\n')


def start_button(app):
    return next(button for button in app.button if button.label == "Start run")


def plan_on(app):
    """What the page would start, by the plan.toml that it shows."""
    assert not app.exception, app.exception
    assert not start_button(app).disabled, words_of(app)
    (text,) = [code.value for code in app.code if "[target]" in code.value]
    return parse(tomllib.loads(text))


def unnamed(plan):
    return plan.model_copy(update={"name": "run"})


def from_run(data, plan):
    """The page, begun with a run of this plan."""
    folder = runs_folder(data) / UID
    folder.mkdir(parents=True)
    (folder / "plan.json").write_bytes(plan.to_json())
    return open_page("new_run", **{"from": UID})


def uploaded(name, text):
    app = open_page("new_run")
    app.file_uploader[0].upload(name, text.encode()).run()
    return app


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_plan_it_says(data, here, name):
    app = open_page("new_run", preset=name)
    if name == "trace":
        assert start_button(app).disabled
        app.text_input(key="file").set_value("trace.csv").run()
    assert unnamed(plan_on(app)) == preset_plan(name)


@pytest.mark.parametrize("name", ["everything", "every load", "every workload"])
def test_the_plan_of_a_run_is_what_the_form_makes_of_it(data, here, name):
    plan = parse(replayable(WHOLE[name]))
    app = from_run(data, plan)
    assert plan_on(app) == plan
    assert "Filled in from run" in words_of(app)


WHOLE = {
    "everything": EVERYTHING,
    "every load": {
        **ONE_LEVEL,
        "slos": SLOS,
        "stages": [stage for stages in STAGES.values() for stage in stages],
    },
    "every workload": {
        **ONE_LEVEL,
        "classes": [{"name": name, "workload": work} for name, work in WORKLOADS.items()],
    },
}


def replayable(raw):
    """Traces in the form of the little one that is there."""
    stages = [
        stage | {"format": "csv", "from_s": 0} if stage.get("kind") == "replay" else stage
        for stage in raw["stages"]
    ]
    return raw | {"stages": stages}


@pytest.mark.parametrize("load", KINDS)
def test_each_kind_of_load_can_be_chosen_and_needs_no_more_than_it_asks_for(data, here, load):
    app = open_page("new_run")
    app.segmented_control(key="load").set_value(load).run()
    if load == "replay":
        app.text_input(key="file").set_value("trace.csv").run()
    if load == "idle":
        assert "nothing would be sent" in words_of(app)
        return
    kinds = {"shape": "closed"}
    assert {stage.kind for stage in plan_on(app).stages} == {kinds.get(load, load)}


@pytest.mark.parametrize("shape", ["ramp", "steps", "spike", "day", "table"])
def test_each_shape_can_be_chosen(data, shape):
    app = open_page("new_run", load="shape", over="rate_per_s", shape=shape)
    if shape == "table":
        app.text_area(key="points").set_value("0, 1\n60, 9.5").run()
    (stage,) = plan_on(app).stages
    assert stage.rate_per_s.shape == shape


def test_a_preset_replaces_what_was_typed_but_not_the_endpoint(data):
    app = open_page("new_run", endpoint="My endpoint", url=TARGET["url"], model="m", levels="3")
    assert [stage.name for stage in plan_on(app).stages] == ["c=3"]
    pills = next(group for group in app.button_group if group.key == "preset_pill")
    pills.set_value("mixed").run()
    plan = plan_on(app)
    assert (plan.target.url, plan.target.model) == (TARGET["url"], "m")
    assert [one.name for one in plan.classes] == ["chat", "nightly batch"]
    pills = next(group for group in app.button_group if group.key == "preset_pill")
    pills.set_value("chat").run()
    chat = plan_on(app)
    assert (chat.classes, chat.workload) == ([], preset_plan("chat").workload)
    assert chat.stages == preset_plan("chat").stages


def test_the_address_of_a_changed_form_brings_the_change_back(data):
    app = open_page("new_run", preset="spike", peak="7", load="shape", seed="5")
    plan = plan_on(app)
    assert (plan.stages[0].rate_per_s.peak, plan.seed) == (7, 5)


@pytest.mark.parametrize("asked", ["anthropic_messages", "Anthropic Messages"])
def test_an_api_is_asked_for_by_its_name_or_its_title(data, asked):
    app = open_page("new_run", endpoint="My endpoint", url=TARGET["url"], model="m", api=asked)
    assert plan_on(app).target.api == "anthropic_messages"
    assert "is none of" not in words_of(app)


def test_an_api_that_nobody_knows_is_said_and_not_swallowed(data):
    app = open_page("new_run", endpoint="My endpoint", url=TARGET["url"], model="m", api="smtp")
    assert r"\?api\=smtp is none of openai\_chat" in words_of(app)
    assert plan_on(app).target.api == "openai_chat"


def test_another_kind_of_traffic_keeps_what_was_typed_of_the_first(data):
    app = open_page("new_run")
    app.number_input(key="in").set_value(333).run()
    app.button(key="n_class_add").click().run()
    plan = plan_on(app)
    assert [one.workload.prompt_tokens for one in plan.classes] == [333, 256]
    app.button(key="n_class_remove").click().run()
    app.button(key="n_class_remove").click().run()
    assert plan_on(app).workload.prompt_tokens == 333


def test_further_loads_objectives_and_endpoints_can_be_added(data):
    app = open_page("new_run", preset="mixed")
    for key in ("n_stage_add", "n_slo_add", "n_target_add"):
        app.button(key=key).click().run()
    app.number_input(key="slo1_max_ms").set_value(900.0).run()
    app.number_input(key="slo2_max_ms").set_value(99.0).run()
    app.text_input(key="target1_url").set_value("http://127.0.0.1:1/v1").run()
    app.text_input(key="target1_model").set_value("other").run()
    app.selectbox(key="class2_target").set_value("second").run()
    plan = plan_on(app)
    assert len(plan.stages) == 2 + 5
    assert [slo.max_ms for slo in plan.slos] == [900, 99]
    assert plan.targets["second"].model == "other"
    assert plan.classes[1].target == "second"


def test_an_uploaded_plan_fills_the_form(data):
    plan = parse(PLANS["spike"])
    app = uploaded("plan.toml", plan_toml(plan))
    assert "Filled in from plan" in words_of(app)
    assert plan_on(app) == plan


def test_what_the_form_cannot_show_is_named_and_runs_as_it_is(data):
    idle = {"kind": "idle", "seconds": 9, "warmup_s": 2}
    plan = parse(ONE_LEVEL | {"stages": [*ONE_LEVEL["stages"], idle]})
    app = uploaded("plan.json", plan.to_json().decode())
    assert "stages[1].warmup_s" in words_of(app)
    assert plan_on(app) == plan
    assert not app.text_input
    app.toggle[0].set_value(True).run()
    assert plan_on(app).stages[1].warmup_s == 0


def test_a_file_that_is_no_plan_says_why_and_leaves_the_form(data):
    app = uploaded("plan.toml", "name = 'x'")
    assert "target is missing." in words_of(app)
    assert unnamed(plan_on(app)) == preset_plan("chat")


def test_a_run_that_is_not_there_is_said(data):
    app = open_page("new_run", **{"from": "no-such-run"})
    assert "There is no run 'no-such-run'" in words_of(app)


def test_a_mistake_in_a_class_is_told_in_its_step(data):
    app = open_page("new_run", preset="mixed")
    app.text_input(key="class2_name").set_value("chat").run()
    assert r"Name is \'chat\'\, as is Name of class 1" in words_of(app)
    assert start_button(app).disabled


def test_a_trace_that_is_not_there_is_told_before_the_run(data, here):
    app = open_page("new_run", preset="trace")
    app.text_input(key="file").set_value("nowhere.csv").run()
    assert r"Trace file is \'nowhere\.csv\'\; there is no such file\." in words_of(app)
    assert start_button(app).disabled
