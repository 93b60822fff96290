"""Screening at work: one judgement per call, and what a run has done so far.

A `Plan` is made once per enclave, and a `Screen` of it per run. `judge` is one synchronous step that decides and, unless
it refuses, reserves the call's place in rate and history before anything is dispatched, so that concurrent calls cannot
slip past each other; refused calls leave no trace. In order: a name that no adapter can carry (where a handler answers;
among governed tools nothing has it), the rate, the host's name patterns, the five detectors, the host's own. `Refuse`
is stronger than `Ask`, and whatever is only logged is in `flags`.
Knows nothing of frames, gates or tools but their declarations; `enclave.ledger` asks it. Pure.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, assert_never, cast

import msgspec

from ringfence.errors import ErrorInfo
from ringfence.policy import names, sequences
from ringfence.policy.history import History, Past, keys_of
from ringfence.policy.rate import Rate
from ringfence.policy.screening import NAMES, RATE, RATES, Detector, Screening
from ringfence.policy.verdict import Action, Allow, Ask, Refuse, Verdict
from ringfence.ports import Effect


class Seen(Protocol):
    """A call, as far as it is judged."""

    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> Mapping[str, Any]:
        """JSON values. They are not kept, and nothing that is kept or said holds them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a governed tool says of itself."""

    effect: Effect | None
    tags: tuple[str, ...] = ()


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one call. A struct, like a hit: each takes a tenth of the time to make."""

    action: Literal["allow", "ask", "refuse"] = "allow"
    error: ErrorInfo | None = None
    """Why it is refused; set exactly then."""
    reason: str | None = None
    """What an approver is told; set exactly when somebody is asked."""
    flags: tuple[str, ...] = ()
    """Ids of every pattern that was seen, `"names"` and `"rate"` included, whatever comes of it."""
    cause: BaseException | None = None
    """What the last detector raised of those that did, for the host only."""


ALLOWED: Final = Judgement()


class _Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern that was seen."""

    id: str
    action: Action
    error: ErrorInfo
    reason: str | None = None
    """Other words for the approver than the error's."""
    cause: BaseException | None = None
    """What the detector raised."""


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for every call of one name, so that it is worked out once a run."""

    traits: sequences.Traits
    named: _Hit | None
    """What the host's patterns have against the name."""


class Plan:
    """What all runs of one enclave are screened by."""

    __slots__ = ("actions", "custom", "declared", "five", "names", "rate", "screening", "traits")

    def __init__(self, screening: Screening, declared: Mapping[str, Declared] | None = None) -> None:
        """Prepare.

        Args:
            screening: the host's options.
            declared: governed tools by name; None where one handler answers every call, so that names are all there is.
        """
        self.screening = screening
        self.declared = declared
        self.names = names.NameRules(
            screening.allowed_operation_pattern if screening.validate_operation_names else None,
            screening.blocked_operation_patterns,
        )
        most = screening.max_operations_per_second
        self.rate = (RATE if declared is None else None) if most is None else most
        self.actions = screening.actions
        looks = screening.block_suspicious_sequences
        self.custom: Sequence[Detector] = (
            tuple(one for one in screening.suspicious_patterns if self.actions.get(one.id) != "off") if looks else ()
        )
        self.traits: Mapping[str, sequences.Traits] = MappingProxyType(
            {name: sequences.by_declaration(name, one.effect, one.tags) for name, one in (declared or {}).items()}
        )
        self.five: Mapping[tuple[str, sequences.Evidence], _Hit | None] = MappingProxyType(
            {
                (pattern.id, evidence): self._hit(pattern, evidence)
                for pattern in sequences.PATTERNS
                for evidence in (sequences.NAMED, sequences.DECLARED)
            }
        )
        """What seeing one of the five means, by its id and on whose word; None where nobody looks."""

    @property
    def asks(self) -> tuple[str, ...]:
        """Ids of patterns about which the host wants somebody to be asked."""
        screening = self.screening
        looked_at = {NAMES: bool(self.names), RATES: self.rate is not None}
        return tuple(
            one
            for one, action in self.actions.items()
            if action == "ask" and screening.enabled and looked_at.get(one, screening.block_suspicious_sequences)
        )

    def screen(self) -> Screen:
        """Screening for one run."""
        return Screen(self)

    def _hit(self, pattern: sequences.Pattern, evidence: sequences.Evidence) -> _Hit | None:
        action = self._action(pattern, evidence)
        return None if action == "off" else _Hit(id=pattern.id, action=action, error=_FIVE[pattern.id])

    def _action(self, pattern: sequences.Pattern, evidence: sequences.Evidence) -> Action:
        """What is done about one of the five."""
        said = self.actions.get(pattern.id)
        if said is not None:
            return said
        if self.declared is None:
            return "refuse"
        return pattern.declared if evidence == sequences.DECLARED else "log"


class Screen:
    """What one run has done, and may do next. Times are monotonic seconds."""

    __slots__ = ("_history", "_known", "_memory", "_plan", "_rate")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        options = plan.screening
        on = plan.rate is not None and plan.actions.get(RATES) != "off"
        self._rate = Rate(plan.rate) if on and plan.rate is not None else None
        self._memory = sequences.Memory(
            options.rapid_enumeration_threshold,
            options.rapid_enumeration_overrides,
            own=plan.declared is None,
            bulk=plan.actions.get(sequences.BULK.id) != "off",
        )
        self._history = History() if plan.custom else None
        self._known: dict[str, _Known] = {}

    def judge(self, entry: Seen, now: float) -> Judgement:
        """Decide about a tool call, and count it unless it is refused. Never raises for any name or JSON arguments."""
        name = entry.name
        known = self._known.get(name)
        if known is None:
            if not names.is_carried(name):
                if self._plan.declared is not None:
                    return ALLOWED  # no tool has this name: the gate refuses it, and says which tools there are
                return Judgement(action="refuse", error=names.not_carried(), flags=(NAMES,))
            if not self._plan.screening.enabled:
                return ALLOWED
            known = self._known[name] = self._look_at(name)
        judged = _judged(self._hits(name, known, entry.arguments, now))
        if judged.action != "refuse":
            self._note(name, known.traits, entry.arguments, now)
        return judged

    def judge_global(self, now: float) -> Judgement:
        """Decide about a call of a function in `globals`, which shares the rate and is no part of any sequence.

        Nobody approves functions, so that a rate beyond which somebody is to be asked is where they are refused.
        """
        if not self._plan.screening.enabled:
            return ALLOWED
        judged = _judged(self._rate_hits(now, asks="refuse"))
        if judged.action != "refuse" and self._rate is not None:
            self._rate.note(now)
        return judged

    def _look_at(self, name: str) -> _Known:
        plan = self._plan
        # among governed tools, one that is not declared is refused by the gate
        traits = sequences.by_name(name) if plan.declared is None else plan.traits.get(name, sequences.NOTHING)
        action = plan.actions.get(NAMES, "refuse")
        refused = plan.names.refusal(name) if plan.names and action != "off" else None
        return _Known(traits=traits, named=None if refused is None else _Hit(id=NAMES, action=action, error=refused))

    def _note(self, name: str, traits: sequences.Traits, arguments: Mapping[str, Any], now: float) -> None:
        if self._rate is not None:
            self._rate.note(now)
        self._memory.note(name, traits, now)
        if self._history is not None:
            declared = (self._plan.declared or {}).get(name)
            past = Past(
                name=name,
                timestamp=now,
                arg_keys=keys_of(arguments),
                effect=declared.effect if declared is not None else None,
                tags=declared.tags if declared is not None else (),
            )
            self._history.note(past)

    # what is seen, in order

    def _hits(self, name: str, known: _Known, arguments: Mapping[str, Any], now: float) -> Iterator[_Hit]:
        if self._rate is not None:
            yield from self._rate_hits(now)
        if known.named is not None:
            yield known.named
        plan = self._plan
        if not plan.screening.block_suspicious_sequences:
            return
        for pattern, evidence in self._memory.seen(name, known.traits, arguments, now):
            seen = plan.five[pattern.id, evidence]
            if seen is not None:
                yield seen
        if self._history is not None:
            history = self._history.seen(now)
            copy = None
            for detector in plan.custom:
                if copy is None or copy != arguments:  # none of them changes what another one, or the tool, sees
                    copy = _copied(arguments)
                hit = self._own(detector, name, copy, history)
                if hit is not None:
                    yield hit

    def _rate_hits(self, now: float, *, asks: Action = "ask") -> Iterator[_Hit]:
        if self._rate is not None and self._rate.is_exceeded(now):
            error = ErrorInfo(
                code="rate_limited",
                message=f"Operation rate limit exceeded ({self._rate.most} operations/second)",
                hint="sleep between calls, or ask for more with each; the host sets max_operations_per_second",
                data={"pattern": RATES},
            )
            action = self._plan.actions.get(RATES, "refuse")
            yield _Hit(id=RATES, action=asks if action == "ask" else action, error=error)

    def _own(self, detector: Detector, name: str, arguments: Mapping[str, Any], history: Sequence[Past]) -> _Hit | None:
        """What one of the host's detectors sees. Its word is followed, unless `actions` has one for it."""
        answer, cause = _asked(detector, name, arguments, history)
        said = self._plan.actions.get(detector.id)
        error = _suspicious(detector.description, detector.id)
        match answer:
            case Allow():
                return None
            case Ask(reason):
                return _Hit(id=detector.id, action=said or "ask", error=error, reason=reason or None)
            case Refuse(reason):
                if reason:
                    error = _suspicious(f"{detector.description}: {reason}", detector.id)
                return _Hit(id=detector.id, action=said or "refuse", error=error, cause=cause)
            case _:
                assert_never(answer)


def _judged(hits: Iterator[_Hit]) -> Judgement:
    """The strongest of what was seen; looks no further than the first refusal."""
    flags: list[str] = []
    reasons: list[str] = []
    cause: BaseException | None = None
    for hit in hits:
        flags.append(hit.id)
        cause = hit.cause or cause
        if hit.action == "refuse":
            return Judgement(action="refuse", error=hit.error, flags=tuple(flags), cause=cause)
        if hit.action == "ask":
            reasons.append(hit.reason or hit.error.message)
    if reasons:
        return Judgement(action="ask", reason="; ".join(reasons), flags=tuple(flags), cause=cause)
    return Judgement(flags=tuple(flags), cause=cause) if flags else ALLOWED


def _suspicious(description: str, pattern: str) -> ErrorInfo:
    return ErrorInfo(
        code="suspicious_sequence",
        message=f"Suspicious pattern detected: {description} [{pattern}]",
        hint=f"do without it; the host may allow it with rf.Screening(actions={{{pattern!r}: 'log'}})",
        data={"pattern": pattern},
    )


_FIVE: Final[Mapping[str, ErrorInfo]] = MappingProxyType(
    {one.id: _suspicious(one.description, one.id) for one in sequences.PATTERNS}
)


def _asked(
    detector: Detector, name: str, arguments: Mapping[str, Any], history: Sequence[Past]
) -> tuple[Verdict, BaseException | None]:
    """A detector's answer as a verdict, and what it raised. It fails closed: what raises, or answers anything else, has
    seen its pattern.
    """
    try:
        answer: object = detector.detect(name, arguments, tuple(history))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the host's own code; its text could hold arguments
        return Refuse("the detector failed"), error
    return _verdict(answer), None


def _verdict(answer: object) -> Verdict:
    if answer is False or type(answer) is Allow:
        return Allow()
    if answer is True:
        return Refuse()
    if (type(answer) is Ask or type(answer) is Refuse) and type(answer.reason) is str:
        return answer
    if isinstance(answer, Coroutine):
        cast("Coroutine[Any, Any, Any]", answer).close()
    return Refuse("the detector gave no answer")


def _copied(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A private copy of JSON values of any depth."""
    made: dict[str, Any] = {}
    stack: list[tuple[Any, dict[Any, Any] | list[Any]]] = [(arguments, made)]
    while stack:
        source, target = stack.pop()
        if isinstance(target, dict):
            target.update((key, _empty(value)) for key, value in source.items())
            pairs = [(source[key], inner) for key, inner in target.items()]
        else:
            target.extend(map(_empty, source))
            pairs = list(zip(source, target, strict=True))
        stack.extend(pair for pair in pairs if type(pair[1]) in (dict, list))
    return made


def _empty(value: Any) -> Any:
    """A new container where the value is one; anything else as it is."""
    return {} if isinstance(value, Mapping) else [] if isinstance(value, list | tuple) else value
