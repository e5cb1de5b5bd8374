// On CUDA the sorted parts of rows of unknown length are merged in place, by dispatches without workgroups once rows end.
// RUN: adze opt %s --pass-pipeline='lower{target=cuda},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "adze.sort"(%arg0) {axis = 0 : i64, num_keys = 1 : i64, is_stable = true} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: func.func @f
// CHECK: [[PARTS:%.+]]:2 = flow.dispatch @kernel_sort_part::@kernel_sort_part
// CHECK: [[IS_LONG:%.+]] = arith.cmpi sgt, {{.*}}, %c4096 : index
// CHECK: [[GROUPS:%.+]] = arith.select [[IS_LONG]], {{.*}}, %c0 : index
// CHECK: [[ONCE:%.+]]:2 = flow.dispatch @kernel_merge_half::@kernel_merge_half{{\[}}[[GROUPS]]{{\]}}({{.*}}, [[PARTS]]#0, [[PARTS]]#1, %c12, %c0
// CHECK: flow.dispatch @kernel_merge_half::@kernel_merge_half{{.*}}, [[ONCE]]#0, [[ONCE]]#1, %c13
// CHECK: flow.dispatch @kernel_merge_half::@kernel_merge_half{{.*}}, %c30
// CHECK-NOT: flow.dispatch @kernel_merge_half
// CHECK: flow.dispatch @kernel_take_sorted::@kernel_take_sorted
