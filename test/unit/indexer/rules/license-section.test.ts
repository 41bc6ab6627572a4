import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readLicenseSection } from '#indexer/rules/license/index.ts'

describe('the license section of a README', () => {
  test.each([
    ['# Tools\n\n## License\n\nMIT\n', 'MIT'],
    ['## License\n\nThis project is licensed under the [MIT License](LICENSE).', 'MIT'],
    ['## MIT License\n', 'MIT'],
    ['## License\n\nMIT © [Ada](https://example.com)', 'MIT'],
    ['Licence\n-------\n\nLicensed under the Apache License, Version 2.0.\n\n# Next\n\nGPL', 'Apache-2.0'],
    ['## License\n![License: MIT](https://img.shields.io/badge/License-MIT-yellow.svg)', 'MIT'],
    ['## Licence\nCreative Commons Attribution 4.0 International (CC BY 4.0)', 'CC-BY-4.0'],
    ['## License\r\n\r\nMIT\r\n', 'MIT'],
    [
      '## License\n\nThis project is licensed under the terms of the MIT license. See [LICENSE](LICENSE) for more details.',
      'MIT',
    ],
    ['## License\n\ncombined-stream is licensed under the MIT license.', 'MIT'],
    ['## License\n\ntools is MIT licensed.', 'MIT'],
    ['## License\n\nMIT - Feel free to modify and share!', 'MIT'],
    ['## License\n\nMIT (c) Jane Doe (<https://example.com>), see [LICENSE](LICENSE) file.', 'MIT'],
    ['## License\n\nMIT\n\n[ci]: https://example.com/ci/badge.svg\n', 'MIT'],
    ['## License\n\nMIT\n\n---\n\n*Built with care by the team*', 'MIT'],
  ])('%j names %s', (markdown, id) => {
    expect(readLicenseSection(markdown)).toBe(id)
  })

  test.each([
    '# Tools\n\nMIT',
    '## License\n\nApache 2.0. Individual skills may have different licenses',
    '## License\n\nMIT or Apache-2.0',
    '## License\n\nMIT\n\n### Images\n\nCC-BY-NC-4.0',
    '## License\n\nMIT, see the Llama license',
    '## License\n\nMIT. Not for commercial use',
    '## License\n\nMIT for each file',
    '## License\n\nMIT, third-party code is different',
    '## License\n\n[MIT](https://creativecommons.org/licenses/by-nc/4.0/)',
    '## License\n\nMIT，禁止商用',
    `## License\n\nMIT ${'word '.repeat(60)}`,
    '## License\n\nMIT. Ask Jane first.',
    '## License\n\nMIT for students',
    '## License\n\nMIT for Example Members',
    '## License\n\nMIT (src)',
    '## License\n\nMIT until 2030',
    '## License\n\nMIT from 2030 on',
    '## License\n\nSoon MIT',
    '## License\n\nMIT?',
    '## License\n\n~~MIT~~',
    '## License\n\nMIT. Hands Off.',
    '## License\n\nMIT. See TERMS.md',
    '## License\n\nMIT, see LEGAL.md for details',
    '## License\n\nMIT [^1]\n\n[^1]: ask first',
    '## License\n\nMIT: https://example.com/terms',
    '## License\n\nCopyright (c) 2026 Example. Hands off.\n\nMIT',
    '## License\n\nMIT\n\n## License of the images\n\nCC-BY-4.0',
    '## License\n\nMIT\n\n## Third-party licenses\n\nSee NOTICE',
    '```\n## License\nMIT\n```\n',
    '## License\n\nSee LICENSE.',
    '## License\n\nFair enough',
    '',
  ])('%j names none', markdown => {
    expect(readLicenseSection(markdown)).toBeNull()
  })

  test('any README gets an answer', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('# License', '---', '```', 'MIT', '## x'))), lines => {
        expect(typeof (readLicenseSection(lines.join('\n')) ?? '')).toBe('string')
      }),
    )
  })
})
