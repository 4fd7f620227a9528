import { fileURLToPath } from 'node:url'
import { emitCuda } from '@tandem-gpu/wgsl'
import { cpuText } from '@tandem-gpu/wgsl/testing'
import type { Translate } from '../cuda-kernel.ts'

const header = fileURLToPath(new URL('../../../wgsl/native/tandem_cpu.hpp', import.meta.url))
const section = 'tandem_shared'

/**
 * Translates kernels to host C++ with its own scheduler, in the form that the fake NVRTC compiles and the
 * fake driver calls.
 */
export const translateForCpu: Translate = (source, form) => {
  const kernel = emitCuda(source.module, {
    bounds: source.bounds,
    label: source.label,
    lineDirectives: false,
    stoppable: source.terminates === true ? 'start' : true,
    indirect: form === 'indirect',
  })
  const values = kernel.parameters.map(
    ({ type }, index) => `*static_cast<${type.replace(' __restrict__', '')}*>(a[${index}])`,
  )
  const shared = (end: string) =>
    `extern "C" { extern char __${end}_${section}[] __attribute__((weak, visibility("hidden"))); }`
  const meets = kernel.usesBarriers || kernel.usesSubgroups
  return {
    ...kernel,
    source: [
      `// fake-entry: ${kernel.entryName} ${kernel.parameters.length}`,
      `#include "${header}"`,
      `#define TANDEM_SHARED_SECTION "${section}"`,
      cpuText([kernel]),
      shared('start'),
      shared('stop'),
      `namespace wgsl { namespace k0 { static void call(void* const* a) { (void)a; ${kernel.entryName}(${values.join(', ')}); } } }`,
      'extern "C" void fake_launch(const unsigned* grid, void* const* a) {',
      `  const tandem_cpu::kernel k = {"${kernel.entryName}", wgsl::k0::call, ${kernel.workgroupSize.join(', ')}, ${meets}, __start_${section}, __stop_${section}};`,
      '  tandem_cpu::run_grid(k, grid[0], grid[1], grid[2], a);',
      '}',
      'extern "C" void fake_unload() { tandem_cpu::free_stacks(); }',
      '',
    ].join('\n'),
  }
}
