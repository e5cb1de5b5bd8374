// On CUDA the parts of a row are sorted by one kernel and merged by another; a part is 4,096 elements of 32 bits.
// RUN: adze opt %s --pass-pipeline='lower{target=cuda}' | filecheck %s

func.func @f(%arg0: tensor<3x5000xf32>) -> tensor<3x5000xf32> {
  %0 = "adze.sort"(%arg0) {axis = 1 : i64, num_keys = 1 : i64, is_stable = true} : (tensor<3x5000xf32>) -> tensor<3x5000xf32>
  return %0 : tensor<3x5000xf32>
}

// CHECK-DAG: stream.executable private @kernel_sort_part
// CHECK-DAG: memref<4096xi32, #gpu.address_space<workgroup>>
// CHECK: func.func @f
// CHECK: [[ROWS:%.+]] = tensor.collapse_shape %arg0
// CHECK: [[PARTS:%.+]]:2 = flow.dispatch @kernel_sort_part::@kernel_sort_part{{.*}} -> (%{{.+}}, %{{.+}})
// CHECK: flow.dispatch @kernel_merge::@kernel_merge([[ROWS]], [[PARTS]]#0, [[PARTS]]#1
