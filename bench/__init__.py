"""natif's benchmark suite: every workload against every contender, and nothing is timed before its answer is right.

    programs/     the typed TensorFlow functions, as a user would write them
    workloads/    one file a workload: sizes, data, and the same function in no framework's words
    contenders/   one file a contender: how it prepares a case and calls it
    handwritten/  the C++ kernel that the compiler's output is measured against
    native/       the C++ extension for it, for bare TFE calls and for the core's FMA peak

`make bench` makes an environment (environment.py) and runs the suite (__main__.py), which starts worker processes (worker.py), adds up what
they measured (summary.py), holds it against the bars (bars.py) and writes results/results.json and results/chart.svg.
"""
