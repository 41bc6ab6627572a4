/** Files that coding agents read before any skill, by their paths in a folder, in the order in which answers list them. */
export const READ_FIRST = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.github/copilot-instructions.md'] as const
