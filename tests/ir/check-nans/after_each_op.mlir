// What is NaN differs from itself: a flag for each op, and one check that names the op of the first flag.
// RUN: adze opt %s --pass-pipeline='check-nans' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.log"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: "adze.log"(%arg0)
// CHECK-NEXT: "adze.compare"(%0, %0) {direction = "NE"}
// CHECK: "adze.check"({{.*}}) {message = "NaN in the forward pass of {{.*}}: log(f32[4])"}
