/** The inks of the pages (`site/styles/tokens.css`), in the light scheme: rules are red, skills black, included files blue. */
export const PAPER = '#fbf8f1'
export const INK = '#1f1b16'
export const MUTE = '#5d554b'
export const LINE = '#ddd5c6'
export const RUBRIC = '#a8231b'
export const SLATE = '#1f5673'
export const SLATE_WASH = '#e2edf3'
