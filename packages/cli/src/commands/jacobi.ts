import { type JacobiReport, jacobi } from '@tandem-gpu/algorithms'
import { Command } from 'commander'
import type { CommandContext } from '../program.ts'

export function jacobiCommand(context: CommandContext): Command {
  return new Command('jacobi').description('')
}
