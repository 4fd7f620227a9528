import { createServer, type Server } from 'node:http'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { draw } from './mandelbrot.ts'

/** Answers `/?rows=48&columns=64&x=-0.6&y=0&width=3` with a picture as text, drawn on the server's GPU. */
export async function startServer(port = 0): Promise<Server> {
  const group = await openGroup({ backends: [webgpu()] })
  const server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const number = (name: string, fallback: number) => Number(searchParams.get(name) ?? fallback)
    const [rows, columns] = [number('rows', 24), number('columns', 64)]
    try {
      const counts = await draw(group, {
        rows,
        columns,
        center: [number('x', -0.6), number('y', 0)],
        width: number('width', 3),
      })
      response.setHeader('content-type', 'text/plain; charset=utf-8')
      response.end(picture(counts, columns))
    } catch (error) {
      response.writeHead(400).end((error as Error).message)
    }
  })
  server.on('close', () => void group.destroy())
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)))
}

function picture(counts: Uint32Array, columns: number): string {
  const shades = ' .:-=+*#%'
  let text = ''
  for (const [i, count] of counts.entries())
    text += shades[Math.floor(Math.log2(count + 1))]! + (i % columns === columns - 1 ? '\n' : '')
  return text
}
