"""Every promise in the table of SECURITY.md has a test that would fail if it were broken."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

ATTACK = "tests/attacks/python"
PROOFS: dict[str, tuple[str, ...]] = {
    "a script reads, writes, lists and asks about no file": (
        f"{ATTACK}/ATK-141-read-a-file-every-way.case",
        f"{ATTACK}/ATK-142-write-a-file.case",
        f"{ATTACK}/ATK-143-file-by-system-call.case",
    ),
    "a script has no network, also not to this machine": (
        f"{ATTACK}/ATK-144-connect.case",
        f"{ATTACK}/ATK-145-socket-by-system-call.case",
    ),
    "a script starts no process and signals none": (
        f"{ATTACK}/ATK-146-process-every-way.case",
        f"{ATTACK}/ATK-094-kill-the-host.case",
    ),
    "a script sees neither the host's memory nor its environment": (
        f"{ATTACK}/ATK-135-host-objects.case",
        f"{ATTACK}/ATK-136-environment.case",
        f"{ATTACK}/ATK-139-proc-of-the-host.case",
    ),
    "a script cannot reach another script": (
        "tests/sandbox/jail/test_supervise.py::test_children_of_one_zygote_share_nothing_that_one_of_them_changes",
        "tests/attacks/test_python_attacks.py::test_a_neighbour_is_not_hurt_by_an_attack",
    ),
    "a script has no more privileges than a stranger": (
        "tests/sandbox/jail/test_zygote_unsafe.py::test_every_process_of_a_jail_is_stripped",
    ),
    "a script makes no machine code of its own": (
        f"{ATTACK}/ATK-148-machine-code.case",
        "tests/sandbox/jail/test_seccomp.py::test_memory_never_becomes_executable",
    ),
    "memory is bounded": ("tests/enclave/test_limits.py::test_memory_beyond_the_limit_ends_the_run",),
    "processor time is bounded": (
        "tests/sandbox/jail/test_child_unsafe.py::test_processor_time_ends_also_for_a_guest_that_ignores_the_signal",
    ),
    "wall-clock time is bounded": ("tests/enclave/test_limits.py::test_a_run_ends_when_its_time_is_up",),
    "calls are bounded": ("tests/enclave/test_calls.py::test_the_budget_is_reserved_before_a_call_is_dispatched",),
    "calls of functions in `globals` are bounded, and pass the same gate as tool calls": (
        "tests/enclave/test_global_calls.py::test_catching_the_refusal_does_not_save_the_run",
        "tests/enclave/test_global_calls.py::test_after_an_abort_no_function_is_called",
        "tests/enclave/test_screened_calls.py::test_functions_of_globals_share_the_rate",
    ),
    "suspicious names, rates and sequences of a script's calls are refused, asked about or noted, as configured": (
        "tests/enclave/test_screened_calls.py::test_catching_the_refusal_does_not_save_the_run",
        "tests/enclave/test_screened_calls.py::test_the_rate_is_shared_and_reserved_before_dispatch",
        "tests/policy/test_screen.py::test_a_call_counts_before_it_has_ended_so_that_calls_side_by_side_are_a_sequence",
    ),
    "output and values are bounded": (
        "tests/enclave/test_limits.py::test_output_beyond_the_limit_ends_the_run_and_what_fits_is_kept",
        "tests/enclave/test_limits.py::test_a_value_that_is_too_large_ends_the_run",
    ),
    "a guest that breaks the protocol ends": (
        "tests/enclave/test_hostile_peer.py::test_any_bytes_end_in_a_result_with_a_known_code",
    ),
    "nothing is left behind by a run": (
        "tests/enclave/test_lifecycle.py::test_a_thousand_runs_leave_no_process_task_thread_descriptor_or_file",
        "tests/sandbox/jail/test_zygote_unsafe.py::test_a_host_that_is_killed_leaves_nothing",
    ),
    "a machine that cannot hold this runs nothing": (
        "tests/sandbox/jail/test_probe_unsafe.py::test_where_seccomp_is_refused_there_is_no_plan_and_no_jail",
    ),
    "a tool never sees arguments that do not fit its schema": (
        "tests/test_boundary.py::test_arguments_that_do_not_fit_never_reach_approver_or_tool",
    ),
    "what is approved is what runs": (
        "tests/gate/test_runner.py::test_an_approved_call_runs_what_was_approved",
        "tests/enclave/test_governed_calls.py::test_an_approved_call_runs_with_what_was_approved",
    ),
    "only `True` approves, or another decision that says so": (
        "tests/gate/test_approval.py::test_no_other_value_approves_whatever_its_truth",
        "tests/gate/test_decisions.py::test_nothing_else_is_a_decision_whatever_its_truth",
    ),
    "what an approver edits is validated like what a caller sends": (
        "tests/gate/test_asking.py::test_an_edit_takes_the_place_of_the_arguments_after_the_same_validation",
        "tests/gate/test_asking.py::test_an_edit_that_does_not_fit_denies_and_the_log_holds_no_value",
    ),
    "a sandbox driver runs what was approved, once": (
        "tests/gate/test_body.py::test_a_second_run_is_a_violation_whatever_the_driver_says",
        "tests/gate/test_body.py::test_other_arguments_are_a_violation_and_run_nothing",
        "tests/gate/test_body.py::test_what_did_not_begin_in_time_does_not_begin_later",
    ),
    "a hostile schema costs bounded time": (
        "tests/contract/test_effort.py::test_references_that_multiply_at_one_place_are_refused",
        "tests/contract/test_references.py::test_what_leads_outside_or_nowhere_is_refused_by_name",
        "tests/contract/test_raw.py::test_patterns_take_linear_time_and_bounded_space",
        "tests/contract/test_raw.py::test_a_value_that_would_take_for_ever_is_refused_before_it_is_checked",
    ),
    "a script cannot catch a terminal refusal and go on": (
        "tests/enclave/test_calls.py::test_after_the_refusal_a_script_has_no_second_chance",
        f"{ATTACK}/ATK-085-frame-done-after-refusal.case",
    ),
    "a script cannot forge what became of a call": (
        f"{ATTACK}/ATK-080-frame-failed-with-another-failure.case",
        f"{ATTACK}/ATK-108-forge-a-refusal.case",
        f"{ATTACK}/ATK-112-forge-a-code.case",
    ),
    "no tool runs without an explicit sandbox": (
        "tests/test_boundary.py::test_without_a_sandbox_neither_start_nor_call_succeeds",
    ),
    "an effect that may have happened is not called failed": (
        "tests/gate/test_machine.py::test_work_that_was_stopped_is_doubted_unless_it_is_a_read",
        "tests/gate/test_machine.py::test_an_ambiguous_failure_of_a_declared_effect_ends_unknown_at_once",
    ),
    "telemetry holds no arguments, results, secrets or paths": (
        "tests/gate/test_runner.py::test_logs_hold_classes_only",
    ),
    "what a governed tool's exception says reaches no script and no model": (
        "tests/enclave/test_governed_calls.py::"
        "test_a_tools_own_text_passes_and_any_other_exception_shows_its_class_only",
    ),
}
"""First column of the table, without codes, to attacks that must fail and tests."""


def promises() -> list[str]:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = page[page.index("| promise |") :].split("\n\n", 1)[0].splitlines()[2:]
    return [re.sub(r" \[`[^]]+`\]$", "", row.split(" | ")[0].removeprefix("| ")) for row in table]


def test_each_promise_has_its_proof() -> None:
    assert promises() == list(PROOFS)


@pytest.mark.parametrize("proof", sorted({proof for proofs in PROOFS.values() for proof in proofs}))
def test_each_proof_exists(proof: str) -> None:
    file, _, name = proof.partition("::")
    path = ROOT / file
    assert path.is_file(), f"{file} is gone; fix: name the test that took its place"
    if name:
        text = path.read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, re.MULTILINE), f"{name} is gone; fix: name what took its place"
