// A dynamic size of a shape is a size operand, and no array.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<f32>) -> tensor<?xf32> {
  %0 = "adze.broadcast_in_dim"(%x, %x) {dimensions = array<i64>, shape = array<i64: -9223372036854775808>} : (tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: error: in @f: op 'adze.broadcast_in_dim' takes sizes for 'shape', got tensor<f32>
// CHECK-NEXT: at {{.*}}:5
