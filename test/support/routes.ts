import type { FastifyInstance } from 'fastify'

/** A line of `printRoutes`: four characters for each level, then the rest of the path and its methods. */
const LINE = /^((?:[ │] {3})*)[├└]── (.*) \(([A-Z, ]+)\)$/
/** Files that the build made, whose names change with it. */
const BUILT = /^\/(?:_a|pagefind)\/|\.(?:gz|br)$/

export interface Route {
  /** As the router has it: `~` stands for an address, or for what else a route takes raw. */
  path: string
  methods: readonly string[]
}

/** Every route of a service as its router has it, without the files of the build. */
export function routesOf(app: FastifyInstance): Route[] {
  const above: string[] = []
  const printed = app.printRoutes({ commonPrefix: false }).trimEnd().split('\n')
  const routes = printed.map(line => {
    const [, indent = '', rest = '', methods = ''] = LINE.exec(line) ?? []
    if (methods === '') throw new Error(`no route: ${line}`)
    const depth = indent.length / 4
    // The first line is the route `/`, below which all others begin.
    const path = depth === 0 ? rest : `${depth === 1 ? '/' : above[depth - 1]}${rest}`
    above[depth] = path
    return { path, methods: methods.split(', ').sort() }
  })
  return routes.filter(({ path }) => !BUILT.test(path))
}
