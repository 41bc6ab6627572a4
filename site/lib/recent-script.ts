import { createHash } from 'node:crypto'

/**
 * Fills the list of addresses that were opened in this browser, which `PageScript` keeps: the list is the element before the script. It runs
 * while the page is parsed, so that nothing below the list is painted before and moves. Another tab that signs out empties it, too.
 */
export const RECENT_SCRIPT = `(()=>{const k="recent-addresses",b=document.currentScript.previousElementSibling,l=b.querySelector("ul");function w(a){const e=a.slice(1);try{const t=decodeURI(e);return/[\\p{C}\\p{Zl}\\p{Zp}]/u.test(t)?e:t}catch{return e}}function d(){let a=[];try{const s=JSON.parse(localStorage.getItem(k)||"[]");if(Array.isArray(s))a=s.filter(o=>typeof o==="string"&&/^\\/[a-z]+\\/[^/]/.test(o))}catch{}l.replaceChildren(...a.map(o=>{const i=document.createElement("li"),h=document.createElement("a");h.href=o;h.dir="ltr";h.className="address";h.textContent=w(o);i.append(h);return i}));b.hidden=a.length===0}d();addEventListener("storage",d);addEventListener("pageshow",e=>e.persisted&&d());b.querySelector("button").addEventListener("click",()=>{try{localStorage.removeItem(k)}catch{}d()})})()`

/** What the policy of the page names, so that this script may run. */
export const RECENT_SCRIPT_HASH = `sha256-${createHash('sha256').update(RECENT_SCRIPT).digest('base64')}` as const
