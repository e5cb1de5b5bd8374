// A shared scalar function stays a function, and IREE may inline it.
// RUN: adze opt %s --pass-pipeline='inline-bodies' | filecheck %s

func.func @f(%x: f32) -> f32 {
  %0 = func.call @sine(%x) : (f32) -> f32
  return %0 : f32
}

func.func private @sine(%x: f32) -> f32 attributes {no_inline} {
  return %x : f32
}

// CHECK: call @sine
// CHECK: func.func private @sine(%arg0: f32) -> f32 {
