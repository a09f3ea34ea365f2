#!/usr/bin/env python3
"""Serves a model file by OpenAI's API on this machine: `local_model.py FILE`. Prints its address when it is ready.

Runs in the environment that tests/tasks/model_files.py has made, and ends when its standard input ends.
"""

import os
import sys

import xllamacpp


def main() -> int:
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    # Prompt and answer; a simple-mode step is to stay under 1,500 tokens.
    params.n_ctx = 6144
    params.n_parallel = 1
    threads = int(os.environ.get("THREADS", "2"))
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.sampling.temp = 0.0
    params.sampling.seed = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # Its threads have nothing to tidy up.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
