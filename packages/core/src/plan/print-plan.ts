import type { Handles } from '../backend/handles.ts'
import { counted, describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'
import { regionEnd } from './byte-region.ts'
import type { ByteRegion, Plan, PlanPart } from './plan.ts'

/**
 * A plan as stable text, one line per command, for people and snapshots. Numbers are bytes unless stated
 * otherwise.
 */
export function printPlan(plan: Plan<Handles, PlanPart>): string {
  try {
    return planText(plan)
  } catch (cause) {
    // The caller may have built or changed the plan, as tests do.
    throw invalid(
      `The argument of printPlan is ${describedValue(plan)}; it must be a plan, such as program.plan.`,
      {
        cause,
      },
    )
  }
}

function planText(plan: Plan<Handles, PlanPart>): string {
  const lines = [
    `plan "${plan.label}", ${plan.schedule}: ${counted(plan.commands.length, 'command')}, ${counted(plan.buffers.length, 'buffer')}, ${counted(plan.kernels.length, 'kernel')}, ${counted(plan.uniformBlock.byteLength, 'byte')} of uniforms`,
  ]
  for (const [index, buffer] of plan.buffers.entries()) {
    const where = buffer.kind === 'device' ? `device ${buffer.device}` : 'host'
    lines.push(`b${index} ${where} ${buffer.byteLength} "${buffer.label}"`)
  }
  for (const command of plan.commands) {
    const order = [
      command.after.length > 0 ? ` after ${command.after.join(' ')}` : '',
      command.afterPrevious.length > 0 ? ` after previous ${command.afterPrevious.join(' ')}` : '',
    ]
    lines.push(`${command.index} d${command.device} ${describe(plan, command)}${order.join('')}`)
  }
  return lines.join('\n')
}

function describe(plan: Plan<Handles, PlanPart>, command: PlanPart): string {
  const { kind, label } = command
  switch (command.kind) {
    case 'dispatch': {
      const kernel = plan.kernels[command.kernel]!.label
      const name = kernel === label ? `"${label}"` : `"${label}" (${kernel})`
      const bindings = command.bindings.flatMap((binding) => {
        if (binding.kind === 'uniform') return []
        const use = `${binding.reads ? 'r' : ''}${binding.writes ? 'w' : ''}`
        return [` ${binding.name}:${use || '-'} ${region(binding.view)}`]
      })
      return `${kind} ${name} ${command.workgroups.join('x')}${bindings.join('')}`
    }
    case 'copy':
    case 'upload':
    case 'download':
      return `${kind} "${label}" ${region(command.source)} -> ${region(command.target)}`
    case 'send':
    case 'receive': {
      const bytes = command.region === undefined ? '' : ` ${region(command.region)}`
      return `${kind} "${label}"${bytes} ${kind === 'send' ? 'to' : 'from'} rank ${command.peer}, message ${command.ordinal}`
    }
    case 'fill':
      return `${kind} "${label}" ${region(command.target)} = 0x${command.pattern.toString(16).padStart(command.patternByteLength * 2, '0')}`
  }
}

/** `b0[64..128)` for contiguous bytes, `b0[64..1000 16/128 x8)` for 8 rows of 16 bytes, 128 apart. */
function region(r: ByteRegion): string {
  const rows = r.rows === 1 ? '' : ` ${r.rowByteLength}/${r.rowByteStride} x${r.rows}`
  return `b${r.buffer}[${r.byteOffset}..${regionEnd(r)}${rows})`
}
