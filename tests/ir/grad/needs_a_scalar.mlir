// Only a function that gives one float scalar has a gradient.
// RUN: not adze opt %s --pass-pipeline='grad{function=f}' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK: error: grad needs a function that returns one float scalar, @f returns (f32[4])
