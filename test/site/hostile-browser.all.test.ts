// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the words are hostile to templates, too
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browsePage, filePage, readyMount, skillPage, whole } from './support/answers.ts'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { openSite, type Site } from './support/site.ts'

/** Each runs `alert`, asks evil.example for something, or breaks out of its place, where a page is careless. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '<ScRiPt src=https://evil.example/x.js></ScRiPt>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://evil.example/p.png">',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  '<svg><use href="https://evil.example/x.svg#a"/></svg>',
  '<svg><foreignObject><iframe src=javascript:alert(1)></foreignObject></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>',
  '<object data="https://evil.example/x.swf"></object>',
  '<embed src="https://evil.example/x">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<style>@import url(https://evil.example/x.css); body{background:url(https://evil.example/y)}</style>',
  '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content="0; url=https://evil.example/">',
  '<form action=https://evil.example/><button autofocus onfocus=alert(1)>x</button></form>',
  '<video src=https://evil.example/v.mp4 autoplay onerror=alert(1)></video>',
  '<audio src=https://evil.example/a.mp3 autoplay></audio>',
  '<details open ontoggle=alert(1)>x</details>',
  '<body onload=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  '<marquee onstart=alert(1)>x</marquee>',
  '<template><script>alert(1)</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '</pre></code></div></main><script>alert(1)</script>',
  '</title></head><script>alert(1)</script>',
  '</textarea><script>alert(1)</script>',
  '--><script>alert(1)</script><!--',
  '<!--[if true]><script>alert(1)</script><![endif]-->',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<?xml version="1.0"?><x xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></x>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java\tscript:alert(1))',
  '[x](&#x6a;avascript:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:msgbox(1))',
  '[x](//evil.example/x)',
  '[x](https://evil.example "x\\" onmouseover=alert(1) y=\\"")',
  '[x]: javascript:alert(1)\n\n[x]',
  '<javascript:alert(1)>',
  '<https://evil.example/onload=alert(1)>',
  '![x](https://evil.example/pixel.png)',
  '![x](data:image/svg+xml,<svg onload=alert(1)>)',
  '![x][y]\n\n[y]: https://evil.example/z.png',
  '[![x](https://evil.example/a.png)](javascript:alert(1))',
  '# <img src=x onerror=alert(1)>" onclick="alert(1)',
  '# x {onclick=alert(1)}',
  '```"><script>alert(1)</script>\ncode\n```',
  '```html\n<script>alert(1)</script>\n```',
  '~~~ts" onmouseover="alert(1)\nconst a = `${alert(1)}`\n~~~',
  '`<script>alert(1)</script>`',
  '|<img src=x onerror=alert(1)>|\n|:-:|\n|<svg onload=alert(1)>|',
  'x[^<script>]\n\n[^<script>]: <img src=x onerror=alert(1)>',
  'x[^"onload=alert(1)]\n\n[^"onload=alert(1)]: y',
  '- [x] <script>alert(1)</script>',
  '- [ ] [y](javascript:alert(1))',
  '---\nname: <script>alert(1)</script>\n---\n# x',
  '${alert(1)} {{alert(1)}} <%= alert(1) %> #{alert(1)}',
  "'-alert(1)-' \";alert(1)// `;alert(1)//",
  '\u2028<script>alert(1)</script>\u2029',
  '\u202e<tpircs>\u202d<script>alert(1)</script>',
  '\ufeff<script>alert(1)</script>',
  '<scr\0ipt>alert(1)</scr\0ipt>',
  '＜script＞alert(1)＜/script＞',
  '<a href="jav&#x09;ascript:alert(1)">x</a>',
  '<a ping=https://evil.example/ href=https://evil.example/>x</a>',
]

describe.skipIf(!hasBrowser)('hostile words in a browser', () => {
  let browser: Browser
  let site: Site
  let words = ''

  beforeAll(async () => {
    const named = () => ({
      path: 'a/SKILL.md',
      directory: 'a',
      name: words,
      description: words,
      warnings: [{ code: 'x.y', level: 'breaks' as const, message: words }],
      translations: {},
    })
    const license = () => ({ kind: 'open' as const, name: words, source: words })
    site = await openSite({
      mounts: () =>
        readyMount({
          skills: [{ ...named(), license: license() }],
          documents: [{ path: words, title: words, summary: words }],
          license: license(),
          diagnostics: [{ code: 'x.y', severity: 'error', path: words, message: words }],
        }),
      browse: () =>
        browsePage({
          overview: { path: 'README.md', title: words, description: words },
          entries: [{ path: words.replaceAll('/', ''), kind: 'file', size: 1, title: words }],
        }),
      files: ({ query }) => filePage({ path: query.get('path') ?? '', content: words }),
      skills: () =>
        skillPage({
          ...named(),
          body: words,
          bodyFragment: whole(words),
          ruleChain: [{ path: words, content: words, fragment: whole(words) }],
          includes: [{ path: 'x.svg', content: words, fragment: whole(words) }],
          frontMatter: { compatibility: words },
          references: [words],
        }),
    })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  test('there are enough of them', () => expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(60))

  test.each([
    '',
    '?view=browse',
    '?view=skill&path=a/SKILL.md',
    '?view=file&path=a.md',
    '?view=file&path=a.html',
    '?view=findings',
    '?view=find',
  ])('run nothing, load nothing and break no policy on the page%s', async view => {
    const context = await browser.newContext()
    const faults: string[] = []
    const page = await context.newPage()
    page.on('dialog', dialog => {
      faults.push(`${words}: a dialog`)
      void dialog.dismiss()
    })
    page.on('console', message => message.type() === 'error' && faults.push(`${words}: ${message.text()}`))
    page.on('pageerror', error => faults.push(`${words}: ${error.message}`))
    page.on(
      'request',
      request => !request.url().startsWith(`${site.origin}/`) && faults.push(`${words}: asks for ${request.url()}`),
    )
    // The frame has pictures of its own: the same ones for every text.
    const elements = async (text: string) => {
      words = text
      await page.goto(`${site.origin}/local/acme/tools${view}`)
      return page.evaluate<string[]>(
        '[...document.querySelectorAll(\'main :is(script, img, svg, iframe, object, embed, style, base, form:not([action^="/local/"], [action="/open"]), video, [onclick], [onerror], [onload])\')].map(element => element.outerHTML)',
      )
    }
    const own = await elements('words')
    for (const text of HOSTILE) {
      const made = await elements(text)
      if (made.join() !== own.join()) faults.push(`${text}: ${made.join()}`)
    }
    await context.close()
    expect(faults).toEqual([])
  })
})
