import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens, lengthWithinTokens } from '#core/estimate-tokens.ts'

/** With the tokens that gpt-tokenizer 4.0.0 counted with `o200k_base`. */
const TEXTS: readonly (readonly [what: string, tokens: number, text: string])[] = [
  ['English', 20, 'Use this skill when the user asks to create, edit or analyse documents, spreadsheets and presentations. '],
  ['German', 22, 'Verwenden Sie diese Fähigkeit, wenn der Benutzer darum bittet, Dokumente und Tabellen zu erstellen. '],
  ['Russian', 23, 'Используйте этот навык, когда пользователь просит создать или отредактировать документы и таблицы. '],
  ['Greek', 27, 'Χρησιμοποιήστε αυτή τη δεξιότητα όταν ο χρήστης ζητά να δημιουργήσει έγγραφα. '],
  ['Arabic', 21, 'استخدم هذه المهارة عندما يطلب المستخدم إنشاء المستندات أو تحريرها أو تحليلها. '],
  ['Hebrew', 26, 'השתמש במיומנות זו כאשר המשתמש מבקש ליצור, לערוך או לנתח מסמכים. '],
  ['Hindi', 29, 'जब उपयोगकर्ता दस्तावेज़ों को बनाने या संपादित करने के लिए कहे, तब इस कौशल का उपयोग करें। '],
  ['Thai', 23, 'ใช้ทักษะนี้เมื่อผู้ใช้ขอให้สร้าง แก้ไข หรือวิเคราะห์เอกสาร '],
  ['Korean', 34, '사용자가 문서, 스프레드시트 및 프레젠테이션을 작성, 편집 또는 분석하도록 요청할 때 이 기술을 사용하십시오. '],
  ['Chinese', 25, '当用户要求创建、编辑或分析文档、电子表格和演示文稿时，请使用此技能。'],
  ['Japanese', 37, 'ユーザーが文書や表計算、プレゼンテーションの作成、編集、分析を求めたときに、このスキルを使います。'],
  ['Tibetan', 82, 'བོད་ཡིག་གི་ཡིག་ཆ་བཟོ་བ་དང་རྩོམ་སྒྲིག་བྱེད་པར་སྤྱོད་པ།'],
  ['Amharic', 69, 'ተጠቃሚው ሰነዶችን ለመፍጠር ሲጠይቅ ይህን ክህሎት ይጠቀሙ። '],
  ['emoji', 31, '🎻🎉🚀🔥👍🏽👨‍👩‍👧‍👦🇩🇪✨🧪📦'],
  ['JSON', 38, '{"name":"pdf","version":"1.0.0","files":["SKILL.md","scripts/fill-form.py"],"dependencies":{"pypdf":"5.1.0"}}'],
  [
    'Python',
    51,
    'def fill_form(path: str, values: dict[str, str]) -> None:\n    """Fill the fields of a form."""\n    reader = PdfReader(path)\n    for page in reader.pages:\n        writer.update_page_form_field_values(page, values)\n',
  ],
  [
    'Markdown',
    49,
    '# Fill a form\n\n1. Read `references/fields.md`.\n2. Run `python scripts/fill-form.py <file>`.\n\n| Field | Meaning |\n|---|---|\n| `name` | the name of the person |\n',
  ],
  ['a digest', 18, '5f4dcc3b5aa765d61d8327deb882cf99'],
  ['a path', 14, 'plugins/python-development/skills/async-python-patterns/SKILL.md'],
]

test.each(TEXTS)('%s of %d tokens is estimated to within a fourth', (_, tokens, text) => {
  expect(Math.abs(estimateTokens(text) - tokens) / tokens).toBeLessThan(0.25)
})

test('an empty text has no tokens', () => {
  expect(estimateTokens('')).toBe(0)
})

test('half a megabyte without a space is estimated at once', () => {
  expect(estimateTokens('a'.repeat(500_000))).toBeGreaterThan(50_000)
})

describe('the length within a number of tokens', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.constantFrom(...TEXTS.map(([, , one]) => one)))

  test('is the longest that has no more', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 40 }), (given, limit) => {
        const length = lengthWithinTokens(given, limit)
        expect(estimateTokens(given.slice(0, length))).toBeLessThanOrEqual(limit)
        if (length < given.length) expect(estimateTokens(given.slice(0, length + 1))).toBeGreaterThanOrEqual(limit)
      }),
    )
  })
})
