// Next values of what is before the loop, or of a branch that is the same in each iteration, go through barriers.
// RUN: adze opt %s --pass-pipeline='use-loop-state' | filecheck %s

func.func @f(%go: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %known = arith.constant true
  %0:4 = scf.while (%a = %go, %b = %x, %c = %y, %d = %x) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %flag = tensor.extract %a[] : tensor<i1>
    scf.condition(%flag) %a, %b, %c, %d : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<i1>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>):
    %twice = arith.addf %b, %c : tensor<4xf32>
    %sum = arith.addf %twice, %d : tensor<4xf32>
    %same = arith.addf %y, %z : tensor<4xf32>
    %branch = scf.if %known -> tensor<4xf32> {
      scf.yield %z : tensor<4xf32>
    } else {
      scf.yield %twice : tensor<4xf32>
    }
    scf.yield %a, %sum, %same, %branch : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// CHECK: } do {
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %arg7
// CHECK: %[[SAME:.*]] = arith.addf %arg2, %arg3
// CHECK: %[[BRANCH:.*]] = scf.if
// CHECK: %[[ONE:.*]] = util.optimization_barrier %[[SAME]] : tensor<4xf32>
// CHECK: %[[OTHER:.*]] = util.optimization_barrier %[[BRANCH]] : tensor<4xf32>
// CHECK: scf.yield %{{.*}}, %[[SUM]], %[[ONE]], %[[OTHER]]
