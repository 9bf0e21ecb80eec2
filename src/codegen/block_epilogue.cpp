// src/codegen/block_epilogue.cpp: see block_epilogue.h.
#include "codegen/block_epilogue.h"

#include <algorithm>

namespace natif::codegen {

namespace {

using Entry = ir::Expression::Entry;

bool is_input(const Entry& entry, uint32_t position) { return entry.kind == ir::Expression::Kind::Input && entry.input == position; }

// The uses of a term by others.
int uses(const ir::Expression& expression, size_t term) {
  int count = expression.result.index == term ? 1 : 0;
  for (const Entry& entry : expression.terms)
    if (entry.kind == ir::Expression::Kind::Call)
      count += static_cast<int>(std::count_if(entry.operands, entry.operands + ir::operand_count(entry.intrinsic),
                                              [&](ir::Term operand) { return operand.index == term; }));
  return count;
}

// The call that alone uses the tiles' result, which becomes that result itself; null where another does too.
Entry* only_use_of_sum(ir::Expression& expression) {
  auto& terms = expression.terms;
  const auto sum = std::find_if(terms.begin(), terms.end(), [](const Entry& entry) { return is_input(entry, 0); });
  if (sum == terms.end() || uses(expression, static_cast<size_t>(sum - terms.begin())) != 1) return nullptr;
  const auto index = static_cast<uint32_t>(sum - terms.begin());
  const auto use = std::find_if(terms.begin(), terms.end(), [&](const Entry& entry) {
    return entry.kind == ir::Expression::Kind::Call && entry.operands[0].index == index;
  });
  return use == terms.end() ? nullptr : &*use;
}

void take(Entry& call, Entry& sum) {
  sum = {.kind = ir::Expression::Kind::Constant};
  call = {.kind = ir::Expression::Kind::Input, .input = 0};
}

}  // namespace

BlockEpilogue block_epilogue(const passes::Stage& stage) {
  BlockEpilogue epilogue{.rest = stage.expression};
  auto& terms = epilogue.rest.terms;
  if (Entry* call = only_use_of_sum(epilogue.rest); call && call->intrinsic == ir::Intrinsic::Add) {
    const Entry& vector = terms[call->operands[1].index];
    if (vector.kind == ir::Expression::Kind::Input && vector.input >= 1 && stage.operands[1 + vector.input].access == passes::Access::Row &&
        uses(epilogue.rest, call->operands[1].index) == 1) {
      epilogue.bias = vector.input - 1;
      take(*call, terms[call->operands[0].index]);
    }
  }
  if (Entry* call = only_use_of_sum(epilogue.rest); call && call->intrinsic == ir::Intrinsic::Relu) {
    epilogue.relu = true;
    take(*call, terms[call->operands[0].index]);
  }
  return epilogue;
}

}  // namespace natif::codegen
