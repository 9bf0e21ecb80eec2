// Eight lanes at every level, in one vector or two: the unit in which eager's dot products and reductions keep their partial results.
#pragma once

#include "kernels/vec.h"

namespace natif::kernels {
namespace {

#if defined(__AVX2__) && defined(__FMA__)
using Lanes8Part = F8;
#else
using Lanes8Part = F4;
#endif

struct Lanes8 {
  static constexpr int width = lanes<Lanes8Part>, parts = 8 / width;
  Lanes8Part v[parts];

  [[gnu::always_inline]] static Lanes8 all(float x) {
    Lanes8 out;
    for (Lanes8Part& part : out.v) part = splat<Lanes8Part>(x);
    return out;
  }

  // Eight elements, `stride` apart.
  template <class Stride>
  [[gnu::always_inline]] static Lanes8 load_from(const float* p, Stride stride) {
    Lanes8 out;
    for (int i = 0; i < parts; ++i) {
      if (stride == 1) {
        out.v[i] = load<Lanes8Part>(p + i * width);
      } else {
        for (int lane = 0; lane < width; ++lane) out.v[i][lane] = p[(i * width + lane) * stride];
      }
    }
    return out;
  }

  // Lane by lane.
  template <class Combine>
  [[gnu::always_inline]] static Lanes8 each(const Lanes8& a, const Lanes8& b, Combine combine) {
    Lanes8 out;
    for (int i = 0; i < parts; ++i) out.v[i] = combine(a.v[i], b.v[i]);
    return out;
  }

  // Lanes i and i + 4, then i and i + 2, then i and i + 1.
  template <class Combine>
  [[gnu::always_inline]] float by_halves(Combine combine) const {
    if constexpr (parts == 2) {
      return across_lanes<4>(combine(v[0], v[1]), combine)[0];
    } else {
      return across_lanes<8>(v[0], combine)[0];
    }
  }

  // ((0+1)+(4+5))+((2+3)+(6+7)).
  [[gnu::always_inline]] float sum_of_pairs() const {
    Lanes8Part total = v[0] + swap_lanes<1>(v[0]);
    if constexpr (parts == 2) {
      total = total + (v[1] + swap_lanes<1>(v[1]));
    } else {
      total = total + swap_lanes<4>(total);
    }
    return (total + swap_lanes<2>(total))[0];
  }
};

}  // namespace
}  // namespace natif::kernels
