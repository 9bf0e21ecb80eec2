// runtime/host_table.h: the functions that natif_host offers to artifacts, and the two conversions at the edge of a call that share their
// code: the value of a result and the number that TensorFlow makes of a Python scalar.
#ifndef NATIF_RUNTIME_HOST_TABLE_H_
#define NATIF_RUNTIME_HOST_TABLE_H_

#include "runtime/call.h"

namespace natif::runtime {

// The table that every artifact gets. While the tests inject a fault into one function, another table that fails there.
const natif_host& host_table();

// Makes host function `name` fail from now on (as its own failures look: no memory, an error of TensorFlow); "handle": no tensor handle can
// be made; null or "": all work. False: there is no such function. For tests.
bool inject_fault(const char* name);

// The EagerTensor for a token that native code returned: a parameter's own object, or a new one. Takes over a token's tensor. Needs the
// GIL; null with an error set.
PyObject* wrap_result(Call& call, TensorObject& token);

// Writes the number in `dtype`, as eager converts a Python number: an integer to a float type through double, to int32 modulo 2^32. False:
// eager raises instead (a float to an integer type, a number to bool).
bool convert_scalar(int32_t kind, natif_scalar value, int32_t dtype, void* element);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_HOST_TABLE_H_
