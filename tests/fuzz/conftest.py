"""natif's own bugs are errors in these tests: see the rule for failing native code in runtime/native_call.cpp."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["NATIF_TESTING"] = "1"
