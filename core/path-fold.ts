/** The same for paths that differ in upper and lower case or in Unicode normalization (NFC, NFD) alone: people and file systems confuse them. */
export function foldPath(path: string): string {
  return path.normalize().toLowerCase()
}
