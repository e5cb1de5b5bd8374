// The start of a dynamic slice is clamped so that the window fits.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<10xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = "adze.dynamic_slice"(%x, %i) {slice_sizes = array<i64: 4>} : (tensor<10xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: %0 = arith.minsi %extracted, %c6_i32 : i32
// CHECK: %1 = arith.maxsi %0, %c0_i32 : i32
// CHECK: %2 = arith.index_cast %1 : i32 to index
// CHECK: %extracted_slice = tensor.extract_slice %arg0[%2] [4] [1] : tensor<10xf32> to tensor<4xf32>
