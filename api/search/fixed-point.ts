/** The number that means 1 in weights, shares and closeness, which are integers: scores are exact and the same on every machine. */
export const FULL = 1024
