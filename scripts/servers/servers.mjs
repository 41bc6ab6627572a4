import { postgresServer } from './postgres.mjs'
import { s3Server } from './s3.mjs'

/** The servers that the tests use, by name. Another one is a module beside this and a line here. */
export const SERVERS = { postgres: postgresServer, s3: s3Server }
