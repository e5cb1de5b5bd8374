// Beside a square argument of dynamic size, operands of products are not packed.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3}' | filecheck %s

func.func @f(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = "adze.dim"(%x) {axis = 0 : i64} : (tensor<?x?xf64>) -> index
  %1 = "adze.dim"(%x) {axis = 1 : i64} : (tensor<?x?xf64>) -> index
  "adze.size_check"(%0, %1) {message = "differ"} : (index, index) -> ()
  %2 = "adze.dot_general"(%x, %x) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f64} : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// CHECK: module attributes {adze.hints = {{{.*}}data_tiling = false
