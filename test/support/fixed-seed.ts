import fc from 'fast-check'

/** Of every property, so that a run of the tests fails for what was changed, not for what chance tried. */
const FIXED = 20_260_101

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOf(process.env.MOUNTGLASS_TEST_SEED) })

/** @param given `MOUNTGLASS_TEST_SEED`: a number, or `random` for another one in each file */
function seedOf(given = String(FIXED)): number {
  if (given === 'random') {
    const seed = Math.trunc(Math.random() * 0x7fff_ffff)
    process.stdout.write(`properties with MOUNTGLASS_TEST_SEED=${seed}\n`)
    return seed
  }
  if (/^-?\d{1,10}$/.test(given)) return Number(given)
  throw new Error(`MOUNTGLASS_TEST_SEED: ${given} is neither a number nor random`)
}
