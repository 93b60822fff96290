"""The check of JavaScript scripts, and the text that the engine runs in their place; mirrors `enclave.check`."""
