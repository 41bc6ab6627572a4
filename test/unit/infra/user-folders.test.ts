import { expect, test } from 'vitest'
import { cacheFolder, dataFolder } from '#infra/system/user-folders.ts'

const LOCAL = 'C:\\Users\\ada\\AppData\\Local'
const MAC = '/Users/ada/Library'

test.each<[NodeJS.Platform, NodeJS.ProcessEnv, string | null, string | null]>([
  ['linux', { HOME: '/home/ada' }, '/home/ada/.local/share/mountglass', '/home/ada/.cache/mountglass'],
  ['linux', { HOME: '/home/ada', XDG_DATA_HOME: '/d', XDG_CACHE_HOME: '/c/' }, '/d/mountglass', '/c/mountglass'],
  ['linux', { XDG_DATA_HOME: '/d' }, '/d/mountglass', null],
  [
    'linux',
    { HOME: '/home/ada', XDG_DATA_HOME: 'd', XDG_CACHE_HOME: './c' },
    '/home/ada/.local/share/mountglass',
    '/home/ada/.cache/mountglass',
  ],
  ['linux', { HOME: '/home/ada', XDG_DATA_HOME: '' }, '/home/ada/.local/share/mountglass', '/home/ada/.cache/mountglass'],
  ['linux', {}, null, null],
  ['linux', { HOME: 'ada' }, null, null],
  ['freebsd', { HOME: '/home/ada' }, '/home/ada/.local/share/mountglass', '/home/ada/.cache/mountglass'],
  ['darwin', { HOME: '/Users/ada' }, `${MAC}/Application Support/mountglass`, `${MAC}/Caches/mountglass`],
  ['darwin', { HOME: '/Users/ada', XDG_CACHE_HOME: '/c' }, `${MAC}/Application Support/mountglass`, '/c/mountglass'],
  ['win32', { LOCALAPPDATA: LOCAL, HOME: '/home/ada' }, `${LOCAL}\\mountglass-data`, `${LOCAL}\\mountglass`],
  ['win32', { USERPROFILE: 'C:\\Users\\ada' }, `${LOCAL}\\mountglass-data`, `${LOCAL}\\mountglass`],
  ['win32', {}, null, null],
])('on %s with %o data belongs into %s and the cache into %s', (platform, env, data, cache) => {
  expect([dataFolder(env, platform), cacheFolder(env, platform)]).toEqual([data, cache])
  // A user may remove the cache.
  for (const separator of ['/', '\\'])
    expect(`${data}${separator}`.startsWith(`${cache}${separator}`) && data !== null).toBe(false)
})
