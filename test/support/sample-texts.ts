/** Texts of the same meaning in many languages, each with the encodings in which it was written before UTF-8. */
export const letters: ReadonlyArray<{ readonly text: string; readonly encodings: readonly string[] }> = [
  {
    text: 'Книги выдаются на четыре недели. Если вам нужно больше времени, спросите у дежурного библиотекаря. По воскресеньям библиотека закрыта, а возвращённые книги можно оставить в ящике у входа.\n',
    encodings: ['koi8-r', 'windows-1251', 'iso-8859-5', 'ibm866'],
  },
  {
    text: 'Bücher werden für vier Wochen ausgeliehen. Wer länger braucht, fragt am Schalter; sonntags ist geschlossen. Zurückgegebene Bücher dürfen in den Kasten neben der Tür gelegt werden, auch größere.\n',
    encodings: ['windows-1252'],
  },
  {
    text: '本は四週間借りることができます。もっと長く必要な場合は、受付でお尋ねください。日曜日は休館です。返却する本は入口の横の箱に入れることもできます。\n',
    encodings: ['shift_jis', 'euc-jp'],
  },
  {
    text: '图书可以借四个星期。如果需要更长的时间，请在服务台询问。星期日图书馆关闭。归还的图书也可以放在门口旁边的箱子里。\n',
    encodings: ['gb18030'],
  },
  {
    text: '圖書可以借四個星期。如果需要更長的時間，請在服務台詢問。星期日圖書館關閉。歸還的圖書也可以放在門口旁邊的箱子裡。\n',
    encodings: ['big5'],
  },
  {
    text: '책은 네 주 동안 빌릴 수 있습니다. 더 오래 필요하시면 안내 데스크에 문의하십시오. 일요일에는 도서관이 문을 닫습니다. 반납하는 책은 입구 옆 상자에 넣어도 됩니다.\n',
    encodings: ['euc-kr'],
  },
];

/**
 * Returns the bytes of a text in an encoding that Node.js can only decode.
 * @throws for a character that the encoding lacks
 */
export function encode(text: string, encoding: string): Buffer {
  const table = encoderOf(encoding);
  return Buffer.concat(
    [...text].map((character) => {
      const bytes = table.get(character);
      if (bytes === undefined) throw new Error(`${encoding} has no ${character}`);
      return bytes;
    }),
  );
}

/** Returns the bytes of every character of one or two bytes, computed by decoding all of them. */
function encoderOf(encoding: string): Map<string, Buffer> {
  const decoder = new TextDecoder(encoding);
  const table = new Map<string, Buffer>();
  const keep = (...codes: number[]) => {
    const bytes = Buffer.from(codes);
    const character = decoder.decode(bytes);
    if ([...character].length === 1 && character !== '\ufffd' && !table.has(character)) table.set(character, bytes);
  };
  for (let code = 0; code < 256; code += 1) keep(code);
  for (let lead = 0x81; lead < 0xff; lead += 1) for (let trail = 0x40; trail < 0xff; trail += 1) keep(lead, trail);
  return table;
}

const subjects = ['The reader', 'A visitor', 'The desk', 'Every branch', 'The archive', 'A student', 'Nobody'];
const verbs = ['borrows', 'returns', 'describes', 'repairs', 'orders', 'lists', 'keeps', 'forgets'];
const objects = ['a handbook', 'four maps', 'the old catalogue', 'seven letters', 'a recording', 'the yearbook'];
const endings = [
  'before noon',
  'at the counter',
  'for a small fee',
  'without a card',
  'in the reading room',
  'by post',
];

/** Generates Markdown of about 12,000 tokens with headings, prose, lists and code. It is the same in every run. */
export function longHandbook(): string {
  let state = 7;
  const pick = (words: readonly string[]) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return words[Math.floor((state / 2 ** 32) * words.length)] ?? '';
  };
  const sentence = () => `${pick(subjects)} ${pick(verbs)} ${pick(objects)} ${pick(endings)}.`;
  const paragraph = () => Array.from({ length: 6 }, sentence).join(' ');
  const sections = Array.from({ length: 40 }, (_, at) =>
    [
      `${at % 5 === 0 ? '#' : '##'} Section ${at + 1}: ${pick(objects)}`,
      paragraph(),
      paragraph(),
      `- ${sentence()}\n- ${sentence()}`,
      at % 4 === 0 ? `\`\`\`\nlend(${at}, "${pick(objects)}")\nreturn ${at} + 1\n\`\`\`` : paragraph(),
    ].join('\n\n'),
  );
  return `${sections.join('\n\n')}\n`;
}

const questions: Readonly<Record<'en' | 'ar' | 'zh', readonly (readonly [question: string, answer: string])[]>> = {
  en: [
    ['How many weeks may a book be borrowed?', 'Four weeks.'],
    ['When is the reading room closed?', 'On Sundays, and on the first Monday of a month.'],
    ['Who repairs damaged maps?', 'The workshop in the basement, "for free".'],
  ],
  ar: [
    ['كم أسبوعا يمكن استعارة الكتاب؟', 'أربعة أسابيع.'],
    ['متى تكون قاعة القراءة مغلقة؟', 'أيام الأحد.'],
    ['من يصلح الخرائط التالفة؟', 'الورشة في الطابق السفلي.'],
  ],
  zh: [
    ['一本书可以借几个星期？', '四个星期。'],
    ['阅览室什么时候关闭？', '星期日。'],
    ['谁修理损坏的地图？', '地下室的工作坊。'],
  ],
};

/** Returns three hundred pairs: three with a meaning, the others numbered so that none is a duplicate. */
export function pairsIn(language: 'en' | 'ar' | 'zh'): ReadonlyArray<readonly [question: string, answer: string]> {
  const texts = questions[language];
  const more = Array.from({ length: 297 }, (_, at) => [`${at} № ${at * 7}?`, `= ${at * 11}`] as const);
  return [...texts, ...more];
}

/** Returns a CSV sheet with a header and quoted cells. */
export function csvOf(pairs: ReadonlyArray<readonly [string, string]>): string {
  return ['question,answer', ...pairs.map(quotedLine)].join('\r\n');
}

/** Returns quoted cells, with quotes in them doubled (RFC 4180). */
export function quotedLine(cells: readonly string[]): string {
  return cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
}
