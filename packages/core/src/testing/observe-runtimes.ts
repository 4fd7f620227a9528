import type { Backend } from '../backend/backend.ts'
import type { Link, LinkOf } from '../backend/links.ts'
import type { OpenedRuntime } from '../backend/runtime.ts'

/** The backend; `opened` is called with each runtime that it opens, those of its links too. */
export function observeRuntimes<R extends OpenedRuntime>(
  backend: Backend<R>,
  opened: (runtime: Pick<OpenedRuntime, 'run' | 'live' | 'dispose'>) => void,
): Backend<R> {
  const observed = <O extends Parameters<typeof opened>[0], A extends readonly unknown[]>(
    open: (...given: A) => Promise<O>,
  ) => {
    return async (...given: A): Promise<O> => {
      const runtime = await open(...given)
      opened(runtime)
      return runtime
    }
  }
  const linked = <K extends string, O extends Parameters<typeof opened>[0], P>(link: LinkOf<K, O, P>) => ({
    ...link,
    open: observed(link.open.bind(link)),
  })
  return {
    name: backend.name,
    adapters: () => backend.adapters(),
    open: observed(backend.open.bind(backend)),
    topology: backend.topology,
    links: backend.links?.map((link): Link => {
      if (link.plans === 'whole') return linked(link)
      return link.plans === 'parts' ? linked(link) : linked(link)
    }),
  }
}
