module @jit_few_bits attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256xi32>, %arg1: tensor<256xi32>, %arg2: tensor<64xf32>, %arg3: tensor<64xf32>) -> (tensor<256xi32> {jax.result_info = "result[0]"}, tensor<256xi32> {jax.result_info = "result[1]"}, tensor<256xi32> {jax.result_info = "result[2]"}, tensor<256xi32> {jax.result_info = "result[3]"}, tensor<256xi32> {jax.result_info = "result[4]"}, tensor<256xi32> {jax.result_info = "result[5]"}, tensor<256xi32> {jax.result_info = "result[6]"}, tensor<256xi32> {jax.result_info = "result[7]"}, tensor<256xi32> {jax.result_info = "result[8]"}, tensor<256xi32> {jax.result_info = "result[9]"}, tensor<256xi32> {jax.result_info = "result[10]"}, tensor<256xi32> {jax.result_info = "result[11]"}, tensor<256xi32> {jax.result_info = "result[12]"}, tensor<256xi32> {jax.result_info = "result[13]"}, tensor<256xi32> {jax.result_info = "result[14]"}, tensor<256xi32> {jax.result_info = "result[15]"}, tensor<256xi32> {jax.result_info = "result[16]"}, tensor<256xi32> {jax.result_info = "result[17]"}, tensor<256xi32> {jax.result_info = "result[18]"}, tensor<256xi32> {jax.result_info = "result[19]"}, tensor<512xi32> {jax.result_info = "result[20]"}, tensor<16xi32> {jax.result_info = "result[21]"}, tensor<2xi32> {jax.result_info = "result[22]"}, tensor<256xi1> {jax.result_info = "result[23]"}, tensor<256xf32> {jax.result_info = "result[24]"}, tensor<256xi32> {jax.result_info = "result[25]"}, tensor<256xi32> {jax.result_info = "result[26]"}, tensor<256xi32> {jax.result_info = "result[27]"}, tensor<256xi32> {jax.result_info = "result[28]"}, tensor<256xi32> {jax.result_info = "result[29]"}, tensor<256xi32> {jax.result_info = "result[30]"}, tensor<256xi32> {jax.result_info = "result[31]"}, tensor<256xi32> {jax.result_info = "result[32]"}, tensor<256xi32> {jax.result_info = "result[33]"}, tensor<256xi32> {jax.result_info = "result[34]"}, tensor<256xi32> {jax.result_info = "result[35]"}, tensor<256xi32> {jax.result_info = "result[36]"}, tensor<256xi32> {jax.result_info = "result[37]"}, tensor<256xi32> {jax.result_info = "result[38]"}, tensor<256xi32> {jax.result_info = "result[39]"}, tensor<256xi32> {jax.result_info = "result[40]"}, tensor<256xi32> {jax.result_info = "result[41]"}, tensor<256xi32> {jax.result_info = "result[42]"}, tensor<256xi32> {jax.result_info = "result[43]"}, tensor<256xi32> {jax.result_info = "result[44]"}, tensor<512xi32> {jax.result_info = "result[45]"}, tensor<16xi32> {jax.result_info = "result[46]"}, tensor<2xi32> {jax.result_info = "result[47]"}, tensor<256xi1> {jax.result_info = "result[48]"}, tensor<256xf32> {jax.result_info = "result[49]"}, tensor<256xi32> {jax.result_info = "result[50]"}, tensor<64xf32> {jax.result_info = "result[51]"}, tensor<64xf32> {jax.result_info = "result[52]"}, tensor<64xf32> {jax.result_info = "result[53]"}, tensor<64xf32> {jax.result_info = "result[54]"}, tensor<64xf32> {jax.result_info = "result[55]"}, tensor<64xi1> {jax.result_info = "result[56]"}, tensor<64xf32> {jax.result_info = "result[57]"}, tensor<64xf32> {jax.result_info = "result[58]"}, tensor<64xf32> {jax.result_info = "result[59]"}, tensor<64xf32> {jax.result_info = "result[60]"}, tensor<64xf32> {jax.result_info = "result[61]"}, tensor<64xi1> {jax.result_info = "result[62]"}, tensor<64xf32> {jax.result_info = "result[63]"}, tensor<64xf32> {jax.result_info = "result[64]"}, tensor<64xf32> {jax.result_info = "result[65]"}, tensor<64xf32> {jax.result_info = "result[66]"}, tensor<64xf32> {jax.result_info = "result[67]"}, tensor<64xi1> {jax.result_info = "result[68]"}, tensor<64xf32> {jax.result_info = "result[69]"}, tensor<64xf32> {jax.result_info = "result[70]"}, tensor<64xf32> {jax.result_info = "result[71]"}, tensor<64xf32> {jax.result_info = "result[72]"}, tensor<64xf32> {jax.result_info = "result[73]"}, tensor<64xi1> {jax.result_info = "result[74]"}, tensor<64xf32> {jax.result_info = "result[75]"}, tensor<64xf32> {jax.result_info = "result[76]"}, tensor<64xf32> {jax.result_info = "result[77]"}, tensor<64xf32> {jax.result_info = "result[78]"}, tensor<64xf32> {jax.result_info = "result[79]"}, tensor<64xi1> {jax.result_info = "result[80]"}, tensor<64xf32> {jax.result_info = "result[81]"}, tensor<64xf32> {jax.result_info = "result[82]"}, tensor<64xf32> {jax.result_info = "result[83]"}, tensor<64xf32> {jax.result_info = "result[84]"}, tensor<64xf32> {jax.result_info = "result[85]"}, tensor<64xi1> {jax.result_info = "result[86]"}, tensor<64xf32> {jax.result_info = "result[87]"}, tensor<64xf32> {jax.result_info = "result[88]"}, tensor<8x8xf32> {jax.result_info = "result[89]"}, tensor<256xi8> {jax.result_info = "result[90]"}, tensor<64xi32> {jax.result_info = "result[91]"}) {
    %c = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %0 = stablehlo.convert %arg0 : (tensor<256xi32>) -> tensor<256xi4>
    %1 = stablehlo.convert %arg1 : (tensor<256xi32>) -> tensor<256xi4>
    %c_1 = stablehlo.constant dense<3> : tensor<i4>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i4>) -> tensor<256xi4>
    %3 = stablehlo.and %1, %2 : tensor<256xi4>
    %c_2 = stablehlo.constant dense<1> : tensor<i4>
    %4 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i4>) -> tensor<256xi4>
    %5 = stablehlo.or %1, %4 : tensor<256xi4>
    %6 = stablehlo.add %0, %1 : tensor<256xi4>
    %7 = stablehlo.subtract %0, %1 : tensor<256xi4>
    %8 = stablehlo.multiply %0, %1 : tensor<256xi4>
    %9 = stablehlo.and %0, %1 : tensor<256xi4>
    %10 = stablehlo.or %0, %1 : tensor<256xi4>
    %11 = stablehlo.xor %0, %1 : tensor<256xi4>
    %12 = stablehlo.not %0 : tensor<256xi4>
    %13 = stablehlo.negate %0 : tensor<256xi4>
    %14 = stablehlo.sign %0 : tensor<256xi4>
    %15 = stablehlo.maximum %0, %1 : tensor<256xi4>
    %16 = stablehlo.divide %0, %5 : tensor<256xi4>
    %17 = stablehlo.remainder %0, %5 : tensor<256xi4>
    %18 = stablehlo.shift_left %0, %3 : tensor<256xi4>
    %19 = stablehlo.shift_right_logical %0, %3 : tensor<256xi4>
    %20 = stablehlo.shift_right_arithmetic %0, %3 : tensor<256xi4>
    %21 = stablehlo.count_leading_zeros %0 : tensor<256xi4>
    %22 = stablehlo.multiply %0, %1 : tensor<256xi4>
    %23 = "stablehlo.sort"(%22) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg4: tensor<i4>, %arg5: tensor<i4>):
      %238 = stablehlo.compare LT, %arg4, %arg5, SIGNED : (tensor<i4>, tensor<i4>) -> tensor<i1>
      stablehlo.return %238 : tensor<i1>
    }) : (tensor<256xi4>) -> tensor<256xi4>
    %24 = call @cumsum(%0) : (tensor<256xi4>) -> tensor<256xi4>
    %25 = stablehlo.compare GT, %0, %1, SIGNED : (tensor<256xi4>, tensor<256xi4>) -> tensor<256xi1>
    %26 = call @_where(%25, %0, %1) : (tensor<256xi1>, tensor<256xi4>, tensor<256xi4>) -> tensor<256xi4>
    %27 = stablehlo.reverse %0, dims = [0] : tensor<256xi4>
    %28 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<256xi4>, tensor<256xi4>) -> tensor<512xi4>
    %29 = stablehlo.reshape %0 : (tensor<256xi4>) -> tensor<16x16xi4>
    %c_3 = stablehlo.constant dense<0> : tensor<i4>
    %30 = stablehlo.reduce(%29 init: %c_3) applies stablehlo.add across dimensions = [0] : (tensor<16x16xi4>, tensor<i4>) -> tensor<16xi4>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %32 = stablehlo.compare LT, %c, %31, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_5 = stablehlo.constant dense<256> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %34 = stablehlo.add %c, %33 : tensor<2xi32>
    %35 = stablehlo.select %32, %34, %c : tensor<2xi1>, tensor<2xi32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %37 = "stablehlo.gather"(%0, %36) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<256xi4>, tensor<2x1xi32>) -> tensor<2xi4>
    %38 = stablehlo.convert %6 : (tensor<256xi4>) -> tensor<256xi32>
    %39 = stablehlo.convert %7 : (tensor<256xi4>) -> tensor<256xi32>
    %40 = stablehlo.convert %8 : (tensor<256xi4>) -> tensor<256xi32>
    %41 = stablehlo.convert %9 : (tensor<256xi4>) -> tensor<256xi32>
    %42 = stablehlo.convert %10 : (tensor<256xi4>) -> tensor<256xi32>
    %43 = stablehlo.convert %11 : (tensor<256xi4>) -> tensor<256xi32>
    %44 = stablehlo.convert %12 : (tensor<256xi4>) -> tensor<256xi32>
    %45 = stablehlo.convert %13 : (tensor<256xi4>) -> tensor<256xi32>
    %46 = stablehlo.convert %14 : (tensor<256xi4>) -> tensor<256xi32>
    %47 = stablehlo.convert %15 : (tensor<256xi4>) -> tensor<256xi32>
    %48 = stablehlo.convert %16 : (tensor<256xi4>) -> tensor<256xi32>
    %49 = stablehlo.convert %17 : (tensor<256xi4>) -> tensor<256xi32>
    %50 = stablehlo.convert %18 : (tensor<256xi4>) -> tensor<256xi32>
    %51 = stablehlo.convert %19 : (tensor<256xi4>) -> tensor<256xi32>
    %52 = stablehlo.convert %20 : (tensor<256xi4>) -> tensor<256xi32>
    %53 = stablehlo.convert %21 : (tensor<256xi4>) -> tensor<256xi32>
    %54 = stablehlo.convert %23 : (tensor<256xi4>) -> tensor<256xi32>
    %55 = stablehlo.convert %24 : (tensor<256xi4>) -> tensor<256xi32>
    %56 = stablehlo.convert %26 : (tensor<256xi4>) -> tensor<256xi32>
    %57 = stablehlo.convert %27 : (tensor<256xi4>) -> tensor<256xi32>
    %58 = stablehlo.convert %28 : (tensor<512xi4>) -> tensor<512xi32>
    %59 = stablehlo.convert %30 : (tensor<16xi4>) -> tensor<16xi32>
    %60 = stablehlo.convert %37 : (tensor<2xi4>) -> tensor<2xi32>
    %61 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<256xi4>, tensor<256xi4>) -> tensor<256xi1>
    %62 = stablehlo.convert %0 : (tensor<256xi4>) -> tensor<256xf32>
    %63 = stablehlo.convert %arg0 : (tensor<256xi32>) -> tensor<256xui4>
    %64 = stablehlo.convert %arg1 : (tensor<256xi32>) -> tensor<256xui4>
    %c_6 = stablehlo.constant dense<3> : tensor<ui4>
    %65 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<ui4>) -> tensor<256xui4>
    %66 = stablehlo.and %64, %65 : tensor<256xui4>
    %c_7 = stablehlo.constant dense<1> : tensor<ui4>
    %67 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<ui4>) -> tensor<256xui4>
    %68 = stablehlo.or %64, %67 : tensor<256xui4>
    %69 = stablehlo.add %63, %64 : tensor<256xui4>
    %70 = stablehlo.subtract %63, %64 : tensor<256xui4>
    %71 = stablehlo.multiply %63, %64 : tensor<256xui4>
    %72 = stablehlo.and %63, %64 : tensor<256xui4>
    %73 = stablehlo.or %63, %64 : tensor<256xui4>
    %74 = stablehlo.xor %63, %64 : tensor<256xui4>
    %75 = stablehlo.not %63 : tensor<256xui4>
    %76 = stablehlo.negate %63 : tensor<256xui4>
    %c_8 = stablehlo.constant dense<0> : tensor<ui4>
    %77 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<ui4>) -> tensor<256xui4>
    %78 = stablehlo.compare EQ, %63, %77, UNSIGNED : (tensor<256xui4>, tensor<256xui4>) -> tensor<256xi1>
    %c_9 = stablehlo.constant dense<0> : tensor<ui4>
    %79 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<ui4>) -> tensor<256xui4>
    %c_10 = stablehlo.constant dense<1> : tensor<ui4>
    %80 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<ui4>) -> tensor<256xui4>
    %81 = stablehlo.select %78, %79, %80 : tensor<256xi1>, tensor<256xui4>
    %82 = stablehlo.maximum %63, %64 : tensor<256xui4>
    %83 = stablehlo.divide %63, %68 : tensor<256xui4>
    %84 = stablehlo.remainder %63, %68 : tensor<256xui4>
    %85 = stablehlo.shift_left %63, %66 : tensor<256xui4>
    %86 = stablehlo.shift_right_logical %63, %66 : tensor<256xui4>
    %87 = stablehlo.shift_right_arithmetic %63, %66 : tensor<256xui4>
    %88 = stablehlo.count_leading_zeros %63 : tensor<256xui4>
    %89 = stablehlo.multiply %63, %64 : tensor<256xui4>
    %90 = "stablehlo.sort"(%89) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg4: tensor<ui4>, %arg5: tensor<ui4>):
      %238 = stablehlo.compare LT, %arg4, %arg5, UNSIGNED : (tensor<ui4>, tensor<ui4>) -> tensor<i1>
      stablehlo.return %238 : tensor<i1>
    }) : (tensor<256xui4>) -> tensor<256xui4>
    %91 = call @cumsum_0(%63) : (tensor<256xui4>) -> tensor<256xui4>
    %92 = stablehlo.compare GT, %63, %64, UNSIGNED : (tensor<256xui4>, tensor<256xui4>) -> tensor<256xi1>
    %93 = call @_where_1(%92, %63, %64) : (tensor<256xi1>, tensor<256xui4>, tensor<256xui4>) -> tensor<256xui4>
    %94 = stablehlo.reverse %63, dims = [0] : tensor<256xui4>
    %95 = stablehlo.concatenate %63, %64, dim = 0 : (tensor<256xui4>, tensor<256xui4>) -> tensor<512xui4>
    %96 = stablehlo.reshape %63 : (tensor<256xui4>) -> tensor<16x16xui4>
    %c_11 = stablehlo.constant dense<0> : tensor<ui4>
    %97 = stablehlo.reduce(%96 init: %c_11) applies stablehlo.add across dimensions = [0] : (tensor<16x16xui4>, tensor<ui4>) -> tensor<16xui4>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %98 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %99 = stablehlo.compare LT, %c_0, %98, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_13 = stablehlo.constant dense<256> : tensor<i32>
    %100 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %101 = stablehlo.add %c_0, %100 : tensor<2xi32>
    %102 = stablehlo.select %99, %101, %c_0 : tensor<2xi1>, tensor<2xi32>
    %103 = stablehlo.broadcast_in_dim %102, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %104 = "stablehlo.gather"(%63, %103) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<256xui4>, tensor<2x1xi32>) -> tensor<2xui4>
    %105 = stablehlo.convert %69 : (tensor<256xui4>) -> tensor<256xi32>
    %106 = stablehlo.convert %70 : (tensor<256xui4>) -> tensor<256xi32>
    %107 = stablehlo.convert %71 : (tensor<256xui4>) -> tensor<256xi32>
    %108 = stablehlo.convert %72 : (tensor<256xui4>) -> tensor<256xi32>
    %109 = stablehlo.convert %73 : (tensor<256xui4>) -> tensor<256xi32>
    %110 = stablehlo.convert %74 : (tensor<256xui4>) -> tensor<256xi32>
    %111 = stablehlo.convert %75 : (tensor<256xui4>) -> tensor<256xi32>
    %112 = stablehlo.convert %76 : (tensor<256xui4>) -> tensor<256xi32>
    %113 = stablehlo.convert %81 : (tensor<256xui4>) -> tensor<256xi32>
    %114 = stablehlo.convert %82 : (tensor<256xui4>) -> tensor<256xi32>
    %115 = stablehlo.convert %83 : (tensor<256xui4>) -> tensor<256xi32>
    %116 = stablehlo.convert %84 : (tensor<256xui4>) -> tensor<256xi32>
    %117 = stablehlo.convert %85 : (tensor<256xui4>) -> tensor<256xi32>
    %118 = stablehlo.convert %86 : (tensor<256xui4>) -> tensor<256xi32>
    %119 = stablehlo.convert %87 : (tensor<256xui4>) -> tensor<256xi32>
    %120 = stablehlo.convert %88 : (tensor<256xui4>) -> tensor<256xi32>
    %121 = stablehlo.convert %90 : (tensor<256xui4>) -> tensor<256xi32>
    %122 = stablehlo.convert %91 : (tensor<256xui4>) -> tensor<256xi32>
    %123 = stablehlo.convert %93 : (tensor<256xui4>) -> tensor<256xi32>
    %124 = stablehlo.convert %94 : (tensor<256xui4>) -> tensor<256xi32>
    %125 = stablehlo.convert %95 : (tensor<512xui4>) -> tensor<512xi32>
    %126 = stablehlo.convert %97 : (tensor<16xui4>) -> tensor<16xi32>
    %127 = stablehlo.convert %104 : (tensor<2xui4>) -> tensor<2xi32>
    %128 = stablehlo.compare LT, %63, %64, UNSIGNED : (tensor<256xui4>, tensor<256xui4>) -> tensor<256xi1>
    %129 = stablehlo.convert %63 : (tensor<256xui4>) -> tensor<256xf32>
    %130 = stablehlo.convert %arg0 : (tensor<256xi32>) -> tensor<256xi2>
    %131 = stablehlo.convert %arg1 : (tensor<256xi32>) -> tensor<256xi2>
    %132 = stablehlo.add %130, %131 : tensor<256xi2>
    %133 = stablehlo.convert %132 : (tensor<256xi2>) -> tensor<256xi32>
    %134 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xf8E4M3FN>
    %135 = stablehlo.convert %arg3 : (tensor<64xf32>) -> tensor<64xf8E4M3FN>
    %136 = stablehlo.maximum %134, %135 : tensor<64xf8E4M3FN>
    %137 = stablehlo.negate %134 : tensor<64xf8E4M3FN>
    %138 = stablehlo.reverse %134, dims = [0] : tensor<64xf8E4M3FN>
    %139 = stablehlo.compare GT, %134, %135, FLOAT : (tensor<64xf8E4M3FN>, tensor<64xf8E4M3FN>) -> tensor<64xi1>
    %140 = call @_where_2(%139, %134, %135) : (tensor<64xi1>, tensor<64xf8E4M3FN>, tensor<64xf8E4M3FN>) -> tensor<64xf8E4M3FN>
    %141 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xbf16>
    %142 = stablehlo.convert %141 : (tensor<64xbf16>) -> tensor<64xf8E4M3FN>
    %143 = stablehlo.convert %136 : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
    %144 = stablehlo.convert %137 : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
    %145 = stablehlo.convert %138 : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
    %146 = stablehlo.convert %140 : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
    %147 = stablehlo.convert %142 : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
    %148 = stablehlo.compare LT, %134, %135, FLOAT : (tensor<64xf8E4M3FN>, tensor<64xf8E4M3FN>) -> tensor<64xi1>
    %149 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xf8E5M2>
    %150 = stablehlo.convert %arg3 : (tensor<64xf32>) -> tensor<64xf8E5M2>
    %151 = stablehlo.maximum %149, %150 : tensor<64xf8E5M2>
    %152 = stablehlo.negate %149 : tensor<64xf8E5M2>
    %153 = stablehlo.reverse %149, dims = [0] : tensor<64xf8E5M2>
    %154 = stablehlo.compare GT, %149, %150, FLOAT : (tensor<64xf8E5M2>, tensor<64xf8E5M2>) -> tensor<64xi1>
    %155 = call @_where_3(%154, %149, %150) : (tensor<64xi1>, tensor<64xf8E5M2>, tensor<64xf8E5M2>) -> tensor<64xf8E5M2>
    %156 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xbf16>
    %157 = stablehlo.convert %156 : (tensor<64xbf16>) -> tensor<64xf8E5M2>
    %158 = stablehlo.convert %151 : (tensor<64xf8E5M2>) -> tensor<64xf32>
    %159 = stablehlo.convert %152 : (tensor<64xf8E5M2>) -> tensor<64xf32>
    %160 = stablehlo.convert %153 : (tensor<64xf8E5M2>) -> tensor<64xf32>
    %161 = stablehlo.convert %155 : (tensor<64xf8E5M2>) -> tensor<64xf32>
    %162 = stablehlo.convert %157 : (tensor<64xf8E5M2>) -> tensor<64xf32>
    %163 = stablehlo.compare LT, %149, %150, FLOAT : (tensor<64xf8E5M2>, tensor<64xf8E5M2>) -> tensor<64xi1>
    %164 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xf8E4M3>
    %165 = stablehlo.convert %arg3 : (tensor<64xf32>) -> tensor<64xf8E4M3>
    %166 = stablehlo.maximum %164, %165 : tensor<64xf8E4M3>
    %167 = stablehlo.negate %164 : tensor<64xf8E4M3>
    %168 = stablehlo.reverse %164, dims = [0] : tensor<64xf8E4M3>
    %169 = stablehlo.compare GT, %164, %165, FLOAT : (tensor<64xf8E4M3>, tensor<64xf8E4M3>) -> tensor<64xi1>
    %170 = call @_where_4(%169, %164, %165) : (tensor<64xi1>, tensor<64xf8E4M3>, tensor<64xf8E4M3>) -> tensor<64xf8E4M3>
    %171 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xbf16>
    %172 = stablehlo.convert %171 : (tensor<64xbf16>) -> tensor<64xf8E4M3>
    %173 = stablehlo.convert %166 : (tensor<64xf8E4M3>) -> tensor<64xf32>
    %174 = stablehlo.convert %167 : (tensor<64xf8E4M3>) -> tensor<64xf32>
    %175 = stablehlo.convert %168 : (tensor<64xf8E4M3>) -> tensor<64xf32>
    %176 = stablehlo.convert %170 : (tensor<64xf8E4M3>) -> tensor<64xf32>
    %177 = stablehlo.convert %172 : (tensor<64xf8E4M3>) -> tensor<64xf32>
    %178 = stablehlo.compare LT, %164, %165, FLOAT : (tensor<64xf8E4M3>, tensor<64xf8E4M3>) -> tensor<64xi1>
    %179 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xf8E3M4>
    %180 = stablehlo.convert %arg3 : (tensor<64xf32>) -> tensor<64xf8E3M4>
    %181 = stablehlo.maximum %179, %180 : tensor<64xf8E3M4>
    %182 = stablehlo.negate %179 : tensor<64xf8E3M4>
    %183 = stablehlo.reverse %179, dims = [0] : tensor<64xf8E3M4>
    %184 = stablehlo.compare GT, %179, %180, FLOAT : (tensor<64xf8E3M4>, tensor<64xf8E3M4>) -> tensor<64xi1>
    %185 = call @_where_5(%184, %179, %180) : (tensor<64xi1>, tensor<64xf8E3M4>, tensor<64xf8E3M4>) -> tensor<64xf8E3M4>
    %186 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xbf16>
    %187 = stablehlo.convert %186 : (tensor<64xbf16>) -> tensor<64xf8E3M4>
    %188 = stablehlo.convert %181 : (tensor<64xf8E3M4>) -> tensor<64xf32>
    %189 = stablehlo.convert %182 : (tensor<64xf8E3M4>) -> tensor<64xf32>
    %190 = stablehlo.convert %183 : (tensor<64xf8E3M4>) -> tensor<64xf32>
    %191 = stablehlo.convert %185 : (tensor<64xf8E3M4>) -> tensor<64xf32>
    %192 = stablehlo.convert %187 : (tensor<64xf8E3M4>) -> tensor<64xf32>
    %193 = stablehlo.compare LT, %179, %180, FLOAT : (tensor<64xf8E3M4>, tensor<64xf8E3M4>) -> tensor<64xi1>
    %194 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xf8E5M2FNUZ>
    %195 = stablehlo.convert %arg3 : (tensor<64xf32>) -> tensor<64xf8E5M2FNUZ>
    %196 = stablehlo.maximum %194, %195 : tensor<64xf8E5M2FNUZ>
    %197 = stablehlo.negate %194 : tensor<64xf8E5M2FNUZ>
    %198 = stablehlo.reverse %194, dims = [0] : tensor<64xf8E5M2FNUZ>
    %199 = stablehlo.compare GT, %194, %195, FLOAT : (tensor<64xf8E5M2FNUZ>, tensor<64xf8E5M2FNUZ>) -> tensor<64xi1>
    %200 = call @_where_6(%199, %194, %195) : (tensor<64xi1>, tensor<64xf8E5M2FNUZ>, tensor<64xf8E5M2FNUZ>) -> tensor<64xf8E5M2FNUZ>
    %201 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xbf16>
    %202 = stablehlo.convert %201 : (tensor<64xbf16>) -> tensor<64xf8E5M2FNUZ>
    %203 = stablehlo.convert %196 : (tensor<64xf8E5M2FNUZ>) -> tensor<64xf32>
    %204 = stablehlo.convert %197 : (tensor<64xf8E5M2FNUZ>) -> tensor<64xf32>
    %205 = stablehlo.convert %198 : (tensor<64xf8E5M2FNUZ>) -> tensor<64xf32>
    %206 = stablehlo.convert %200 : (tensor<64xf8E5M2FNUZ>) -> tensor<64xf32>
    %207 = stablehlo.convert %202 : (tensor<64xf8E5M2FNUZ>) -> tensor<64xf32>
    %208 = stablehlo.compare LT, %194, %195, FLOAT : (tensor<64xf8E5M2FNUZ>, tensor<64xf8E5M2FNUZ>) -> tensor<64xi1>
    %209 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xf4E2M1FN>
    %210 = stablehlo.convert %arg3 : (tensor<64xf32>) -> tensor<64xf4E2M1FN>
    %211 = stablehlo.maximum %209, %210 : tensor<64xf4E2M1FN>
    %212 = stablehlo.negate %209 : tensor<64xf4E2M1FN>
    %213 = stablehlo.reverse %209, dims = [0] : tensor<64xf4E2M1FN>
    %214 = stablehlo.compare GT, %209, %210, FLOAT : (tensor<64xf4E2M1FN>, tensor<64xf4E2M1FN>) -> tensor<64xi1>
    %215 = call @_where_7(%214, %209, %210) : (tensor<64xi1>, tensor<64xf4E2M1FN>, tensor<64xf4E2M1FN>) -> tensor<64xf4E2M1FN>
    %216 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xbf16>
    %217 = stablehlo.convert %216 : (tensor<64xbf16>) -> tensor<64xf4E2M1FN>
    %218 = stablehlo.convert %211 : (tensor<64xf4E2M1FN>) -> tensor<64xf32>
    %219 = stablehlo.convert %212 : (tensor<64xf4E2M1FN>) -> tensor<64xf32>
    %220 = stablehlo.convert %213 : (tensor<64xf4E2M1FN>) -> tensor<64xf32>
    %221 = stablehlo.convert %215 : (tensor<64xf4E2M1FN>) -> tensor<64xf32>
    %222 = stablehlo.convert %217 : (tensor<64xf4E2M1FN>) -> tensor<64xf32>
    %223 = stablehlo.compare LT, %209, %210, FLOAT : (tensor<64xf4E2M1FN>, tensor<64xf4E2M1FN>) -> tensor<64xi1>
    %224 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xf8E4M3FN>
    %225 = stablehlo.convert %arg3 : (tensor<64xf32>) -> tensor<64xf8E4M3FN>
    %226 = stablehlo.add %224, %225 : tensor<64xf8E4M3FN>
    %227 = stablehlo.convert %226 : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
    %228 = stablehlo.multiply %224, %225 : tensor<64xf8E4M3FN>
    %229 = stablehlo.convert %228 : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
    %230 = stablehlo.reshape %224 : (tensor<64xf8E4M3FN>) -> tensor<8x8xf8E4M3FN>
    %231 = stablehlo.reshape %225 : (tensor<64xf8E4M3FN>) -> tensor<8x8xf8E4M3FN>
    %232 = stablehlo.dot_general %230, %231, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf8E4M3FN>, tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
    %233 = stablehlo.convert %arg0 : (tensor<256xi32>) -> tensor<256xi8>
    %234 = stablehlo.bitcast_convert %233 : (tensor<256xi8>) -> tensor<256x2xi4>
    %235 = stablehlo.bitcast_convert %234 : (tensor<256x2xi4>) -> tensor<256xi8>
    %236 = stablehlo.convert %arg2 : (tensor<64xf32>) -> tensor<64xi4>
    %237 = stablehlo.convert %236 : (tensor<64xi4>) -> tensor<64xi32>
    return %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127, %128, %129, %133, %143, %144, %145, %146, %147, %148, %158, %159, %160, %161, %162, %163, %173, %174, %175, %176, %177, %178, %188, %189, %190, %191, %192, %193, %203, %204, %205, %206, %207, %208, %218, %219, %220, %221, %222, %223, %227, %229, %232, %235, %237 : tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<512xi32>, tensor<16xi32>, tensor<2xi32>, tensor<256xi1>, tensor<256xf32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<512xi32>, tensor<16xi32>, tensor<2xi32>, tensor<256xi1>, tensor<256xf32>, tensor<256xi32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi1>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi1>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi1>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi1>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi1>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi1>, tensor<64xf32>, tensor<64xf32>, tensor<8x8xf32>, tensor<256xi8>, tensor<64xi32>
  }
  func.func private @cumsum(%arg0: tensor<256xi4>) -> tensor<256xi4> {
    %c = stablehlo.constant dense<0> : tensor<i4>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i4>) -> tensor<i4>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[255, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 256>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<i4>, %arg2: tensor<i4>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i4>
      stablehlo.return %2 : tensor<i4>
    }) : (tensor<256xi4>, tensor<i4>) -> tensor<256xi4>
    return %1 : tensor<256xi4>
  }
  func.func private @_where(%arg0: tensor<256xi1>, %arg1: tensor<256xi4>, %arg2: tensor<256xi4>) -> tensor<256xi4> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<256xi1>, tensor<256xi4>
    return %0 : tensor<256xi4>
  }
  func.func private @cumsum_0(%arg0: tensor<256xui4>) -> tensor<256xui4> {
    %c = stablehlo.constant dense<0> : tensor<ui4>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui4>) -> tensor<ui4>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[255, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 256>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<ui4>, %arg2: tensor<ui4>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<ui4>
      stablehlo.return %2 : tensor<ui4>
    }) : (tensor<256xui4>, tensor<ui4>) -> tensor<256xui4>
    return %1 : tensor<256xui4>
  }
  func.func private @_where_1(%arg0: tensor<256xi1>, %arg1: tensor<256xui4>, %arg2: tensor<256xui4>) -> tensor<256xui4> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<256xi1>, tensor<256xui4>
    return %0 : tensor<256xui4>
  }
  func.func private @_where_2(%arg0: tensor<64xi1>, %arg1: tensor<64xf8E4M3FN>, %arg2: tensor<64xf8E4M3FN>) -> tensor<64xf8E4M3FN> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64xi1>, tensor<64xf8E4M3FN>
    return %0 : tensor<64xf8E4M3FN>
  }
  func.func private @_where_3(%arg0: tensor<64xi1>, %arg1: tensor<64xf8E5M2>, %arg2: tensor<64xf8E5M2>) -> tensor<64xf8E5M2> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64xi1>, tensor<64xf8E5M2>
    return %0 : tensor<64xf8E5M2>
  }
  func.func private @_where_4(%arg0: tensor<64xi1>, %arg1: tensor<64xf8E4M3>, %arg2: tensor<64xf8E4M3>) -> tensor<64xf8E4M3> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64xi1>, tensor<64xf8E4M3>
    return %0 : tensor<64xf8E4M3>
  }
  func.func private @_where_5(%arg0: tensor<64xi1>, %arg1: tensor<64xf8E3M4>, %arg2: tensor<64xf8E3M4>) -> tensor<64xf8E3M4> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64xi1>, tensor<64xf8E3M4>
    return %0 : tensor<64xf8E3M4>
  }
  func.func private @_where_6(%arg0: tensor<64xi1>, %arg1: tensor<64xf8E5M2FNUZ>, %arg2: tensor<64xf8E5M2FNUZ>) -> tensor<64xf8E5M2FNUZ> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64xi1>, tensor<64xf8E5M2FNUZ>
    return %0 : tensor<64xf8E5M2FNUZ>
  }
  func.func private @_where_7(%arg0: tensor<64xi1>, %arg1: tensor<64xf4E2M1FN>, %arg2: tensor<64xf4E2M1FN>) -> tensor<64xf4E2M1FN> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64xi1>, tensor<64xf4E2M1FN>
    return %0 : tensor<64xf4E2M1FN>
  }
}
