"""The stage of enclaves that stay warm for a module, as the enclave's own tests have it."""

from tests.enclave.conftest import module_stage as module_stage
from tests.enclave.conftest import stage as stage
