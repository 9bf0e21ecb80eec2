// All kernels, and how they fit together.
//
// A kernel computes one block of rows with operands and results where the caller says; it allocates nothing, calls nothing but the C
// library's expf, logf and fmaf, and keeps no state. Generated code runs a chain of them depth-first over blocks of rows: the intermediates
// of one block stay in a scratch arena in the cache, and only the last kernel writes the result. chain_example.h is such a function,
// written by hand.
//
//   vec.h        vectors for each level, FTZ and DAZ        math.h       pointwise functions, for vectors and tail elements
//   operands.h   sizes, operand access, flat tails          pointwise.h  a pointwise function over a block
//   matmul.h     product with an epilogue in registers      matvec.h     product with one column
//   factors.h    the two matrices of a product              lanes8.h     eight lanes at every level
//   softmax.h    softmax, also with argmax                  argmax.h     argmax over either axis
//   softmax_eigen.h  softmax where oneDNN is off           softmax_order.h  whichever holds on the machine
//   product_order.h  which order eager follows, by sizes and machine; product_rows.h, product_block.h, product_right.h: the product in it;
//                    product_other_orders.h: what the host does for all orders but chains
//   matmul_lanes16.h, matmul_avx2.h, matvec_eigen.h  the orders beside those of matmul.h and matvec.h
//   reduce_axes.h  reductions of a whole tensor over any axes
//   reduce.h     sum, mean, max, min, prod over either axis transpose.h  blocked transpose
//   math_fast.h, softmax_fast.h  for numerics="fast", not eager's bits
//   product_packed.h  weights that bind() packed            schedule.h  control flow over row values
//   broadcast.h  operands broadcast over any axes           artifact.h, launch.h, cost.h, scalar.h: what surrounds kernels in emitted code;
//   tanh_segments.h: its tanh; softmax_fast.h: softmax for the same, on four_vectors.h
//
// Each header compiles alone and states the order of operations that gives eager's bits. Everything runs under FlushDenormals (vec.h).
#pragma once

#include "kernels/argmax.h"
#include "kernels/math.h"
#include "kernels/matmul.h"
#include "kernels/matvec.h"
#include "kernels/operands.h"
#include "kernels/pointwise.h"
#include "kernels/reduce.h"
#include "kernels/softmax.h"
#include "kernels/softmax_eigen.h"
#include "kernels/transpose.h"
#include "kernels/vec.h"
