// runtime/rule_checks.h: the comparisons that decide an exactness rule: natif's kernel against TensorFlow's own operation, bit for bit, on
// fixed values, at the sizes where the rules change.
#ifndef NATIF_RUNTIME_RULE_CHECKS_H_
#define NATIF_RUNTIME_RULE_CHECKS_H_

#include <string_view>

#include "runtime/eager_context.h"

namespace natif::runtime {

// 1: every comparison of the rule is equal at this vector level. 0: one is not, or the rule or the level is not known here, or TensorFlow
// failed. Uses TensorFlow's C API only: no Python, no random state, nothing that a tape could see.
bool rule_holds(const TensorFlowApi& api, TFE_Context* context, std::string_view rule, std::string_view level);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_RULE_CHECKS_H_
