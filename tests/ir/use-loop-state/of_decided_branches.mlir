// Of branches whose condition is the same in each iteration, what only one side uses counts as unused.
// RUN: adze opt %s --pass-pipeline='use-loop-state' | filecheck %s

func.func @f(%go: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  %known = arith.constant true
  %0:4 = scf.while (%a = %go, %b = %x, %c = %x, %d = %x) : (tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>) {
    %flag = tensor.extract %a[] : tensor<i1>
    scf.condition(%flag) %a, %b, %c, %d : tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>
  } do {
  ^bb0(%a: tensor<i1>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %open = tensor.extract %a[] : tensor<i1>
    %inner:2 = scf.if %open -> (tensor<f32>, tensor<f32>) {
      scf.yield %c, %d : tensor<f32>, tensor<f32>
    } else {
      scf.yield %d, %c : tensor<f32>, tensor<f32>
    }
    %next:3 = scf.if %known -> (tensor<f32>, tensor<f32>, tensor<f32>) {
      scf.yield %y, %z, %d : tensor<f32>, tensor<f32>, tensor<f32>
    } else {
      scf.yield %b, %inner#0, %d : tensor<f32>, tensor<f32>, tensor<f32>
    }
    scf.yield %a, %next#0, %next#1, %next#2 : tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}

// CHECK: } do {
// CHECK: ^bb0(%[[A:.*]]: tensor<i1>, %[[B:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>, %[[D:.*]]: tensor<f32>):
// CHECK: scf.yield %{{.*}}, %[[C]] : tensor<f32>, tensor<f32>
// CHECK: %[[NEXT:.*]]:3 = scf.if
// CHECK: %[[ONE:.*]] = linalg.generic {{.*}} ins(%[[NEXT]]#0, %[[B]] : tensor<f32>, tensor<f32>)
// CHECK: %[[OTHER:.*]] = linalg.generic {{.*}} ins(%[[NEXT]]#1, %[[C]] : tensor<f32>, tensor<f32>)
// CHECK: scf.yield %{{.*}}, %[[ONE]], %[[OTHER]], %{{.*}}
