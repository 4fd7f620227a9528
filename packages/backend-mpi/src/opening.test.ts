import { expect, it } from 'vitest'
import { MutualWaits } from './mutual-waits.ts'
import { Opening } from './opening.ts'

it('leaves nothing behind of an opening that is over', async () => {
  const waits = new MutualWaits(0)
  const opening = new Opening(
    {
      gatherIn: (group, key, _, what) => waits.call(group, key, what, Promise.resolve([])),
      forget: (group) => waits.forget(group),
    },
    1,
  )
  await opening.gatherAdapters('adapters')
  const group = opening.beginGroup()
  await group.gather('opens')
  group.end()
  void waits.call(7, 3, 'waits', new Promise(() => {}))
  expect(waits.report()!.called).toEqual([[7, 3]])
})
