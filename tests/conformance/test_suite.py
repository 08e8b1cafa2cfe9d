"""How the suite's output is read: what counts as passed, and that a lower number fails."""

from __future__ import annotations

import pytest

from tests.conformance.suite import EXPECTED, Check, Report, Scenario, judged

pytestmark = pytest.mark.long


def check(id: str, status: str, why: str | None = None) -> Check:
    return {"id": id, "status": status, "errorMessage": why}


def test_a_hundred_scenarios_are_expected() -> None:
    assert sum(EXPECTED.values()) == 100


def test_a_scenario_passes_with_a_real_success_and_no_failure() -> None:
    found = judged("ping", [check("ping", "SUCCESS"), check("wire-schema-valid", "SUCCESS")])
    assert found == Scenario("ping", "pass", ())


def test_a_scenario_that_only_fits_the_schema_is_a_skip() -> None:
    found = judged("ping", [check("wire-schema-valid", "SUCCESS"), check("ping", "SKIPPED")])
    assert found.outcome == "skip"


def test_one_failure_fails_the_scenario_and_says_why() -> None:
    found = judged("ping", [check("a", "SUCCESS"), check("b", "FAILURE", "no  answer")])
    assert found == Scenario("ping", "fail", ("FAILURE b: no answer",))


def test_a_scenario_without_checks_has_failed() -> None:
    assert judged("ping", None).outcome == "fail"


def test_a_warning_is_told_and_does_not_fail() -> None:
    found = judged("ping", [check("a", "SUCCESS"), check("b", "WARNING", "should")])
    assert found == Scenario("ping", "pass", ("WARNING b: should",))


@pytest.mark.parametrize("other", ["fail", "skip"])
def test_a_report_that_lacks_a_scenario_names_it(other: str) -> None:
    passed = Scenario("ping", "pass", ())
    report = Report("2025-06-18", (passed, Scenario("tools-list", other, ("why",))), "log")  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match=r"1 of 2 pass\n.*\n.*tools-list\n.*why"):
        report.require(2)


def test_fewer_scenarios_than_expected_fail_even_if_all_of_them_passed() -> None:
    report = Report("2025-06-18", (Scenario("ping", "pass", ()),), "what the suite said")
    with pytest.raises(AssertionError, match="what the suite said"):
        report.require(2)
