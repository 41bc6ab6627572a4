/** The generator of clients in Perl that the tests of the OpenAPI description use: the one of the system. */
import { spawnSync } from 'node:child_process'

/** Whether Perl finds it. */
export function hasPerlClient() {
  return spawnSync('perl', ['-MOpenAPI::Client', '-e', '1'], { stdio: 'ignore' }).status === 0
}

/** @type {import('./system-packages.mjs').Wanted} */
export const PERL_CLIENT = {
  title: 'the OpenAPI client of Perl',
  packages: ['libopenapi-client-perl'],
  isThere: hasPerlClient,
  advice: 'the test of a client in Perl needs the package libopenapi-client-perl, or OpenAPI::Client from CPAN',
}
