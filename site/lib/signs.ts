/** Signs of fields, as paths of a square of 24. */

/** Of a field that searches what is here. */
export const SEARCH_SIGN = 'M4 10.5a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0m11.5 5 5 5'

/** Of the field that opens a repository. */
export const FOLDER_SIGN = 'M3 19V5h6l2.5 3H21v11z'
