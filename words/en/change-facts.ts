/** What a reviewer looks for in a comparison. */
export const CHANGE_FACTS = {
  hidden: 'new hidden characters: {codePoint} ×{count} in {path}, line {line}',
  host: 'new host in links: {host}, in {path}, line {line}',
  command: 'new command: {command}, in {path}, line {line}',
  description: 'description: {before} → {after}',
  more: 'there may be more than a limit lets tell: {kinds}',
  executable: 'new executable file: {path}',
  allowedTools: 'allowed-tools: {before} → {after}',
  opened: 'its license permits a copy now',
  closed: 'its license permits no copy any more',
}
