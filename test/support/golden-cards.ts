import { type CardModel, cleanDescription, cleanTitle } from '#api/pictures/card.ts'
import { docsCard } from '#api/pictures/card-of.ts'
import { factsIn } from '#api/pictures/card-words.ts'

const ADDRESS = { host: 'gh', owner: 'acme', repository: 'handbook', ref: null, path: '' } as CardModel['address']
const FACTS = { skills: 12, documents: 34, verified: false, license: 'Apache-2.0' }

function card(lang: string, title: string, description: string | null, more: Partial<CardModel> = {}): CardModel {
  return {
    lang,
    factsLang: lang,
    address: ADDRESS,
    place: null,
    title: cleanTitle(title),
    description: cleanDescription(description),
    plainTitle: 'handbook',
    facts: factsIn(lang, FACTS),
    ...more,
  }
}

const at = (more: Partial<NonNullable<CardModel['address']>>) => ({ ...ADDRESS, ...more }) as CardModel['address']

/** Cards in the scripts and states that golden files show. */
export const GOLDEN_CARDS: Readonly<Record<string, CardModel>> = {
  latin: card(
    'de',
    'Handbuch für Maßarbeit',
    'Wie wir arbeiten: Regeln, Skills und was ein Agent wissen muss, bevor er etwas ändert. Größe, Übung, Ärger; Łódź, naïve café, Ångström.',
  ),
  cyrillic: card(
    'ru',
    'Справочник разработчика',
    'Как мы работаем: правила, навыки и документы, которые получает агент. Съешь ещё этих мягких французских булок; їжак, ґанок.',
  ),
  greek: card(
    'el',
    'Εγχειρίδιο εργασίας',
    'Πώς δουλεύουμε: κανόνες, δεξιότητες και έγγραφα που λαμβάνει ο πράκτορας. ᾳ ῇ ὦ: και πολυτονικά.',
  ),
  chinese: card('zh', '工作手册', '我们如何工作：智能体在修改任何代码之前必须了解的规则、技能和文档。骨、直、海、角、化。'),
  japanese: card(
    'ja',
    '作業の手引き',
    '私たちの働き方：エージェントがコードに触れる前に受け取る規則、スキル、文書。骨、直、海、角、化。',
  ),
  korean: card('ko', '작업 안내서', '우리가 일하는 방식: 에이전트가 코드를 바꾸기 전에 받는 규칙, 스킬, 문서.'),
  arabic: card(
    'ar',
    'دليل العمل',
    'كيف نعمل: القواعد والمهارات والوثائق التي يتسلّمها الوكيل (PDF وDOCX) قبل أن يغيّر شيئًا؛ مُشَكَّلٌ أيضًا.',
  ),
  hebrew: card(
    'he',
    'מדריך העבודה',
    'איך אנחנו עובדים: כללים, מיומנויות ומסמכים (PDF, DOCX) שסוכן מקבל לפני שהוא משנה משהו. גם שָׁלוֹם מנוקד.',
  ),
  devanagari: card(
    'hi',
    'कार्य पुस्तिका',
    'हम कैसे काम करते हैं: नियम, कौशल और दस्तावेज़ जो किसी एजेंट को कुछ बदलने से पहले मिलते हैं। क्षत्रिय, श्रृंखला, हिन्दी।',
  ),
  thai: card(
    'th',
    'คู่มือการทำงานร่วมกันของทีมพัฒนาซอฟต์แวร์และตัวแทน',
    'วิธีที่เราทำงาน: กฎเกณฑ์ทักษะและเอกสารที่ตัวแทนต้องปฏิบัติตามก่อนที่จะเปลี่ยนแปลงสิ่งใดในคลังเก็บโค้ดรวมถึงทักษะที่เกี่ยวข้องทั้งหมด น้ำ ที่ ผู้ใหญ่',
  ),
  vietnamese: card(
    'en',
    'Sổ tay làm việc',
    'Cách chúng tôi làm việc: quy tắc, kỹ năng và tài liệu mà tác nhân nhận được trước khi thay đổi bất cứ điều gì.',
  ),
  emoji: card(
    'en',
    'Ship it 🚀 safely',
    'Families 👨‍👩‍👧‍👦, skin tones 👍🏽, flags 🇩🇪🏴󠁧󠁢󠁳󠁣󠁴󠁿, keycaps 3️⃣, hearts ❤️ ❤️‍🔥, symbols ☎︎ ✔ ⚠ ☃, signs © ™ → ↔.',
  ),
  hangul: card('en', 'Skills of a class 한국어', 'An English text with Hangul 대한민국 뷁, and without a language of its own.', {
    lang: null,
    address: at({ ref: '기능/x', path: '문서/ไทย/ბ' as never }),
  }),
  mixed: card(
    'en',
    'PDF, 文書 и שלום',
    'English, русский, ελληνικά, 中文と日本語, 한국어, עברית (RTL) and العربية, हिन्दी, ไทย 🎉 in the same paragraph.',
  ),
  long: card(
    'en',
    `A name ${'that goes on and '.repeat(12)}on`,
    `${'A description that says far more than a card can show. '.repeat(12)}`,
    {
      address: at({
        owner: 'o'.repeat(39),
        repository: 'r'.repeat(100),
        ref: `feature/${'f'.repeat(120)}`,
        path: `${'folder/'.repeat(20)}end` as never,
      }),
    },
  ),
  unbroken: card('en', 'W'.repeat(150), 'x'.repeat(500), { address: at({ ref: 'release/2026', path: 'skills/pdf' as never }) }),
  hostile: card(
    'en',
    '<script>alert(1)</script> & "quotes" %{x} {{y}}',
    'Left \u202egnirts\u202c right, z\u0351\u036b\u0343\u0343\u0359a\u0351\u036b\u0343l\u0351\u036b\u0343\u0343g\u0351\u036b\u0343o, zero\u200bwidth, \u0007bell, \ud800 half, \ue000 private, \u{e0041}tags, </svg><img src=x onerror=alert(1)>.',
  ),
  tibetan: card('en', 'བོད་སྐད', 'བོད་ཀྱི་སྐད་ཡིག། A script without a font: the name of the repository takes its place.'),
  indexing: card('en', 'handbook', 'What the git host says of the repository.', { lang: null, facts: [] }),
  bare: card('en', 'handbook', null, { lang: null, facts: [] }),
  verified: card('en', 'Handbook', 'How we work.', {
    facts: factsIn('en', { ...FACTS, verified: true }),
    address: at({ ref: 'v1.2.0', path: 'skills' as never }),
  }),
  docs: docsCard({ lang: 'en', path: '/docs/write-a-skill', title: 'Skills that arrive whole', section: 'Write skills' }),
}
