// The imaginary parts of the first and the last value count as 0.
  var a = input[read_at + k * params.input_step];
  var b = conjugate(input[read_at + (last - k) * params.input_step]);
  if (k == 0u || k == last) {
    a.y = 0f;
    b.y = 0f;
  }
  if (k < last) {
    // Times i is turned back and negated.
    let value = (a + b) - turn_back(multiply(a - b, conjugate(factor)));
    output[to] = exchanged(value, params.exchanges_input) * params.scale;
  }
