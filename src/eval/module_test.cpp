// src/eval/module_test.cpp: the evaluator over a host of a few ops on single floats, which counts references.
#include "eval/module.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/parser.h"

namespace natif::eval {
namespace {

/// A tensor of the host: its token points here.
struct Object {
  float value;
  int references;
};

/// The host of one call. Tensors are single floats under any shape; dims are those of the first operand.
struct Host : natif_call {
  const natif_module* module = nullptr;
  std::vector<std::unique_ptr<Object>> objects;
  std::vector<std::string> log;
  int32_t error = 0, span = -1, polls = 0;
  std::string text;

  natif_tensor make(float value, int32_t rank = 0, const int64_t* dims = nullptr) {
    objects.push_back(std::make_unique<Object>(Object{value, 1}));
    natif_tensor tensor{.data = nullptr, .object = objects.back().get(), .dtype = NATIF_FLOAT32, .rank = rank, .dims = {}};
    for (int32_t i = 0; i < rank; ++i) tensor.dims[i] = dims[i];
    return tensor;
  }
  int references() const {
    int sum = 0;
    for (const auto& object : objects) sum += object->references;
    return sum;
  }
};

Host& of(natif_call* call) { return *static_cast<Host*>(call); }
Object& object(const natif_tensor& tensor) { return *static_cast<Object*>(tensor.object); }

natif_status run_op(natif_call* call, int32_t index, const natif_tensor* const* operands, natif_tensor* results) {
  Host& host = of(call);
  const natif_op_site& site = host.module->op_sites[index];
  const std::string op = site.op;
  std::string entry = op;
  for (int32_t i = 0; i < site.attribute_count; ++i) {
    const natif_attribute& attribute = site.attributes[i];
    entry += std::string(" ") + attribute.name + "=" + (attribute.text ? attribute.text : std::to_string(attribute.integer));
  }
  host.log.push_back(entry);
  const float x = object(*operands[0]).value;
  if (op == "Relu" && x < 0) return host.error = -1, NATIF_FAILED;
  const float y = site.operand_count > 1 && operands[1]->object ? object(*operands[1]).value : 0;
  results[0] = host.make(op == "AddV2" ? x + y : op == "Mul" ? x * y : x, operands[0]->rank, operands[0]->dims);
  return NATIF_OK;
}

natif_status constant(natif_call* call, int32_t index, natif_tensor* result) {
  const natif_constant& constant = of(call).module->constants[index];
  *result = {.data = const_cast<void*>(constant.data), .object = nullptr, .dtype = constant.dtype, .rank = constant.rank, .dims = {}};
  std::string entry = "constant";
  for (int64_t i = 0; i < (constant.rank ? constant.dims[0] : 1); ++i)
    entry += " " + std::to_string(static_cast<const int32_t*>(constant.data)[i]);
  of(call).log.push_back(entry);
  return NATIF_OK;
}

natif_status from_scalar(natif_call* call, int32_t kind, natif_scalar value, int32_t, natif_tensor* result) {
  *result = of(call).make(static_cast<float>(kind == NATIF_FLOAT ? value.f : static_cast<double>(value.i)));
  return NATIF_OK;
}

natif_status fail(natif_call* call, int32_t error, int32_t span, const char* text) {
  of(call).error = error;
  of(call).span = span;
  of(call).text = text;
  return NATIF_FAILED;
}

constexpr natif_host table = {.abi_version = NATIF_ABI_VERSION,
                              .struct_size = sizeof(natif_host),
                              .allocate = nullptr,
                              .run_op = run_op,
                              .constant = constant,
                              .from_scalar = from_scalar,
                              .retain = [](natif_call*, const natif_tensor* tensor) { ++object(*tensor).references; },
                              .release = [](natif_call*, const natif_tensor* tensor) { --object(*tensor).references; },
                              .scratch = nullptr,
                              .parallel_for = nullptr,
                              .poll = [](natif_call* call) { return ++of(call).polls > 3 ? NATIF_FAILED : NATIF_OK; },
                              .fail = fail};

/// One call of the only function of a text: f(x: f32[?,?] of sizes 2 and 3, n: int, s: float).
struct Called {
  Host host{};
  natif_status status;
  natif_slot results[2] = {};

  Called(const std::string& text, float x, int64_t n = 0, double s = 0) {
    host.module = make_module("m", "m.py", ir::parse_all(text));
    host.function = &host.module->functions[0];
    natif_slot parameters[3] = {};
    const int64_t dims[] = {2, 3};
    parameters[0].tensor = host.make(x, 2, dims);
    parameters[1].scalar.i = n;
    parameters[2].scalar.f = s;
    natif_frame frame{parameters, results};
    status = host.function->entries[0](&table, &host, &frame);
    for (int32_t i = 0; status == NATIF_OK && i < host.function->result_count; ++i)
      if (host.function->results[i].kind == NATIF_TENSOR) --object(results[i].tensor).references;
    --object(parameters[0].tensor).references;
    EXPECT_EQ(host.references(), 0) << "every reference that was taken is given back";
  }
  float tensor(size_t i = 0) const { return object(results[i].tensor).value; }
};

std::string over(const std::string& body, const std::string& results = "f32[?,?]") {
  return "func f(%x.0: f32[?,?], %n.1: int, %s.2: float) -> " + results + " @1:0-9:0 {" + body + "}";
}

TEST(Evaluator, RunsOpsWithAttributesAndConstants) {
  const Called run(over("%3: f32[] = to_tensor(%s.2) %4: f32[?,?] = AddV2(%x.0, %3) %5: f32[?,?] = Sum(%4, axis=[0, 1], keep_dims=true) "
                        "%6: f32[?,?] = MatMul(%5, %5, transpose_a=false, transpose_b=true) return(%6)"),
                   2, 0, 0.5);
  EXPECT_EQ(run.status, NATIF_OK);
  EXPECT_EQ(run.tensor(), 2.5f);
  EXPECT_EQ(run.host.log, (std::vector<std::string>{"AddV2", "constant 0 1", "Sum keep_dims=1", "MatMul transpose_a=0 transpose_b=1"}));
}

TEST(Evaluator, ReturnsParametersAndNumbers) {
  const Called run(over("%3: int = dimension(%x.0, axis=1) return(%x.0, %3)", "(f32[?,?], int)"), 7);
  EXPECT_EQ(run.tensor(), 7.0f);
  EXPECT_EQ(run.results[1].scalar.i, 3);
  EXPECT_EQ(run.host.function->parameters[0].rank, 2);
  EXPECT_EQ(run.host.function->results[1].kind, NATIF_INT);
}

// sum of i * x for i in range(start, 10, step), left early where i is n
constexpr const char* counting = R"(
  %3: int = literal(value=10)
  %zero.4: f32[] = to_tensor(%s.2)
  %5: f32[?,?] = Mul(%x.0, %zero.4)
  %6: f32[?,?] = for(%START, %3, %STEP, %5) (%i.7: int, %sum.8: f32[?,?]) {
    %9: bool = scalar.equal(%i.7, %n.1)
    if(%9) { break(%sum.8) } else { yield() }
    %10: f32[] = to_tensor(%i.7)
    %11: f32[?,?] = Mul(%x.0, %10)
    %12: f32[?,?] = AddV2(%sum.8, %11)
    continue(%12)
  }
  return(%6))";

std::string counting_by(const std::string& start, const std::string& step) {
  std::string body = "%100: int = literal(value=" + start + ") %101: int = literal(value=" + step + ")" + counting;
  body.replace(body.find("%START"), 6, "%100");
  body.replace(body.find("%STEP"), 5, "%101");
  return over(body);
}

TEST(Evaluator, CountsAndBreaks) {
  EXPECT_EQ(Called(counting_by("0", "1"), 2, -1).tensor(), 90.0f);
  EXPECT_EQ(Called(counting_by("0", "3"), 1, 6).tensor(), 3.0f);
  EXPECT_EQ(Called(counting_by("12", "1"), 1, -1).tensor(), 0.0f);
  EXPECT_EQ(Called(counting_by("12", "-1"), 1, -1).tensor(), 23.0f);
}

TEST(Evaluator, RefusesAStepOfZero) {
  const Called run(counting_by("0", "0"), 1);
  EXPECT_EQ(run.status, NATIF_FAILED);
  EXPECT_EQ(run.host.error, NATIF_VALUE_ERROR);
  EXPECT_EQ(run.host.text, "range() arg 3 must not be zero");
}

TEST(Evaluator, AsksForSignalsInLongLoops) {
  const Called run(over("%3: f32[?,?] = loop(%x.0) (%y.4: f32[?,?]) { continue(%y.4) } return(%3)"), 1);
  EXPECT_EQ(run.status, NATIF_FAILED);
  EXPECT_EQ(run.host.polls, 4);
}

TEST(Evaluator, BranchesAndReturnsEarly) {
  const std::string text = over(R"(
    %3: int = literal(value=5)
    %4: bool = scalar.less(%n.1, %3)
    %5: f32[?,?] = if(%4) { %6: f32[?,?] = AddV2(%x.0, %x.0) yield(%6) } else { return(%x.0) }
    %7: f32[?,?] = kernel(kernel=0) { %8: f32[?,?] = Mul(%5, %5) yield(%8) }
    return(%7))");
  EXPECT_EQ(Called(text, 3, 4).tensor(), 36.0f);
  EXPECT_EQ(Called(text, 3, 5).tensor(), 3.0f);
}

TEST(Evaluator, RaisesPythonsErrorsAtTheirPlace) {
  const Called run(over("%3: int = literal(value=0) %4: int = scalar.modulo(%n.1, %3) @4:8-4:13 return(%x.0)"), 1, 7);
  EXPECT_EQ(run.status, NATIF_FAILED);
  EXPECT_EQ(run.host.error, NATIF_ZERO_DIVISION_ERROR);
  EXPECT_EQ(run.host.text, "integer modulo by zero");
  EXPECT_EQ(run.host.module->spans[run.host.span].line, 4);
}

TEST(Evaluator, LeavesToPythonWhatNumbersOfOneTypeCannotHold) {
  EXPECT_EQ(Called(over("%3: int = scalar.power(%n.1, %n.1) return(%x.0)"), 1, -2).status, NATIF_DECLINED);
}

TEST(Evaluator, HandsOnTheHostsFailure) {
  const Called run(over("%3: f32[?,?] = Relu(%x.0) return(%3)"), -1);
  EXPECT_EQ(run.status, NATIF_FAILED);
  EXPECT_EQ(run.host.error, -1);
}

TEST(Evaluator, RefusesAFunctionThatIsNotValid) {
  EXPECT_THROW(make_module("m", "m.py", ir::parse_all(over("%3: f32[?] = Relu(%x.0) return(%x.0)"))), base::InternalError);
}

}  // namespace
}  // namespace natif::eval
