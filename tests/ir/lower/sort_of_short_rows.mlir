// On CPUs short rows are sorted by exchanges of neighbours, a vector of rows at once; the places along the axis are counted in the kernel.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3},canonicalize' | filecheck %s

func.func @f(%x: tensor<50x9xf32>) -> (tensor<50x9xf32>, tensor<50x9xi32>) {
  %places = "adze.iota"() {axis = 1 : i64, dtype = i32, shape = array<i64: 50, 9>} : () -> tensor<50x9xi32>
  %0:2 = "adze.sort"(%x, %places) {axis = 1 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<50x9xf32>, tensor<50x9xi32>) -> (tensor<50x9xf32>, tensor<50x9xi32>)
  return %0#0, %0#1 : tensor<50x9xf32>, tensor<50x9xi32>
}

// CHECK: stream.executable private @kernel_short_rows {
// CHECK: memref.alloca() {{.*}}: memref<3x9x8xi32>
// CHECK: [[LESS:%.+]] = arith.cmpi slt, {{.*}} : vector<8xi32>
// CHECK: arith.select [[LESS]], {{.*}} : vector<8xi1>, vector<8xi32>
// CHECK: flow.dispatch @kernel_short_rows::@kernel_short_rows(%arg0, {{.*}}) : (tensor<50x9xf32>, tensor<50x9xf32>, tensor<50x9xi32>) -> (%
