import type { CHANGE_FACTS as EN_CHANGE_FACTS } from '../en/change-facts.ts'

/** What a reviewer looks for in a comparison. */
export const CHANGE_FACTS: typeof EN_CHANGE_FACTS = {
  hidden: 'neue unsichtbare Zeichen: {codePoint} ×{count} in {path}, Zeile {line}',
  host: 'neuer Host in Links: {host}, in {path}, Zeile {line}',
  command: 'neuer Befehl: {command}, in {path}, Zeile {line}',
  description: 'Beschreibung: {before} → {after}',
  more: 'es kann mehr geben, als eine Grenze zu nennen erlaubt: {kinds}',
  executable: 'neue ausführbare Datei: {path}',
  allowedTools: 'allowed-tools: {before} → {after}',
  opened: 'die Lizenz erlaubt jetzt eine Kopie',
  closed: 'die Lizenz erlaubt keine Kopie mehr',
}
