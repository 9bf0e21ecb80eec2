"""The workloads' functions as a user of natif writes them: typed, undecorated, each module on its own. Every contender that takes
TensorFlow functions gets these very objects, and rextio these very files.
"""
