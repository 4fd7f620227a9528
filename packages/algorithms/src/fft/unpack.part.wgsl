let a = input[read_at + (k % last) * params.input_step];
  let b = conjugate(input[read_at + ((last - k) % last) * params.input_step]);
  let value = ((a + b) + multiply(turn_back(a - b), factor)) * 0.5f;
  output[to] = exchanged(value, params.exchanges_output) * params.scale;
