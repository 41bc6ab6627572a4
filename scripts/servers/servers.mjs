import { postgresServer } from './postgres.mjs'
import { s3Server } from './s3.mjs'

/** The servers for the tests, by name. A new one is a module beside this file and a line here. */
export const SERVERS = { postgres: postgresServer, s3: s3Server }
