import { describe, expect, test } from 'vitest'
import { parseAddress } from '#core/address.ts'
import { resolveLink } from '#site/lib/links.ts'
import { renderMarkdown } from '#site/lib/render-markdown.ts'
import { ENGLISH } from '#site/lib/ui.ts'
import { dangersOf, textOf } from './support/html.ts'

const render = (source: string) => renderMarkdown(source, { t: ENGLISH.t, idPrefix: 't-', resolveLink: href => href })

describe('untrusted Markdown', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '[x](javascript:alert(1))',
    '[x](JAVASCRIPT:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](java\nscript:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:x)',
    '[x](//evil.example)',
    '[x](https://a.example "\\" onmouseover=alert(1) x=\\"")',
    '![x](https://evil.example/pixel.png)',
    '![x](data:image/svg+xml,<svg onload=alert(1)>)',
    '<javascript:alert(1)>',
    '[x]: javascript:alert(1)\n\n[x]',
    '```"><script>\nalert(1)\n```',
    '# <script>alert(1)</script>" onclick="x',
    '|<b onclick=x>|\n|:-:|\n|<i style=x>|',
    '<!-- comment --><style>*{}</style>',
    '[x](<javascript:alert(1)>)',
  ])('%j runs and loads nothing', source => {
    const html = render(source)
    expect(dangersOf(html)).toEqual([])
    expect(html).not.toMatch(/href="(?:javascript|data|vbscript|\/\/)/i)
  })

  test('v5.0.0-3.2.2: raw HTML is shown as the text an agent reads', () => {
    expect(render('<b>bold</b>')).toBe('<p>&#60;b&#62;bold&#60;/b&#62;</p>\n')
  })

  test('links open nothing of ours and pass no rank', () => {
    expect(render('[x](https://a.example/?a=1&b=2)')).toBe(
      '<p><a href="https://a.example/?a=1&#38;b=2" rel="nofollow ugc noopener">x</a></p>\n',
    )
    expect(render('<mailto:a@b.example>')).toContain('href="mailto:a@b.example"')
  })

  test('a link that leads nowhere keeps its words', () => {
    expect(renderMarkdown('[*x*](y.md) z', { t: ENGLISH.t, idPrefix: '', resolveLink: () => null })).toBe('<p><em>x</em> z</p>\n')
  })

  test('a footnote is a link to its words at the end', () => {
    const html = render('Text[^a] and [one][^a].\n\n[^a]: Word\n')
    expect(html).toContain('Text<sup class="footnote-ref"><a href="#fn-t-1" id="fnref-t-1">[1]</a></sup>')
    expect(html).toContain('<li id="fn-t-1" class="footnote-item"><p>Word <a href="#fnref-t-1" aria-label="back to 1">')
    expect(render('[one]\n\n[one]: a.md\n')).toContain('href="a.md"')
  })

  test('a footnote without a reference, or with a duplicate name, is shown', () => {
    const html = render(
      'Text[^a].\n\n[^b]: Unused\n\n[^a]: First\n\n[^a]: Second\n\n[^__proto__]: Odd\n\n[^c]: Outer\n\n    [^d]: Inner\n',
    )
    for (const words of ['Unused', 'First', 'Second', 'Odd', 'Outer', '[^d]: Inner']) expect(html).toContain(`<p>${words}`)
    expect(html.match(/class="footnote-item"/g)?.length).toBe(5)
  })

  test('tasks have boxes', () => {
    const html = render('- [ ] one\n- [x] *two*\n- [ ]three\n')
    expect(html).toContain('<li><span class="task" role="img" aria-label="to do">☐</span> one</li>')
    expect(html).toContain('aria-label="done">☑</span> <em>two</em></li>')
    expect(html).toContain('<li>[ ]three</li>')
  })

  test('fenced code is highlighted', () => {
    expect(render('```ts title="<x>"\nconst a = "<b>"\n```')).toBe(
      '<pre tabindex="0"><code><span class="hljs-keyword">const</span> a = <span class="hljs-string">&quot;&lt;b&gt;&quot;</span>\n</code></pre>\n',
    )
  })

  test('headings go below those of the page, with ids of their own that do not repeat', () => {
    const html = render('# A b\n# A b\n###### C')
    expect(html.match(/<h\d id="[^"]*">/g)).toEqual(['<h3 id="t-a-b">', '<h3 id="t-a-b-1">', '<h6 id="t-c">'])
    expect(html).toContain('A b <a class="anchor" href="#t-a-b-1" aria-hidden="true" tabindex="-1">#</a></h3>')
  })

  test('images are named and not loaded', () => {
    expect(render('![a "b" <c>](https://a.example/b.png)')).toBe(
      '<p><span class="image-name">image: a &#34;b&#34; &#60;c&#62;</span></p>\n',
    )
  })

  test('aligned tables carry classes instead of styles', () => {
    const html = render('|a|b|c|\n|:-|:-:|-:|\n|1|2|3|')
    expect(html).not.toContain('style=')
    expect(html).toContain('<th class="align-left">a</th>')
    expect(html).toContain('<td class="align-right">3</td>')
  })

  test('hidden characters are marked in words, code and blocks', () => {
    const html = render('a\u202eb `c\u200bd`\n\n```\ne\u{e0041}f\n```')
    expect(html.match(/data-code="[^"]*"/g)).toEqual(['data-code="U+202E"', 'data-code="U+200B"', 'data-code="U+E0041"'])
  })

  test('front matter is shown as its lines', () => {
    const html = render('---\ntitle: <x>\n---\n# A\n')
    expect(textOf(html)).toMatch(/^--- title: <x> --- A/)
    expect(render('---\n\nA rule above.\n')).toBe('<hr>\n<p>A rule above.</p>\n')
  })

  test('hostile nesting ends in time', () => {
    for (const source of [
      '['.repeat(16_000),
      '*a '.repeat(8_000),
      '> '.repeat(8_000),
      '![['.repeat(5_000),
      '`'.repeat(16_000),
      '- '.repeat(8_000),
    ]) {
      expect(render(source).length).toBeGreaterThan(0)
    }
  })
})

describe('links inside repository Markdown', () => {
  const mount = parseAddress('/local/acme/tools@v1/docs', ['local'])
  const at = (href: string) => resolveLink(mount, 'docs/guide/start.md', href, 't-')

  test.each([
    ['https://a.example/x', 'https://a.example/x'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['next.md', '/local/acme/tools@v1/docs?view=file&path=docs/guide/next.md'],
    ['./next.md#part', '/local/acme/tools@v1/docs?view=file&path=docs/guide/next.md'],
    ['../c%2B%2B.md', '/local/acme/tools@v1/docs?view=file&path=docs/c%2B%2B.md'],
    ['%255Bboop%255D.html', '/local/acme/tools@v1/docs?view=file&path=docs/guide/%255Bboop%255D.html'],
    ['a%20b.txt', '/local/acme/tools@v1/docs?view=file&path=docs/guide/a%20b.txt'],
    ['/docs/x.py?plain=1', '/local/acme/tools@v1/docs?view=file&path=docs/x.py'],
    ['../pdf/SKILL.md', '/local/acme/tools@v1/docs?view=skill&path=docs/pdf/SKILL.md'],
    ['../images/', '/local/acme/tools@v1/docs?view=browse&path=docs/images'],
    ['../../src/a.ts', '/local/acme/tools@v1?view=file&path=src/a.ts'],
    ['/', '/local/acme/tools@v1?view=browse'],
    ['#part', '#t-part'],
    ['../../../outside.md', null],
    ['a%2Fb/../..%2F..%2Fx', null],
    ['%ZZ.md', null],
    ['#', null],
    ['javascript:alert(1)', null],
    ['ftp://a.example', null],
    ['//a.example', null],
  ])('%s leads to %s', (href, page) => {
    expect(at(href)).toBe(page)
  })
})
