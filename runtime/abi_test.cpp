// runtime/abi_test.cpp: freezes the binary layout of abi.h. A failure here means that artifacts built before the change no longer work:
// raise NATIF_ABI_VERSION, or append the new field at the end of its structure.
#include "runtime/abi.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace {

#define EXPECT_FIELD(type, field, offset) EXPECT_EQ(offsetof(type, field), size_t{offset}) << #type "." #field

TEST(Abi, IsVersionOneOnA64BitMachine) {
  EXPECT_EQ(NATIF_ABI_VERSION, 1);
  EXPECT_EQ(NATIF_MAX_RANK, 8);
  EXPECT_EQ(sizeof(void*), 8u);
}

TEST(Abi, NumbersAreThoseOfTensorFlow) {
  EXPECT_EQ(NATIF_FLOAT32, 1);
  EXPECT_EQ(NATIF_FLOAT64, 2);
  EXPECT_EQ(NATIF_INT32, 3);
  EXPECT_EQ(NATIF_INT64, 9);
  EXPECT_EQ(NATIF_BOOL, 10);
}

TEST(Abi, EnumeratorsKeepTheirNumbers) {
  EXPECT_EQ(NATIF_OK, 0);
  EXPECT_EQ(NATIF_FAILED, 1);
  EXPECT_EQ(NATIF_DECLINED, 2);
  EXPECT_EQ(NATIF_ZERO_DIVISION_ERROR, 1);
  EXPECT_EQ(NATIF_MEMORY_ERROR, 6);
  EXPECT_EQ(NATIF_BOOLEAN, 3);
  EXPECT_EQ(NATIF_ATTRIBUTE_INTS, 5);
  EXPECT_EQ(NATIF_READS_RESULT, 1);
}

TEST(Abi, Tensor) {
  EXPECT_FIELD(natif_tensor, data, 0);
  EXPECT_FIELD(natif_tensor, object, 8);
  EXPECT_FIELD(natif_tensor, dtype, 16);
  EXPECT_FIELD(natif_tensor, rank, 20);
  EXPECT_FIELD(natif_tensor, dims, 24);
  EXPECT_EQ(sizeof(natif_tensor), 88u);
  EXPECT_EQ(sizeof(natif_slot), 88u);
  EXPECT_EQ(sizeof(natif_scalar), 8u);
}

TEST(Abi, ValueTypeAndFrame) {
  EXPECT_FIELD(natif_value_type, name, 0);
  EXPECT_FIELD(natif_value_type, kind, 8);
  EXPECT_FIELD(natif_value_type, dtype, 12);
  EXPECT_FIELD(natif_value_type, rank, 16);
  EXPECT_FIELD(natif_value_type, hidden, 20);
  EXPECT_FIELD(natif_value_type, dims, 24);
  EXPECT_EQ(sizeof(natif_value_type), 32u);
  EXPECT_FIELD(natif_frame, parameters, 0);
  EXPECT_FIELD(natif_frame, results, 8);
}

TEST(Abi, OpSite) {
  EXPECT_FIELD(natif_attribute, integer, 16);
  EXPECT_FIELD(natif_attribute, real, 24);
  EXPECT_FIELD(natif_attribute, text, 32);
  EXPECT_FIELD(natif_attribute, list, 40);
  EXPECT_EQ(sizeof(natif_attribute), 48u);
  EXPECT_FIELD(natif_op_site, attributes, 8);
  EXPECT_FIELD(natif_op_site, attribute_count, 16);
  EXPECT_FIELD(natif_op_site, operand_count, 20);
  EXPECT_FIELD(natif_op_site, result_count, 24);
  EXPECT_FIELD(natif_op_site, flags, 28);
  EXPECT_FIELD(natif_op_site, span, 32);
  EXPECT_EQ(sizeof(natif_op_site), 40u);
  EXPECT_EQ(sizeof(natif_constant), 24u);
  EXPECT_EQ(sizeof(natif_span), 16u);
}

TEST(Abi, HostTable) {
  EXPECT_FIELD(natif_host, abi_version, 0);
  EXPECT_FIELD(natif_host, struct_size, 4);
  EXPECT_FIELD(natif_host, allocate, 8);
  EXPECT_FIELD(natif_host, run_op, 16);
  EXPECT_FIELD(natif_host, constant, 24);
  EXPECT_FIELD(natif_host, from_scalar, 32);
  EXPECT_FIELD(natif_host, retain, 40);
  EXPECT_FIELD(natif_host, release, 48);
  EXPECT_FIELD(natif_host, scratch, 56);
  EXPECT_FIELD(natif_host, parallel_for, 64);
  EXPECT_FIELD(natif_host, poll, 72);
  EXPECT_FIELD(natif_host, fail, 80);
  EXPECT_FIELD(natif_host, product_rows, 88);
  EXPECT_FIELD(natif_host, keep, 96);
  EXPECT_EQ(sizeof(natif_host), 104u);
  EXPECT_FIELD(natif_call, rules, 0);
  EXPECT_FIELD(natif_call, function, 8);
}

TEST(Abi, FunctionAndModule) {
  EXPECT_FIELD(natif_function, name, 0);
  EXPECT_FIELD(natif_function, entries, 8);
  EXPECT_FIELD(natif_function, parameters, 16);
  EXPECT_FIELD(natif_function, parameter_count, 24);
  EXPECT_FIELD(natif_function, results, 32);
  EXPECT_FIELD(natif_function, result_count, 40);
  EXPECT_FIELD(natif_function, tuple, 44);
  EXPECT_FIELD(natif_function, span, 48);
  EXPECT_EQ(sizeof(natif_function), 56u);
  EXPECT_FIELD(natif_module, name, 8);
  EXPECT_FIELD(natif_module, source_file, 16);
  EXPECT_FIELD(natif_module, levels, 24);
  EXPECT_FIELD(natif_module, rules, 40);
  EXPECT_FIELD(natif_module, functions, 56);
  EXPECT_FIELD(natif_module, op_sites, 72);
  EXPECT_FIELD(natif_module, constants, 88);
  EXPECT_FIELD(natif_module, spans, 104);
  EXPECT_EQ(sizeof(natif_module), 120u);
}

TEST(Abi, IsPlainData) {
  EXPECT_TRUE(std::is_trivially_copyable_v<natif_module> && std::is_standard_layout_v<natif_module>);
  EXPECT_TRUE(std::is_trivially_copyable_v<natif_slot> && std::is_standard_layout_v<natif_slot>);
}

}  // namespace
