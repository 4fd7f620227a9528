/**
 * A kernel that the rules of uniformity and of aliases accept or reject, from a line of
 * `testdata/validity.txt`.
 */
export interface ValidityCase {
  /** Declarations before ` ### `, if any, then statements of the entry point. */
  readonly text: string
  readonly isValid: boolean
}

/** Reads the lines of `testdata/validity.txt`: `+` marks a valid case, `-` an invalid one, `#` a heading. */
export function parseValidityCases(file: string): ValidityCase[] {
  return file
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .map((line) => {
      const mark = /^([+-]) (.*)$/.exec(line)
      if (mark === null) throw new SyntaxError(`'${line}' starts with none of '+ ', '- ' and '# '`)
      return { text: mark[2]!, isValid: mark[1] === '+' }
    })
}

/**
 * The source of a case: its declarations and statements among variables of every address space and every
 * built-in value.
 */
export function validitySource(text: string): string {
  const [declarations, statements] = text.includes(' ### ')
    ? (text.split(' ### ') as [string, string])
    : ['', text]
  return `enable subgroups;
diagnostic(off, chromium.unreachable_code);
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@group(0) @binding(1) var<storage, read> r: array<u32>;
@group(0) @binding(2) var<uniform> un: array<vec4u, 4>;
var<workgroup> w: array<u32, 64>;
var<workgroup> wa: atomic<u32>;
var<private> pv: u32;
override ov: u32 = 3;
${declarations}
@compute @workgroup_size(64) fn main(
  @builtin(global_invocation_id) id: vec3u, @builtin(global_invocation_index) gi: u32,
  @builtin(local_invocation_id) lid: vec3u, @builtin(local_invocation_index) li: u32,
  @builtin(workgroup_id) wid: vec3u, @builtin(workgroup_index) wi: u32, @builtin(num_workgroups) num: vec3u,
  @builtin(subgroup_id) sid: u32, @builtin(num_subgroups) groups: u32,
  @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) size: u32,
) {
${statements}
}`
}
