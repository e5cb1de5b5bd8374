// A function that is not linear in the chosen arguments is refused, op and line named.
// RUN: not adze opt %s --pass-pipeline='transpose{function=f}' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.mul"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: 'mul' cannot be transposed: it is not linear in these operands together
// CHECK-NEXT: at {{.*}}:5
