/** For a job process whose parent opened no drivers. */
export const NO_HANDOVER = JSON.stringify({ buckets: { store: null, privateStore: null }, gitHub: null })
