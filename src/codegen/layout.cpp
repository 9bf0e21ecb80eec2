// src/codegen/layout.cpp: see layout.h. Buffers are given out like registers: liveness over the segments, values that a move connects in
// one place unless both are needed at once, and the rest in order.
#include "codegen/layout.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace natif::codegen {

namespace {

using passes::Kernel;
using passes::Move;
using passes::Segment;
using passes::Size;
using passes::Source;
using passes::Stage;
using passes::StageKind;

using Entity = size_t;  // a stage's number, or after those a variable's
using Entities = std::set<Entity>;

bool reads(const Stage& stage, uint32_t other) {
  return std::any_of(stage.operands.begin(), stage.operands.end(),
                     [&](const passes::Operand& operand) { return operand.source == Source{Source::Kind::Stage, other}; });
}

// Whether the stage may write over an operand that it reads at the same places.
bool works_in_place(const Stage& stage) { return stage.kind == StageKind::Pointwise || stage.kind == StageKind::Softmax; }

Code product(const std::vector<Size>& sizes) {
  std::vector<Code> factors;
  for (Size size : sizes) factors.push_back(code("s$", size));
  return factors.empty() ? Code("INT64_C(1)") : list(factors, " * ");
}

// The segments; without control flow, one of all stages of row values.
std::vector<Segment> segments_of(const Kernel& kernel) {
  if (!kernel.segments.empty()) return kernel.segments;
  Segment all;
  for (uint32_t s = 0; s < kernel.stages.size(); ++s)
    if (!kernel.stages[s].invariant) all.stages.push_back(s);
  return {all};
}

class Allocator {
 public:
  explicit Allocator(Layout& layout)
      : layout_(layout), kernel_(layout.kernel), segments_(segments_of(kernel_)), count_(kernel_.stages.size() + kernel_.variables.size()) {
    for (Entity e = 0; e < count_; ++e) class_of_.push_back(e);
    in_conflict_.resize(count_);
  }

  void run() {
    find_live();
    for (size_t i = 0; i < segments_.size(); ++i) find_conflicts(i);
    for (const Segment& segment : segments_)
      for (const Move& move : segment.moves) coalesce(variable(move.variable), entity(move.source));
    for (Entity e = 0; e < count_; ++e)
      if (has_buffer(e)) place(e);
    for (size_t i = 0; i < segments_.size(); ++i) layout_.transfers.push_back(transfers(segments_[i], live_after_[i]));
  }

 private:
  Entity variable(uint32_t index) const { return kernel_.stages.size() + index; }
  Entity entity(const Source& source) const { return source.kind == Source::Kind::Variable ? variable(source.index) : source.index; }

  bool has_buffer(Entity e) const {
    if (e >= kernel_.stages.size()) return true;
    const Stage& stage = kernel_.stages[e];
    return !stage.invariant && !stage.output && stage.dtype == ir::DType::Float32;
  }

  Size width(Entity e) const {
    return e < kernel_.stages.size() ? kernel_.stages[e].width : kernel_.variables[e - kernel_.stages.size()].width;
  }

  bool same_width(Size a, Size b) const {
    return a == b || (kernel_.sizes[a].fixed != ir::free_size && kernel_.sizes[a].fixed == kernel_.sizes[b].fixed);
  }

  Entities read_by(const Stage& stage) const {
    Entities read;
    for (const passes::Operand& operand : stage.operands) {
      const bool by_rows = operand.source.kind == Source::Kind::Variable || operand.source.kind == Source::Kind::Stage;
      if (by_rows && has_buffer(entity(operand.source))) read.insert(entity(operand.source));
    }
    return read;
  }

  // ---- liveness ----

  // What is needed before the segment's moves, by what is needed after them.
  Entities before_moves(const Segment& segment, Entities live) const {
    Entities read;
    for (const Move& move : segment.moves)
      if (live.contains(variable(move.variable)) && has_buffer(entity(move.source))) read.insert(entity(move.source));
    for (const Move& move : segment.moves) live.erase(variable(move.variable));
    live.merge(read);
    return live;
  }

  Entities before(const Segment& segment, Entities live) const {
    live = before_moves(segment, std::move(live));
    for (size_t i = segment.stages.size(); i-- > 0;) {
      live.erase(segment.stages[i]);
      live.merge(read_by(kernel_.stages[segment.stages[i]]));
    }
    return live;
  }

  void find_live() {
    std::vector<Entities> live_before(segments_.size());
    live_after_.resize(segments_.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = segments_.size(); i-- > 0;) {
        Entities live;
        for (uint32_t next : segments_[i].next) live.insert(live_before[next].begin(), live_before[next].end());
        live_after_[i] = live;
        live = before(segments_[i], std::move(live));
        changed = changed || live != live_before[i];
        live_before[i] = std::move(live);
      }
    }
  }

  void add_conflicts(Entity e, const Entities& others) {
    for (Entity other : others) {
      if (other == e) continue;
      in_conflict_[e].insert(other);
      in_conflict_[other].insert(e);
    }
  }

  void find_conflicts(size_t index) {
    const Segment& segment = segments_[index];
    Entities live = live_after_[index];
    for (const Move& move : segment.moves) {
      Entities others = live;
      others.erase(entity(move.source));  // both hold the same
      if (live.contains(variable(move.variable))) add_conflicts(variable(move.variable), others);
    }
    live = before_moves(segment, std::move(live));
    for (size_t i = segment.stages.size(); i-- > 0;) {
      const Stage& stage = kernel_.stages[segment.stages[i]];
      const Entities read = read_by(stage);
      live.erase(segment.stages[i]);
      if (has_buffer(segment.stages[i])) {
        add_conflicts(segment.stages[i], live);
        if (!works_in_place(stage)) add_conflicts(segment.stages[i], read);
      }
      live.insert(read.begin(), read.end());
    }
  }

  // ---- buffers ----

  bool conflict(Entity a, Entity b) const {
    for (Entity x = 0; x < count_; ++x)
      if (class_of_[x] == a)
        for (Entity y : in_conflict_[x])
          if (class_of_[y] == b) return true;
    return false;
  }

  // Values that a move connects lie in one place, if they can.
  void coalesce(Entity to, Entity from) {
    if (!has_buffer(from) || !same_width(width(to), width(from))) return;
    const Entity a = class_of_[to], b = class_of_[from];
    if (a == b || conflict(a, b)) return;
    std::replace(class_of_.begin(), class_of_.end(), b, a);
  }

  void place(Entity e) {
    const Entity own = class_of_[e];
    if (!buffer_of_class_.contains(own)) {
      size_t buffer = layout_.buffers.size();
      for (size_t b = 0; b < layout_.buffers.size(); ++b) {
        const bool fits = same_width(layout_.buffers[b], width(e)) &&
                          std::none_of(buffer_of_class_.begin(), buffer_of_class_.end(),
                                       [&](const auto& placed) { return placed.second == b && conflict(own, placed.first); });
        if (fits) buffer = b;
      }
      if (buffer == layout_.buffers.size()) layout_.buffers.push_back(width(e));
      buffer_of_class_[own] = buffer;
    }
    const auto buffer = static_cast<int>(buffer_of_class_[own]);
    if (e < kernel_.stages.size()) {
      layout_.buffer_of_stage[e] = buffer;
    } else {
      layout_.buffer_of_variable[e - kernel_.stages.size()] = buffer;
    }
  }

  // ---- moves ----

  struct Pending {
    int to, from;  // buffers; from is -1 for a stage that writes to an output
    Source source;
  };

  int buffer_of(Entity e) const {
    return e < kernel_.stages.size() ? layout_.buffer_of_stage[e] : layout_.buffer_of_variable[e - kernel_.stages.size()];
  }

  // All moves at once, one after another: first those whose place no other reads; what is left are circles, which swaps undo.
  std::vector<Transfer> transfers(const Segment& segment, Entities live_after) const {
    std::vector<Pending> pending;
    for (const Move& move : segment.moves)
      if (live_after.contains(variable(move.variable)))
        pending.push_back({buffer_of(variable(move.variable)), buffer_of(entity(move.source)), move.source});
    for (const Move& move : segment.moves) live_after.erase(variable(move.variable));
    std::set<int> settled;  // buffers that hold what they are to hold, so that no swap may take it away
    for (Entity e : live_after) settled.insert(buffer_of(e));
    const auto settle = [&] {
      for (const Pending& move : pending)
        if (move.to == move.from) settled.insert(move.to);
      std::erase_if(pending, [](const Pending& move) { return move.to == move.from; });
    };
    const auto is_read = [&](int buffer) {
      return std::any_of(pending.begin(), pending.end(), [&](const Pending& other) { return other.from == buffer; });
    };
    std::vector<Transfer> done;
    for (settle(); !pending.empty(); settle()) {
      auto found = std::find_if(pending.begin(), pending.end(), [&](const Pending& move) { return !is_read(move.to); });
      const bool in_circle = found == pending.end();
      if (in_circle) found = pending.begin();
      const Pending move = *found;
      pending.erase(found);
      const bool swaps = in_circle || (move.from >= 0 && !is_read(move.from) && !settled.contains(move.from));
      done.push_back({swaps, move.to, move.from, move.source.index});
      settled.insert(move.to);
      if (!in_circle) continue;
      for (Pending& other : pending)
        if (other.from == move.to) other.from = move.from;
    }
    return done;
  }

  Layout& layout_;
  const Kernel& kernel_;
  const std::vector<Segment> segments_;
  const size_t count_;
  std::vector<Entities> live_after_;
  std::vector<Entities> in_conflict_;
  std::vector<Entity> class_of_;
  std::map<Entity, size_t> buffer_of_class_;
};

}  // namespace

Layout::Layout(const Kernel& planned)
    : kernel(planned),
      buffer_of_stage(planned.stages.size(), -1),
      buffer_of_variable(planned.variables.size(), -1),
      joined(planned.stages.size()) {
  has_row_stages = std::any_of(kernel.stages.begin(), kernel.stages.end(), [](const Stage& stage) { return !stage.invariant; });
  for (const Segment& segment : segments_of(kernel)) {
    for (size_t i = 0; i + 1 < segment.stages.size(); ++i) {
      const Stage &stage = kernel.stages[segment.stages[i]], &next = kernel.stages[segment.stages[i + 1]];
      joined[segment.stages[i]] =
          stage.kind == StageKind::Softmax && next.kind == StageKind::ArgReduction && reads(next, segment.stages[i]) && !next.invariant;
    }
  }
  Allocator(*this).run();
}

int Layout::buffer_of(const Source& source) const {
  return source.kind == Source::Kind::Variable ? buffer_of_variable[source.index] : buffer_of_stage[source.index];
}

bool Layout::swaps_buffers() const {
  for (const std::vector<Transfer>& moves : transfers)
    if (std::any_of(moves.begin(), moves.end(), [](const Transfer& transfer) { return transfer.swaps; })) return true;
  return false;
}

Code Layout::total_rows() const {
  if (!kernel.flat) return product(kernel.leading);
  return product(kernel.stages.front().shape);
}

Code Layout::rows_of(const Stage& stage) const { return product(stage.leading); }

bool is_read_after(const Kernel& kernel, uint32_t stage, size_t from) {
  for (size_t s = from; s < kernel.stages.size(); ++s)
    if (reads(kernel.stages[s], stage)) return true;
  return std::any_of(kernel.segments.begin(), kernel.segments.end(), [&](const Segment& segment) {
    return std::any_of(segment.moves.begin(), segment.moves.end(),
                       [&](const Move& move) { return move.source == Source{Source::Kind::Stage, stage}; });
  });
}

}  // namespace natif::codegen
