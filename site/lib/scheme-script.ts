import { createHash } from 'node:crypto'

/**
 * Applies the colors that a person chose: `data-scheme` on the root, `light` or `dark`, without which a page follows the system. It stands in the
 * head and blocks it, so that no page is painted in the other colors first. Other tabs and pages that a browser brings back follow, too.
 */
export const SCHEME_SCRIPT = `(()=>{const k="color-scheme",r=document.documentElement;function a(){let s="";try{s=localStorage.getItem(k)||""}catch{}if(s==="light"||s==="dark")r.dataset.scheme=s;else delete r.dataset.scheme}a();addEventListener("storage",a);addEventListener("pageshow",e=>e.persisted&&a())})()`

/** What the policy of the page names, so that this script may run. */
export const SCHEME_SCRIPT_HASH = `sha256-${createHash('sha256').update(SCHEME_SCRIPT).digest('base64')}` as const
