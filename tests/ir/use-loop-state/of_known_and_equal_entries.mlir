// The next value of one entry is a constant, that of another the value of a third: they go through barriers.
// RUN: adze opt %s --pass-pipeline='use-loop-state' | filecheck %s

func.func @f(%go: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %n: tensor<f32>) -> tensor<4xf32> {
  %0:4 = scf.while (%a = %go, %b = %x, %c = %y, %d = %n) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
    %flag = tensor.extract %a[] : tensor<i1>
    scf.condition(%flag) %a, %b, %c, %d : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
  } do {
  ^bb0(%a: tensor<i1>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<f32>):
    %one = arith.constant dense<1.0> : tensor<f32>
    %first = tensor.extract %d[] : tensor<f32>
    %wide = tensor.splat %first : tensor<4xf32>
    %twice = arith.addf %b, %c : tensor<4xf32>
    %sum = arith.addf %twice, %wide : tensor<4xf32>
    scf.yield %a, %sum, %sum, %one : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
  }
  return %0#1 : tensor<4xf32>
}

// CHECK: } do {
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %splat
// CHECK: %[[AGAIN:.*]] = util.optimization_barrier %[[SUM]] : tensor<4xf32>
// CHECK: %[[OPAQUE:.*]] = util.optimization_barrier %[[ONE]] : tensor<f32>
// CHECK: scf.yield %{{.*}}, %[[SUM]], %[[AGAIN]], %[[OPAQUE]]
