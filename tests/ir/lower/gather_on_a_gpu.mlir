// A gather of rows is the op of linalg_ext on CUDA, and element by element on Vulkan, where IREE has no configuration for that op.
// RUN: adze opt %s --pass-pipeline='lower{target=cuda:sm_80},canonicalize' | filecheck %s --check-prefix=CHECK-CUDA
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ada},canonicalize' | filecheck %s --check-prefix=CHECK-VULKAN

func.func @f(%arg0: tensor<5x6xf32>, %arg1: tensor<4x1xi32>) -> tensor<4x6xf32> {
  %0 = "adze.gather"(%arg0, %arg1) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<0x7FC00000> : tensor<f32>, mode = "clip", offset_dims = array<i64: 1>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<5x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-CUDA: iree_linalg_ext.gather dimension_map = [0] ins(%arg0, {{.*}} : tensor<5x6xf32>, tensor<4xi64>)
// CHECK-CUDA-NOT: tensor.extract

// CHECK-VULKAN: linalg.generic {{.*}}ins({{.*}} : tensor<4xi32>) outs({{.*}} : tensor<4x6xf32>)
// CHECK-VULKAN: [[CLAMPED:%.+]] = arith.maxsi {{.*}}, %c0_i32 : i32
// CHECK-VULKAN: [[ROW:%.+]] = arith.index_cast [[CLAMPED]] : i32 to index
// CHECK-VULKAN: tensor.extract %arg0{{\[}}[[ROW]],
// CHECK-VULKAN-NOT: iree_linalg_ext.gather
