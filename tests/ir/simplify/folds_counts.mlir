// Float numbers that follow from few counts are computed; places and masks of them stay code.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @f(%x: tensor<?x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xi1>) {
  %0 = "adze.iota"() {axis = 0 : i64, dtype = i32, shape = array<i64: 2, 2>} : () -> tensor<2x2xi32>
  %1 = "adze.iota"() {axis = 1 : i64, dtype = i32, shape = array<i64: 2, 2>} : () -> tensor<2x2xi32>
  %2 = "adze.compare"(%0, %1) {direction = "EQ"} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
  %3 = "adze.convert"(%2) {dtype = f32} : (tensor<2x2xi1>) -> tensor<2x2xf32>
  %4 = "adze.add"(%3, %3) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %4, %2 : tensor<2x2xf32>, tensor<2x2xi1>
}

// CHECK-LABEL: func.func @f(
// CHECK-DAG: %[[MASK:.*]] = "adze.compare"(
// CHECK-DAG: %[[TWO:.*]] = "adze.constant"() {dtype = f32, value = dense<{{\[\[}}2.000000e+00, 0.000000e+00], [0.000000e+00, 2.000000e+00]]>
// CHECK: return %[[TWO]], %[[MASK]]
