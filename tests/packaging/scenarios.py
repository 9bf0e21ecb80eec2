"""Runs the sample project's own tests under several circumstances in one process that has imported TensorFlow once.

Reads from stdin a JSON list of {name, path, mode}: the folder that the package is in and NATIF_MODE. Each runs in a forked child. Prints a
JSON object: for each name the exit code of pytest and the natif warnings that were given.
"""

import json
import os
import sys
import tempfile
import warnings

import pytest
import tensorflow  # noqa: F401


def run(scenario, tests):
    os.environ["NATIF_MODE"] = scenario["mode"]
    sys.path.insert(0, scenario["path"])
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: told.append(str(message))
        try:
            # Imported here, so that the warnings of the import are seen; the tests find the modules loaded.
            import shop.demo
            import shop.ranking

            assert shop.__file__.startswith(scenario["path"] + os.sep), shop.__file__
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}", "warnings": told}
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", tests, tests])
    return {"code": int(code), "warnings": [text for text in told if text.startswith("natif: ")]}


def main(tests):
    results = {}
    for scenario in json.load(sys.stdin):
        with tempfile.TemporaryFile("w+") as outcome:
            child = os.fork()
            if child == 0:
                os.dup2(2, 1)
                json.dump(run(scenario, tests), outcome)
                outcome.flush()
                os._exit(0)
            os.waitpid(child, 0)
            outcome.seek(0)
            results[scenario["name"]] = json.loads(outcome.read() or '{"error": "it ended without a result"}')
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1])
