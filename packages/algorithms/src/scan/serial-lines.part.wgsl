/** The prefixes of the sums of a line's vectors. */
fn climb_line(tile: u32, line: u32, sums: ptr<function, Line>) {
  for (var lane = 0u; lane < 32u; lane++) {
    (*sums)[lane] = within(load(tile * 1024u + line * 32u + lane)).w;
  }
  climb(sums);
}

/** The prefixes of the sums of a tile's lines. */
fn climb_tile(tile: u32, lines: ptr<function, Line>) {
  for (var line = 0u; line < 32u; line++) {
    var own: Line;
    climb_line(tile, line, &own);
    (*lines)[line] = own[31];
  }
  climb(lines);
}
