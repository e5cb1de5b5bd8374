// x + x (or x xor x) in every dtype; signs are erased, as the lowering does.
#id2 = affine_map<(d0, d1) -> (d0, d1)>

func.func @twice_bool(%a: tensor<?x2xi1>) -> tensor<?x2xi1> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi1>
  %e = tensor.empty(%n) : tensor<?x2xi1>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi1>) outs(%e : tensor<?x2xi1>) {
  ^bb0(%x: i1, %z: i1):
    %s = arith.xori %x, %x : i1
    linalg.yield %s : i1
  } -> tensor<?x2xi1>
  return %r : tensor<?x2xi1>
}

func.func @twice_int8(%a: tensor<?x2xi8>) -> tensor<?x2xi8> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi8>
  %e = tensor.empty(%n) : tensor<?x2xi8>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi8>) outs(%e : tensor<?x2xi8>) {
  ^bb0(%x: i8, %z: i8):
    %s = arith.addi %x, %x : i8
    linalg.yield %s : i8
  } -> tensor<?x2xi8>
  return %r : tensor<?x2xi8>
}

func.func @twice_uint8(%a: tensor<?x2xi8>) -> tensor<?x2xi8> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi8>
  %e = tensor.empty(%n) : tensor<?x2xi8>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi8>) outs(%e : tensor<?x2xi8>) {
  ^bb0(%x: i8, %z: i8):
    %s = arith.addi %x, %x : i8
    linalg.yield %s : i8
  } -> tensor<?x2xi8>
  return %r : tensor<?x2xi8>
}

func.func @twice_int16(%a: tensor<?x2xi16>) -> tensor<?x2xi16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi16>
  %e = tensor.empty(%n) : tensor<?x2xi16>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi16>) outs(%e : tensor<?x2xi16>) {
  ^bb0(%x: i16, %z: i16):
    %s = arith.addi %x, %x : i16
    linalg.yield %s : i16
  } -> tensor<?x2xi16>
  return %r : tensor<?x2xi16>
}

func.func @twice_uint16(%a: tensor<?x2xi16>) -> tensor<?x2xi16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi16>
  %e = tensor.empty(%n) : tensor<?x2xi16>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi16>) outs(%e : tensor<?x2xi16>) {
  ^bb0(%x: i16, %z: i16):
    %s = arith.addi %x, %x : i16
    linalg.yield %s : i16
  } -> tensor<?x2xi16>
  return %r : tensor<?x2xi16>
}

func.func @twice_int32(%a: tensor<?x2xi32>) -> tensor<?x2xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi32>
  %e = tensor.empty(%n) : tensor<?x2xi32>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi32>) outs(%e : tensor<?x2xi32>) {
  ^bb0(%x: i32, %z: i32):
    %s = arith.addi %x, %x : i32
    linalg.yield %s : i32
  } -> tensor<?x2xi32>
  return %r : tensor<?x2xi32>
}

func.func @twice_uint32(%a: tensor<?x2xi32>) -> tensor<?x2xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi32>
  %e = tensor.empty(%n) : tensor<?x2xi32>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi32>) outs(%e : tensor<?x2xi32>) {
  ^bb0(%x: i32, %z: i32):
    %s = arith.addi %x, %x : i32
    linalg.yield %s : i32
  } -> tensor<?x2xi32>
  return %r : tensor<?x2xi32>
}

func.func @twice_int64(%a: tensor<?x2xi64>) -> tensor<?x2xi64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi64>
  %e = tensor.empty(%n) : tensor<?x2xi64>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi64>) outs(%e : tensor<?x2xi64>) {
  ^bb0(%x: i64, %z: i64):
    %s = arith.addi %x, %x : i64
    linalg.yield %s : i64
  } -> tensor<?x2xi64>
  return %r : tensor<?x2xi64>
}

func.func @twice_uint64(%a: tensor<?x2xi64>) -> tensor<?x2xi64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi64>
  %e = tensor.empty(%n) : tensor<?x2xi64>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xi64>) outs(%e : tensor<?x2xi64>) {
  ^bb0(%x: i64, %z: i64):
    %s = arith.addi %x, %x : i64
    linalg.yield %s : i64
  } -> tensor<?x2xi64>
  return %r : tensor<?x2xi64>
}

func.func @twice_float16(%a: tensor<?x2xf16>) -> tensor<?x2xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xf16>
  %e = tensor.empty(%n) : tensor<?x2xf16>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xf16>) outs(%e : tensor<?x2xf16>) {
  ^bb0(%x: f16, %z: f16):
    %s = arith.addf %x, %x : f16
    linalg.yield %s : f16
  } -> tensor<?x2xf16>
  return %r : tensor<?x2xf16>
}

func.func @twice_bfloat16(%a: tensor<?x2xbf16>) -> tensor<?x2xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xbf16>
  %e = tensor.empty(%n) : tensor<?x2xbf16>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xbf16>) outs(%e : tensor<?x2xbf16>) {
  ^bb0(%x: bf16, %z: bf16):
    %s = arith.addf %x, %x : bf16
    linalg.yield %s : bf16
  } -> tensor<?x2xbf16>
  return %r : tensor<?x2xbf16>
}

func.func @twice_float32(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xf32>) outs(%e : tensor<?x2xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

func.func @twice_float64(%a: tensor<?x2xf64>) -> tensor<?x2xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xf64>
  %e = tensor.empty(%n) : tensor<?x2xf64>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xf64>) outs(%e : tensor<?x2xf64>) {
  ^bb0(%x: f64, %z: f64):
    %s = arith.addf %x, %x : f64
    linalg.yield %s : f64
  } -> tensor<?x2xf64>
  return %r : tensor<?x2xf64>
}

func.func @twice_complex64(%a: tensor<?x2xcomplex<f32>>) -> tensor<?x2xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xcomplex<f32>>
  %e = tensor.empty(%n) : tensor<?x2xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xcomplex<f32>>) outs(%e : tensor<?x2xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %z: complex<f32>):
    %s = complex.add %x, %x : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<?x2xcomplex<f32>>
  return %r : tensor<?x2xcomplex<f32>>
}

func.func @twice_complex128(%a: tensor<?x2xcomplex<f64>>) -> tensor<?x2xcomplex<f64>> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xcomplex<f64>>
  %e = tensor.empty(%n) : tensor<?x2xcomplex<f64>>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x2xcomplex<f64>>) outs(%e : tensor<?x2xcomplex<f64>>) {
  ^bb0(%x: complex<f64>, %z: complex<f64>):
    %s = complex.add %x, %x : complex<f64>
    linalg.yield %s : complex<f64>
  } -> tensor<?x2xcomplex<f64>>
  return %r : tensor<?x2xcomplex<f64>>
}
