// What an invocation of a register-blocked product keeps in registers, and one step of k. A_BLOCKS and B_BLOCKS are the body's.

struct Operands {
  a: array<vec4<Element>, A_BLOCKS>,
  b: array<vec4<Element>, B_BLOCKS>,
}

alias Block = array<vec4<Element>, A_BLOCKS * 4u * B_BLOCKS>;

// One row of an invocation's sums, from the first column to the last.
fn accumulate_forwards(c: ptr<function, Block>, at: u32, x: Element, operands: Operands) {
  for (var j = 0u; j < B_BLOCKS; j++) {
    let y = operands.b[j];
    (*c)[at + j].x = multiply_add_1(x, y.x, (*c)[at + j].x);
    (*c)[at + j].y = multiply_add_1(x, y.y, (*c)[at + j].y);
    (*c)[at + j].z = multiply_add_1(x, y.z, (*c)[at + j].z);
    (*c)[at + j].w = multiply_add_1(x, y.w, (*c)[at + j].w);
  }
}

// The same from the last to the first.
fn accumulate_backwards(c: ptr<function, Block>, at: u32, x: Element, operands: Operands) {
  for (var j = 0u; j < B_BLOCKS; j++) {
    let y = operands.b[B_BLOCKS - 1u - j];
    let to = at + B_BLOCKS - 1u - j;
    (*c)[to].w = multiply_add_1(x, y.w, (*c)[to].w);
    (*c)[to].z = multiply_add_1(x, y.z, (*c)[to].z);
    (*c)[to].y = multiply_add_1(x, y.y, (*c)[to].y);
    (*c)[to].x = multiply_add_1(x, y.x, (*c)[to].x);
  }
}

// Row after row in a serpentine: each multiply-add shares an operand with the one before it, which spares reads of registers.
fn accumulate(c: ptr<function, Block>, operands: Operands) {
  for (var i = 0u; i < A_BLOCKS; i++) {
    let a4 = operands.a[i];
    let at = i * 4u * B_BLOCKS;
    accumulate_forwards(c, at, a4.x, operands);
    accumulate_backwards(c, at + B_BLOCKS, a4.y, operands);
    accumulate_forwards(c, at + 2u * B_BLOCKS, a4.z, operands);
    accumulate_backwards(c, at + 3u * B_BLOCKS, a4.w, operands);
  }
}
