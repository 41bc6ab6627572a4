/** What is measured of: a repository below a folder. */
export interface Subject {
  root: string
  owner: string
  name: string
  /** Folder of a store that holds the snapshot of the repository. */
  store: string
  /** What is searched, an item a line. */
  itemsFile: string
  queriesFile: string
}
