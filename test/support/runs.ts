/** `npm test` tries each property with one in so many of the cases that `npm run test:all` tries. */
const SHARE = 8

/** How many cases a property is tried with in this run. @param all how many `npm run test:all` tries */
export function runs(all: number): number {
  return process.env.MOUNTGLASS_TEST_RUNS === 'all' ? all : Math.ceil(all / SHARE)
}
