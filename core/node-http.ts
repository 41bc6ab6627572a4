/**
 * `node:http`, without what an `import` of it costs: that reads every export, and for those of its web sockets loads the client behind `fetch`.
 * It took 70 ms of the processor in each process, of which most never call `fetch`.
 */
export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')
