import type { Skill } from '#core/contract/skill.ts'
import { isScriptPath } from './links.ts'

/** What of a list the first screen shows, and how many more there are. */
export interface Shown<Item> {
  items: Item[]
  more: number
}

/** What a person looks at before an agent uses a skill. */
export interface SkillRisk {
  /** Tools that the skill lets an agent use without asking. */
  tools: Shown<Tool>
  /** Files that can be run. */
  scripts: number
  hosts: Shown<NonNullable<Facts['hosts']>[number]>
  commands: Shown<NonNullable<Facts['commands']>[number]>
}

export interface Tool {
  name: string
  /** It runs programs, changes files, or reaches other machines. */
  isWide: boolean
}

type Facts = NonNullable<Skill['facts']>

/** Characters of all tools that are shown. */
const TOOLS_SHOWN = 56
const HOSTS_SHOWN = 2
const COMMANDS_SHOWN = 1

/** `null` where there is nothing to look at. */
export function riskOf({
  frontMatter,
  facts = {},
  files = [],
}: Pick<Skill, 'frontMatter' | 'facts' | 'files'>): SkillRisk | null {
  const tools = toolsOf(frontMatter['allowed-tools'])
  const { hosts = [], commands = [], executables = [] } = facts
  const scripts = new Set([...executables, ...files.filter(isScriptPath)]).size
  if (tools.length + scripts + hosts.length + commands.length === 0) return null
  // A script that a skill only links to is told by its line, too.
  return {
    tools: shownTools(tools),
    scripts,
    hosts: shown(hosts, HOSTS_SHOWN),
    commands: shown(commands, COMMANDS_SHOWN),
  }
}

function shown<Item>(items: readonly Item[], most: number): Shown<Item> {
  // One more takes no more room than its number.
  const count = items.length === most + 1 && most > 1 ? most + 1 : most
  return { items: items.slice(0, count), more: Math.max(0, items.length - count) }
}

function shownTools(tools: readonly Tool[]): Shown<Tool> {
  let left = TOOLS_SHOWN
  const end = tools.findIndex(({ name }, index) => {
    left -= name.length
    return index > 0 && left < 0
  })
  const items = tools.slice(0, end < 0 ? undefined : end)
  return { items, more: tools.length - items.length }
}

/** The tools of the field `allowed-tools`: a list, or words with commas or blanks between them. Those that can do most stand first. */
function toolsOf(value: Skill['frontMatter'][string] | undefined): Tool[] {
  const texts = typeof value === 'string' ? [value] : Array.isArray(value) ? value : []
  const names = texts.flatMap(text => text.match(TOOL) ?? [])
  const tools = [...new Set(names)].map(name => ({ name, isWide: WIDE.test(name) }))
  return tools.sort((left, right) => Number(right.isWide) - Number(left.isWide))
}

/** A name with what stands in parentheses behind it: `Bash(git commit *)` */
const TOOL = /[^\s,()]+(?:\([^()]*\))?/g

const WIDE = /^(?:\*|Bash|PowerShell|Execute|Shell|Write|Edit|MultiEdit|NotebookEdit|WebFetch)(?:$|\()/
