"""For the tests of people who build agents with ringfence: `import ringfence as rf`, then `rf.testing.FakeClock`, ….

Loaded when first used. Needs no test framework; every assertion is an `AssertionError`.

- `FakeClock`: the time of a whole scenario, which passes at once.
- `ScriptedApprover`: an approval handler that answers as the test says.
- `ScriptedDriver`: a sandbox that fails as the test says, with the steps `Run`, `Skip`, `fault`, `never` and `After`.
- `EventRecorder`: every event, in order.
- `raises`, `assert_outcome`: errors and outcomes compared by code.
- `check_driver`: what a sandbox driver of your own must pass.
"""

from ringfence.testing.approver import Answer as Answer
from ringfence.testing.approver import ScriptedApprover as ScriptedApprover
from ringfence.testing.battery import DriverCheckFailed as DriverCheckFailed
from ringfence.testing.battery import DriverFault as DriverFault
from ringfence.testing.battery import DriverReport as DriverReport
from ringfence.testing.battery import check_driver as check_driver
from ringfence.testing.clock import FakeClock as FakeClock
from ringfence.testing.driver import DriverCall as DriverCall
from ringfence.testing.driver import Run as Run
from ringfence.testing.driver import ScriptedDriver as ScriptedDriver
from ringfence.testing.driver import Skip as Skip
from ringfence.testing.driver import Step as Step
from ringfence.testing.driver import fault as fault
from ringfence.testing.expect import assert_outcome as assert_outcome
from ringfence.testing.expect import raises as raises
from ringfence.testing.loop import Hang as Hang
from ringfence.testing.recorder import EventRecorder as EventRecorder
from ringfence.testing.steps import After as After
from ringfence.testing.steps import never as never
from ringfence.testing.timekeeper import RunIsOver as RunIsOver

__all__ = [
    "After",
    "Answer",
    "DriverCall",
    "DriverCheckFailed",
    "DriverFault",
    "DriverReport",
    "EventRecorder",
    "FakeClock",
    "Hang",
    "Run",
    "RunIsOver",
    "ScriptedApprover",
    "ScriptedDriver",
    "Skip",
    "Step",
    "assert_outcome",
    "check_driver",
    "fault",
    "never",
    "raises",
]
