/** Weights, shares and closeness are integers: so many of them are one whole. All arithmetic of a score is exact on every machine. */
export const FULL = 1024
