/** Compares names as people order them: `group-2` before `group-10`. */
export const naturally: (left: string, right: string) => number = new Intl.Collator('en', { numeric: true }).compare
