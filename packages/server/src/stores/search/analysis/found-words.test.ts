import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scoreUnits, weighTerms } from '../query/bm25.ts';
import { readWords } from '../segments/index-words.ts';
import { scorePosting } from '../segments/term-scorer.ts';
import { countWords, toTermFrequencies } from './chunk-terms.ts';
import { countFieldTerms } from './field-terms.ts';
import { foldLetters } from './fold.ts';
import { namedLanguages } from './languages.ts';
import { analyseQuestion, matchWords, toAskedWords } from './question-terms.ts';
import { looselyOf } from './term-kinds.ts';
import { addWords } from './tokenizer.ts';

const termsOf = (text: string) => toTermFrequencies(countWords(text));
const wordsOf = (question: string) =>
  analyseQuestion(toAskedWords(question, countWords(question)).folded, namedLanguages);

/** Returns the weight of the words of a question that a text has. */
function weightOf(question: string, text: string): number {
  const terms = termsOf(text);
  return wordsOf(question)
    .filter(({ terms: exact, loose }) => [...exact, ...loose].some((term) => terms.has(term)))
    .reduce((sum, { factor }) => sum + factor, 0);
}

test('two forms of one word in a question count once', () => {
  const countOf = (term: string) => (termsOf('fox').has(term) ? 1 : 0);
  const weigh = (words: ReturnType<typeof wordsOf>) => weighTerms(words, countOf, { chunks: 9, words: 90 });
  assert.deepEqual(weigh([...wordsOf('fox'), ...wordsOf('foxes')]), weigh(wordsOf('fox')));
});

/** A text, and questions that find it. */
type Case = readonly [text: string, ...questions: string[]];

const classes: Readonly<Record<string, readonly Case[]>> = {
  'joined by signs': [
    ['Status:approved by the board', 'approved', 'status', 'Status:approved'],
    ['The pump stopped.Then the valve opened.', 'stopped', 'then', 'valve'],
    ['2026-01-05 ERROR:connection lost', 'connection', 'error', 'ERROR:connection'],
    ['Read config_file.yaml first', 'config_file', 'config', 'file', 'yaml', 'config_file.yaml'],
    ['Call client.getUserName() now', 'getUserName', 'client', 'client.getUserName'],
    ["İstanbul'da ve Ankara’nın dışında", 'İstanbul', 'Ankara'],
    ['Delivery_note:paid.in_full', 'paid', 'in_full', 'full', 'note', 'delivery_note'],
    ['Merkel’s decision', 'Merkel', 'merkels decision'],
    ['สถานะ:อนุมัติ', 'อนุมัติ', 'สถานะ'],
    ['IMG_2024_holiday.final', 'holiday', '2024', 'IMG_2024_holiday'],
  ],
  'written as identifiers of shops': [
    ['SKU:AB-1234_XL in stock', 'AB-1234', '1234_XL', 'SKU', 'xl'],
    ['art.no:AB_12', 'AB_12', 'art.no', 'AB_12 art'],
    ['ORDER_2026_000123 was shipped', '000123', 'ORDER_2026_000123', 'order'],
    ['Model WH-1000XM4.Black', 'black', '1000XM4', 'WH-1000XM4'],
    ['size:M colour:dark_blue', 'dark', 'colour:dark_blue', 'size m'],
  ],
  'behind an elided article': [
    ["L'avion d'Air Inter décolle à midi.", 'avion', "l'avion", 'Air'],
    ["Manuel d'utilisation de l’appareil", 'appareil', 'utilisation'],
    [
      "Il contratto dell'assicurazione copre l'acqua e un'auto dell'azienda.",
      'acqua',
      'auto',
      'azienda',
      'assicurazione',
    ],
    ["L'Hospitalet i l'Hotel d'Escaldes", 'Hospitalet', 'hotel', 'Escaldes'],
    ["D'fhág sé b'fhéidir d'ól m'athair", 'fhág', 'fhéidir', 'athair'],
    ["Horaires d'ouverture: jusqu'à l'œuvre", 'ouverture', 'oeuvre', "d'ouverture"],
    ["Nell'immeuble qu'accueil sull'isola", 'immeuble', 'accueil', 'isola'],
    ["O'Brien don't like rock'n'roll at five o'clock", "O'Brien", 'Brien', "don't", "rock'n'roll", 'rock', "o'clock"],
  ],
  'in other letters': [
    ['Łódź city', 'Lodz', 'Łódź', 'ŁÓDŹ'],
    ['Øresund bridge', 'oresund', 'Øresund'],
    ['Ærø island', 'Aero', 'ærø'],
    ['Une œuvre', 'oeuvre', 'Œuvre'],
    ['Đorđe', 'Dorde'],
    ['Ħaż-Żebbuġ', 'haz', 'zebbug'],
    ['Þór and Guðrún', 'Thor', 'gudrun'],
    ['שָׁלוֹם', 'שלום'],
    ['サーバーを再起動', 'サーバ', 'サーバー'],
    ['کتاب ایران', 'كتاب', 'ايران'],
    ['می\u200cخواهم', 'میخواهم'],
    ['کتابخانه\u200cی دانشگاه', 'کتابخانه', 'کتابخانه\u200cی', 'کتابخانهی'],
    ['کتاب\u200cها', 'کتاب', 'کتابها'],
    ['Ŋgorongoro crater', 'Ngorongoro', 'Ŋgorongoro'],
    ['ʻokina', 'okina', 'ʻokina', 'ʼokina'],
    ['oʻzbek', "o'zbek", 'oʼzbek', 'o‘zbek'],
    ['ක්\u200dරිකට් තරගය', 'ක්\u200dරිකට්'],
    ['അവന്\u200d വന്നു', 'അവന്\u200d'],
    ['ex\u00adam\u00adple', 'example'],
    ['data\u2060base', 'database'],
    ['\ufeffdata\ufeffbase', 'database'],
    ['צה"ל הודיע', 'צה״ל', 'צה"ל'],
    ['צה״ל הודיע', 'צה"ל'],
    ['paral·lel', 'parallel', 'paraŀlel'],
    ['صفحة ٤٥٦', '456', '٤٥٦', '४५६', '๔๕๖'],
    ['π is 3.14', '٣٫١٤'],
    ['col·legi', 'collegi', 'COL·LEGI'],
    ['Hawaiʻi', "Hawai'i"],
    ['שלום\u200f עולם', 'שלום'],
  ],
  'with a sign at its end or start': [
    ['We write C# here', 'C#', 'c', 'C♯'],
    ['We write C++17 here', 'C++', '17'],
    ['Battery type A+.', 'A+', 'a+ battery'],
    ['Runs on .NET and node.js', '.NET', 'net', 'node.js', 'node'],
    ['F# and Disney+', 'f#', 'F♯', 'Disney', 'disney+'],
    ['Étude in F♯, then G♯.', 'F♯', 'F#', 'f', 'G♯'],
  ],
};

for (const [kind, cases] of Object.entries(classes)) {
  test(`a question finds words ${kind}`, () => {
    for (const [text, ...questions] of cases)
      for (const question of questions) {
        assert.ok(weightOf(question, text) > 0, `${question} in ${text}`);
        const matched = matchWords(toAskedWords(question, countWords(question)).folded, countWords(text));
        assert.equal(matched.length > 0, question !== 'then', `${question} is matched unless it is a stop word`);
      }
  });
}

test('numbers, dates, versions and addresses stay whole', () => {
  const whole = ['3.14', '1.234,56', 'v1.2.3', '1_000', '10,000'];
  for (const word of whole) assert.deepEqual([...termsOf(word).keys()], [word]);
  for (const word of ['docs.example.com', 'report_final.pdf', 'com.example.tools'])
    assert.ok(termsOf(`see ${word} now`).has(word), word);
  for (const text of ['x++y', 'a+b', 'PR#12', '../x.y', 'foo...bar', '1 + 1', '# title', 'e.g.', "don't"])
    assert.deepEqual(
      [...termsOf(text).keys()].filter((term) => /[+#]|^\.|^.$|^don$/.test(term) && !/^\w$/.test(term)),
      [],
    );
  assert.ok(!termsOf("I don't").has('don'));
  assert.ok(!termsOf('e.g. this').has('g'));
});

/** The text that a question means, and one that has the same words in another form, or only its parts. */
const preferred: ReadonlyArray<readonly [question: string, exact: string, other: string]> = [
  ['C#', 'C# here', 'C++ here'],
  ['C#', 'C# here', 'C here'],
  ['C++', 'C++ here', 'C# here'],
  ['A+ battery', 'battery A+', 'battery A'],
  ['.NET', 'the .NET', 'the net'],
  ['config_file.yaml', 'config_file.yaml', 'config file yaml'],
  ['Łódź', 'Łódź city', 'Lodz city'],
  ['œuvre', 'une œuvre', 'une oeuvre'],
  ['サーバー', 'サーバー', 'サーバ'],
  ['٤٥٦', 'no ٤٥٦', 'no 456'],
  ['schön', 'sehr schön', 'sehr schon'],
];

/** Returns the scores of the texts of a collection for a question. */
function scoresOf(question: string, texts: readonly string[]): number[] {
  const chunks = texts.map((text) => readWords(countFieldTerms({ content: text })));
  const countOf = (term: string) => chunks.filter(({ terms }) => terms.has(term)).length;
  const words = chunks.reduce((sum, { length }) => sum + length, 0);
  const { words: weighted, ...formula } = weighTerms(wordsOf(question), countOf, { chunks: texts.length, words });
  return chunks.map(({ terms, length }) =>
    weighted.reduce((sum, { word, ...weight }) => {
      const times = terms.get(word);
      return times === undefined ? sum : sum + scorePosting({ ...formula, ...weight }, times, length);
    }, 0),
  );
}

test('a long text with the very word ranks above short texts with its parts, or with other letters', () => {
  const rest = ' that many other words about trains, rivers, bread and mountains follow'.repeat(20);
  const filler = ['Some trains pass many mountains', 'Bread and rivers'];
  const cases: ReadonlyArray<readonly [question: string, exact: string, ...others: string[]]> = [
    ['F♯', 'F♯', 'F#', 'F', 'F# F# F#'],
    ['G♯', 'The G♯ scale', 'G# G#', 'G'],
    ['F#', 'F#', 'F♯', 'F'],
    ['C', 'C', 'C#', 'C++', 'C# C++'],
    ['C#', 'C#', 'C', 'C++', 'C C C'],
    ['C++', 'C++', 'C#', 'C'],
    ['.NET', 'the .NET', 'net'],
    ['config.file', 'config.file', 'config file', 'file of a config', 'config: file, file, config'],
    ['config', 'the config', 'config.file', 'my_config'],
    ['config_file.yaml', 'config_file.yaml', 'config file yaml', 'config_file yaml', 'file.yaml config'],
    ['client.getUserName', 'client.getUserName', 'client getUserName'],
    ['where is config.file set', 'config.file is set', 'config file is set', 'the config is set in a file'],
    ['Status:approved', 'Status:approved', 'status approved'],
    ['Łódź', 'Łódź', 'Lodz', 'Łodz'],
    ['Lodz', 'Lodz', 'Łódź'],
    ['Ngorongoro', 'Ngorongoro', 'Ŋgorongoro'],
    ['œuvre', 'une œuvre', 'oeuvre'],
    ['کتابخانه', 'کتابخانه', 'کتابخانه\u200cی'],
    ['کتابخانه\u200cی', 'کتابخانه\u200cی', 'کتابخانه'],
    ['سؤال', 'سؤال', 'سوال'],
  ];
  for (const [question, exact, ...others] of cases) {
    const [best = 0, ...scores] = scoresOf(question, [exact + rest, ...others, ...filler]);
    for (const [at, other] of others.entries())
      assert.ok(best > (scores[at] ?? 0), `${question}: ${exact} (${best}) above ${other} (${scores[at]})`);
    assert.ok(best <= scoreUnits, `${question}: ${best}`);
  }
});

test('a word has a plain term in texts that have it, and a loose one in texts with a longer word or other letters only', () => {
  const plain = (text: string) => [...termsOf(text).keys()].filter((term) => term >= ' ');
  const loose = (text: string) => [...termsOf(text).keys()].flatMap((term) => looselyOf(term) ?? []);
  assert.deepEqual([plain('config.file'), loose('config.file')], [['config.file'], ['config', 'file']]);
  assert.deepEqual([plain('config.file config'), loose('config.file config')], [['config.file', 'config'], ['file']]);
  assert.deepEqual([plain('Łódź'), loose('Łódź')], [[], ['lodz']]);
  assert.deepEqual([plain('Łódź Lodz'), loose('Łódź Lodz')], [['lodz'], []]);
  assert.deepEqual([plain('où'), loose('où')], [['ou'], []]);
});

test('the form in the question counts more than other forms', () => {
  for (const [question, exact, other] of preferred) {
    assert.ok(weightOf(question, exact) > weightOf(question, other), `${question}: ${exact}`);
    const folded = toAskedWords(question, countWords(question)).folded;
    assert.ok(matchWords(folded, countWords(exact)).every((word) => !word.startsWith('\u0004')));
  }
});

test('a text in another form is longer, so that a plain question finds the plain text first', () => {
  const lengthOf = (text: string) =>
    termsOf(text)
      .values()
      .reduce((sum, times) => sum + times, 0);
  for (const text of ['Łódź', 'œuvre', 'サーバー', 'C#', '٤٥٦']) assert.ok(lengthOf(text) > lengthOf('Lodz'), text);
  assert.equal(lengthOf('Łódź Łódź Łódź'), 4);
});

test('the stop words of all languages are folded, and have no term for their original form', () => {
  assert.deepEqual(
    [...termsOf('même où à')].filter(([term]) => term.startsWith('\u0004')),
    [],
  );
  assert.equal(foldLetters('være'), 'vaere');
  assert.equal(analyseQuestion(['vaere'], ['da'])[0]?.factor, 0.3);
});

test('a long word without a blank has as many terms as it has pieces', () => {
  for (const [piece, most] of [
    ['ab.', 1],
    ['ab:', 1],
    ['a_', 1],
    ["ab'", 1],
    ['1.', 1],
    ['ab·', 1],
    ['x+', 1],
    ['.a', 1],
    ['łódź.', 2],
  ] as const) {
    const words = new Map<string, number>();
    addWords(words, piece.repeat(10_000));
    const all = toTermFrequencies(words)
      .values()
      .reduce((sum, times) => sum + times, 0);
    assert.ok(all <= most * 10_000 + 64, `${piece}: ${all}`);
    assert.ok(words.keys().every((word) => word.length <= 65));
  }
  const words = new Map<string, number>();
  addWords(words, `${'segment:'.repeat(40)}last`);
  assert.ok(words.has('last'));
});
