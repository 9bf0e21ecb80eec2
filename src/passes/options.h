// src/passes/options.h: what the user chooses for one function.
#pragma once

#include <cstdint>

namespace natif::passes {

/// Which lane ops take. Auto: natif's kernels where they apply, TensorFlow's ops for the rest. Fused: kernels or nothing.
enum class Lane : uint8_t { Auto, Tfe, Fused };

/// Exact: eager's bits. Fast: within the bounds of docs/numerics.md.
enum class Numerics : uint8_t { Exact, Fast };

struct Options {
  Lane lane = Lane::Auto;
  Numerics numerics = Numerics::Exact;
  bool verify = false;  // check the graph after every pass
};

}  // namespace natif::passes
