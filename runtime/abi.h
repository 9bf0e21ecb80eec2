/* runtime/abi.h: the binary contract between an artifact and its host.

   An artifact is one shared object for one Python module. It is a plain C object: it links neither Python nor TensorFlow, and no exception
   crosses its edge. It exports one symbol, `natif_module`, and asks the host for everything else through the table natif_host. The host is
   natif's runtime inside Python; a C or C++ program may be one too (docs/abi.md shows how).

   Who may change it: fields are only appended, at the end of a structure, and `struct_size` tells how many a side knows; that keeps
   NATIF_ABI_VERSION. Any other change raises the version, and a host refuses an artifact of another version. runtime/abi_test.cpp freezes
   the layout. Plain C11 and C++20; no other header of the project is included here.

   Memory: a tensor's elements are row-major, contiguous and aligned only to the element; input buffers are read-only and may alias one
   another. A pointer that the host hands out stays valid until the call returns, unless released before. */
#ifndef NATIF_RUNTIME_ABI_H_
#define NATIF_RUNTIME_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NATIF_ABI_VERSION 1
#define NATIF_MAX_RANK 8
#if defined(__GNUC__)
#define NATIF_EXPORT __attribute__((visibility("default")))
#else
#define NATIF_EXPORT
#endif
/* The symbol under which an artifact exports its natif_module, as assemblers spell it. */
#if defined(__APPLE__)
#define NATIF_MODULE_SYMBOL "_natif_module"
#else
#define NATIF_MODULE_SYMBOL "natif_module"
#endif

/* What an entry or a host function answers. After NATIF_FAILED the host knows the error (fail() was called, or the host itself failed).
   NATIF_DECLINED: this call is left to eager, and nothing observable has happened. */
typedef enum natif_status { NATIF_OK = 0, NATIF_FAILED = 1, NATIF_DECLINED = 2 } natif_status;

/* Element types, by TensorFlow's numbers (tensorflow/c/tf_datatype.h). */
typedef enum natif_dtype { NATIF_FLOAT32 = 1, NATIF_FLOAT64 = 2, NATIF_INT32 = 3, NATIF_INT64 = 9, NATIF_BOOL = 10 } natif_dtype;

/* The kinds of error that native code raises itself, by the Python class that the host raises. */
typedef enum natif_error {
  NATIF_ZERO_DIVISION_ERROR = 1,
  NATIF_OVERFLOW_ERROR = 2,
  NATIF_VALUE_ERROR = 3,
  NATIF_TYPE_ERROR = 4,
  NATIF_INDEX_ERROR = 5,
  NATIF_MEMORY_ERROR = 6
} natif_error;

/* A view of a tensor. `object` is the host's token for it: set in every tensor that came from the host, NULL in a view of scratch memory,
   which no host function takes as an operand or a result. Two tensors with the same token are the same tensor. */
typedef struct natif_tensor {
  void* data;   /* first element; NULL in the result of an op whose site lacks NATIF_READS_RESULT */
  void* object; /* the host's token */
  int32_t dtype;
  int32_t rank;
  int64_t dims[NATIF_MAX_RANK];
} natif_tensor;

/* A Python number. Booleans are in `i`, 0 or 1. */
typedef union natif_scalar {
  int64_t i;
  double f;
} natif_scalar;

/* The kinds of parameters, results and constants. */
typedef enum natif_kind { NATIF_TENSOR = 0, NATIF_INT = 1, NATIF_FLOAT = 2, NATIF_BOOLEAN = 3 } natif_kind;

/* A parameter or a result of a function. */
typedef struct natif_value_type {
  const char* name;    /* a parameter's name; "" for a result */
  int32_t kind;        /* natif_kind */
  int32_t dtype;       /* of a tensor */
  int32_t rank;        /* of a tensor */
  int32_t hidden;      /* 1: a module-level name that the host reads at each call, not an argument */
  const int64_t* dims; /* of a tensor: `rank` sizes, -1 where free; NULL when all are free. Of parameters: the free sizes of a call with the
                          same number below -1 are the same, which the host checks as it checks the fixed ones */
} natif_value_type;

/* One call: the host fills parameters (in the order of natif_function.parameters), the entry fills results. A slot is a tensor or a scalar
   by the declared kind. The entry owns nothing in `parameters`; each tensor that it puts in `results` passes to the host: a fresh one with
   its reference, a parameter (the same object comes back to Python) after retain(). */
typedef union natif_slot {
  natif_tensor tensor;
  natif_scalar scalar;
} natif_slot;

typedef struct natif_frame {
  const natif_slot* parameters;
  natif_slot* results;
} natif_frame;

/* An attribute of a TensorFlow op. `type` says which fields count. */
typedef enum natif_attribute_type {
  NATIF_ATTRIBUTE_BOOL = 0,   /* integer */
  NATIF_ATTRIBUTE_INT = 1,    /* integer */
  NATIF_ATTRIBUTE_FLOAT = 2,  /* real */
  NATIF_ATTRIBUTE_TYPE = 3,   /* integer: a natif_dtype */
  NATIF_ATTRIBUTE_STRING = 4, /* text */
  NATIF_ATTRIBUTE_INTS = 5    /* list, count = integer */
} natif_attribute_type;

typedef struct natif_attribute {
  const char* name;
  int32_t type;
  int64_t integer;
  double real;
  const char* text;
  const int64_t* list;
} natif_attribute;

enum { NATIF_READS_RESULT = 1 }; /* natif_op_site.flags: the artifact reads the results' buffers, so run_op fills data and dims */

/* A place that runs a TensorFlow op through the host. The host keeps a free list of prepared ops for each site. */
typedef struct natif_op_site {
  const char* op; /* TensorFlow's name, "MatMul" */
  const natif_attribute* attributes;
  int32_t attribute_count;
  int32_t operand_count;
  int32_t result_count;
  int32_t flags;
  int32_t span; /* index into natif_module.spans */
} natif_op_site;

/* A tensor known when compiling, such as the axes of a reduction. The host makes each once and keeps it as long as the eager context. */
typedef struct natif_constant {
  int32_t dtype;
  int32_t rank;
  const int64_t* dims;
  const void* data;
} natif_constant;

/* A place in the user's source: 1-based lines, 0-based columns in UTF-8 bytes, as in CPython's ast. */
typedef struct natif_span {
  int32_t line, column, end_line, end_column;
} natif_span;

/* One call in progress, as the host sees it. Artifacts read only the fields declared here. */
typedef struct natif_call {
  /* Bit i set: the bits of rule i of natif_module.rules are proven on this machine, so code that needs it may run. */
  uint64_t rules;
  /* The function that is called, an element of natif_module.functions: entries that several functions share find theirs by it. */
  const struct natif_function* function;
} natif_call;

/* Work on the items [begin, end), called on any thread with that thread's scratch memory. */
typedef void (*natif_body)(void* context, int64_t begin, int64_t end, void* scratch);

/* A matrix product [m, k]·[k, n] whose sums eager adds in an order that no artifact has loops for, as it is rarely met: `order` is a
   ProductOrder of kernels/product_order.h, which says what the fields mean. */
typedef struct natif_product {
  int32_t order;
  int32_t transpose_left, transpose_right;
  int64_t row_block;
  int64_t m, k, n;
  const float *by_terms, *by_columns;
} natif_product;

/* The sums of a product's rows [first, first + rows), to `out`, whose rows lie `out_stride` elements apart. Row r, term t of the block's
   left matrix is left[r * row_stride + t * k_stride]. */
typedef void (*natif_product_rows)(const natif_product*, float* out, int64_t out_stride, int64_t first, int64_t rows, const float* left,
                                   int64_t row_stride, int64_t k_stride);

/* What the host does for an artifact. Every function but product_rows may be called on the thread of the call only. */
typedef struct natif_host {
  uint32_t abi_version;
  uint32_t struct_size;
  /* A new tensor with elements to be written; the caller holds one reference. */
  natif_status (*allocate)(natif_call*, int32_t dtype, int32_t rank, const int64_t* dims, natif_tensor* result);
  /* Runs natif_module.op_sites[site]; operands are borrowed, the caller holds one reference to each result. */
  natif_status (*run_op)(natif_call*, int32_t site, const natif_tensor* const* operands, natif_tensor* results);
  /* natif_module.constants[index], borrowed from the host. */
  natif_status (*constant)(natif_call*, int32_t index, natif_tensor* result);
  /* A tensor of rank 0 holding a run-time number, converted as TensorFlow converts a Python number to `dtype`; one reference. */
  natif_status (*from_scalar)(natif_call*, int32_t kind, natif_scalar value, int32_t dtype, natif_tensor* result);
  void (*retain)(natif_call*, const natif_tensor*);
  void (*release)(natif_call*, const natif_tensor*);
  /* Memory for this call, aligned to 64 bytes; NULL: the host has failed. */
  void* (*scratch)(natif_call*, size_t bytes);
  /* Splits [0, count) into ranges of at least `grain` items over the host's threads, with `scratch_bytes` of memory for each thread. The
     floating-point state of the calling thread holds in all of them. */
  natif_status (*parallel_for)(natif_call*, int64_t count, int64_t grain, natif_body body, void* context, size_t scratch_bytes);
  /* To be called in long loops: answers NATIF_FAILED when a signal handler of Python has raised. */
  natif_status (*poll)(natif_call*);
  /* Records a Python error at natif_module.spans[span] and answers NATIF_FAILED. The text is copied. */
  natif_status (*fail)(natif_call*, int32_t error, int32_t span, const char* text);
  /* For any thread, under the floating-point state of kernels. NULL: the artifact declines such products. */
  natif_product_rows product_rows;
  /* Memory that stays as long as the function that is called, for what an artifact makes once of a parameter that bind() captured, whose
     tensor never changes: `bytes` aligned to 64, which `fill` has written, once. `slot` tells a function's memories apart. NULL: the
     parameter is not bound, or there is no memory. */
  const void* (*keep)(natif_call*, int32_t parameter, int32_t slot, size_t bytes, void (*fill)(void* memory, const void* context),
                      const void* context);
} natif_host;

typedef natif_status (*natif_entry)(const natif_host*, natif_call*, natif_frame*);

/* A native function. `entries` holds one per vector level of natif_module.levels; NULL where a level has none. */
typedef struct natif_function {
  const char* name; /* __qualname__ */
  const natif_entry* entries;
  const natif_value_type* parameters;
  int32_t parameter_count;
  const natif_value_type* results;
  int32_t result_count;
  int32_t tuple; /* 1: the results come back as a tuple, also a single one */
  int32_t span;
} natif_function;

/* The exported symbol `natif_module`. */
typedef struct natif_module {
  uint32_t abi_version;
  uint32_t struct_size;
  const char* name;          /* __name__ of the Python module */
  const char* source_file;   /* for tracebacks */
  const char* const* levels; /* vector levels from the narrowest up: "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"; "native": the
                                building machine's own */
  int32_t level_count;
  const char* const* rules; /* names of the exactness rules that the code relies on; at most 64 */
  int32_t rule_count;
  const natif_function* functions;
  int32_t function_count;
  const natif_op_site* op_sites;
  int32_t op_site_count;
  const natif_constant* constants;
  int32_t constant_count;
  const natif_span* spans;
  int32_t span_count;
} natif_module;

#ifdef __cplusplus
}
#endif

#endif /* NATIF_RUNTIME_ABI_H_ */
