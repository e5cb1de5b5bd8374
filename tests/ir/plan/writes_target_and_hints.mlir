// The target and what is known of the work of the module are attributes of the module.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3}' | filecheck %s

func.func @f(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<?x4xbf16> {
  %0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = bf16} : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xbf16>
  return %0 : tensor<?x4xbf16>
}

// CHECK: module attributes {adze.hints = {bytes_moved = 88 : i64, data_tiling = true, flops = 64 : i64, is_static = false, largest_work = 64 : i64}, adze.target = "cpu:x86-64-v3"} {
// CHECK: "adze.dot_general"
