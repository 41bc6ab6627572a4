import { beforeAll, describe, expect, test } from 'vitest'
import { estimateTokens, inOneLine } from '#api/mcp/tokens.ts'
import { loadTokenizer, type Tokenizer } from '#indexer/pipeline/tokens.ts'

let tokenizer: Tokenizer
beforeAll(async () => {
  tokenizer = await loadTokenizer()
})

const SENTENCES = {
  English: 'Use this skill when the user asks to create, edit or analyse documents, spreadsheets and presentations. ',
  German: 'Verwenden Sie diese Fähigkeit, wenn der Benutzer darum bittet, Dokumente und Tabellen zu erstellen. ',
  Russian: 'Используйте этот навык, когда пользователь просит создать или отредактировать документы и таблицы. ',
  Greek: 'Χρησιμοποιήστε αυτή τη δεξιότητα όταν ο χρήστης ζητά να δημιουργήσει έγγραφα. ',
  Arabic: 'استخدم هذه المهارة عندما يطلب المستخدم إنشاء المستندات أو تحريرها أو تحليلها. ',
  Hebrew: 'השתמש במיומנות זו כאשר המשתמש מבקש ליצור, לערוך או לנתח מסמכים. ',
  Hindi: 'जब उपयोगकर्ता दस्तावेज़ों को बनाने या संपादित करने के लिए कहे, तब इस कौशल का उपयोग करें। ',
  Thai: 'ใช้ทักษะนี้เมื่อผู้ใช้ขอให้สร้าง แก้ไข หรือวิเคราะห์เอกสาร ',
  Korean: '사용자가 문서, 스프레드시트 및 프레젠테이션을 작성, 편집 또는 분석하도록 요청할 때 이 기술을 사용하십시오. ',
  Chinese: '当用户要求创建、编辑或分析文档、电子表格和演示文稿时，请使用此技能。',
  Japanese: 'ユーザーが文書や表計算、プレゼンテーションの作成、編集、分析を求めたときに、このスキルを使います。',
  Tibetan: 'བོད་ཡིག་གི་ཡིག་ཆ་བཟོ་བ་དང་རྩོམ་སྒྲིག་བྱེད་པར་སྤྱོད་པ།',
  Amharic: 'ተጠቃሚው ሰነዶችን ለመፍጠር ሲጠይቅ ይህን ክህሎት ይጠቀሙ። ',
  emoji: '🎻🎉🚀🔥👍🏽👨‍👩‍👧‍👦🇩🇪✨🧪📦',
} as const

test.each(Object.entries(SENTENCES))('a text in %s is cut to the tokens that it may take', (_, sentence) => {
  const text = sentence.repeat(20)
  const cut = inOneLine(text, 100)
  expect(tokenizer.count(cut)).toBeLessThanOrEqual(100)
  expect(tokenizer.count(cut)).toBeGreaterThan(35)
  expect(cut.endsWith('…')).toBe(true)
  expect(text.startsWith(cut.slice(0, -1))).toBe(true)
})

test('an estimate is not far below the tokens of a path', () => {
  for (const path of [
    'plugins/python-development/skills/async-python-patterns/SKILL.md',
    'skills/0xmevdad/openswarm-fight-club/skill.md',
  ])
    expect(estimateTokens(path) / tokenizer.count(path)).toBeGreaterThan(0.75)
})

describe('a line', () => {
  test('that fits stands as it is, with its white space joined', () => {
    expect(inOneLine('  One\n\ttwo. ', 10)).toBe('One two.')
  })

  test('is cut at a word', () => {
    expect(inOneLine('one two three four five six seven', 5)).toBe('one two three…')
  })

  test.each([
    ['an accent', 'e\u0301'],
    ['a family', '👨‍👩‍👧‍👦'],
    ['a skin tone', '👍🏽'],
    ['a flag', '🇩🇪'],
    ['a vowel sign', 'का'],
  ])('is not cut within a character with %s', (_, character) => {
    for (let tokens = 2; tokens < 40; tokens++) {
      const cut = inOneLine(character.repeat(100), tokens)
      expect(cut).toBe(`${character.repeat((cut.length - 1) / character.length)}…`)
    }
  })
})
